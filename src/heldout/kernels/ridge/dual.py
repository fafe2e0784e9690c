"""More columns than rows: the same predictors from the products of rows."""

from __future__ import annotations

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.designs.equations import Equations, balanced_weights
from heldout.kernels.designs.linear import LinearPredictors, Spectrum, linear_predictors
from heldout.kernels.driver.contract import Group
from heldout.kernels.ridge.solve import inverses, is_doubtful
from heldout.kernels.sums.dataset import Dataset
from heldout.kernels.sums.rounding import Floats, LostDigits, check_digits, scales


def solve_dual(group: Group, rows: Rows) -> LinearPredictors:
    """The predictors trained on these rows, from the eigendecomposition of their kernel matrix."""
    cutoff = group.form.cutoff
    equations, Z, Y = _scaled_rows(group, rows)
    values, vectors = np.linalg.eigh(Z @ Z.T)
    inverse = inverses(values, group.values, cutoff)
    with np.errstate(over="ignore", invalid="ignore"):
        along = inverse[:, :, None] * (vectors.T @ Y)[:, None, :]
        basis = Z.T @ vectors
        weights = np.tensordot(basis, along, axes=1)
        doubtful = tuple(np.flatnonzero(is_doubtful(values, inverse)).tolist())
        checks: dict[tuple[int, ...], Spectrum] = {}
        if doubtful:
            length = np.sqrt((along[:, doubtful] ** 2).sum(axis=(0, 2)))
            size = float(values[-1]) * length + np.sqrt((Y**2).sum())
            if cutoff is None:
                # Centred rows have a direction of no length, in which scikit-learn's own rounding grows as 1/alpha:
                # no bound on ours tells how near its answer is, so these alphas are left to it.
                size = np.full_like(size, np.inf)
            checks[doubtful] = Spectrum(basis=basis, inverse=inverse[:, doubtful], size=size)
    return linear_predictors(equations, weights, checks)


def _scaled_rows(group: Group, rows: Rows) -> tuple[Equations, Floats, Floats]:
    """The training rows and targets as the model sees them, times the root of their weights."""
    data, columns, intercept = group.data, group.columns, group.form.intercept
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
        C=np.empty((0, 0)),  # the products of rows take its place
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
