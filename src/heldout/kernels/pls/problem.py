"""One training set as partial least squares sees it: centred and scaled products, or the centred rows themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.pls.forms import Form
from heldout.kernels.ridge.design import Design, Floats
from heldout.kernels.ridge.normal import LEFT_OF_DIGITS, LostDigits, scales
from heldout.kernels.ridge.sums import Sums, sum_rows_apart

SMALLEST_TARGET = 1e-4  # of an unscaled target's deviation: scikit-learn takes what is below 2e-15 for constant


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Columns and target in the units in which components are found, and the way back."""

    C: Floats | None  # columns × columns, not centred and not divided by `inside`; None where `rows` are there
    inside: Floats  # columns
    rows: Floats | None  # rows × columns, centred and scaled
    d: Floats
    size: Floats  # columns: their lengths
    length: float  # of the target
    unit: Floats  # columns: coefficients are divided by these
    y_unit: float
    shift: Floats  # X's columns, before anything else
    centre: Floats  # the model's columns, less their shift
    offset: Floats  # the model's columns: their means
    y_centre: float
    count: int
    kept: float  # share of the digits that subtraction has left, at worst


def from_sums(form: Form, sums: Sums, design: Design, rows: Rows) -> Problem:
    """From sums of products; from sums made of the rows themselves where subtraction lost digits."""
    try:
        return _from_sums(form, sums)
    except LostDigits:
        return _from_sums(form, sum_rows_apart(design, rows))


def _from_sums(form: Form, sums: Sums) -> Problem:
    """All of it in vectors: the products stay as they are, and are centred and scaled as they are used."""
    M, reach, count = sums.grams[0], np.maximum(sums.reach[0], np.diagonal(sums.grams[0])), int(sums.counts.sum())
    mean = M[:, -1] / count
    squares = np.diagonal(M) - count * mean**2
    y = len(M) - 2
    places = slice(0, y) if form.columns.places is None else np.array(form.columns.places, dtype=np.intp)
    C = M[:y, :y] if form.columns.places is None else M[np.ix_(form.columns.places, form.columns.places)]
    left, shift, centre = squares[places], sums.shift.x[places], mean[places]
    if not np.isfinite(squares).all():
        raise LostDigits
    _check_left(left, reach[places])
    _check_left(squares[y:-1], reach[y:-1])
    some = left > 0
    scaled = form.columns.flags("scaled", len(left))
    unit = scales(left / count, centre + shift, count, scaled) if scaled.any() else np.ones(len(left))
    d = (M[:y, y][places] - count * centre * mean[y]) / unit
    inside, y_unit = _own_scale(form, left / unit**2, centre + shift, (float(squares[y]), d, count))
    whole = unit * inside
    return Problem(
        C=C,
        inside=whole,
        rows=None,
        d=d / (inside * y_unit),
        size=np.sqrt(np.maximum(left, 0.0)) / whole,
        length=float(np.sqrt(squares[y])) / y_unit,
        unit=whole,
        y_unit=y_unit,
        shift=shift,
        centre=centre,
        offset=centre + shift,
        y_centre=float(mean[y] + sums.shift.y[0]),
        count=count,
        kept=float((left[some] / reach[places][some]).min(initial=1.0)),
    )


def _check_left(left: Floats, reach: Floats) -> None:
    if (left < LEFT_OF_DIGITS * reach).any():
        raise LostDigits


def _own_scale(form: Form, squares: Floats, means: Floats, target: tuple[float, Floats, int]) -> tuple[Floats, float]:
    """What PLSRegression divides columns and target by."""
    yy, d, count = target
    if not form.scale:
        _check_unscaled(yy, float(np.linalg.norm(d)), count)
        return np.ones(len(squares)), 1.0
    _check_constant(squares == 0, means, count)
    inside = np.where(squares > 0, np.sqrt(np.maximum(squares, 0.0) / (count - 1)), 1.0)
    return inside, float(np.sqrt(yy / (count - 1))) or 1.0


def from_rows(form: Form, design: Design, rows: Rows) -> Problem:
    """From the rows themselves, where there are more columns than rows: products of columns would be the larger."""
    width = design.X.shape[1]
    places = _places(form, width)
    x = design.X[rows][:, places].astype(np.float64)
    y = design.Y[rows, 0]
    shift = design.shift.x[places]
    x -= shift
    centre = x.mean(axis=0)
    x -= centre
    still = np.ptp(x, axis=0) == 0
    x[:, still] = 0.0
    y_centre = float(y.mean())
    u = y - y_centre
    scaled = form.columns.flags("scaled", len(places))
    unit = scales((x * x).mean(axis=0), centre + shift, len(rows), scaled) if scaled.any() else np.ones(len(places))
    x /= unit
    y_unit = 1.0
    if form.scale:
        _check_constant(still, centre + shift, len(rows))
        inside = x.std(axis=0, ddof=1)
        inside[still] = 1.0
        x /= inside
        unit = unit * inside
        y_unit = float(u.std(ddof=1)) or 1.0
        u = u / y_unit
    d = u @ x
    if not form.scale:
        _check_unscaled(float(u @ u), float(np.linalg.norm(d)), len(rows))
    return Problem(
        C=None,
        inside=np.ones(len(places)),
        rows=x,
        d=d,
        size=np.sqrt(np.einsum("ij,ij->j", x, x)),
        length=float(np.linalg.norm(u)),
        unit=unit,
        y_unit=y_unit,
        shift=shift,
        centre=centre,
        offset=centre + shift,
        y_centre=y_centre,
        count=len(rows),
        kept=1.0,
    )


def _places(form: Form, width: int) -> NDArray[np.intp]:
    return np.arange(width) if form.columns.places is None else np.array(form.columns.places, dtype=np.intp)


def _check_constant(still: NDArray[np.bool_], value: Floats, count: int) -> None:
    """Where the mean of equal numbers is not that number, scikit-learn divides a rounding error by another."""
    if still.any() and not sums_exactly(value[still], count).all():
        raise LostDigits


def _check_unscaled(square: float, product: float, count: int) -> None:
    """scikit-learn's thresholds are absolute: far below 1 they decide."""
    if not np.sqrt(square / count) >= SMALLEST_TARGET or not product >= 1e-9 * square:
        raise LostDigits


def sums_exactly(values: Floats, count: int) -> NDArray[np.bool_]:
    """Whether `count` times each value, and all sums on the way, are exact in floating point.

    >>> sums_exactly(np.array([0.0, 3.0, 0.1]), 50).tolist()
    [True, True, False]
    """
    mantissa, _ = np.frexp(values)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return np.asarray(whole % (1 << int(count).bit_length()) == 0)
