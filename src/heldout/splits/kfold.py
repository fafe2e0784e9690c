"""K-fold: each row is held out once, in K blocks of almost equal size. Repeats draw new blocks."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from heldout.base.errors import Sentence, SplitError, Splitter
from heldout.base.registered import registered
from heldout.base.rowkeys import Rows, derive
from heldout.base.warnings import catch_warnings
from heldout.splits.checks import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.groups import deal_groups, group_codes, loads_of
from heldout.splits.strata import LABEL, Strata, held_by_labels, strata_to_keep, stratified_words
from heldout.splits.strategy import FOLDS, STRATIFY, FrozenStrategy, is_stratified, refuse_without_time, whole_number
from heldout.splits.time_blocks import (
    TimeAxis,
    TrainingRule,
    crossed,
    draw_timed,
    drawn_without_time,
)
from heldout.task import Task


@registered
@dataclass(frozen=True, slots=True, repr=False)
class KFold(FrozenStrategy):
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
        Whether each block has the strata in their shares: those declared, else the classes, quantile bins of a
        number, or the labels of several outputs. "auto": strata where they are declared, else classes, but not
        classes with groups or time. With groups, which stay whole, as near those shares as the groups allow.
    buffer, embargo : int, str or timedelta, optional
        With time declared: drop training rows within this distance of a block, on both sides of it; an embargo is
        further distance after it. So many rows, or a length of time ("7d", "12h"); a number in quotes is a length in
        the units of a time that is numbers. Rows whose time spans an interval are dropped where they overlap a block.

    With time and groups declared, each of K blocks of time is held out one fold of groups at a time, of K folds, while
    other groups outside the block train: up to K × K parts a repeat.

    Examples
    --------
    >>> KFold(4, shuffle=False, stratify=False)
    KFold(4, shuffle=False, stratify=False)
    """

    k: int = FOLDS
    _: KW_ONLY
    repeats: int = 1
    shuffle: bool | None = None
    stratify: str | bool = STRATIFY
    buffer: Any = None
    embargo: Any = None

    def __post_init__(self) -> None:
        self._keep(
            k=whole_number(self.k, least=2, what="The number of folds k of KFold"),
            repeats=whole_number(self.repeats, least=1, what="repeats of KFold"),
        )
        self._check_shared_fields()
        if self.repeats > 1 and self.shuffle is False:
            raise SplitError(f"{self} would draw the same folds {self.repeats} times. Use shuffle=True, or repeats=1.")

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return K blocks per repeat, as :class:`~heldout.splits.drawn.Splits`."""
        if self.k > len(rows):
            raise SplitError(
                f"{self} needs at least {self.k} rows, but there are {len(rows)} at this level.",
                Sentence("Use a smaller k, or {}.", Splitter("LeaveOneOut")),
            )
        if task.time is not None:
            return self._draw_in_time(task, rows, seed)
        refuse_without_time(repr(self), self.buffer, self.embargo)
        if task.groups is not None:
            _refuse_few_groups(task, rows, self.k, who=repr(self))
        return self.draw_untimed(task, rows, seed=seed)

    def draw_untimed(self, task: Task, rows: Rows, *, seed: int, strict: bool = True) -> Splits:
        """Draw from a task without time, with enough groups. `strict` refuses if no stratum can be in every block."""
        who = repr(self)
        stratified = is_stratified(task, self.stratify, who=who)
        draws = [self._blocks(task, rows, stratified, seed=seed, repeat=r, strict=strict) for r in range(self.repeats)]
        blocks = [np.sort(rows[block]) for drawn in draws for block in drawn]
        recipe = Recipe(
            kind="kfold",
            words=self._words(task, stratified),
            repeats=self.repeats,
            partition=True,
            stratified=stratified,
            grouped=task.groups is not None,
            drawn=self.shuffle is not False,
        )
        return checked(task, Splits.from_pairs(rows, [(None, b) for b in blocks], recipe), who=who)

    def _blocks(
        self, task: Task, rows: Rows, stratified: bool, *, seed: int, repeat: int, strict: bool
    ) -> list[NDArray[np.intp]]:
        """Return the blocks of one repeat, as positions in `rows`."""
        shuffle = self.shuffle is not False
        state = None if not shuffle else derive(seed, "repeat", repeat) if repeat else seed
        groups = None if task.groups is None else group_codes(task, rows)
        if not stratified:
            if groups is None:
                return _even_blocks(len(rows), self.k, state)
            return _held_of(GroupKFold(self.k, shuffle=shuffle, random_state=state), np.zeros(len(rows)), groups)
        strata = strata_to_keep(task, rows, at_least=self.k)
        if groups is not None:
            loads = loads_of(groups, strata)
            if strict:
                self._refuse_rare(strata, loads.groups_with_each, "groups")
            parts = deal_groups(loads, self.k, seed=state, again=repeat > 0)[groups]
            return np.split(np.argsort(parts, kind="stable"), np.cumsum(np.bincount(parts, minlength=self.k))[:-1])
        self._refuse_rare(strata, strata.counts, "rows")
        if strata.word == LABEL:
            if state is None:
                raise SplitError(f"{self} cannot stratify several labels in row order. Leave shuffle=False out.")
            options = {"n_splits": self.k, "shuffle": True, "random_state": state}
            return held_by_labels("MultilabelStratifiedKFold", strata, len(rows), who=repr(self), **options)
        return _held_of(StratifiedKFold(self.k, shuffle=shuffle, random_state=state), strata.codes, None)

    def _refuse_rare(self, strata: Strata, counts: NDArray[np.intp], unit: str) -> None:
        """Raise a SplitError if no stratum can be in every block. A merely rare stratum is reported as a finding."""
        most = int(counts.max(initial=0))
        if most < self.k:
            has, had = ("has", "the commonest has") if unit == "rows" else ("is in", "the most widespread is in")
            raise SplitError(
                f"{self} cannot stratify: no {strata.word} {has} {self.k} {unit} at this level, {had} {most}. "
                "Use a smaller k, or stratify=False."
            )

    def _draw_in_time(self, task: Task, rows: Rows, seed: int) -> Splits:
        who = repr(self)
        if self.shuffle or (self.repeats > 1 and task.groups is None):
            raise SplitError(
                f"{who} would mix past and future, but the task has time. Use KFold({self.k}) for blocks of time, or "
                f"Forward({self.k}) to test on later rows only."
            )
        axis = TimeAxis.of(task, rows, who=who)
        cuts = axis.even_cuts(self.k)
        rule = TrainingRule(buffer=self.buffer, embargo=self.embargo)
        if task.groups is None:
            if self.stratify is True:
                raise SplitError(f"{who} cannot stratify blocks of time. Leave stratify out.")
            recipe = Recipe(kind="kfold", words=f"{self.k}-fold, blocks in time order", partition=True)
            return draw_timed(task, axis, axis.blocks(cuts), recipe, rule)
        folds = folds_of_groups(task, rows, replace(self, buffer=None, embargo=None), seed=seed, who=who)
        words = f"{self.k} blocks of time × folds of groups ({folds.recipe.words})"
        return draw_timed(task, axis, crossed(axis, cuts, folds), replace(folds.recipe, words=words), rule)

    def _words(self, task: Task, stratified: bool) -> str:
        grouped = task.groups is not None
        words = [f"{self.k}-fold" + (f" repeated {self.repeats} times" if self.repeats > 1 else "")]
        words += [stratified_words(task)] if stratified else []
        words += ["groups kept whole"] if grouped else []
        in_order = "in row order" if stratified or grouped else "contiguous"
        return ", ".join([*words, in_order if self.shuffle is False else "shuffled"])


def folds_of_groups(task: Task, rows: Rows, strategy: KFold, *, seed: int, who: str) -> Splits:
    """Return the folds to which `strategy` assigns groups, ignoring time."""
    _refuse_few_groups(task, rows, strategy.k, who=who)
    return drawn_without_time(task, rows, strategy, seed=seed, who=who)


def _refuse_few_groups(task: Task, rows: Rows, k: int, *, who: str) -> None:
    """Raise a SplitError if groups are declared and there are fewer than k."""
    groups = group_codes(task, rows)
    count = k if groups is None else int(groups.max()) + 1
    if count < k:
        each_alone = Sentence("Use a smaller k, or {}, which holds out one group at a time.", Splitter("LeaveOneOut"))
        raise SplitError(
            f"{who} keeps groups whole and needs at least {k} groups, but there are {count} at this level.",
            each_alone if task.time is None else "Use a smaller k.",
        )


def _even_blocks(n: int, k: int, seed: int | None) -> list[NDArray[np.intp]]:
    """Return the blocks of scikit-learn's KFold without the training sides, in time linear in n for any k."""
    positions = np.arange(n, dtype=np.intp)
    if seed is not None:
        check_random_state(seed).shuffle(positions)
    return np.array_split(positions, k)


def _held_of(splitter: Any, labels: NDArray[Any], groups: NDArray[np.intp] | None) -> list[NDArray[np.intp]]:
    """Return the held-out positions of a scikit-learn splitter, without its warnings: our findings say the same."""
    with catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [held for _, held in splitter.split(labels, labels, groups)]
