"""Calls of Python: the one that repeats a study, as text for its report; and arguments that no function has."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator

from heldout.base.options import Options
from heldout.base.words import clipped
from heldout.losses import Loss
from heldout.results.study_record import Request

Function = TypeVar("Function", bound=Callable[..., Any])
LINE = 78  # characters of a line of code
LONGEST = 4_000  # characters of a learner's repr
_command: ContextVar[str | None] = ContextVar("heldout command", default=None)
NOT_OF_THE_QUESTION = ("ledger", "on_event", "journal_detail", "journal_anew", "memory", "queue_seed")


def with_our_words(function: Function) -> Function:
    """Refuse arguments that a function does not have with an error that names the right one."""
    known = signature(function).parameters

    @wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in known:
                from heldout.base.other_words import unknown_argument

                raise unknown_argument(function.__qualname__.removesuffix(".__init__"), name, known)
        return function(*args, **given)

    return cast(Function, called)


@contextmanager
def asked_by(command: str) -> Iterator[None]:
    """Record this shell command as the origin of all studies that run inside, for their reports."""
    token = _command.set(command)
    try:
        yield
    finally:
        _command.reset(token)


def command_of_now() -> str | None:
    """Return the shell command that started the current study; None if Python code started it."""
    return _command.get()


def call_of(learner: Any, request: Request, *, verb: str = "evaluate", rope: float | None = None) -> str:
    """Write the code that repeats a call; the data are the names X and y, and roles are their own names.

    >>> from sklearn.linear_model import Ridge
    >>> print(call_of(Ridge(alpha=2.0), Request(roles={"groups": "patient"}, seed=1)))
    from heldout import evaluate
    from sklearn.linear_model import Ridge
    <BLANKLINE>
    learner = Ridge(alpha=2.0)
    evaluate(learner, X, y, groups='patient', seed=1)
    """
    options = "" if request.options is None else _options(request.options)
    test = request.test if _is_short(request.test) else None
    losses = [one for one in _parts([request.loss]) if isinstance(one, Loss)]
    imports = imports_of([learner, test, *losses], verb, options=bool(options))
    if isinstance(learner, Mapping):
        head = f"learners = {laid_out('{' + ', '.join(f'{n!r}: {_written(one)}' for n, one in learner.items()) + '}')}"
        name = "learners"
    else:
        head, name = f"learner = {_written(learner)}", "learner"
    call = laid_out(f"{verb}({', '.join([name, 'X', 'y', *_arguments(request, rope, options)])})")
    return f"{imports}\n\n{head}\n{call}"


def imports_of(things: Iterable[Any], verb: str, *, options: bool) -> str:
    """Write the imports that the reprs of these objects need, from the public modules of their classes."""
    names: dict[str, set[str]] = {"heldout": {verb, *(["Options"] if options else [])}}
    for thing in _parts(things):
        kind = type(thing)
        if isinstance(thing, np.ndarray):
            names.setdefault("numpy", set()).add("array")
        elif isinstance(thing, Loss):
            names["heldout"].add("row_loss")  # its repr calls row_loss; the function in it is a name for the user's own
        elif kind.__module__ != "builtins" and not isinstance(thing, np.generic):
            public = kind.__module__.split(".")
            private = next((place for place, part in enumerate(public) if part.startswith("_")), len(public))
            names.setdefault(".".join(public[:private]), set()).add(kind.__name__)
    return "\n".join(f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(names.items()))


def _parts(things: Iterable[Any]) -> Iterator[Any]:
    """Yield the estimators, splitters and arrays in these objects, at any depth."""
    for thing in things:
        if thing is None or isinstance(thing, str | bytes | int | float | bool):
            continue
        if isinstance(thing, Mapping):
            yield from _parts(thing.values())
        elif isinstance(thing, list | tuple):
            yield from _parts(thing)
        elif isinstance(thing, np.ndarray) or not hasattr(thing, "get_params"):
            yield thing
        else:
            yield thing
            yield from _parts(thing.get_params(deep=False).values())


def _arguments(request: Request, rope: float | None, options: str) -> list[str]:
    arguments = {}
    if request.test is not None:
        arguments["test"] = _written(request.test) if _is_short(request.test) else "splits"
    for role, value in request.roles.items():
        if value is not None:
            arguments[role] = repr(value) if isinstance(value, str) else role
    if request.loss is not None:
        arguments["loss"] = repr(request.loss)
    if request.positive is not None:
        arguments["positive"] = repr(request.positive)
    if request.slices is not None:
        arguments["slices"] = repr(request.slices) if _is_of_names(request.slices) else "slices"
    if request.level != Request().level:
        arguments["level"] = repr(request.level)
    arguments["seed"] = str(request.seed)
    if request.name is not None:
        arguments["name"] = repr(request.name)
    if rope is not None:
        arguments["rope"] = repr(rope)
    if options:
        arguments["options"] = f"Options({options})"
    return [f"{name}={text}" for name, text in arguments.items()]


def _is_of_names(slices: Any) -> bool:
    """Return whether slices are names of columns alone; arrays and functions are written as a name instead."""
    return isinstance(slices, str) or (isinstance(slices, list | tuple) and all(isinstance(s, str) for s in slices))


def _is_short(test: Any) -> bool:
    """Return whether `test` can be written as code; arrays of rows are written as a name instead, as X and y are."""
    return isinstance(test, int) or not (isinstance(test, Iterable) or hasattr(test, "__array__"))


def _options(options: Options) -> str:
    usual = Options()
    names = [one.name for one in fields(options) if one.name not in NOT_OF_THE_QUESTION]
    changed = {name: getattr(options, name) for name in names if getattr(options, name) != getattr(usual, name)}
    return ", ".join(f"{name}={value!r}" for name, value in changed.items())


def _written(thing: Any) -> str:
    """Return the long repr of a learner or splitter, with `0.1` in place of `np.float64(0.1)`."""
    with np.printoptions(legacy="1.25"):
        text = thing.__repr__(N_CHAR_MAX=LONGEST) if isinstance(thing, BaseEstimator) else repr(thing)
    return clipped(laid_out(text), LONGEST)


def laid_out(code: str, *, indent: int = 0) -> str:
    """Break an expression into lines as a formatter does: an argument or an entry a line where one is too long.

    >>> print(laid_out(f"Ridge(alpha={'1' * 70}, solver='svd')"))
    Ridge(
        alpha=1111111111111111111111111111111111111111111111111111111111111111111111,
        solver='svd',
    )
    """
    try:
        tree = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):  # a repr that is no code, such as that of a function
        return code
    return _of_tree(tree, indent, 0)


def _of_tree(tree: ast.expr, indent: int, before: int) -> str:
    """Return the lines of an expression; `before` is the number of characters that stand on its first line."""
    flat = ast.unparse(tree)
    match tree:
        case ast.Call(func=func, args=args, keywords=keywords):
            parts = [("", one) for one in args] + [(f"{one.arg}=" if one.arg else "**", one.value) for one in keywords]
            left, right = f"{ast.unparse(func)}(", ")"
        case ast.Dict(keys=keys, values=values):
            parts = [(f"{ast.unparse(k)}: " if k else "**", v) for k, v in zip(keys, values, strict=True)]
            left, right = "{", "}"
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            parts = [("", one) for one in elements]
            left, right = ("[", "]") if isinstance(tree, ast.List) else ("(", ")")
        case _:
            return flat
    if len(flat) + indent + before <= LINE or not parts:
        return flat
    deeper = " " * (indent + 4)
    lines = [f"{deeper}{name}{_of_tree(value, indent + 4, len(name) + 1)}," for name, value in parts]
    return "\n".join([left, *lines, " " * indent + right])
