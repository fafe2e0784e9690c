"""Sums over rows: all that a linear fit needs to know of a set of rows, additive, so that sets can be taken apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.ridge.design import Design, Floats, Shift, column_shift


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Products of [x − shift, y − shift, 1] summed over rows, for each stratum, weighted where rows have weights.

    `reach` remembers how large the sums were that these were subtracted from: it tells lost digits.
    """

    grams: Floats  # strata × width × width
    counts: NDArray[np.int64]  # rows in each stratum
    plain: Floats | None  # 2 × columns: unweighted Σx and Σx², where rows have weights
    shift: Shift
    reach: Floats  # strata × width: diagonals
    plain_reach: Floats | None

    @property
    def nbytes(self) -> int:
        return int(self.grams.nbytes)


def sum_rows(design: Design, rows: Rows, shift: Shift | None = None) -> Sums:
    """The sums of these rows, read in chunks of a fixed size."""
    shift = design.shift if shift is None else shift
    width, columns = design.width, design.X.shape[1]
    grams = np.empty((design.strata_count, width, width))
    plain = np.zeros((2, columns)) if design.weight is not None else None
    space = Space(design, min(design.chunk, len(rows)))
    counts = np.zeros(design.strata_count, dtype=np.int64)
    for stratum, members in enumerate(_by_stratum(design, rows)):
        counts[stratum] = len(members)
        gram = grams[stratum]
        if not len(members):
            gram[:] = 0.0
        for start in range(0, len(members), design.chunk):
            chunk = members[start : start + design.chunk]
            x, rest = space.read(chunk, shift.x), _targets_and_one(design, chunk, shift)
            if design.weight is not None and plain is not None:
                plain[0] += x.sum(axis=0)
                plain[1] += np.einsum("ij,ij->j", x, x)
                root = np.sqrt(design.weight[chunk])[:, None]
                x, rest = np.multiply(x, root, out=space.changed[: len(chunk)]), rest * root
            _add_product(gram[:columns, :columns], x, x, first=start == 0)
            _add_product(gram[:columns, columns:], x, rest, first=start == 0)
            _add_product(gram[columns:, columns:], rest, rest, first=start == 0)
        gram[columns:, :columns] = gram[:columns, columns:].T
    reach = np.einsum("sii->si", grams).copy()
    plain_reach = None if plain is None else plain[1]
    return Sums(grams=grams, counts=counts, plain=plain, shift=shift, reach=reach, plain_reach=plain_reach)


def _add_product(to: Floats, left: Floats, right: Floats, *, first: bool) -> None:
    """Add leftᵀ·right; the first product is written where it belongs, which spares passes over all of it."""
    if first:
        np.matmul(left.T, right, out=to)
    else:
        to += left.T @ right


def sum_rows_apart(design: Design, rows: Rows) -> Sums:
    """The sums of these rows with a shift of their own, for rows that lie far from the others."""
    return sum_rows(design, rows, Shift(x=column_shift(design.X, rows), y=column_shift(design.Y, rows)))


class Space:
    """Memory for one chunk of rows, used again and again: fresh memory costs more than the sums do."""

    def __init__(self, design: Design, rows: int) -> None:
        self._X = design.X
        self._as_they_are = design.X.dtype == np.float64
        self._taken = np.empty((max(1, rows), design.X.shape[1]), dtype=design.X.dtype)
        self.changed = self._taken if design.X.dtype == np.float64 else np.empty(self._taken.shape)

    def read(self, rows: Rows, shift: Floats) -> Floats:
        """The columns of these rows less their shift, as float64; valid until the next call, and not to be written to.

        Rows that follow each other and need no change are read where they are.
        """
        if self._as_they_are and not shift.any() and _follow_each_other(rows):
            found = self._X[int(rows[0]) : int(rows[-1]) + 1]
            found.flags.writeable = False
            return found
        taken, changed = self._taken[: len(rows)], self.changed[: len(rows)]
        np.take(self._X, rows, axis=0, out=taken, mode="clip")  # "clip" writes straight into `taken`
        if shift.any() or taken.dtype != np.float64:
            np.subtract(taken, shift, out=changed)
        return changed


def _follow_each_other(rows: Rows) -> bool:
    return len(rows) > 0 and int(rows[-1]) - int(rows[0]) == len(rows) - 1 and bool((np.diff(rows) == 1).all())


def _targets_and_one(design: Design, rows: Rows, shift: Shift) -> Floats:
    found = np.ones((len(rows), design.Y.shape[1] + 1))
    np.subtract(design.Y.take(rows, axis=0), shift.y, out=found[:, :-1])
    return found


def plus(left: Sums, right: Sums) -> Sums:
    grams = left.grams + right.grams
    plain = None if left.plain is None or right.plain is None else left.plain + right.plain
    return replace(
        left,
        grams=grams,
        counts=left.counts + right.counts,
        plain=plain,
        reach=np.einsum("sii->si", grams).copy(),
        plain_reach=None if plain is None else plain[1],
    )


def minus(whole: Sums, part: Sums, out: Floats | None = None) -> Sums:
    """The sums of the rows of `whole` that are not in `part`; the whole's reach stays."""
    plain = None if whole.plain is None or part.plain is None else whole.plain - part.plain
    grams = np.subtract(whole.grams, part.grams, out=out)
    return replace(whole, grams=grams, counts=whole.counts - part.counts, plain=plain)


def _by_stratum(design: Design, rows: Rows) -> list[Rows]:
    if design.strata is None:
        return [rows]
    codes = design.strata[rows]
    order = np.argsort(codes, kind="stable")
    cuts = np.cumsum(np.bincount(codes, minlength=design.strata_count))[:-1]
    return list(np.split(rows[order], cuts))
