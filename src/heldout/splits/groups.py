"""Assigns whole groups to parts so that every part gets its share of the rows and of each stratum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from heldout.base.rowkeys import Rows
from heldout.splits.strata import Strata
from heldout.task import Task

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
WEIGHT_OF_SIZE = 0.25  # parts of even size, but even shares of the strata first
TOGETHER = 256  # groups compared pair by pair at once, since the cost is quadratic
ROUNDS = 8  # sets of that many groups, one after another
STEPS = 100  # exchanges a round
TINY = 1e-9  # of the lightest group's weight: less is rounding
EXCHANGED = 2 / 3  # share of groups that may be exchanged if several draws must differ
SPARE = 1e-6


def group_codes(task: Task, rows: Rows) -> NDArray[np.intp] | None:
    """Return the groups of these rows as codes 0..G-1 without gaps, in the order of the task's codes, or None."""
    if task.groups is None:
        return None
    codes = task.groups[rows]
    present = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.intp)
    present[codes] = 1
    return (np.cumsum(present) - 1)[codes]


def group_name(task: Task, code: int) -> str:
    """Return the user's own name of a group."""
    return repr(task.group_names[code]) if task.group_names else str(code)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupLoads:
    """The rows of each stratum in each group, scaled, as a sparse matrix (groups × columns) in CSR layout.

    A column is a stratum; the last column counts all rows. Memory is linear in the rows, however many strata there are.
    """

    starts: Codes  # of each group, and the end
    columns: Codes
    amounts: Floats  # rows / √(rows of the column in all)
    totals: Floats  # of each column
    weights: Floats  # of each group: the sum of its squared amounts
    likeness: NDArray[np.uint64]  # hash of each group's columns and amounts: equal groups have equal hashes

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def groups_with_each(self) -> Codes:
        """Return the number of groups in which each stratum occurs."""
        return np.bincount(self.columns, minlength=len(self.totals))[:-1]

    def of(self, group: int) -> tuple[Codes, Floats]:
        """Return the columns and amounts of one group."""
        entries = slice(self.starts[group], self.starts[group + 1])
        return self.columns[entries], self.amounts[entries]


def loads_of(groups: Codes, strata: Strata) -> GroupLoads:
    """Count the rows of each stratum, and all rows, in each group. `groups` has a code 0..G-1 for each row."""
    kinds = len(strata.values)
    width, count = kinds + 1, int(groups.max()) + 1
    keys = np.concatenate([groups[strata.positions] * width + strata.codes, groups * width + kinds])
    met, rows = np.unique(keys, return_counts=True)
    columns = met % width
    starts = np.append(0, np.cumsum(np.bincount(met // width, minlength=count)))
    totals = np.bincount(columns, weights=rows, minlength=width)
    scale = 1 / np.sqrt(totals)
    scale[kinds] *= np.sqrt(WEIGHT_OF_SIZE)
    amounts = rows * scale[columns]
    # Equal sums of hashes mean equal loads, except for 64-bit collisions, which would only make parts less even.
    marks = np.random.RandomState(0).randint(0, 2**64, width, dtype=np.uint64)
    return GroupLoads(
        starts=starts,
        columns=columns,
        amounts=amounts,
        totals=totals * scale,
        weights=np.add.reduceat(amounts**2, starts[:-1]),
        likeness=np.add.reduceat(rows.astype(np.uint64) * marks[columns], starts[:-1]),
    )


def exchange_groups(loads: GroupLoads, parts: Codes, gaps: Floats, free: Codes) -> Codes:
    """Exchange `free` groups between parts, always the best exchange first, and return the part of each group.

    Each exchange lowers the sum of squared `gaps` (columns × parts: the amount of a part minus its fair share). No part
    is emptied. Only the first TOGETHER · ROUNDS free groups are considered.
    """
    settled, gaps = parts.copy(), gaps.copy()
    for begin in range(0, min(len(free), TOGETHER * ROUNDS), TOGETHER):
        batch = free[begin : begin + TOGETHER]
        exchanges = _Exchanges(loads, settled, gaps, batch)
        steps = 0
        while steps < STEPS and exchanges.best():
            steps += 1
        if steps:
            for group, left, part in zip(batch, settled[batch], exchanges.parts, strict=True):
                columns, amounts = loads.of(group)
                gaps[columns, left] -= amounts
                gaps[columns, part] += amounts
            settled[batch] = exchanges.parts
    return settled


class _Exchanges:
    """Keeps what each move or swap of free groups would change in the sum of squares, updated after every move."""

    def __init__(self, loads: GroupLoads, parts: Codes, gaps: Floats, free: Codes) -> None:
        sizes = np.diff(loads.starts)[free]
        inside = np.repeat(loads.starts[free] - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(sizes.sum())
        shape = (len(free), len(loads.totals))
        brought = csr_array((loads.amounts[inside], loads.columns[inside], np.append(0, np.cumsum(sizes))), shape=shape)
        self.parts: Codes = parts[free]
        self._products: Floats = (brought @ brought.T).toarray()
        self._pull: Floats = brought @ gaps  # free groups × parts
        weights = np.diagonal(self._products)
        self._step = 2 * weights[:, None]  # the cost of any move, which does not depend on its target
        self._apart: Floats = 2 * (weights[:, None] + weights - 2 * self._products)
        self._groups_in = np.bincount(parts, minlength=gaps.shape[1])
        self._least = -TINY * float(weights.min(initial=np.inf))

    def best(self) -> bool:
        """Make the best move or swap. Return False if none lowers the sum."""
        every = np.arange(len(self.parts))
        here = self._pull[every, self.parts]
        moves = 2 * (self._pull - here[:, None]) + self._step
        moves[every, self.parts] = 0
        moves[self._groups_in[self.parts] < 2] = 0
        there = 2 * (self._pull[:, self.parts] - here[:, None])
        swaps = there + there.T + self._apart
        swaps[self.parts[:, None] == self.parts] = 0
        move, swap = int(moves.argmin()), int(swaps.argmin())
        if min(moves.flat[move], swaps.flat[swap]) > self._least:
            return False
        if moves.flat[move] <= swaps.flat[swap]:
            group, part = divmod(move, moves.shape[1])
            self._move(group, part)
        else:
            one, other = divmod(swap, len(self.parts))
            home, away = int(self.parts[one]), int(self.parts[other])
            self._move(one, away)
            self._move(other, home)
        return True

    def _move(self, group: int, part: int) -> None:
        left = self.parts[group]
        self._pull[:, left] -= self._products[:, group]
        self._pull[:, part] += self._products[:, group]
        self._groups_in[left] -= 1
        self._groups_in[part] += 1
        self.parts[group] = part


def deal_groups(loads: GroupLoads, k: int, *, seed: int | None, again: bool = False) -> Codes:
    """Assign each group to one of k parts. No part is empty if there are at least k groups.

    Parameters
    ----------
    seed : int or None
        Decides the order among groups of about the same weight; None: the heaviest first, exactly.
    again : bool
        Whether this deal repeats another. Then some groups, by chance, stay where the greedy deal put them: otherwise
        few groups would be dealt alike each time.
    """
    chance = None if seed is None else np.random.RandomState(seed)
    order, starts = _runs(loads, chance)
    gaps = np.repeat(-loads.totals[:, None] / k, k, axis=1)
    parts = np.empty(len(loads), dtype=np.intp)
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        columns, amounts = loads.of(order[begin])
        levels = amounts @ gaps[columns]
        if end - begin == 1:
            part = int(levels.argmin())
            parts[order[begin]] = part
            gaps[columns, part] += amounts
        else:
            shares = fill_up(levels / loads.weights[order[begin]], end - begin)
            parts[order[begin:end]] = np.repeat(np.arange(k), shares)
            gaps[columns] += amounts[:, None] * shares
    light = order[::-1]  # the last assigned are the lightest, which allow fine adjustments
    if again and chance is not None:
        light = light[chance.random_sample(len(light)) < EXCHANGED]
    return exchange_groups(loads, parts, gaps, light)


def fill_up(levels: Floats, count: int) -> Codes:
    """Return how many of `count` equal groups each part gets if each goes to the lowest level and raises it by 1.

    Examples
    --------
    >>> import numpy as np
    >>> fill_up(np.array([0.0, 2.5, 0.5]), 4).tolist()
    [2, 0, 2]
    """
    low = np.sort(levels)
    # Over the j lowest parts the common level is (count + their levels) / j, for the highest j that it reaches.
    surface = (count + np.cumsum(low)) / np.arange(1, len(low) + 1)
    surface_now = surface[np.flatnonzero(surface >= low)[-1]]
    # Rounded down, with a small allowance for rounding error: the rest is added below, but no excess is removed.
    units: Codes = np.maximum(np.floor(surface_now - levels - SPARE), 0).astype(np.intp)
    left = count - int(units.sum())
    while left > 0:
        lowest = np.argsort(levels + units, kind="stable")[:left]
        units[lowest] += 1
        left -= len(lowest)
    return units


def exchange_for_shares(loads: GroupLoads, taken: Codes, share: float, *, seed: int, again: bool) -> Codes:
    """Exchange `taken` groups with others so that they have about `share` of each stratum, and return those now taken.

    `again` means that other draws must differ from this one, so only a random part of the groups may be exchanged.
    """
    parts = np.ones(len(loads), dtype=np.intp)
    parts[taken] = 0
    inside = np.repeat(parts == 0, np.diff(loads.starts))
    width = len(loads.totals)
    gap = np.bincount(loads.columns[inside], weights=loads.amounts[inside], minlength=width) - share * loads.totals
    free = np.random.RandomState(seed).permutation(len(loads))
    free = free[: round(EXCHANGED * len(loads))] if again else free
    return np.flatnonzero(exchange_groups(loads, parts, np.column_stack([gap, -gap]), free) == 0)


def _runs(loads: GroupLoads, chance: np.random.RandomState | None) -> tuple[Codes, Codes]:
    """Return the groups in the order of assignment, equal ones side by side, and the bounds of each equal run."""
    count = len(loads)
    mixed = np.arange(count) if chance is None else chance.permutation(count)
    weights = loads.weights if chance is None else np.floor(np.log2(loads.weights))
    _, first, kind = np.unique(loads.likeness[mixed], return_index=True, return_inverse=True)
    positions = np.lexsort((first[kind], -weights[mixed]))
    kinds = kind[positions]
    starts = np.flatnonzero(np.append(True, kinds[1:] != kinds[:-1]))
    return mixed[positions], np.append(starts, count)
