"""Searching the nearest rows of a whole task: candidate-free, so that every training set reads the same lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import DistanceMetric
from sklearn.neighbors import NearestNeighbors

from heldout.base.rowkeys import Rows
from heldout.kernels.neighbours.backend import Setting, expansion_error
from heldout.kernels.neighbours.spread import spread

BLOCK_NUMBERS = 320_000  # distances held at once, about what a cache holds
SAMPLED = 4  # one number in so many tells roughly how large the wanted ones are


class Found(NamedTuple):
    """For each asked row the nearest rows, nearest first."""

    rows: NDArray[np.int32]  # asked × length
    far: NDArray[np.float64]  # asked × length; squared for a Euclidean search
    reach: NDArray[np.float64]  # no row that is left out is nearer than this; infinite when none is left out
    slack: NDArray[np.float64]  # how much nearer it might be after all, or its order among neighbours wrong


def cut_found(found: Found, which: Any) -> Found:
    """What was found for some of the asked rows."""
    return Found(found.rows[which], found.far[which], found.reach[which], found.slack[which])


class Searcher(Protocol):
    """Finds the nearest of all rows of a task."""

    size: int
    squared: bool

    def find(self, rows: Rows, length: int) -> Found: ...


class EuclideanSearcher:
    """Squared distances by one matrix product a block; rows whose order that leaves open are measured directly.

    With `direct`, every distance kept is measured as scikit-learn's trees measure it, to the last bit.
    """

    squared = True

    def __init__(self, X: NDArray[Any], *, direct: bool) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.size, columns = self.X.shape
        centred = self.X - self.X.mean(axis=0)  # distances do not change, but their rounding does
        self.norms = np.einsum("ij,ij->i", centred, centred)
        self.left = np.concatenate([-2.0 * centred, np.ones((self.size, 1))], axis=1)
        # Columns of the table stand in a drawn order, so that the first of them are a fair sample of all.
        self.order = np.random.default_rng(0).permutation(self.size).astype(np.int32)
        self.right = np.ascontiguousarray(np.concatenate([centred, self.norms[:, None]], axis=1)[self.order].T)
        self.error = expansion_error(self.norms, columns)
        self.direct = direct

    def find(self, rows: Rows, length: int) -> Found:
        length = min(length, self.size)
        out = _room(len(rows), length)
        block = max(8, BLOCK_NUMBERS // self.size)
        for start in range(0, len(rows), block):
            cut = slice(start, start + block)
            self._find_block(rows[cut], length, cut_found(out, cut))
        return out

    def _find_block(self, rows: Rows, length: int, out: Found) -> None:
        table = self.left[rows] @ self.right
        far, near = smallest(table, length + 1)
        packed = np.abs(far).max(axis=1) * packing_error(self.size)
        far += self.norms[rows, None]
        out.reach[:] = far[:, length] if near.shape[1] > length else np.inf
        out.rows[:], out.far[:] = self.order[near[:, :length]], far[:, :length]
        error = self.error[rows] + packed
        out.slack[:] = error
        unsure = np.flatnonzero((np.diff(out.far, axis=1) <= error[:, None]).any(axis=1))
        if self.direct:
            unsure = np.arange(len(rows))
        if len(unsure):
            self._measure(rows, unsure, out)

    def _measure(self, rows: Rows, which: Rows, out: Found) -> None:
        near = out.rows[which]
        far = direct_squares(self.X, rows[which], near)
        order = np.argsort(far, axis=1, kind="stable")
        out.rows[which] = np.take_along_axis(near, order, axis=1)
        out.far[which] = np.take_along_axis(far, order, axis=1)
        out.reach[which] -= out.slack[which]  # what was left out was not measured
        out.slack[which] = 0.0


class LibrarySearcher:
    """scikit-learn's own search, for metrics that it works out pair by pair."""

    squared = False

    def __init__(self, setting: Setting, method: str) -> None:
        self.size = len(setting.X)
        self.X = setting.X
        self.index = NearestNeighbors(
            algorithm=method, leaf_size=setting.leaf_size, metric=setting.metric, **_metric_arguments(setting)
        ).fit(setting.X)

    def find(self, rows: Rows, length: int) -> Found:
        length = min(length, self.size)
        far, near = self.index.kneighbors(self.X[rows], length)
        reach = far[:, -1] if length < self.size else np.full(len(rows), np.inf)
        return Found(near.astype(np.int32), far, reach, np.zeros(len(rows)))


def _metric_arguments(setting: Setting) -> dict[str, Any]:
    params = dict(setting.params)
    arguments: dict[str, Any] = {"p": params.pop("p")} if setting.metric == "minkowski" else {}
    return {**arguments, "metric_params": {name: value for name, value in params.items() if value is not None} or None}


@dataclass(slots=True, kw_only=True, eq=False)
class Lists:
    """Neighbour lists of many rows of a task: kept while they fit the budget, else made anew when asked for."""

    searcher: Searcher
    length: int
    place: NDArray[np.int32] | None = None  # where in `kept` each row of the task is; −1: not there
    kept: Found | None = None

    def serves(self, rows: Rows, length: int, *, direct: bool) -> bool:
        """Whether these lists cover such rows at such a length, measured directly where that is asked."""
        measured = not direct or getattr(self.searcher, "direct", True)
        covered = self.place is None or bool((self.place[rows] >= 0).all())
        return measured and covered and self.length >= min(length, self.searcher.size)

    def of(self, rows: Rows) -> Found:
        if self.place is not None and self.kept is not None:
            where = self.place[rows]
            if (where >= 0).all():
                return cut_found(self.kept, where)
        return self.searcher.find(rows, self.length)


def make_lists(searcher: Searcher, rows: Rows, length: int, *, jobs: int, room: int) -> Lists:
    """Lists of the nearest rows of each of these rows, kept where they take no more than `room` bytes."""
    length = min(length, searcher.size)
    lists = Lists(searcher=searcher, length=length)
    if len(rows) * length * 12 > room:
        return lists
    kept = _room(len(rows), length)

    def fill(cut: slice) -> None:
        found = searcher.find(rows[cut], length)
        kept.rows[cut], kept.far[cut], kept.reach[cut], kept.slack[cut] = found

    spread(jobs, fill, blocks(len(rows), max(32, len(rows) // 16)), library=not searcher.squared)
    lists.place = np.full(searcher.size, -1, dtype=np.int32)
    lists.place[rows] = np.arange(len(rows), dtype=np.int32)
    lists.kept = kept
    return lists


def blocks(count: int, size: int) -> Sequence[slice]:
    """Neighbouring slices of at most this size."""
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def direct_squares(X: NDArray[np.float64], rows: Rows, near: NDArray[np.int32]) -> NDArray[np.float64]:
    """Squared distances summed column by column, as a plain loop over one pair of rows sums them."""
    total = np.zeros(near.shape)
    for column in range(X.shape[1]):
        values = X[:, column]
        gap = values[rows][:, None] - values[near]
        total += gap * gap
    return total


def measures_like_library(X: NDArray[Any]) -> bool:
    """Whether :func:`direct_squares` has scikit-learn's bits here: a compiler may have fused its sums."""
    few = np.ascontiguousarray(X[:: max(1, len(X) // 64)][:64], dtype=np.float64)
    theirs = DistanceMetric.get_metric("euclidean").pairwise(few)
    pairs = np.broadcast_to(np.arange(len(few), dtype=np.int32), (len(few), len(few)))
    ours = np.sqrt(direct_squares(few, np.arange(len(few)), pairs))
    return bool(np.array_equal(ours, theirs))


def _room(count: int, length: int) -> Found:
    return Found(np.empty((count, length), dtype=np.int32), np.empty((count, length)), np.empty(count), np.empty(count))


def smallest(table: NDArray[np.float64], wanted: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The `wanted` smallest numbers of each line, in order, and their places; all of them where there are fewer.

    A number carries its place in its last bits, so that numbers alone are sorted; they come back that much less exact.
    The numbers of a line should stand in no order of their own: it is fast where the first are like the others.
    """
    lines, width = table.shape
    wanted = min(wanted, width)
    low = np.int64((1 << _place_bits(width)) - 1)
    if width <= 2 * SAMPLED * wanted:
        values = (table.view(np.int64) & ~low | np.arange(width)).view(np.float64)
    else:
        flat, counts = _candidates(table, wanted)
        there = np.arange(int(counts.max())) < counts[:, None]
        places = flat - np.repeat(np.arange(lines) * width, counts)
        values = np.full(there.shape, np.inf)
        values[there] = (table.ravel()[flat].view(np.int64) & ~low | places).view(np.float64)
    values.sort(axis=1)
    values = np.ascontiguousarray(values[:, :wanted])
    return values, values.view(np.int64) & low


def _candidates(table: NDArray[np.float64], wanted: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of somewhat more than the `wanted` smallest numbers of each line, and how many there are in each."""
    # A sample tells a bound below which there are enough numbers, most likely.
    width = table.shape[1]
    share = wanted / SAMPLED
    rank = min(int(share + 3.0 * np.sqrt(share)) + 3, width // SAMPLED - 1)
    bound = np.partition(table[:, : width // SAMPLED], rank, axis=1)[:, rank]
    below = table <= bound[:, None]
    flat, counts = kept_places(below)
    short = np.flatnonzero(counts < wanted)
    if len(short):
        below[short] = table[short] <= np.partition(table[short], wanted - 1, axis=1)[:, wanted - 1 : wanted]
        flat, counts = kept_places(below)
    return flat, counts


def _place_bits(width: int) -> int:
    return max(1, int(width - 1).bit_length())


def packing_error(width: int) -> float:
    """How far two numbers from :func:`smallest` may be off together, relative to the larger."""
    return 2.0 ** (_place_bits(width) - 51)


def kept_places(mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where a mask holds, counted through all its lines, and how often it does in each line."""
    flat = np.flatnonzero(mask)
    lines, width = mask.shape
    return flat, np.diff(np.searchsorted(flat, np.arange(lines + 1) * width))


def list_length(need: int, share: float) -> int:
    """How long a list must be for `need` of it to be training rows, when a share of all rows trains.

    Few rows come out short: those are searched again with a longer list.
    """
    return int(np.ceil(need / share + 3.5 * np.sqrt(need * (1.0 - share)) / share)) + 4
