"""Random held-out sets, as Holdout and Resample draw them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows, derive
from heldout.base.warnings import catch_warnings
from heldout.splits.groups import GroupLoads, exchange_for_shares, group_codes, loads_of
from heldout.splits.strata import LABEL, PLURALS, Strata, held_by_labels, strata_to_keep
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomDraw:
    """Declares a random draw: how many times, how many rows each time, and whether it is stratified.

    `strict` refuses if whole groups force a stratum to be on one side. Otherwise this is accepted.
    """

    times: int
    count: int
    stratified: bool
    who: str
    strict: bool = True


def held_count(amount: float | int, n: int, *, who: str) -> int:
    """Return how many of n rows a share (float, rounded up) or a number of rows (int) holds out.

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


def draw_held(task: Task, rows: Rows, draw: RandomDraw, *, seed: int) -> list[Rows]:
    """Draw sets of held-out rows, one per time, each ascending."""
    groups = group_codes(task, rows)
    if groups is None:
        return [np.sort(rows[positions]) for positions in _row_positions(task, rows, draw, seed)]
    sizes = np.bincount(groups)
    _refuse_one_group(len(sizes), draw.who)
    loads = None
    if draw.stratified:
        strata = _strata(task, rows, draw)
        loads = loads_of(groups, strata)
        if draw.strict:
            _refuse_one_sided(strata, loads, draw.who)
    held = []
    for time in range(draw.times):
        own_seed = derive(seed, "time", time) if time else seed
        taken = first_groups(sizes, check_random_state(own_seed).permutation(len(sizes)), draw.count)
        if loads is not None:
            share = draw.count / len(rows)
            taken = exchange_for_shares(loads, taken, share, seed=derive(own_seed, "exchange"), again=draw.times > 1)
        held.append(rows[np.isin(groups, taken)])
    return held


def last_groups(task: Task, rows: Rows, count: int, *, who: str) -> Rows:
    """Return the rows of the groups that end last: about `count` rows, as near as whole groups allow."""
    groups = group_codes(task, rows)
    assert groups is not None
    _refuse_one_group(int(groups.max()) + 1, who)
    ends = np.zeros(int(groups.max()) + 1, dtype=np.intp)
    np.maximum.at(ends, groups, np.arange(len(rows)))
    taken = first_groups(np.bincount(groups), np.argsort(ends)[::-1], count)
    return rows[np.isin(groups, taken)]


def first_groups(sizes: NDArray[np.intp], order: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the first groups of `order`, as many as have nearest to `count` rows; at least one, never all."""
    reached = np.cumsum(sizes[order])[:-1]
    return order[: int(np.argmin(np.abs(reached - count))) + 1]


def _row_positions(task: Task, rows: Rows, draw: RandomDraw, seed: int) -> list[NDArray[np.intp]]:
    options = {"n_splits": draw.times, "test_size": draw.count, "random_state": seed}
    if not draw.stratified:
        return [held for _, held in ShuffleSplit(**options).split(rows)]
    strata = _strata(task, rows, draw)
    rarest = int(np.argmin(strata.counts))
    if strata.counts[rarest] < 2:
        raise SplitError(
            f"{draw.who} cannot stratify: {strata.named(rarest)} has one row at this level, which cannot be on both "
            "sides. Pass stratify=False, or leave that row out."
        )
    if strata.word == LABEL:
        return held_by_labels("MultilabelStratifiedShuffleSplit", strata, len(rows), who=draw.who, **options)
    kinds = len(strata.values)
    if min(draw.count, len(rows) - draw.count) < kinds:
        raise SplitError(
            f"{draw.who} cannot stratify: {draw.count} rows held out and {len(rows) - draw.count} for training "
            f"cannot each have all {kinds} {PLURALS[strata.word]}. Pass stratify=False, or another share."
        )
    with catch_warnings():  # scikit-learn's remarks on many small classes
        warnings.simplefilter("ignore", UserWarning)
        drawn = [held for _, held in StratifiedShuffleSplit(**options).split(strata.codes, strata.codes)]
    return [
        _one_of_each(strata, held, np.random.default_rng(derive(seed, "rare", time))) for time, held in enumerate(drawn)
    ]


def _one_of_each(strata: Strata, held: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Exchange rows until both sides have a row of each stratum, and return the held-out positions.

    scikit-learn rounds shares, so one side may have no row of a small stratum. A row of it then changes places with a
    row of the stratum that has most rows on that side. If no stratum is missing, nothing changes.
    """
    codes, kinds = strata.codes, len(strata.values)
    inside = np.zeros(len(codes), dtype=bool)
    inside[held] = True
    for side in (True, False):
        while len(lacking := np.flatnonzero(np.bincount(codes[inside == side], minlength=kinds) == 0)):
            most = np.bincount(codes[inside == side]).argmax()
            comes = rng.choice(np.flatnonzero(codes == lacking[0]))
            goes = rng.choice(np.flatnonzero((codes == most) & (inside == side)))
            inside[comes], inside[goes] = side, not side
    return np.flatnonzero(inside)


def _strata(task: Task, rows: Rows, draw: RandomDraw) -> Strata:
    """Return the strata to keep. Bins of a number are large enough for the smaller side to have rows of each."""
    smaller = min(draw.count, len(rows) - draw.count)
    return strata_to_keep(task, rows, at_least=max(2, -(-len(rows) // smaller)))


def _refuse_one_sided(strata: Strata, loads: GroupLoads, who: str) -> None:
    """Raise a SplitError if a stratum lies in a single group, and so always on one side."""
    lonely = np.flatnonzero(loads.groups_with_each < 2)
    if len(lonely):
        others = " (as is one more)" if len(lonely) == 2 else f" (as are {len(lonely) - 1} more)" * (len(lonely) > 2)
        raise SplitError(
            f"{who} cannot stratify: {strata.named(int(lonely[0]))} is in one group only at this level{others}, which "
            "stays whole, so it cannot be on both sides. Pass stratify=False, or leave that group out."
        )


def _refuse_one_group(count: int, who: str) -> None:
    if count < 2:
        raise SplitError(f"{who} keeps groups whole and needs at least two groups, but there is one at this level.")
