"""Training sets as partial least squares sees them: vectors of sums, centred and scaled, for many at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.designs.columns import Columns
from heldout.kernels.sums.dataset import Dataset
from heldout.kernels.sums.rounding import LEFT_OF_DIGITS, Bools, Floats, LostDigits, scales, scales_and_doubts

SMALLEST_TARGET = 1e-4  # of an unscaled target's deviation: scikit-learn takes what is below 2e-15 for constant


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vectors:
    """Sums over training sets, about the shift: all that a problem needs but the products of columns themselves."""

    sums: Floats  # sets × columns and target
    squares: Floats  # sets × columns and target
    cross: Floats  # sets × columns: products with the target
    reach: Floats  # sets × columns and target: how large the squares were that these were subtracted from
    counts: NDArray[np.int64]
    shift: Floats  # columns
    y_shift: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problems:
    """Columns and target in the units in which components are found, and the way back."""

    inside: Floats  # sets × columns: what products of columns are yet to be divided by
    d: Floats  # sets × columns
    size: Floats  # sets × columns: their lengths
    length: Floats  # sets: of the target
    unit: Floats  # sets × columns: coefficients are divided by these
    y_unit: Floats
    shift: Floats  # X's columns, before anything else
    centre: Floats  # sets × the model's columns, less their shift
    y_centre: Floats
    counts: NDArray[np.int64]
    kept: Floats  # sets: share of the digits that subtraction has left, at worst


def from_vectors(columns: Columns, vectors: Vectors, *, scale: bool) -> tuple[Problems, Bools]:
    """The problems, and which of them have digits left: the numbers of the others mean nothing."""
    with np.errstate(all="ignore"):
        return _from_vectors(columns, vectors, scale)


def _from_vectors(columns: Columns, vectors: Vectors, scale: bool) -> tuple[Problems, Bools]:
    """All of it in vectors: the products stay as they are, and are centred and scaled as they are used."""
    counts = vectors.counts[:, None]
    mean = vectors.sums / counts
    squares = vectors.squares - counts * mean**2
    reach = np.maximum(vectors.reach, vectors.squares)
    sure = np.isfinite(squares).all(axis=1) & (squares >= LEFT_OF_DIGITS * reach).all(axis=1)
    left, yy, centre = squares[:, :-1], squares[:, -1], mean[:, :-1]
    offset = centre + vectors.shift
    d = vectors.cross - counts * centre * mean[:, -1:]
    unit = np.ones(left.shape)
    scaled = columns.flags("scaled", left.shape[1])
    if scaled.any():
        unit, doubtful = scales_and_doubts(left / counts, offset, counts, scaled)
        sure &= ~doubtful.any(axis=1)
        d /= unit
    y_unit = np.ones(len(left))
    if scale:
        sure &= _sum_exactly(left == 0, offset, vectors.counts)
        own = np.where(left > 0, np.sqrt(np.maximum(left / unit**2, 0.0) / (counts - 1)), 1.0)
        spread = np.sqrt(yy / (vectors.counts - 1))
        y_unit = np.where(spread == 0, 1.0, spread)
        d /= own * y_unit[:, None]
        unit = unit * own
    else:
        sure &= _is_large(yy, np.sqrt((d * d).sum(axis=1)), vectors.counts)
    shares = np.where(left > 0, left / reach[:, :-1], 1.0)
    problems = Problems(
        inside=unit,
        d=d,
        size=np.sqrt(np.maximum(left, 0.0)) / unit,
        length=np.sqrt(yy) / y_unit,
        unit=unit,
        y_unit=y_unit,
        shift=vectors.shift,
        centre=centre,
        y_centre=mean[:, -1] + vectors.y_shift,
        counts=vectors.counts,
        kept=shares.min(axis=1, initial=1.0),
    )
    return problems, sure


def from_rows(columns: Columns, data: Dataset, rows: Rows, *, scale: bool) -> tuple[Problems, Floats]:
    """One problem and its centred and scaled rows, where there are more columns than rows: products of columns
    would be the larger. Raises LostDigits where only scikit-learn's own fit will do."""
    width = data.X.shape[1]
    x = data.X[rows].astype(np.float64)
    y = data.Y[rows, 0]
    shift = data.shift.x
    x -= shift
    centre = x.mean(axis=0)
    x -= centre
    still = np.ptp(x, axis=0) == 0
    x[:, still] = 0.0
    y_centre = float(y.mean())
    u = y - y_centre
    scaled = columns.flags("scaled", width)
    unit = scales((x * x).mean(axis=0), centre + shift, len(rows), scaled) if scaled.any() else np.ones(width)
    x /= unit
    y_unit = 1.0
    counts = np.array([len(rows)])
    if scale:
        if not _sum_exactly(still[None], (centre + shift)[None], counts).all():
            raise LostDigits
        inside = x.std(axis=0, ddof=1)
        inside[still] = 1.0
        x /= inside
        unit = unit * inside
        y_unit = float(u.std(ddof=1)) or 1.0
        u = u / y_unit
    d = u @ x
    if not scale and not _is_large(np.array([u @ u]), np.array([np.linalg.norm(d)]), counts).all():
        raise LostDigits
    problem = Problems(
        inside=np.ones((1, width)),
        d=d[None],
        size=np.sqrt(np.einsum("ij,ij->j", x, x))[None],
        length=np.array([np.linalg.norm(u)]),
        unit=unit[None],
        y_unit=np.array([y_unit]),
        shift=shift,
        centre=centre[None],
        y_centre=np.array([y_centre]),
        counts=counts,
        kept=np.ones(1),
    )
    return problem, x


def _sum_exactly(still: Bools, values: Floats, counts: NDArray[np.int64]) -> Bools:
    """Sets × columns to sets: where the mean of equal numbers is not that number, scikit-learn divides a rounding
    error by another."""
    found = np.ones(len(still), dtype=bool)
    for place in np.flatnonzero(still.any(axis=1)).tolist():
        found[place] = sums_exactly(values[place][still[place]], int(counts[place])).all()
    return found


def _is_large(square: Floats, product: Floats, counts: NDArray[np.int64]) -> Bools:
    """Of unscaled targets: scikit-learn's thresholds are absolute, and far below 1 they decide."""
    return np.asarray((np.sqrt(square / counts) >= SMALLEST_TARGET) & (product >= 1e-9 * square))


def sums_exactly(values: Floats, count: int) -> NDArray[np.bool_]:
    """Whether `count` times each value, and all sums on the way, are exact in floating point.

    >>> sums_exactly(np.array([0.0, 3.0, 0.1]), 50).tolist()
    [True, True, False]
    """
    mantissa, _ = np.frexp(values)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return np.asarray(whole % (1 << int(count).bit_length()) == 0)
