"""Pickles objects for workers. Classes and functions that a worker could not import are pickled by value."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import accumulate
from types import FunctionType, ModuleType
from typing import Any

import cloudpickle
import numpy as np

_DEEPEST = 12
_PLAIN = frozenset({bool, int, float, str, bytes, type(None)})  # no class or function in them: the quick way


def dumps(
    obj: object,
    buffer_callback: Callable[[pickle.PickleBuffer], Any] | None = None,
    *,
    importable: Callable[[str], bool] | None = None,
) -> bytes:
    """Pickle `obj` so that a worker can load it, whatever module its classes and functions live in.

    Things of ``__main__`` and of modules that the worker could not import (a test module, a notebook's helper that left
    the path) go by value. `importable` says of a module whether it could; left out, a worker on this machine is meant.

    >>> pickle.loads(dumps(lambda x: x + 1))(2)
    3
    """
    if type(obj) in _PLAIN:
        return pickle.dumps(obj, protocol=5)
    with io.BytesIO() as stream:
        pickler = _Pickler(stream, protocol=5, buffer_callback=buffer_callback)
        pickler.importable = importable or _findable
        try:
            pickler.dump(obj)
        finally:
            pickler.forget_carried()
        return stream.getvalue()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.importable: Callable[[str], bool] = _findable
        self._carried: list[ModuleType] = []

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, type | FunctionType):
            self._carry_module(obj.__module__)
        elif type(obj) is np.ndarray and not obj.dtype.hasobject:
            return _reduce_array(obj)
        return super().reducer_override(obj)

    def _carry_module(self, name: str) -> None:
        module = sys.modules.get(str(name))  # a few things have no module
        if name == "__main__" or module is None or self.importable(name):
            return
        if name not in cloudpickle.list_registry_pickle_by_value():
            cloudpickle.register_pickle_by_value(module)
            self._carried.append(module)

    def forget_carried(self) -> None:
        for module in self._carried:
            cloudpickle.unregister_pickle_by_value(module)


def _reduce_array(array: np.ndarray[Any, Any]) -> Any:
    """Pickle an array out of band, even if numpy would not, so that workers map it and do not copy it."""
    if array.dtype.kind in "mM":
        native = array.astype(array.dtype.newbyteorder("="), order="K", copy=False)
        return _as_dates, (native.view(np.int64), native.dtype.str)
    dense = array if array.flags.forc else array.copy(order="K")  # "K" keeps the layout
    return dense.__reduce_ex__(5)


def _as_dates(numbers: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    return numbers.view(dtype)


@lru_cache(maxsize=4096)
def _findable(name: str) -> bool:
    """Return whether a fresh interpreter with our path would find this module. Only ``.py`` modules are checked."""
    if not str(getattr(sys.modules[name], "__file__", None)).endswith(".py"):
        return True
    path = None
    for parent in accumulate(name.split("."), "{}.{}".format):
        specs = (finder.find_spec(parent, path) for finder in sys.meta_path)
        spec = next((s for s in specs if s is not None), None)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return True


def explain_unpicklable(obj: object) -> str:
    """Return which part of `obj` cannot be pickled; an empty text if all of it can.

    >>> import threading
    >>> from sklearn.linear_model import Ridge
    >>> model = Ridge()
    >>> model.solver_lock = threading.Lock()
    >>> explain_unpicklable(model)
    "Ridge.solver_lock: cannot pickle '_thread.lock' object"
    """
    if _refusal(obj) is None:
        return ""
    place, culprit, seen = _name(obj), obj, {id(obj)}
    for _ in range(_DEEPEST):
        for step, part in _parts(culprit):
            if id(part) not in seen and _refusal(part) is not None:
                place, culprit = place + step, part
                seen.add(id(part))
                break
        else:
            break
    return f"{place}: {_refusal(culprit)}"


def _refusal(obj: object) -> str | None:
    try:
        dumps(obj)
    except Exception as error:
        return str(error) or type(error).__name__
    return None


def _name(obj: object) -> str:
    return str(getattr(obj, "__qualname__", None) or type(obj).__qualname__)


def _parts(obj: object) -> Iterator[tuple[str, object]]:
    """Yield the parts of `obj`, each with the text that names it, such as ``.attribute`` or ``[0]``."""
    if isinstance(obj, dict):
        yield from ((f"[{key!r}]", value) for key, value in obj.items())
    elif isinstance(obj, list | tuple):
        yield from ((f"[{index}]", value) for index, value in enumerate(obj))
    elif isinstance(obj, FunctionType):
        names, cells = obj.__code__.co_freevars, obj.__closure__ or ()
        yield from ((f" (its variable {name!r})", cell.cell_contents) for name, cell in zip(names, cells, strict=True))
        used = (name for name in obj.__code__.co_names if name in obj.__globals__)
        yield from ((f" (its global {name!r})", obj.__globals__[name]) for name in used)
    elif isinstance(obj, partial):
        yield from (("(function)", obj.func), ("(arguments)", obj.args), ("(keywords)", obj.keywords))
    elif hasattr(obj, "__self__") and hasattr(obj, "__func__"):
        yield (" of " + _name(obj.__self__), obj.__self__)
    else:
        state = object.__getstate__(obj)  # attributes, or a pair of those and slots
        for attributes in state if isinstance(state, tuple) else (state,):
            yield from ((f".{name}", value) for name, value in (attributes or {}).items())
