"""Settling a deal of groups: single groups change parts, or two change places, while that makes the parts more even."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from heldout.splits.cargo import Cargo

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
TOGETHER = 256  # groups among which every pair is looked at: more would cost its square
ROUNDS = 8  # so many sets of them, one after another
STEPS = 100  # exchanges a round
TINY = 1e-9  # of the lightest group's weight: less is rounding


def settle(cargo: Cargo, parts: Codes, gaps: Floats, free: Codes) -> Codes:
    """The part of each group after exchanges among the `free` ones, the best first.

    Each exchange lowers the sum of squared `gaps` (columns × parts: what a part has over its due). No part is emptied.
    Where many groups are free, the first some thousands are.
    """
    settled, gaps = parts.copy(), gaps.copy()
    for begin in range(0, min(len(free), TOGETHER * ROUNDS), TOGETHER):
        some = free[begin : begin + TOGETHER]
        exchanges = _Exchanges(cargo, settled, gaps, some)
        steps = 0
        while steps < STEPS and exchanges.best():
            steps += 1
        if steps:
            for group, left, part in zip(some, settled[some], exchanges.parts, strict=True):
                columns, amounts = cargo.of(group)
                gaps[columns, left] -= amounts
                gaps[columns, part] += amounts
            settled[some] = exchanges.parts
    return settled


class _Exchanges:
    """The free groups, and what each move or swap among them would change; kept up to date move by move."""

    def __init__(self, cargo: Cargo, parts: Codes, gaps: Floats, free: Codes) -> None:
        sizes = np.diff(cargo.starts)[free]
        inside = np.repeat(cargo.starts[free] - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(sizes.sum())
        shape = (len(free), len(cargo.totals))
        brought = csr_array((cargo.amounts[inside], cargo.columns[inside], np.append(0, np.cumsum(sizes))), shape=shape)
        self.parts: Codes = parts[free]
        self._products: Floats = (brought @ brought.T).toarray()
        self._pull: Floats = brought @ gaps  # free groups × parts
        weights = np.diagonal(self._products)
        self._step = 2 * weights[:, None]  # what any move costs, however welcome the group is
        self._apart: Floats = 2 * (weights[:, None] + weights - 2 * self._products)
        self._groups_in = np.bincount(parts, minlength=gaps.shape[1])
        self._least = -TINY * float(weights.min(initial=np.inf))

    def best(self) -> bool:
        """Make the best move or swap; False when none helps."""
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
