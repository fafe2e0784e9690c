"""Sums over the rows of each class: all that naive Bayes needs to know of a set of rows, additive over rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from heldout.base.rowkeys import Rows
from heldout.kernels.bayes.data import Data
from heldout.kernels.ridge.design import Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Sums of x, or of x − shift and its square, over the rows of each class, weighted where rows have weights.

    `reach` remembers how large the sums were that these were subtracted from: it tells lost digits.
    """

    table: Floats  # layers × classes × columns
    counts: NDArray[np.int64]  # rows of each class
    weights: Floats  # their weights summed
    shifts: Floats  # classes × columns
    reach: Floats  # as the table
    reach_weights: Floats


def sum_rows(data: Data, rows: Rows, shifts: Floats | None = None) -> Sums:
    """The sums of these rows, read in chunks of a fixed size."""
    shifts = data.shifts if shifts is None else shifts
    codes = data.codes[rows]
    count = len(data.classes)
    counts = np.bincount(codes, minlength=count)
    weights: Floats = counts.astype(np.float64)
    if data.weight is not None:
        weights = np.asarray(np.bincount(codes, weights=data.weight[rows], minlength=count), dtype=np.float64)
    order = rows[np.argsort(codes, kind="stable")]
    cuts = np.concatenate([[0], np.cumsum(counts)])
    if data.is_sparse:
        table = _sparse_table(data, order, cuts)
    else:
        table = np.zeros((data.layers, count, data.columns))
        space = Space(data, len(rows))
        for code in range(count):
            _add_class(data, order[cuts[code] : cuts[code + 1]], space, table[:, code], shifts[code : code + 1])
    return Sums(table=table, counts=counts, weights=weights, shifts=shifts, reach=table, reach_weights=weights)


def plus(left: Sums, right: Sums) -> Sums:
    table, weights = left.table + right.table, left.weights + right.weights
    return replace(
        left, table=table, counts=left.counts + right.counts, weights=weights, reach=table, reach_weights=weights
    )


def minus(whole: Sums, part: Sums) -> Sums:
    """The sums of the rows of `whole` that are not in `part`; the whole's reach stays."""
    return replace(
        whole,
        table=whole.table - part.table,
        counts=whole.counts - part.counts,
        weights=whole.weights - part.weights,
    )


class Space:
    """Memory for one chunk of dense rows, used again and again: fresh memory costs more than the sums do."""

    def __init__(self, data: Data, rows: int) -> None:
        self._X = data.X
        shape = (max(1, min(rows, data.chunk)), data.columns)
        self._taken = np.empty(shape, dtype=data.X.dtype)
        self._changed = self._taken if data.X.dtype == np.float64 else np.empty(shape)
        self._squares: Floats | None = None

    def read(self, rows: Rows, shift: Floats) -> Floats:
        """The columns of these rows less their shift, as float64; valid until the next call."""
        taken, changed = self._taken[: len(rows)], self._changed[: len(rows)]
        np.take(self._X, rows, axis=0, out=taken, mode="clip")  # "clip" writes straight into `taken`
        if shift.size:
            np.subtract(taken, shift, out=changed)
        elif changed is not taken:
            changed[...] = taken
        return changed

    def squares(self, x: Floats) -> Floats:
        if self._squares is None:
            self._squares = np.empty(self._changed.shape)
        return np.multiply(x, x, out=self._squares[: len(x)])


def _add_class(data: Data, rows: Rows, space: Space, table: Floats, shift: Floats) -> None:
    for start in range(0, len(rows), data.chunk):
        chunk = rows[start : start + data.chunk]
        x = space.read(chunk, shift)
        ones = np.ones(len(chunk))
        weight = ones if data.weight is None else data.weight[chunk]
        table[0] += weight @ x
        if data.layers == 1:
            continue
        squares = space.squares(x)
        table[1] += weight @ squares
        if data.layers == 4:
            table[2] += ones @ x
            table[3] += ones @ squares


def _sparse_table(data: Data, order: Rows, cuts: NDArray[np.int64]) -> Floats:
    weight = np.ones(len(order)) if data.weight is None else data.weight[order]
    pick: Any = sparse.csr_array((weight, order, cuts), shape=(len(cuts) - 1, data.X.shape[0]))
    return np.asarray((pick @ data.X).toarray(), dtype=np.float64)[None]
