"""K-fold: every row held out once, in K blocks of almost equal size; over again with other blocks where asked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.base.seeds import derive
from heldout.splits.check import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.roles import (
    cuts_between_times,
    group_codes,
    in_time_order,
    is_stratified,
    refuse_groups_with_time,
    strata_of,
)
from heldout.splits.strategy import AUTO, check_shuffle, check_stratify, shown, whole_number
from heldout.task import Task


@dataclass(frozen=True, slots=True, repr=False)
class KFold:
    """K blocks, each held out once while the others train.

    Parameters
    ----------
    k : int
        The number of blocks, at least 2. Their sizes differ by at most one row, unless groups or ties in time
        must be kept whole.
    repeats : int
        How many times to draw the blocks anew.
    shuffle : bool, optional
        Whether chance makes the blocks (the default), or the order of the rows. With time declared, blocks
        always follow time.
    stratify : {"auto", True, False}
        Whether each block has the classes, or the strata declared, in their shares. "auto": where there are any,
        and time is not declared.

    Examples
    --------
    >>> KFold(4, shuffle=False, stratify=False)
    KFold(4, shuffle=False, stratify=False)
    """

    k: int = 5
    _: KW_ONLY
    repeats: int = 1
    shuffle: bool | None = None
    stratify: str | bool = AUTO

    inner_ok_under_partition: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, least=2, what="The number of folds k of KFold"))
        object.__setattr__(self, "repeats", whole_number(self.repeats, least=1, what="repeats of KFold"))
        check_shuffle(self.shuffle, who="KFold")
        check_stratify(self.stratify, who="KFold")
        if self.repeats > 1 and self.shuffle is False:
            raise SplitError(f"{self} would draw the same folds {self.repeats} times. Use shuffle=True, or repeats=1.")

    def __repr__(self) -> str:
        return shown(self)

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """K blocks a repeat, as :class:`~heldout.splits.drawn.Splits`."""
        if self.k > len(rows):
            raise SplitError(
                f"{self} needs at least {self.k} rows, but there are {len(rows)} at this level. "
                "Use a smaller k, or LeaveOneOut()."
            )
        if task.time is not None:
            return self._draw_in_time(task, rows)
        stratified = is_stratified(task, self.stratify, who=repr(self))
        self._refuse_few_groups(task, rows)
        blocks = [
            np.sort(rows[block])
            for repeat in range(self.repeats)
            for block in self._blocks(task, rows, stratified, derive(seed, "repeat", repeat) if repeat else seed)
        ]
        recipe = Recipe(
            kind="kfold",
            words=self._words(stratified, grouped=task.groups is not None),
            repeats=self.repeats,
            partition=True,
            stratified=stratified,
            grouped=task.groups is not None,
            drawn=self.shuffle is not False,
        )
        return checked(task, Splits.from_pairs(rows, [(None, b) for b in blocks], recipe), who=repr(self))

    def _blocks(self, task: Task, rows: Rows, stratified: bool, seed: int) -> Iterable[NDArray[np.intp]]:
        """Places in `rows`, a block at a time, for one repeat."""
        shuffle = self.shuffle is not False
        groups = group_codes(task, rows)
        if groups is None and not stratified:
            return _even_blocks(len(rows), self.k, seed if shuffle else None)
        options = {"shuffle": shuffle, "random_state": seed if shuffle else None}
        if not stratified:
            return _held_of(GroupKFold(self.k, **options), np.zeros(len(rows)), groups)
        strata = strata_of(task, rows)
        commonest = int(strata.counts.max())
        if commonest < self.k:
            raise SplitError(
                f"{self} cannot stratify: no {strata.word} has {self.k} rows at this level, the commonest has "
                f"{commonest}. Use a smaller k, or stratify=False."
            )
        splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
        return _held_of(splitter(self.k, **options), strata.codes, groups)

    def _draw_in_time(self, task: Task, rows: Rows) -> Splits:
        who = repr(self)
        refuse_groups_with_time(task, who=who)
        if self.shuffle or self.repeats > 1:
            raise SplitError(
                f"{who} would mix past and future, but the task has time. Use KFold({self.k}) for blocks of time, or "
                f"Forward({self.k}) to test on later rows only."
            )
        if self.stratify is True:
            raise SplitError(f"{who} cannot stratify blocks of time. Leave stratify out.")
        ordered, begins = in_time_order(task, rows)
        cuts = cuts_between_times(begins, np.cumsum(_even_sizes(len(rows), self.k))[:-1].tolist(), who=who)
        blocks = [np.sort(block) for block in np.split(ordered, cuts)]
        recipe = Recipe(kind="kfold", words=f"{self.k}-fold, blocks in time order", partition=True, timed=True)
        return checked(task, Splits.from_pairs(rows, [(None, b) for b in blocks], recipe), who=who)

    def _refuse_few_groups(self, task: Task, rows: Rows) -> None:
        if task.groups is None:
            return
        count = len(np.unique(task.groups[rows]))
        if count < self.k:
            raise SplitError(
                f"{self} keeps groups whole and needs at least {self.k} groups, but there are {count} at this level. "
                "Use a smaller k, or LeaveOneOut(), which holds out one group at a time."
            )

    def _words(self, stratified: bool, *, grouped: bool) -> str:
        words = [f"{self.k}-fold" + (f" repeated {self.repeats} times" if self.repeats > 1 else "")]
        words += ["stratified"] if stratified else []
        words += ["groups kept whole"] if grouped else []
        in_order = "in row order" if stratified or grouped else "contiguous"
        return ", ".join([*words, in_order if self.shuffle is False else "shuffled"])


def _even_sizes(n: int, k: int) -> NDArray[np.intp]:
    """K sizes that differ by at most one and add up to n, the larger first."""
    sizes = np.full(k, n // k, dtype=np.intp)
    sizes[: n % k] += 1
    return sizes


def _even_blocks(n: int, k: int, seed: int | None) -> list[NDArray[np.intp]]:
    """The blocks of scikit-learn's KFold, without its training sides: linear in n however large K is."""
    places = np.arange(n, dtype=np.intp)
    if seed is not None:
        check_random_state(seed).shuffle(places)
    return np.split(places, np.cumsum(_even_sizes(n, k))[:-1])


def _held_of(splitter: Any, labels: NDArray[Any], groups: NDArray[np.intp] | None) -> list[NDArray[np.intp]]:
    """The held-out places a scikit-learn splitter gives; its remarks on rare classes are findings of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [held for _, held in splitter.split(labels, labels, groups)]
