"""Sums over rows: all that a linear fit needs to know of a set of rows, additive, so that sets can be taken apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

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
    grams = np.zeros((design.strata_count, width, width))
    plain = np.zeros((2, columns)) if design.weight is not None else None
    space = np.empty((min(design.chunk, max(1, len(rows))), width))
    taken = np.empty((len(space), columns), dtype=design.X.dtype)
    counts = np.zeros(design.strata_count, dtype=np.int64)
    for stratum, members in enumerate(_by_stratum(design, rows)):
        counts[stratum] = len(members)
        for start in range(0, len(members), design.chunk):
            chunk = members[start : start + design.chunk]
            Z = read_chunk(design, chunk, shift, space[: len(chunk)], taken[: len(chunk)])
            if design.weight is not None and plain is not None:
                plain[0] += Z[:, :columns].sum(axis=0)
                plain[1] += np.einsum("ij,ij->j", Z[:, :columns], Z[:, :columns])
                Z *= np.sqrt(design.weight[chunk])[:, None]
            grams[stratum] += Z.T @ Z
    reach = np.einsum("sii->si", grams).copy()
    plain_reach = None if plain is None else plain[1]
    return Sums(grams=grams, counts=counts, plain=plain, shift=shift, reach=reach, plain_reach=plain_reach)


def sum_rows_apart(design: Design, rows: Rows) -> Sums:
    """The sums of these rows with a shift of their own, for rows that lie far from the others."""
    return sum_rows(design, rows, Shift(x=column_shift(design.X, rows), y=column_shift(design.Y, rows)))


def read_chunk(design: Design, rows: Rows, shift: Shift, out: Floats, taken: NDArray[Any] | None = None) -> Floats:
    """[x − shift, y − shift, 1] of a few rows."""
    columns = design.X.shape[1]
    if taken is None:
        taken = np.empty((len(rows), columns), dtype=design.X.dtype)
    # mode="clip" writes straight into `out`; row numbers are known to be good.
    np.take(design.X, rows, axis=0, out=taken, mode="clip")
    np.subtract(taken, shift.x, out=out[:, :columns])
    np.subtract(design.Y.take(rows, axis=0), shift.y, out=out[:, columns:-1])
    out[:, -1] = 1.0
    return out


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


def minus(whole: Sums, part: Sums) -> Sums:
    """The sums of the rows of `whole` that are not in `part`; the whole's reach stays."""
    plain = None if whole.plain is None or part.plain is None else whole.plain - part.plain
    return replace(whole, grams=whole.grams - part.grams, counts=whole.counts - part.counts, plain=plain)


def _by_stratum(design: Design, rows: Rows) -> list[Rows]:
    if design.strata is None:
        return [rows]
    codes = design.strata[rows]
    order = np.argsort(codes, kind="stable")
    cuts = np.cumsum(np.bincount(codes, minlength=design.strata_count))[:-1]
    return list(np.split(rows[order], cuts))
