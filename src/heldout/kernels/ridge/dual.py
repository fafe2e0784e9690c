"""More columns than rows: the same predictors from the products of rows."""

from __future__ import annotations

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.ridge.design import Design, Floats, Shift, column_shift
from heldout.kernels.ridge.forms import Form
from heldout.kernels.ridge.normal import LEFT_OF_DIGITS, LostDigits, Normal, balanced_weights, scales
from heldout.kernels.ridge.solve import Solved, Spectrum, as_solved, inverses, is_doubtful


def solve_dual(design: Design, form: Form, rows: Rows, alphas: Floats) -> Solved:
    """The predictors trained on these rows, from the eigendecomposition of their kernel matrix."""
    normal, Z, Y = _scaled_rows(design, form, rows)
    values, vectors = np.linalg.eigh(Z @ Z.T)
    inverse = inverses(values, alphas, form.cutoff)
    with np.errstate(over="ignore", invalid="ignore"):
        inside = inverse[:, :, None] * (vectors.T @ Y)[:, None, :]
        basis = Z.T @ vectors
        weights = np.tensordot(basis, inside, axes=1)
        doubtful = tuple(np.flatnonzero(is_doubtful(values, inverse)).tolist())
        spectra: dict[tuple[int, ...], Spectrum] = {}
        if doubtful:
            length = np.sqrt((inside[:, doubtful] ** 2).sum(axis=(0, 2)))
            size = float(values[-1]) * length + np.sqrt((Y**2).sum())
            if form.cutoff is None:
                # Centred rows have a direction of no length, in which scikit-learn's own rounding grows as 1/alpha:
                # no bound on ours tells how near its answer is, so these alphas are its to fit.
                size = np.full_like(size, np.inf)
            spectra[doubtful] = Spectrum(basis=basis, inverse=inverse[:, doubtful], size=size)
    return as_solved(normal, weights, spectra)


def _scaled_rows(design: Design, form: Form, rows: Rows) -> tuple[Normal, Floats, Floats]:
    """The training rows and targets as the model sees them, times the root of their weights."""
    places = slice(None) if form.columns.places is None else list(form.columns.places)
    own = Shift(x=column_shift(design.X, rows)[places], y=column_shift(design.Y, rows))
    Z = design.X.take(rows, axis=0)[:, places].astype(np.float64)
    Z -= own.x
    Y = design.Y.take(rows, axis=0) - own.y
    weight = _row_weights(design, rows)
    count, width = Z.shape
    mean = Z.mean(axis=0)
    if form.intercept:
        centre = mean if weight is None else weight @ Z / weight.sum()
        y_centre = Y.mean(axis=0) if weight is None else weight @ Y / weight.sum()
    else:
        centre = np.where(form.columns.flags("centred", width), mean, -own.x)
        y_centre = -own.y
    squares = np.einsum("ij,ij->j", Z, Z)
    about = squares - count * mean**2
    scaled = form.columns.flags("scaled", width)
    scale = np.ones(width)
    if scaled.any():
        if (about[scaled] < LEFT_OF_DIGITS * squares[scaled]).any():
            raise LostDigits
        scale = scales(about / count, mean + own.x, count, scaled)
    Z -= centre
    Z /= scale
    Y = Y - y_centre
    if weight is not None:
        root = np.sqrt(weight)[:, None]
        Z *= root
        Y = Y * root
    if not (np.isfinite(Z).all() and np.isfinite(Y).all()):
        raise LostDigits
    empty = np.empty((0, 0))
    normal = Normal(
        C=empty,
        d=empty,
        yy=np.empty(0),
        centre=centre,
        y_centre=y_centre,
        scale=scale,
        weight=float(count if weight is None else weight.sum()),
        count=count,
        squares=about,
        mean=mean,
        shift=own,
        intercept=form.intercept,
    )
    return normal, Z, Y


def _row_weights(design: Design, rows: Rows) -> Floats | None:
    weight = None if design.weight is None else design.weight[rows]
    if design.strata is None:
        return weight
    codes = design.strata[rows]
    balanced = balanced_weights(np.bincount(codes, minlength=design.strata_count))[codes]
    return balanced if weight is None else weight * balanced
