"""Splits made elsewhere: any object with scikit-learn's `split` method, and pairs of row arrays."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, Sentence, SplitError, Splitter
from heldout.base.rowkeys import Rows
from heldout.base.warnings import catch_warnings
from heldout.splits.checks import checked, partition_repeats
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.forward import Forward
from heldout.splits.given import RowNumbers
from heldout.splits.kfold import KFold
from heldout.splits.strategy import FOLDS, Strategy
from heldout.task import Task

WAYS = (
    "Pass a number of folds, a splitter such as KFold(5) or Holdout(0.2), any scikit-learn splitter, or pairs of arrays"
)


@dataclass(frozen=True, slots=True)
class Foreign:
    """Wraps a scikit-learn splitter, or any object with `split(X, y, groups)`, which is called at each level."""

    splitter: Any

    inner_ok_under_partition: ClassVar[bool] = True

    @property
    def seeded(self) -> bool:
        """Return whether the splitter uses random numbers and its `random_state` is None, so that we set it."""
        return _rolls_dice(self.splitter) and self.splitter.random_state is None

    def __repr__(self) -> str:
        return repr(self.splitter)

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return the splits that the splitter makes, as row numbers of the task.

        A `random_state` of None is set from `seed`, on a copy. The user's splitter is never changed.
        """
        splitter, who = deepcopy(self.splitter), repr(self)
        if self.seeded:
            splitter.random_state = seed
        recipe = Recipe(kind="foreign", words=who, drawn=_rolls_dice(splitter))
        splits = _as_splits(task, rows, self._as_rows(_ask(splitter, task, rows), rows), recipe)
        if task.time is not None:
            _refuse_other_order(task.time, splits, who)
        return splits

    def _as_rows(self, pairs: Iterable[Any], rows: Rows) -> Iterator[tuple[Rows, Rows]]:
        who = repr(self)
        for pair in pairs:
            sides = _sides(pair, f"{who} must give pairs of training rows and held-out rows, but gave {pair!r}", who)
            for side in sides:
                side.refuse_other_length(len(rows), who=who)
                outside = side.numbers[(side.numbers < 0) | (side.numbers >= len(rows))]
                if len(outside):
                    raise SplitError(
                        f"{who} names row {outside[0]}, but was asked to split {len(rows)} rows. A splitter that holds "
                        "row numbers of the whole task serves at the outer level only."
                    )
            yield rows[sides[0].numbers], rows[sides[1].numbers]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of training rows and held-out rows, as row numbers of the whole task."""

    parts: tuple[tuple[RowNumbers, RowNumbers], ...]

    inner_ok_under_partition: ClassVar[bool] = False
    seeded: ClassVar[bool] = False

    @classmethod
    def of(cls, pairs: Iterable[Any]) -> Pairs:
        """Read any iterable of pairs (training rows, held-out rows). It is iterated once."""
        no_pair = "is not a pair of training rows and held-out rows. " + WAYS
        parts = tuple(
            _sides(pair, f"Part {part} of the splits {no_pair}", f"Part {part} of the splits")
            for part, pair in enumerate(pairs)
        )
        if not parts:
            raise SplitError(f"The splits are empty: there is no pair of training rows and held-out rows. {WAYS}.")
        return cls(parts)

    def __repr__(self) -> str:
        return f"<{len(self.parts)} pairs of rows>"

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return the given pairs as splits. `seed` has no effect."""
        who = repr(self)
        if len(rows) < task.size:
            raise SplitError(
                f"{who} cannot split the training part of a level above: row numbers are those of the whole task. "
                "Use a strategy that draws, such as KFold or Holdout."
            )
        for side in (side for part in self.parts for side in part):
            side.refuse_other_length(task.size, who=who)
        pairs = ((train.numbers, held.numbers) for train, held in self.parts)
        return _as_splits(task, rows, pairs, Recipe(kind="foreign", words=who))


def strategy_of(value: Any) -> Strategy:
    """Make a strategy from a value that is not one yet; see :func:`heldout.splits.strategy.as_strategy`."""
    if isinstance(value, Integral):
        if isinstance(value, bool):
            raise SplitError(f"{value!r} is not a number of folds. {WAYS}.")
        return KFold(int(value))
    if isinstance(value, str):
        from heldout.splits.parse import parse

        return parse(value)
    if isinstance(value, type):
        raise SplitError(
            f"{value.__name__} is a class, not a splitter. Pass one made from it, such as {value.__name__}(5)."
        )
    if callable(getattr(value, "split", None)) and not isinstance(value, str | bytes):
        return Foreign(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | dict):
        return Pairs.of(value)
    raise SplitError(f"{value!r} is not a way to hold rows out. {WAYS}.")


def default_strategy(*, timed: bool) -> Strategy:
    """Return the strategy used when none is given.

    >>> default_strategy(timed=False), default_strategy(timed=True)
    (KFold(5), Forward(5))
    """
    return Forward(FOLDS) if timed else KFold(FOLDS)


def _rolls_dice(splitter: Any) -> bool:
    return hasattr(splitter, "random_state") and getattr(splitter, "shuffle", True) is not False


def _ask(splitter: Any, task: Task, rows: Rows) -> Iterator[Any]:
    """Yield the pairs of a splitter one at a time, since all pairs together may take memory of n²."""
    from_scikit_learn = type(splitter).__module__.startswith("sklearn.")
    # scikit-learn's splitters look at the length of X alone, so the rows need not be copied for them.
    X = np.zeros(len(rows)) if from_scikit_learn else task.take(rows)
    groups = None if task.groups is None else _group_labels(task, rows, codes=from_scikit_learn)
    try:
        with catch_warnings():
            if from_scikit_learn:  # remarks on rare classes and ignored groups: findings and checks of ours say it
                warnings.simplefilter("ignore", UserWarning)
            yield from splitter.split(X, task.y[rows], groups)
    except ValueError as error:
        if task.groups is None and "groups" in str(error):
            raise SplitError(
                f"{type(splitter).__name__} needs groups, but the task has none.",
                Sentence("Pass {}, or use KFold.", Argument("groups")),
            ) from error
        raise SplitError(f"{splitter!r} could not split {len(rows)} rows: {error}") from error


def _group_labels(task: Task, rows: Rows, *, codes: bool) -> NDArray[Any]:
    assert task.groups is not None
    if codes or not task.group_names:
        return task.groups[rows]
    names = np.empty(len(task.group_names), dtype=object)
    names[:] = task.group_names
    return names[task.groups[rows]]


def _sides(pair: Any, refusal: str, who: str) -> tuple[RowNumbers, RowNumbers]:
    try:
        train, held = pair
    except (TypeError, ValueError):
        raise SplitError(f"{refusal}.") from None
    return RowNumbers.of(train, who=who), RowNumbers.of(held, who=who)


def _refuse_other_order(time: NDArray[Any], splits: Splits, who: str) -> None:
    """Raise a SplitError if a splitter such as TimeSeriesSplit goes forward in row order but not in time."""
    sides = [(splits.train_rows(part), splits.held_rows(part)) for part in range(len(splits))]
    forward = all(train.max() < held.min() for train, held in sides)
    for part, (train, held) in enumerate(sides if forward else ()):
        if time[train].max() >= time[held].min():
            raise SplitError(
                f"{who} goes by the order of the rows, but they are not in the order of time: part {part} would train "
                "on rows as late as those it holds out.",
                Sentence("Use {}, which goes by time, or sort the rows by time.", Splitter("Forward", "…")),
            )


def _as_splits(task: Task, rows: Rows, sides: Iterable[tuple[Rows, Rows]], recipe: Recipe) -> Splits:
    """Make and check splits from pairs (training rows, held-out rows), and record in the recipe what their rows show.

    If training rows are all other rows in ascending order, they are not stored.
    """
    pairs: list[tuple[Rows | None, Rows]] = []
    for train, held in sides:
        may_be_rest = len(train) + len(held) == len(rows)
        rest = may_be_rest and np.array_equal(train, np.setdiff1d(rows, held, assume_unique=True))
        pairs.append((None if rest else train, held))
    splits = Splits.from_pairs(rows, pairs, replace(recipe, grouped=task.groups is not None))
    checked(task, splits, who=recipe.words)
    repeats = partition_repeats(rows, splits.held, splits.held_cuts)
    return replace(splits, recipe=replace(splits.recipe, partition=True, repeats=repeats)) if repeats else splits
