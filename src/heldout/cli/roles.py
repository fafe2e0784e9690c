"""Which columns of a table play a part other than being learned from. Import it late: it imports scikit-learn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from heldout.base.errors import ColumnError, OptionError, RoleError, did_you_mean
from heldout.cli.options import Question
from heldout.cli.splits import split_column

_ROLES = ("target", "groups", "strata", "weights")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The columns that are not learned from, by how the user said it."""

    by_option: Mapping[str, str]  # the roles of rows, and the target
    marks: tuple[str, ...]  # columns that say which rows are held out
    time: str | tuple[str, str] | None

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys([*self.by_option.values(), *self.marks]))


def roles_of(question: Question, frame: pd.DataFrame, *, file: str) -> Roles:
    """The roles, each checked to be a column, and no column to have two."""
    names = [str(name) for name in frame.columns]
    if question.target is None:
        raise OptionError(f"Missing option '--target': which column of {file!r} is to be predicted? {_some(names)}")
    found = {
        question.called(role): str(getattr(question, role)) for role in _ROLES if getattr(question, role) is not None
    }
    time = None if question.time is None else _time(question.time, names)
    for one in (time,) if isinstance(time, str) else time or ():
        found[question.called("time") + (f" ({one})" if question.called("time") in found else "")] = one
    marks: dict[str, str] = {}
    for level in ("test", "validation"):
        name = split_column(getattr(question, level), names)
        if name is not None:
            marks.setdefault(name, question.called(level))
    drops = [(question.called("drop"), name) for name in dict.fromkeys(question.drop)]
    _check([*found.items(), *((option, name) for name, option in marks.items()), *drops], names, file)
    return Roles(by_option=found, marks=tuple(marks), time=time)


def check_times(frame: pd.DataFrame, roles: Roles) -> None:
    """Refuse times that are text."""
    for name in (roles.time,) if isinstance(roles.time, str) else roles.time or ():
        times = frame[name]
        if not (pd.api.types.is_numeric_dtype(times.dtype) or times.dtype.kind in "mM"):
            raise RoleError(
                f"--time {name} holds {first_text(times)}. Times are numbers, or dates written as 2024-01-31."
            )


def first_text(values: pd.Series[Any]) -> str:
    """What a column holds that should be numbers, for an error."""
    present = values.dropna()
    return f"text ({str(present.iloc[0])!r})" if len(present) else "nothing but missing values"


def _time(given: str | tuple[str, ...], names: Collection[str]) -> str | tuple[str, str]:
    """One column, or two: `start:end`, cut where both sides are columns, since names may have colons."""
    if not isinstance(given, str):
        return given[0], given[1]
    if given in names or ":" not in given:
        return given
    pieces = given.split(":")
    cuts = [(":".join(pieces[:i]), ":".join(pieces[i:])) for i in range(1, len(pieces))]
    return next((cut for cut in cuts if cut[0] in names and cut[1] in names), cuts[0])


def _check(said: Iterable[tuple[str, str]], names: Collection[str], file: str) -> None:
    taken: dict[str, str] = {}
    for option, name in said:
        if name not in names:
            raise ColumnError(f"{option} {name}: no such column in {file!r}. {did_you_mean(name, names)}")
        if name in taken:
            raise OptionError(f"Column {name!r} cannot be both {taken[name]} and {option}. Choose one.")
        taken[name] = option


def _some(names: list[str]) -> str:
    return f"It has {', '.join(names[:12])}{', …' if len(names) > 12 else ''}."
