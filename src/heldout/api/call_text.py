"""The Python that asks a study again, as text for a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from heldout.base.options import Options
from heldout.losses import Loss

LONGEST = 4_000  # letters of a learner
_command: ContextVar[str | None] = ContextVar("heldout command", default=None)
NOT_OF_THE_QUESTION = ("ledger", "on_event", "journal_detail", "journal_anew", "memory", "queue_seed")


@contextmanager
def asked_by(command: str) -> Iterator[None]:
    """Studies that are run inside were asked by this line in a shell, and their reports say so."""
    token = _command.set(command)
    try:
        yield
    finally:
        _command.reset(token)


def command_of_now() -> str | None:
    """The line in a shell that asks for what runs now; None in a program."""
    return _command.get()


def call_of(learner: Any, given: Mapping[str, Any], *, verb: str = "evaluate") -> str:
    """The lines that ask the same: X, y and roles that are no names of columns stand for the data at hand.

    >>> from sklearn.linear_model import Ridge
    >>> given = {"test": None, "roles": {"groups": "patient"}, "loss": None, "level": 0.95, "seed": 1, "options": None}
    >>> print(call_of(Ridge(alpha=2.0), given))
    from heldout import evaluate
    from sklearn.linear_model import Ridge
    <BLANKLINE>
    learner = Ridge(alpha=2.0)
    evaluate(learner, X, y, groups='patient', seed=1)
    """
    said = "" if given["options"] is None else _options(given["options"])
    tested = given["test"] if _is_short(given["test"]) else None
    losses = [one for one in _parts([given["loss"]]) if isinstance(one, Loss)]
    named = imports_of([learner, tested, *losses], verb, options=bool(said))
    if isinstance(learner, Mapping):
        entries = [f"    {name!r}: {_written(one)}," for name, one in learner.items()]
        head = "\n".join(["learners = {", *entries, "}"])
        name = "learners"
    else:
        head, name = f"learner = {_written(learner)}", "learner"
    return f"{named}\n\n{head}\n{verb}({', '.join([name, 'X', 'y', *_arguments(given)])})"


def imports_of(things: Iterable[Any], verb: str, *, options: bool) -> str:
    """The lines that import what the reprs of these name, by the public modules of their classes."""
    names: dict[str, set[str]] = {"heldout": {verb, *(["Options"] if options else [])}}
    for thing in _parts(things):
        kind = type(thing)
        if isinstance(thing, np.ndarray):
            names.setdefault("numpy", set()).add("array")
        elif isinstance(thing, Loss):
            names["heldout"].add("row_loss")  # as its repr is written; the function stands for the one at hand
        elif kind.__module__ != "builtins" and not isinstance(thing, np.generic):
            public = kind.__module__.split(".")
            private = next((place for place, part in enumerate(public) if part.startswith("_")), len(public))
            names.setdefault(".".join(public[:private]), set()).add(kind.__name__)
    return "\n".join(f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(names.items()))


def _parts(things: Iterable[Any]) -> Iterator[Any]:
    """The estimators, splitters and arrays in these, at any depth."""
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


def _arguments(given: Mapping[str, Any]) -> list[str]:
    found = []
    if given["test"] is not None:
        found.append(f"test={_written(given['test']) if _is_short(given['test']) else 'splits'}")
    for role, value in given["roles"].items():
        if value is not None:
            found.append(f"{role}={value!r}" if isinstance(value, str) else f"{role}={role}")
    if given["loss"] is not None:
        found.append(f"loss={given['loss']!r}")
    if given["level"] != 0.95:
        found.append(f"level={given['level']!r}")
    found.append(f"seed={given['seed']}")
    if given.get("rope") is not None:
        found.append(f"rope={given['rope']!r}")
    options = given["options"]
    if options is not None and (said := _options(options)):
        found.append(f"options=Options({said})")
    return found


def _is_short(test: Any) -> bool:
    """Whether a strategy can be written down; rows of the user's own are told by a name, as X and y are."""
    return isinstance(test, int) or not (isinstance(test, Iterable) or hasattr(test, "__array__"))


def _options(options: Options) -> str:
    usual = Options()
    names = [one.name for one in fields(options) if one.name not in NOT_OF_THE_QUESTION]
    changed = {name: getattr(options, name) for name in names if getattr(options, name) != getattr(usual, name)}
    return ", ".join(f"{name}={value!r}" for name, value in changed.items())


def _written(thing: Any) -> str:
    """A learner or splitter as its own repr writes it, on as many lines as that takes; numbers as people write them."""
    with np.printoptions(legacy="1.25"):
        text = thing.__repr__(N_CHAR_MAX=LONGEST) if isinstance(thing, BaseEstimator) else repr(thing)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
