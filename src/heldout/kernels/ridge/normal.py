"""Normal equations of one form on one training set, from its sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.ridge.design import Floats, Shift
from heldout.kernels.ridge.forms import Form
from heldout.kernels.ridge.sums import Sums

LEFT_OF_DIGITS = 1e-4  # a sum of squares below this share of what it was subtracted from has lost four digits
EPS = float(np.finfo(np.float64).eps)


class LostDigits(Exception):
    """Subtraction left too few digits: the sums must be made from the rows themselves."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Normal:
    """(C/σσᵀ + αI)·w = d/σ, with what is needed to predict: all in the coordinates of `shift`."""

    C: Floats  # columns × columns, scaled
    d: Floats  # columns × targets, scaled
    yy: Floats  # targets: sums of squares about the centre
    centre: Floats  # columns, less the shift
    y_centre: Floats  # targets, less the shift: what is added back
    scale: Floats  # columns
    weight: float  # sum of row weights
    count: int
    squares: Floats  # columns: unweighted sums of squares about the mean, unscaled
    mean: Floats  # columns: unweighted means, less the shift
    shift: Shift
    intercept: bool


def balanced_weights(counts: NDArray[np.int64]) -> Floats:
    """What class_weight="balanced" gives each class."""
    return np.asarray(counts.sum() / (len(counts) * counts))


def normal_equations(form: Form, sums: Sums, *, strata_weights: Floats | None = None) -> Normal:
    """The equations of this form. Raises LostDigits where the sums were subtracted down to rounding errors."""
    if strata_weights is None and len(sums.counts) > 1:
        strata_weights = balanced_weights(sums.counts)
    M, reach = _weighed(sums, strata_weights)
    if not np.isfinite(M).all():
        raise LostDigits
    count = int(sums.counts.sum())
    columns = len(sums.shift.x)
    targets = M.shape[0] - columns - 1
    total, square, square_reach = _unweighted(sums, M, reach, columns)
    places = np.arange(columns) if form.columns.places is None else np.array(form.columns.places)
    keep = np.concatenate([places, columns + np.arange(targets), [M.shape[0] - 1]])
    if form.columns.places is not None:
        M, reach = M[np.ix_(keep, keep)], reach[keep]
    total, square, square_reach = total[places], square[places], square_reach[places]
    shift = Shift(x=sums.shift.x[places], y=sums.shift.y)
    weight = float(M[-1, -1])
    mean = total / count
    centre, y_centre = centres(form, M, shift, mean)
    G = _about(M, np.concatenate([centre, y_centre]), intercept=form.intercept)
    _check_digits(np.diagonal(G), reach[:-1], np.diagonal(M)[:-1])
    squares = square - count * mean**2
    scale = np.ones(len(places))
    scaled = form.columns.flags("scaled", len(places))
    if scaled.any():
        _check_digits(squares[scaled], square_reach[scaled], square[scaled])
        scale = scales(squares / count, mean + shift.x, count, scaled)
    width = len(places)
    yy = np.diagonal(G)[width:].copy()
    if scaled.any():
        G[:width] /= scale[:, None]
        G[:width, :width] /= scale
    C, d = G[:width, :width], G[:width, width:]
    return Normal(
        C=C,
        d=d,
        yy=yy,
        centre=centre,
        y_centre=y_centre if form.intercept else -shift.y,
        scale=scale,
        weight=weight,
        count=count,
        squares=squares,
        mean=mean,
        shift=shift,
        intercept=form.intercept,
    )


def _weighed(sums: Sums, weights: Floats | None) -> tuple[Floats, Floats]:
    if weights is None:
        return sums.grams[0], sums.reach[0]
    return np.tensordot(weights, sums.grams, axes=1), weights @ sums.reach


def _unweighted(sums: Sums, M: Floats, reach: Floats, columns: int) -> tuple[Floats, Floats, Floats]:
    """Σx, Σx² and its reach without row weights: what a scaler sees."""
    if sums.plain is not None and sums.plain_reach is not None:
        return sums.plain[0], sums.plain[1], sums.plain_reach
    if len(sums.counts) == 1:
        return M[:columns, -1], np.diagonal(M)[:columns], reach[:columns]
    every = sums.grams.sum(axis=0)
    return every[:columns, -1], np.diagonal(every)[:columns], sums.reach.sum(axis=0)[:columns]


def centres(form: Form, M: Floats, shift: Shift, mean: Floats) -> tuple[Floats, Floats]:
    """The means that columns and targets are centred by."""
    if form.intercept:
        middle = M[:-1, -1] / M[-1, -1]
        return middle[: len(mean)], middle[len(mean) :]
    centred = form.columns.flags("centred", len(mean))
    return np.where(centred, mean, -shift.x), -shift.y


def _about(M: Floats, centre: Floats, *, intercept: bool) -> Floats:
    """Products about a centre: about the weighted mean three of the four terms are one."""
    sums = M[:-1, -1]
    if intercept:
        products = np.multiply.outer(sums, centre)
        return np.subtract(M[:-1, :-1], products, out=products)
    cross = np.outer(sums, centre)
    return np.asarray(M[:-1, :-1] - cross - cross.T + M[-1, -1] * np.outer(centre, centre))


def _check_digits(left: Floats, reach: Floats, now: Floats) -> None:
    if (left < LEFT_OF_DIGITS * np.maximum(reach, now)).any():
        raise LostDigits


def scales(variance: Floats, mean: Floats, count: int, scaled: NDArray[np.bool_]) -> Floats:
    """Standard deviations, 1 for columns that StandardScaler takes for constant."""
    found, doubtful = scales_and_doubts(variance, mean, count, scaled)
    if doubtful.any():
        raise LostDigits
    return found


def scales_and_doubts(
    variance: Floats, mean: Floats, count: int | NDArray[np.int64], scaled: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Standard deviations, and where rounding decides whether the column counts as constant."""
    bound = (count * mean * EPS) ** 2
    constant = variance <= count * EPS * variance + bound
    doubtful = (variance > 0.1 * bound) & (variance < 10 * bound) & scaled
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(scaled & ~constant, np.sqrt(variance), 1.0)), doubtful
