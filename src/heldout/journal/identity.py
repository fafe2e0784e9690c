"""Identifies learners by content: equal learners have the same key in every process, others have different keys."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import functools
import inspect
import pathlib
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from textwrap import dedent
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from heldout.base.environment import is_library, library_version
from heldout.base.errors import Argument, IdentityError, Sentence
from heldout.task.arrays import is_frame, is_sparse

PLAIN = (bool, int, float, complex, str, bytes, type(None))
_MOST_OF_A_VALUE = 10_000  # characters of a global constant that its code is known by
_BY_REPR = (
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal, fractions.Fraction),
    *(pathlib.PurePath, re.Pattern, uuid.UUID, range, slice, np.dtype, type(Ellipsis)),
)
PLAIN_KINDS = (bool, int, float, str, type(None))  # the values of most grids
_NO_JOURNAL = Argument("journal", None)
_WAY_OUT = Sentence("Define it at the top of a module, under a name of its own, or pass {}.", _NO_JOURNAL)


def digest(*parts: str | bytes) -> bytes:
    """Hash these parts, each preceded by its length, to 16 bytes."""
    found = blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(raw).to_bytes(8, "little"))
        found.update(raw)
    return found.digest()


def code_objects(thing: Any) -> Iterator[FunctionType]:
    """Yield the functions that a class defines, or the function itself."""
    if isinstance(thing, FunctionType):
        yield thing
        return
    for value in vars(thing).values():
        inner = getattr(value, "fget", None) or getattr(value, "__func__", value)
        inner = inspect.unwrap(inner) if callable(inner) else inner
        if isinstance(inner, FunctionType) and inner.__module__ == thing.__module__:
            yield inner


def source_of(thing: Any) -> str | None:
    """Return the source of a class or function, else its byte code, else None."""
    try:
        return dedent(inspect.getsource(thing))
    except (OSError, TypeError, SyntaxError):
        compiled = [f"{function.__qualname__}:{_compiled(function.__code__)}" for function in code_objects(thing)]
        if not isinstance(thing, type):
            return "\n".join(compiled) or None
        plain = {name: value for name, value in vars(thing).items() if isinstance(value, PLAIN)}
        bases = [f"{base.__module__}.{base.__qualname__}" for base in thing.__bases__]
        kept = {name: value for name, value in plain.items() if name not in ("__module__", "__doc__")}
        return "\n".join([*bases, repr(sorted(kept.items())), *compiled]) if compiled or kept else None


def _compiled(code: CodeType) -> str:
    consts = [_compiled(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts]
    return repr((code.co_code, consts, code.co_names, code.co_varnames))


def references(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a class or function uses, and what it uses of the user's other modules."""
    seen: set[str] = set()
    for function in code_objects(thing):
        names = sorted(_names(function.__code__))
        for name in names:
            if name in seen or name not in function.__globals__:
                continue
            seen.add(name)
            value = function.__globals__[name]
            yield name, value
            if isinstance(value, ModuleType) and not is_library(value.__name__):
                yield from ((f"{name}.{inner}", vars(value)[inner]) for inner in names if inner in vars(value))


def _names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            names |= _names(value)
    return names


def plain_text(value: Any) -> str | None:
    """Write a plain constant as text, or as a hash of a long text; None if the value is not plain."""
    kinds = (list, tuple, set, frozenset, dict)
    if isinstance(value, PLAIN) or (isinstance(value, kinds) and _all_plain(value)):
        text = repr(sorted(value, key=repr)) if isinstance(value, set | frozenset) else repr(value)
        return text if len(text) <= _MOST_OF_A_VALUE else digest(text).hex()
    return None


def _all_plain(values: Any) -> bool:
    inside = [*values.keys(), *values.values()] if isinstance(values, dict) else values
    return all(plain_text(value) is not None for value in inside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Identity of a value: its structure (names and contents), and the code and libraries that it depends on."""

    structure: bytes
    code: Mapping[str, str] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> bytes:
        """One hash of structure, code and libraries: 16 bytes."""
        if not self.code and not self.libraries:
            return self.structure
        return digest(self.structure, *(f"{n}={v}" for n, v in sorted([*self.code.items(), *self.libraries.items()])))


def identify(value: Any, name: str) -> Identity:
    """Return the identity of a value, called `name` in errors. Raise an IdentityError that names a part without one.

    >>> from sklearn.linear_model import Ridge
    >>> identify(Ridge(), "learner").key == identify(Ridge(), "learner").key != identify(Ridge(2), "learner").key
    True
    >>> identify(lambda x: x, "choose")
    Traceback (most recent call last):
    ...
    heldout.base.errors.IdentityError: choose is a lambda, ... under a name of its own, or pass journal=None.
    """
    walk = _Walk()
    structure = walk.digest(value, name)
    return Identity(structure=structure, code=walk.code, libraries=walk.libraries)


class _Walk:
    """Walks through a value and collects the code and libraries that it uses."""

    def __init__(self) -> None:
        self.code: dict[str, str] = {}
        self.libraries: dict[str, str] = {}
        self._open: set[int] = set()  # what is being walked through, to end at a cycle
        self._frozen = False  # inside a predictor that came fitted: what it has learned counts too

    def digest(self, value: Any, path: str) -> bytes:
        if type(value) in PLAIN_KINDS:
            return digest(type(value).__name__, value.hex() if isinstance(value, float) else str(value))
        if id(value) in self._open:
            return digest("cycle")
        self._open.add(id(value))
        try:
            return self._digest(value, path)
        finally:
            self._open.discard(id(value))

    def _digest(self, value: Any, path: str) -> bytes:
        if isinstance(value, type | FunctionType | BuiltinFunctionType | MethodType | np.ufunc | ModuleType):
            return self._digest_code(value, path)
        for kinds, way in _WAYS:
            if isinstance(value, kinds):
                return digest(type(value).__qualname__, *way(self, value, path))
        if is_sparse(value):
            coo = value.tocoo()
            return digest("sparse", type(value).__name__, *self._all((coo.shape, coo.row, coo.col, coo.data), path))
        if is_frame(value):
            columns = [(str(name), value[name].to_numpy()) for name in value.columns]
            return digest("frame", *self._all((list(map(str, value.dtypes)), columns), path))
        kind = self._digest_code(type(value), f"the class of {path}")
        return digest("object", kind, *self._parts(value, path))

    def _parts(self, value: Any, path: str) -> list[bytes]:
        """Hash the parts of an object: parameters of an estimator, else attributes, else what pickle would store."""
        if not self._frozen and _keeps_what_it_learned(value):
            self._frozen = True
            try:
                return self._parts(value, path)
            finally:
                self._frozen = False
        if hasattr(value, "get_params") and not self._frozen:
            return self._named(value.get_params(deep=False), path)
        state = object.__getstate__(value)  # attributes, or a pair of those and slots
        if state is not None or hasattr(value, "__dict__"):
            attributes, slots = state if isinstance(state, tuple) else (state, None)
            return self._named({**(attributes or {}), **(slots or {})}, path)
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:
            text = f"{path} is a {type(value).__name__}, which nothing tells from another ({error})."
            way_out = Sentence("A journal could not know its answers again. Pass {}.", _NO_JOURNAL)
            raise IdentityError(text, way_out) from None
        if isinstance(reduced, str):
            return [digest(reduced)]
        return self._all([list(part) if hasattr(part, "__next__") else part for part in reduced], path)

    def _named(self, parts: Mapping[str, Any], path: str) -> list[bytes]:
        return [digest(str(name), self.digest(parts[name], f"{path}.{name}")) for name in sorted(parts, key=str)]

    def _all(self, values: Iterable[Any], path: str) -> list[bytes]:
        return [self.digest(value, f"{path}[{place}]") for place, value in enumerate(values)]

    def _array(self, array: Any, path: str) -> list[bytes]:
        if array.dtype.kind == "O" or array.dtype.hasobject:
            return [repr(array.shape).encode(), *self._all(array.ravel().tolist(), path)]
        return [array.dtype.str.encode(), repr(array.shape).encode(), np.ascontiguousarray(array).tobytes()]

    def _mapping(self, values: Any, path: str) -> list[bytes]:
        pairs = [digest(self.digest(k, f"{path}'s key"), self.digest(v, f"{path}[{k!r}]")) for k, v in values.items()]
        return sorted(pairs)

    def _partial(self, value: Any, path: str) -> list[bytes]:
        return self._all((value.func, value.args, value.keywords), path)

    def _random(self, value: Any, path: str) -> list[bytes]:
        state = value.bit_generator.state if isinstance(value, np.random.Generator) else value.get_state(legacy=False)
        return [self.digest(state, path)]

    def _digest_code(self, thing: Any, path: str) -> bytes:
        owner = getattr(thing, "__self__", None) if isinstance(thing, MethodType | BuiltinFunctionType) else None
        if isinstance(thing, MethodType) or not isinstance(owner, ModuleType | type | None):
            return digest("method", self.digest(owner, f"{path}.__self__"), thing.__name__)
        module = str(getattr(thing, "__module__", None) or getattr(thing, "__name__", "builtins"))
        name = str(getattr(thing, "__qualname__", None) or getattr(thing, "__name__", ""))
        if isinstance(thing, np.ufunc):
            module = "numpy"
        if isinstance(thing, ModuleType) or is_library(module):
            self._note_library(module)
            if "<lambda>" in name or "<locals>" in name:
                _refuse_nameless(thing, path)
            # heldout's own modules may be renamed, so they are left out; its version is in every key.
            return digest("library", "heldout" if module.startswith("heldout.") else module, name)
        _refuse_nameless(thing, path)
        full = f"{module}.{name}"
        if full not in self.code:
            self.code[full] = ""  # set while it is read, so that recursive code ends here
            self.code[full] = self._source_key(thing, path).hex()
        if isinstance(thing, type):
            for base in thing.__bases__:
                self._digest_code(base, f"a base of {path}")
        return digest("own", module, name)

    def _source_key(self, thing: Any, path: str) -> bytes:
        source = source_of(thing)
        if source is None:
            name = getattr(thing, "__qualname__", thing)
            raise IdentityError(f"{path} is {name!r}, whose source cannot be read.", _WAY_OUT)
        constants = []
        for name, value in references(thing):
            if isinstance(value, list | dict | set) and not name.rpartition(".")[2].isupper():
                continue  # not named like a constant: it may be a cache or a counter
            text = plain_text(value)
            if text is not None:
                constants.append(f"{name}={text}")
            elif isinstance(value, np.ndarray):
                constants.append(f"{name}={self.digest(value, f'{path} (its global {name!r})').hex()}")
            elif isinstance(value, type | FunctionType | ModuleType):
                self._note_reference(value, f"{path} (its global {name!r})")
        return digest(source, *constants)

    def _note_reference(self, value: Any, path: str) -> None:
        module = value.__name__ if isinstance(value, ModuleType) else str(value.__module__)
        if is_library(module):
            self._note_library(module)
        elif not isinstance(value, ModuleType) and "<lambda>" not in value.__qualname__:
            self._digest_code(value, path)

    def _note_library(self, module: str) -> None:
        found = library_version(module)
        if found is not None:
            self.libraries[found[0]] = found[1]


_WAYS: tuple[tuple[Any, Any], ...] = (
    ((int, float, complex, str, bytes, bytearray), lambda walk, value, path: [repr(value).encode()]),
    (enum.Enum, lambda walk, value, path: [str(value).encode()]),
    (np.ndarray, _Walk._array),
    (np.generic, lambda walk, value, path: walk._array(np.asarray(value), path)),
    ((list, tuple), _Walk._all),
    ((set, frozenset), lambda walk, value, path: sorted(walk._all(value, path))),
    (Mapping, _Walk._mapping),
    (functools.partial, _Walk._partial),
    ((np.random.RandomState, np.random.Generator), _Walk._random),
    (_BY_REPR, lambda walk, value, path: [repr(value).encode()]),
)


def _refuse_nameless(thing: Any, path: str) -> None:
    name = str(getattr(thing, "__qualname__", ""))
    if name.rpartition(".")[2] == "<lambda>":
        raise IdentityError(f"{path} is a lambda, which a journal could not know again.", _WAY_OUT)
    functions = [thing] if isinstance(thing, FunctionType) else []
    if isinstance(thing, type) and "<locals>" in name:
        functions = [value for value in vars(thing).values() if isinstance(value, FunctionType)]
    for function in functions:
        free = [name for name in function.__code__.co_freevars if name != "__class__"]
        if free and not hasattr(function, "__wrapped__"):
            words = f"a closure over {', '.join(map(repr, free))}, which a journal could not know again"
            raise IdentityError(f"{path} is {name!r}, {words}.", _WAY_OUT)


def _keeps_what_it_learned(value: Any) -> bool:
    """Return whether scikit-learn's `clone` keeps the fitted state of this value, as it does for a FrozenEstimator."""
    clone = getattr(type(value), "__sklearn_clone__", None)
    return clone is not None and clone is not BaseEstimator.__sklearn_clone__
