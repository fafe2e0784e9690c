"""Normal equations of one training set, on its centred and scaled columns, from its sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.designs.columns import Columns
from heldout.kernels.sums.dataset import Dataset
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


def equations_of_rows(
    columns: Columns, data: Dataset, rows: Rows, *, intercept: bool
) -> tuple[Equations, Floats, Floats]:
    """The same without products of columns, and the training rows and targets as the model sees them.

    Rows and targets are multiplied by the root of their weights.
    """
    shift = data.own_shift(rows)
    Z = data.X.take(rows, axis=0).astype(np.float64)
    Z -= shift.x
    Y = data.Y.take(rows, axis=0) - shift.y
    weight = _row_weights(data, rows)
    count, width = Z.shape
    mean = Z.mean(axis=0)
    if intercept:
        centre = mean if weight is None else weight @ Z / weight.sum()
        y_centre = Y.mean(axis=0) if weight is None else weight @ Y / weight.sum()
    else:
        centre = np.where(columns.flags("centred", width), mean, -shift.x)
        y_centre = -shift.y
    squares = np.einsum("ij,ij->j", Z, Z)
    about_mean = squares - count * mean**2
    scale, scaled = np.ones(width), columns.flags("scaled", width)
    if scaled.any():
        check_digits(about_mean[scaled], squares[scaled], squares[scaled])
        scale = scales(about_mean / count, mean + shift.x, count, scaled)
    Z -= centre
    Z /= scale
    Y = Y - y_centre
    if weight is not None:
        root = np.sqrt(weight)[:, None]
        Z *= root
        Y = Y * root
    if not (np.isfinite(Z).all() and np.isfinite(Y).all()):
        raise LostDigits
    equations = Equations(
        C=np.empty((0, 0)),
        d=np.empty((0, 0)),
        yy=np.empty(0),
        centre=centre,
        y_centre=y_centre,
        scale=scale,
        weight=float(count if weight is None else weight.sum()),
        count=count,
        squares=about_mean,
        mean=mean,
        shift=shift,
        intercept=intercept,
    )
    return equations, Z, Y


def _row_weights(data: Dataset, rows: Rows) -> Floats | None:
    weight = None if data.weight is None else data.weight[rows]
    if data.codes is None:
        return weight
    codes = data.codes[rows]
    balanced: Floats = balanced_weights(np.bincount(codes, minlength=data.class_count))[codes]
    return balanced if weight is None else weight * balanced
