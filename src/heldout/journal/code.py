"""What code a class or function is: a library's by name and version, the user's own by its source."""

from __future__ import annotations

import inspect
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from textwrap import dedent
from types import CodeType, FunctionType, ModuleType
from typing import Any

PLAIN = (bool, int, float, complex, str, bytes, type(None))
_MOST_OF_A_VALUE = 10_000  # characters of a global constant that its code is known by


def digest(*parts: str | bytes) -> bytes:
    """16 bytes for these parts, each with its length."""
    found = blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(raw).to_bytes(8, "little"))
        found.update(raw)
    return found.digest()


@cache
def _library_folders() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = sysconfig.get_paths()
    return tuple(dict.fromkeys(Path(paths[name]).resolve() for name in names if name in paths))


@cache
def is_library(module: str) -> bool:
    """Whether a module was installed rather than written beside the study."""
    top = module.partition(".")[0]
    if top in sys.builtin_module_names or top in sys.stdlib_module_names or top == "heldout":
        return True
    if module == "__main__" or module not in sys.modules:
        return False
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        return not hasattr(sys.modules[module], "__path__") and top in sys.modules
    path = Path(file).resolve()
    return any(part in ("site-packages", "dist-packages") for part in path.parts) or any(
        folder in path.parents for folder in _library_folders()
    )


@cache
def library_version(module: str) -> tuple[str, str] | None:
    """The library that a module belongs to and its version; None for Python's own, which has one version with it."""
    top = module.partition(".")[0]
    if top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return None
    names = {"sklearn": "scikit-learn"}.get(top) or next(iter(_distributions().get(top, ())), top)
    try:
        return names, version(names)
    except PackageNotFoundError:
        return names, str(getattr(sys.modules.get(top), "__version__", "unknown"))


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def code_objects(thing: Any) -> Iterator[FunctionType]:
    """The functions that a class or function is made of."""
    if isinstance(thing, FunctionType):
        yield thing
        return
    for value in vars(thing).values():
        inner = getattr(value, "fget", None) or getattr(value, "__func__", value)
        inner = inspect.unwrap(inner) if callable(inner) else inner
        if isinstance(inner, FunctionType) and inner.__module__ == thing.__module__:
            yield inner


def source_of(thing: Any) -> str | None:
    """The source text of a class or function, or where none is kept what it was compiled to; None without either."""
    try:
        return dedent(inspect.getsource(thing))
    except (OSError, TypeError, SyntaxError):
        compiled = [f"{one.__qualname__}:{_compiled(one.__code__)}" for one in code_objects(thing)]
        if not isinstance(thing, type):
            return "\n".join(compiled) or None
        plain = {name: value for name, value in vars(thing).items() if isinstance(value, PLAIN)}
        bases = [f"{base.__module__}.{base.__qualname__}" for base in thing.__bases__]
        kept = {name: value for name, value in plain.items() if name not in ("__module__", "__doc__")}
        return "\n".join([*bases, repr(sorted(kept.items())), *compiled]) if compiled or kept else None


def _compiled(code: CodeType) -> str:
    consts = [_compiled(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return repr((code.co_code, consts, code.co_names, code.co_varnames))


def references(thing: Any) -> Iterator[tuple[str, Any]]:
    """What the code of a class or function names among the globals of its module, and of own modules named there."""
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
    for one in code.co_consts:
        if isinstance(one, CodeType):
            names |= _names(one)
    return names


def plain_text(value: Any) -> str | None:
    """A short plain constant as text, None for anything else."""
    kinds = (list, tuple, set, frozenset, dict)
    if isinstance(value, PLAIN) or (isinstance(value, kinds) and _all_plain(value)):
        text = repr(sorted(value, key=repr)) if isinstance(value, set | frozenset) else repr(value)
        return text if len(text) <= _MOST_OF_A_VALUE else digest(text).hex()
    return None


def _all_plain(values: Any) -> bool:
    inside = [*values.keys(), *values.values()] if isinstance(values, dict) else values
    return all(plain_text(value) is not None for value in inside)
