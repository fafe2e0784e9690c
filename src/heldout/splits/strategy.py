"""The protocol of strategies, their defaults, and the checks and repr that they share."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from heldout.base.errors import Sentence, SplitError, Splitter
from heldout.base.rowkeys import Rows
from heldout.splits.distances import as_distance
from heldout.splits.drawn import MOST_NUMBERS, Splits
from heldout.task import Task

AUTO = "auto"

# The defaults of every drawing, as the texts advise:
# - "Proportions of each class should be kept in all sets", so classes keep their shares wherever chance deals rows, but
#   not where it deals whole groups.
# - "In practice K = 5 or K = 10": five, at each level of a nested study. Ten takes four times the fits of a nested one
#   for training sets that are an eighth larger.
# - Where data drift with time, "the validation/test sets have to be the most recent data": `default_strategy` is then
#   Forward, and Holdout takes the most recent rows.
STRATIFY = "auto"  # the strata declared, else the classes where no groups are
FOLDS = 5  # of KFold; blocks of Forward
HELD_OUT = 0.2  # of Holdout and Resample: as much as one of five folds


@runtime_checkable
class Strategy(Protocol):
    """A way to hold rows out. The rows it gives for one task are :class:`~heldout.splits.drawn.Splits`."""

    inner_ok_under_partition: ClassVar[bool]
    """False where the strategy names rows of the whole task, so that it cannot follow an outer K-fold inside."""

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Hold out some of `rows` (ascending row numbers of the task), by `seed` in [0, 2**32) alone.

        A strategy on which the seed has no say may say so by `seeded = False`: rows need then not be hashed for it.
        """
        ...


class FrozenStrategy:
    """Base of heldout's own strategies, which are frozen dataclasses: how they print, and how they keep checked values.

    >>> from heldout.splits import KFold
    >>> KFold(5, repeats=3)
    KFold(5, repeats=3)
    """

    __slots__ = ()
    inner_ok_under_partition: ClassVar[bool] = True

    def __repr__(self) -> str:
        """The call that makes this strategy, without the arguments left at their defaults."""
        arguments = []
        for position, field in enumerate(fields(self)):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if position == 0 and not field.kw_only and value is not None:
                arguments.append(repr(value))
            elif field.default is MISSING or value != field.default:
                arguments.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _keep(self, **values: Any) -> None:
        """Set checked values while a strategy is made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_shared_fields(self) -> None:
        """Check what several strategies take: distances, which are kept in one form, `shuffle` and `stratify`."""
        who = type(self).__name__
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        for name in given.keys() & {"buffer", "embargo", "window"}:
            self._keep(**{name: as_distance(given[name], what=f"{name} of {who}")})
        if not isinstance(given.get("shuffle"), bool | None):
            raise SplitError(f"{who}: shuffle must be True or False, but is {given['shuffle']!r}.")
        stratify = given.get("stratify", AUTO)
        if not isinstance(stratify, bool) and stratify != AUTO:
            raise SplitError(f"{who}: stratify must be 'auto', True or False, but is {stratify!r}.")


def whole_number(value: object, *, least: int, what: str) -> int:
    """`value` as an int, refused when it is a bool, a fraction or below `least`.

    >>> whole_number(5, least=2, what="KFold(k=…)")
    5
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SplitError(f"{what} must be a whole number, but is {value!r}. Pass one that is at least {least}.")
    if value < least:
        raise SplitError(f"{what} must be at least {least}, but is {value}.")
    return int(value)


def share_of_rows(value: object, *, what: str) -> float:
    """`value` as a share strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise SplitError(f"{what} must be a share between 0 and 1, but is {value!r}. For 20% pass 0.2.")
    return float(value)


def draw_in_sequence(strategy: Strategy, task: Task, rows: Rows, *, seed: int) -> Splits:
    """What the strategy draws from a task of just these rows, in this order: what a learner fitted on them would draw.

    Every training side keeps the order of `rows`, and is named row by row, since only ascending rows can be implied. A
    strategy that names rows of the whole task knows no other order than the task's.
    """
    ascending = rows if (np.diff(rows) >= 0).all() else np.sort(rows)
    if ascending is rows or not strategy.inner_ok_under_partition:
        return strategy.draw(task, ascending, seed=seed)
    alone = _set_apart(task, rows)
    drawn = strategy.draw(alone, alone.all_rows, seed=seed)
    named = int(drawn.train_sizes.sum())
    if drawn.train is None and named > MOST_NUMBERS:
        raise SplitError(
            f"{strategy!r} would name {named:,} training rows, because those of the level above come in an order of "
            "their own.",
            Sentence("Sort its training rows, or use fewer parts, such as {}.", Splitter("KFold", 5)),
        )
    pairs: list[tuple[Rows | None, Rows]] = [
        (rows[drawn.train_rows(part)], rows[drawn.held_rows(part)]) for part in range(len(drawn))
    ]
    return replace(Splits.from_pairs(ascending, pairs, drawn.recipe), buffered=drawn.buffered)


def _set_apart(task: Task, rows: Rows) -> Task:
    """These rows as a task of their own."""
    names = ("groups", "time", "time_end", "weight", "strata")
    roles: dict[str, Any] = {name: getattr(task, name)[rows] for name in names if getattr(task, name) is not None}
    return replace(task, X=task.take(rows), y=task.y[rows], **roles)
