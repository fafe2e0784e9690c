"""Normal equations of one training set, on its centred and scaled columns, from its sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.designs.columns import Columns
from heldout.kernels.sums.rounding import Floats, LostDigits, check_digits, scales
from heldout.kernels.sums.shifts import Shift
from heldout.kernels.sums.sums import Sums


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Equations:
    """(C + αI)·w = d in scaled columns, with what is needed to predict: all in the coordinates of `shift`."""

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


def normal_equations(
    columns: Columns, sums: Sums, *, intercept: bool, class_weights: Floats | None = None
) -> Equations:
    """The equations. Raises LostDigits where the sums were subtracted down to rounding errors."""
    if class_weights is None and len(sums.counts) > 1:
        class_weights = balanced_weights(sums.counts)
    M, reach = sums.grams[0], sums.reach[0]
    if class_weights is not None:
        M, reach = np.tensordot(class_weights, sums.grams, axes=1), class_weights @ sums.reach
    if not np.isfinite(M).all():
        raise LostDigits
    count, width = int(sums.counts.sum()), len(sums.shift.x)
    total, square, square_reach = _unweighted(sums, width)
    weight, mean = float(M[-1, -1]), total / count
    if intercept:
        middle = M[:-1, -1] / weight
        centre, y_centre = middle[:width], middle[width:]
    else:
        centre, y_centre = np.where(columns.flags("centred", width), mean, -sums.shift.x), -sums.shift.y
    G = _about(M, np.concatenate([centre, y_centre]), intercept=intercept)
    check_digits(np.diagonal(G), reach[:-1], np.diagonal(M)[:-1])
    squares = square - count * mean**2
    scale, scaled = np.ones(width), columns.flags("scaled", width)
    yy = np.diagonal(G)[width:].copy()
    if scaled.any():
        check_digits(squares[scaled], square_reach[scaled], square[scaled])
        scale = scales(squares / count, mean + sums.shift.x, count, scaled)
        G[:width] /= scale[:, None]
        G[:width, :width] /= scale
    return Equations(
        C=G[:width, :width],
        d=G[:width, width:],
        yy=yy,
        centre=centre,
        y_centre=y_centre,
        scale=scale,
        weight=weight,
        count=count,
        squares=squares,
        mean=mean,
        shift=sums.shift,
        intercept=intercept,
    )


def _unweighted(sums: Sums, width: int) -> tuple[Floats, Floats, Floats]:
    """Σx, Σx² and how large Σx² was, without row weights: what a scaler sees."""
    if sums.plain is not None and sums.plain_reach is not None:
        plain = sums.plain.sum(axis=0)
        return plain[0], plain[1], sums.plain_reach.sum(axis=0)
    M = sums.grams[0] if len(sums.counts) == 1 else sums.grams.sum(axis=0)
    return M[:width, -1], np.diagonal(M)[:width], sums.reach.sum(axis=0)[:width]


def _about(M: Floats, centre: Floats, *, intercept: bool) -> Floats:
    """Products about a centre: about the weighted mean three of the four terms are one."""
    sums = M[:-1, -1]
    if intercept:
        products = np.multiply.outer(sums, centre)
        return np.subtract(M[:-1, :-1], products, out=products)
    cross = np.outer(sums, centre)
    return np.asarray(M[:-1, :-1] - cross - cross.T + M[-1, -1] * np.outer(centre, centre))
