"""Sums over rows: all that these learners need of a set of rows, additive, so that sets can be subtracted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from heldout.base.rowkeys import Rows
from heldout.kernels.sums.dataset import ChunkReader, Dataset
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.sums.shifts import Shift


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Of one set of rows and for each class: products of [x − shift, y − shift, 1], or Σ(x − shift) with Σ(x − shift)².

    `whole` remembers the sums that these were subtracted from: their size tells how many digits are left.
    """

    kind: str = "products"  # or "squares" or "totals": see Layout
    grams: Floats  # of the dataset's shape
    counts: NDArray[np.int64]  # rows in each class
    weights: Floats  # sums of row weights in each class
    shift: Shift
    plain: Floats | None = None  # classes × 2 × columns: unweighted Σx and Σx², where rows have weights
    whole: Sums | None = None

    @property
    def reach(self) -> Floats:
        """How large sums of squares (or totals) were before rows were taken out: classes × width."""
        grams = self._before.grams
        return np.asarray(np.einsum("sii->si", grams)) if self.kind == "products" else grams[:, -1]

    @property
    def weights_reach(self) -> Floats:
        """How large the sums of weights were: classes."""
        return self._before.weights

    @property
    def plain_reach(self) -> Floats | None:
        return None if self._before.plain is None else self._before.plain[:, 1]

    @property
    def _before(self) -> Sums:
        return self if self.whole is None else self.whole


def sum_rows(data: Dataset, rows: Rows, shift: Shift | None = None) -> Sums:
    """The sums of these rows, read in chunks of a fixed size."""
    shift = data.shift if shift is None else shift
    kind = data.layout.kind
    if sparse.issparse(data.X):
        return _totals_of_sparse(data, rows, shift)
    grams = np.empty(data.shape) if kind == "products" else np.zeros(data.shape)
    plain = None if data.weight is None or kind == "totals" else np.zeros((data.class_count, 2, data.X.shape[1]))
    counts, weights = np.zeros(data.class_count, dtype=np.int64), np.zeros(data.class_count)
    reader = ChunkReader(data, min(data.chunk, len(rows)))
    for code, members in enumerate(data.by_class(rows)):
        counts[code] = len(members)
        if not len(members):
            grams[code] = 0.0
        class_shift = shift.x[code] if shift.x.ndim == 2 else shift.x
        for start in range(0, len(members), data.chunk):
            chunk = members[start : start + data.chunk]
            x = reader.read(chunk, class_shift)
            weight = None if data.weight is None else data.weight[chunk]
            weights[code] += len(chunk) if weight is None else weight.sum()
            if plain is not None:
                _add_squares(plain[code], x, None, reader)
            if kind == "products":
                rest = _targets_and_one(data, chunk, shift)
                if weight is not None:
                    root = np.sqrt(weight)[:, None]
                    x, rest = reader.times(x, root), rest * root
                _add_products(grams[code], x, rest, first=start == 0)
            else:
                _add_squares(grams[code], x, weight, reader)
    return Sums(kind=kind, grams=grams, counts=counts, weights=weights, shift=shift, plain=plain)


def _totals_of_sparse(data: Dataset, rows: Rows, shift: Shift) -> Sums:
    by_class = data.by_class(rows)
    order, counts = np.concatenate(by_class), np.array([len(members) for members in by_class], dtype=np.int64)
    weight = np.ones(len(order)) if data.weight is None else data.weight[order]
    cuts = np.concatenate([[0], np.cumsum(counts)])
    pick: Any = sparse.csr_array((weight, order, cuts), shape=(len(counts), data.X.shape[0]))
    totals = np.asarray((pick @ data.X).toarray(), dtype=np.float64)[:, None]
    weights = np.asarray(pick.sum(axis=1), dtype=np.float64).ravel()
    return Sums(kind="totals", grams=totals, counts=counts, weights=weights, shift=shift)


def _targets_and_one(data: Dataset, rows: Rows, shift: Shift) -> Floats:
    columns = np.ones((len(rows), data.Y.shape[1] + 1))
    np.subtract(data.Y.take(rows, axis=0), shift.y, out=columns[:, :-1])
    return columns


def _add_products(gram: Floats, x: Floats, rest: Floats, *, first: bool) -> None:
    columns = x.shape[1]
    for left, right, to in (
        (x, x, gram[:columns, :columns]),
        (x, rest, gram[:columns, columns:]),
        (rest, rest, gram[columns:, columns:]),
    ):
        if first:  # written where it belongs, which spares passes over all of it
            np.matmul(left.T, right, out=to)
        else:
            to += left.T @ right
    gram[columns:, :columns] = gram[:columns, columns:].T


def _add_squares(table: Floats, x: Floats, weight: Floats | None, reader: ChunkReader) -> None:
    weight = np.ones(len(x)) if weight is None else weight
    table[0] += weight @ x
    if len(table) > 1:
        table[1] += weight @ reader.squares(x)


def plus(left: Sums, right: Sums) -> Sums:
    """The sums of the rows of both."""
    return _combined(np.add, left, right)


def minus(whole: Sums, part: Sums, out: Floats | None = None) -> Sums:
    """The sums of the rows of `whole` that are not in `part`."""
    return replace(_combined(np.subtract, whole, part, out), whole=whole if whole.whole is None else whole.whole)


def _combined(operation: Any, left: Sums, right: Sums, out: Floats | None = None) -> Sums:
    return replace(
        left,
        grams=operation(left.grams, right.grams, out=out),
        counts=operation(left.counts, right.counts),
        weights=operation(left.weights, right.weights),
        plain=None if left.plain is None or right.plain is None else operation(left.plain, right.plain),
    )
