"""Neighbour lists over all rows of a task. They do not depend on candidates, so every training set reads the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from heldout.base.rowkeys import Rows
from heldout.kernels.driver.prepared import as_asked
from heldout.kernels.neighbours.arithmetic import Setting, expansion_error
from heldout.kernels.step import Work
from heldout.kernels.sums.rounding import Bools, Floats
from heldout.kernels.threads import Spread

BLOCK_NUMBERS = 320_000  # distances held at once, about what a cache holds
SAMPLED = 4  # one number in so many is sampled to estimate how large the wanted ones are
ENTRY_BYTES = 12


class Found(NamedTuple):
    """For each query row the nearest rows, nearest first."""

    rows: NDArray[np.int32]  # query rows × length
    far: Floats  # query rows × length; squared for our own Euclidean search
    reach: Floats  # every row outside the list is at least this far; infinite when the list holds all rows
    slack: Floats  # how far rounding may change these distances

    def some(self, which: Any) -> Found:
        """Return what was found for some of the query rows."""
        return Found(*(array[which] for array in self))


class EuclideanSearcher:
    """Squared distances by one matrix product a block, about five times as fast as scikit-learn's brute force."""

    def __init__(self, X: NDArray[Any]) -> None:
        X = np.asarray(X, dtype=np.float64)
        self.size, columns = X.shape
        centred = X - X.mean(axis=0)  # distances do not change, but their rounding does
        norms = np.einsum("ij,ij->i", centred, centred)
        self._norms, self._error = norms, expansion_error(norms, columns)
        self._left = np.concatenate([-2.0 * centred, np.ones((self.size, 1))], axis=1)
        # Columns of the table are in random order, so that the first of them are a fair sample of all.
        self._order = np.random.default_rng(0).permutation(self.size).astype(np.int32)
        self._right = np.ascontiguousarray(np.concatenate([centred, norms[:, None]], axis=1)[self._order].T)

    def find(self, rows: Rows, length: int) -> Found:
        found = _empty(len(rows), min(length, self.size))
        block = max(8, BLOCK_NUMBERS // self.size)
        for start in range(0, len(rows), block):
            asked = rows[start : start + block]
            far, near = smallest(self._left[asked] @ self._right, length + 1)
            far += self._norms[asked, None]
            part = found.some(slice(start, start + block))
            part.rows[:], part.far[:] = self._order[near[:, :length]], far[:, :length]
            part.reach[:] = far[:, length] if far.shape[1] > length else np.inf
            part.slack[:] = self._error[asked]
        return found


class LibrarySearcher:
    """scikit-learn's own search, for metrics that are computed pair by pair: its distances have the same bits."""

    def __init__(self, setting: Setting, method: str, work: Work) -> None:
        self.size, self._X, self._work = len(setting.X), setting.X, work
        names = ("leaf_size", "metric", "p", "metric_params")
        given = {name: getattr(setting.model, name) for name in names}
        self._index = NearestNeighbors(algorithm=method, **given).fit(setting.X)

    def find(self, rows: Rows, length: int) -> Found:
        length = min(length, self.size)
        with as_asked(self._work):
            far, near = self._index.kneighbors(self._X[rows], length)
        reach = far[:, -1] if length < self.size else np.full(len(rows), np.inf)
        return Found(near.astype(np.int32), far, reach, np.zeros(len(rows)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lists:
    """Neighbour lists of many rows of a task: kept if they fit the memory budget, otherwise searched when asked for."""

    searcher: EuclideanSearcher | LibrarySearcher
    length: int
    place: NDArray[np.int32] | None = None  # where in `kept` each row of the task is; −1: not there
    kept: Found | None = None

    def serves(self, rows: Rows, length: int) -> bool:
        """Return whether these lists cover such rows at such a length."""
        covered = self.place is None or bool((self.place[rows] >= 0).all())
        return covered and self.length >= min(length, self.searcher.size)

    def of(self, rows: Rows) -> Found:
        if self.place is None or self.kept is None:
            return self.searcher.find(rows, self.length)
        return self.kept.some(self.place[rows])


def make_lists(
    searcher: EuclideanSearcher | LibrarySearcher, rows: Rows, length: int, *, spread: Spread, room: int
) -> Lists:
    """Return lists of the nearest rows of each of these rows, kept where they take no more than `room` bytes."""
    length = min(length, searcher.size)
    if len(rows) * length * ENTRY_BYTES > room:
        return Lists(searcher=searcher, length=length)
    kept = _empty(len(rows), length)

    def fill(cut: slice) -> None:
        kept.rows[cut], kept.far[cut], kept.reach[cut], kept.slack[cut] = searcher.find(rows[cut], length)

    spread(fill, slices(len(rows), max(32, len(rows) // 16)))
    place = np.full(searcher.size, -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    return Lists(searcher=searcher, length=length, place=place, kept=kept)


def list_length(need: int, share: float) -> int:
    """Return how long a list must be to hold `need` training rows, when a share of all rows trains.

    For a few rows the list turns out too short; those are searched again with a longer one.
    """
    return int(np.ceil(need / share + 3.5 * np.sqrt(need * (1.0 - share)) / share)) + 4


def slices(count: int, size: int) -> Sequence[slice]:
    """Return adjacent slices of at most this size."""
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def smallest(table: Floats, wanted: int) -> tuple[Floats, NDArray[np.intp]]:
    """Return the `wanted` smallest numbers of each row, sorted, and their places; all of them where there are fewer.

    A sample estimates a bound below which there are enough numbers, so that few must be sorted. So the numbers of a row
    should stand in random order.
    """
    width = table.shape[1]
    wanted, share = min(wanted, width), wanted / SAMPLED
    rank = int(share + 3.0 * np.sqrt(share)) + 3
    if rank >= width // (2 * SAMPLED):
        places = np.argsort(table, axis=1)[:, :wanted]
        return np.take_along_axis(table, places, axis=1), places
    below = table <= np.partition(table[:, : width // SAMPLED], rank, axis=1)[:, rank : rank + 1]
    flat, counts = kept_places(below)
    if counts.min() < wanted:
        below = table <= np.partition(table, wanted - 1, axis=1)[:, wanted - 1 : wanted]
        flat, counts = kept_places(below)
    there = np.arange(int(counts.max())) < counts[:, None]
    values, columns = np.full(there.shape, np.inf), np.zeros(there.shape, dtype=np.intp)
    values[there], columns[there] = table.ravel()[flat], flat % width
    order = np.argsort(values, axis=1)[:, :wanted]
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(columns, order, axis=1)


def kept_places(mask: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the flat indices of the true entries of a mask, and their number in each row."""
    flat = np.flatnonzero(mask)
    lines, width = mask.shape
    return flat, np.diff(np.searchsorted(flat, np.arange(lines + 1) * width))


def _empty(count: int, length: int) -> Found:
    return Found(np.empty((count, length), dtype=np.int32), np.empty((count, length)), np.empty(count), np.empty(count))
