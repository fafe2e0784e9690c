"""Collects products of columns, summed over the rows of each cell and class, chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.sums.dataset import Shift, column_shift
from heldout.kernels.sums.rounding import Floats
from heldout.splits.cells import Codes
from heldout.task.stream import Chunk

APART = 8  # numbers between columns of the working space, so that they do not compete for the same cache lines


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Statistics:
    """Holds products of [x − shift, y − shift, 1] summed over each cell's rows; for classifiers without y, by class.

    They are all that ridge, least squares, discriminants and Gaussian naive Bayes need to know of any union of cells.
    """

    grams: Floats  # cells × classes × width × width; a regressor has one class
    counts: NDArray[np.int64]  # cells × classes
    shift: Shift
    classes: NDArray[Any] | None = None

    @property
    def columns(self) -> int:
        return len(self.shift.x)

    def of(self, cells: Rows) -> Statistics:
        """Return these cells merged into one."""
        return replace(self, grams=self.grams[cells].sum(axis=0)[None], counts=self.counts[cells].sum(axis=0)[None])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Declares how the products of a stream are kept: for each cell and class, about a shift."""

    cells: int
    classes: NDArray[Any] | None
    shift: Shift

    @property
    def strata(self) -> int:
        return 1 if self.classes is None else len(self.classes)

    @property
    def width(self) -> int:
        """Number of columns, target and the constant together."""
        return len(self.shift.x) + len(self.shift.y) + 1

    def empty(self) -> Products:
        kinds = self.cells * self.strata
        return Products(grams=np.zeros((kinds, self.width, self.width)), counts=np.zeros(kinds, dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Products:
    """Holds products summed over the rows of each kind: a cell, or a class of a cell. They are added to in place."""

    grams: Floats
    counts: NDArray[np.int64]

    def add(self, other: Products) -> None:
        """Add `other` in place, so that chunks added in order have the same bits wherever they were computed."""
        np.add(self.grams, other.grams, out=self.grams)
        np.add(self.counts, other.counts, out=self.counts)

    def not_finite(self) -> list[int]:
        """Return the positions of columns (the target last) that hold NaN or infinity so far."""
        diagonal = np.einsum("kii->ki", self.grams)[:, :-1]
        return np.flatnonzero(~np.isfinite(diagonal).all(axis=0)).tolist()

    def as_statistics(self, layout: Layout) -> Statistics:
        shape = (-1, layout.strata, layout.width, layout.width)
        counts = self.counts.reshape(-1, layout.strata)
        return Statistics(grams=self.grams.reshape(shape), counts=counts, shift=layout.shift, classes=layout.classes)


def products_of(chunk: Chunk, cells: Codes, codes: Codes | None, layout: Layout) -> Products:
    """Return the products of one chunk, whose rows belong to these cells and classes."""
    found = layout.empty()
    kinds = cells if codes is None else cells * layout.strata + codes
    # Sorting 16-bit numbers takes a tenth of the time of longer ones.
    short = kinds.astype(np.int16 if len(found.counts) < 1 << 15 else np.int64)
    order = np.argsort(short, kind="stable")
    found.counts[:] = np.bincount(kinds, minlength=len(found.counts))
    side_by_side = _side_by_side(chunk, order, layout)
    stop = np.cumsum(found.counts)
    for kind in np.flatnonzero(found.counts).tolist():
        rows = side_by_side[:, stop[kind] - found.counts[kind] : stop[kind]]
        np.matmul(rows, rows.T, out=found.grams[kind])
    return found


def _side_by_side(chunk: Chunk, order: NDArray[np.intp], layout: Layout) -> Floats:
    """Return columns, target and ones, less their shift, as the rows of a matrix, with data rows in this order."""
    space = np.empty((layout.width, len(order) + APART))[:, : len(order)]
    for place, column in enumerate(chunk.columns):
        _place(column, order, layout.shift.x[place], space[place])
    if layout.classes is None:
        _place(chunk.y, order, layout.shift.y[0], space[-2])
    space[-1] = 1.0
    return space


def first_shift(chunk: Chunk, *, regression: bool) -> Shift:
    """Return a shift about the means of the first chunk, which keeps the digits of most data."""
    x = [column_shift(np.asarray(column)[:, None], None)[0] for column in chunk.columns]
    y = column_shift(np.asarray(chunk.y)[:, None], None) if regression else np.zeros(0)
    return Shift(x=np.array(x, dtype=np.float64), y=np.asarray(y, dtype=np.float64))


def mean_shift(statistics: Statistics) -> Shift:
    """Return the means of all rows as the shift of a second pass, if the first chunk lies far from the rest."""
    total = statistics.grams.sum(axis=(0, 1))
    means = total[:-1, -1] / total[-1, -1]
    columns = statistics.columns
    return Shift(x=statistics.shift.x + means[:columns], y=statistics.shift.y + means[columns:])


def _place(values: NDArray[Any], order: NDArray[np.intp], shift: float, out: Floats) -> None:
    if values.dtype == np.float64:
        np.take(values, order, out=out, mode="clip")  # "clip" writes straight into `out`
    else:
        out[:] = values.take(order)
    if shift:
        out -= shift
