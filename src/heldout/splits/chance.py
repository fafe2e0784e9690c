"""Held-out sets drawn by chance: what Holdout and Resample share."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.base.seeds import derive
from heldout.splits.roles import group_codes, strata_of
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """What is to be drawn: how many times, how many rows each time, in their strata's shares or not."""

    times: int
    count: int
    stratified: bool
    who: str


def held_count(amount: float | int, n: int, *, who: str) -> int:
    """How many of n rows a share (a float) or a number of rows (an int) holds out; shares are rounded up.

    >>> held_count(0.25, 120, who="Holdout(0.25)"), held_count(0.07, 100, who="Holdout(0.07)")
    (30, 7)
    """
    # The tiny allowance keeps 0.07 of 100 rows at 7, though 0.07 * 100 is 7.000000000000001.
    count = ceil(amount * n - 1e-9 * n) if isinstance(amount, float) else amount
    if count >= n:
        raise SplitError(
            f"{who} would hold out {count} rows and leave none for training, of {n} rows at this level. Hold out fewer."
        )
    return max(count, 1)


def draw_held(task: Task, rows: Rows, chance: Chance, *, seed: int) -> list[Rows]:
    """Held-out rows, ascending, one set a time."""
    groups = group_codes(task, rows)
    if groups is None:
        return [np.sort(rows[places]) for places in _row_places(task, rows, chance, seed)]
    table = _group_table(task, rows, groups, chance.stratified)
    _refuse_one_group(len(table), chance.who)
    held = []
    for time in range(chance.times):
        order = check_random_state(derive(seed, "time", time) if time else seed).permutation(len(table))
        if chance.stratified:
            taken = groups_in_shares(table, order, chance.count / len(rows))
        else:
            taken = first_groups(table[:, 0], order, chance.count)
        held.append(rows[np.isin(groups, taken)])
    return held


def last_groups(task: Task, rows: Rows, count: int, *, who: str) -> Rows:
    """The rows of the groups that end last, as near `count` rows as whole groups allow."""
    groups = group_codes(task, rows)
    assert groups is not None
    _refuse_one_group(int(groups.max()) + 1, who)
    ends = np.zeros(int(groups.max()) + 1, dtype=np.intp)
    np.maximum.at(ends, groups, np.arange(len(rows)))
    taken = first_groups(np.bincount(groups), np.argsort(ends)[::-1], count)
    return rows[np.isin(groups, taken)]


def first_groups(sizes: NDArray[np.intp], order: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """The first groups of `order`, as many as bring their rows nearest to `count`; never none, never all."""
    reached = np.cumsum(sizes[order])[:-1]
    return order[: int(np.argmin(np.abs(reached - count))) + 1]


def groups_in_shares(table: NDArray[np.intp], order: NDArray[np.intp], share: float) -> NDArray[np.intp]:
    """Groups, taken in `order` wherever one brings the held-out share of every stratum nearer to `share`.

    `table` has a row a group and a column a stratum. Strata weigh the same, however many rows they have.
    """
    totals = table.sum(axis=0)
    shares = table / totals
    gap = np.full(len(totals), -share)
    taken: list[int] = []
    for group in order:
        nearer = shares[group] @ (2 * gap + shares[group]) < 0  # the squared distance falls
        if nearer and len(taken) < len(table) - 1:
            taken.append(int(group))
            gap = gap + shares[group]
    if not taken:  # each group alone is past the share: the smallest step past it
        distances = ((shares[order] - share) ** 2).sum(axis=1)
        taken = [int(order[np.argmin(distances)])]
    return np.asarray(taken, dtype=np.intp)


def _row_places(task: Task, rows: Rows, chance: Chance, seed: int) -> list[NDArray[np.intp]]:
    options = {"n_splits": chance.times, "test_size": chance.count, "random_state": seed}
    if not chance.stratified:
        return [held for _, held in ShuffleSplit(**options).split(rows)]
    strata = strata_of(task, rows)
    rarest, least = strata.rarest()
    if least < 2:
        raise SplitError(
            f"{chance.who} cannot stratify: {rarest} has one row at this level, which cannot be on both sides. "
            "Pass stratify=False, or leave that row out."
        )
    kinds = len(strata.values)
    if min(chance.count, len(rows) - chance.count) < kinds:
        raise SplitError(
            f"{chance.who} cannot stratify: {chance.count} rows held out and {len(rows) - chance.count} for training "
            f"cannot each have all {kinds} {'classes' if strata.word == 'class' else 'strata'}. "
            "Pass stratify=False, or another share."
        )
    with warnings.catch_warnings():  # scikit-learn's remarks on many small classes
        warnings.simplefilter("ignore", UserWarning)
        return [held for _, held in StratifiedShuffleSplit(**options).split(strata.codes, strata.codes)]


def _group_table(task: Task, rows: Rows, groups: NDArray[np.intp], stratified: bool) -> NDArray[np.intp]:
    """Rows of each group (down) in each stratum (across; a single one where strata are not kept)."""
    count = int(groups.max()) + 1
    if not stratified:
        return np.bincount(groups, minlength=count)[:, None]
    strata = strata_of(task, rows)
    kinds = len(strata.values)
    return np.bincount(groups * kinds + strata.codes, minlength=count * kinds).reshape(count, kinds)


def _refuse_one_group(count: int, who: str) -> None:
    if count < 2:
        raise SplitError(f"{who} keeps groups whole and needs at least two groups, but there is one at this level.")
