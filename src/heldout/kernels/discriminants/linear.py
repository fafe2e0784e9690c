"""Linear discriminants of one training set, for all shrinkages at once.

With W the shrunk scatter within classes, and mᵢ the class means relative to a centre a, the discriminant of class i is
(x − a)ᵀW⁻¹mᵢ − ½mᵢᵀW⁻¹mᵢ + log πᵢ. One eigendecomposition of W serves every shrinkage s: its eigenvalues become
(1 − s)λ + s·tr(W)/p. Another centre changes the discriminants of all classes by the same number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heldout.kernels.discriminants.classes import Classes, amplified
from heldout.kernels.discriminants.forms import Form
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, Floats, Undecided

HOPELESS = 1e-4  # a relative error of the scatter in its narrowest direction above this is beyond estimating
WHOLE = float(1 << 30)  # sums of whole numbers are exact up to here
BORDER = 1e-6  # relative: nearer to a tolerance than this, rounding decides on which side a value is


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Directions:
    """Holds the inverse scatter as basis · diag(inverse) · basisᵀ, on unscaled columns."""

    basis: Floats  # columns × directions
    inverse: Floats  # directions × candidates
    unit: Floats  # columns: basis · unit has orthonormal directions
    error: Floats  # candidates: error bound of the scatter matrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linear:
    """Discriminants (x − shift)·coef + constant, and what bounds their rounding errors.

    With two classes each row and candidate has one number, the difference. With more there is one for each class. A
    last one is added to all classes where decision values are asked for, since their zero depends on the centring.
    """

    coef: Floats  # columns × candidates × numbers
    constant: Floats  # candidates × numbers
    shift: Floats
    centre: Floats  # columns, less the shift
    directions: Directions
    origin: Floats  # candidates: how far the centre lies from zero, where scikit-learn does not centre
    size: Floats  # candidates: how long the class means are, in the coordinates of the inverse
    steep: Floats  # columns × candidates: the largest |coefficient|
    fixed: Floats  # candidates: errors that do not depend on the held-out row

    def errors(self, largest: Floats, x: Floats | None = None) -> Floats:
        """Return how far rounding may move a number of each candidate, given the largest |x − shift| of each column.

        With the rows themselves (`x`, less the shift) the bound is closer.
        """
        inverse = self.directions.inverse
        with np.errstate(over="ignore", invalid="ignore"):
            if x is None:
                far = np.linalg.norm((largest + np.abs(self.centre)) / self.directions.unit) * inverse.max(axis=0)
            else:
                along = (x - self.centre) @ self.directions.basis
                far = np.sqrt((along**2 @ inverse**2).max(axis=0, initial=0.0))
            through = self.directions.error * (self.origin + far) * (self.origin + self.size)
            read = ROUNDINGS * EPS * ((largest + np.abs(self.shift)) @ self.steep)
            return np.asarray(through + read + self.fixed)


def solve_linear(form: Form, classes: Classes, shrinkages: Floats, *, zero_matters: bool) -> Linear:
    """Return the discriminants of every shrinkage. Raises Undecided where scikit-learn's own fit must answer."""
    priors = classes.priors(form)
    shares = priors if form.whitens else classes.counts / classes.rows
    centre = shares @ classes.means
    means = classes.means - centre
    directions = _whitened(form, classes) if form.whitens else _shrunk(form, classes, shrinkages)
    along = directions.basis.T @ means.T  # directions × classes
    if form.whitens:
        along = _between(form, classes.rows * priors, along, directions.inverse[:, 0])
        inverse, error = (
            np.repeat(directions.inverse, len(shrinkages), axis=1),
            np.repeat(directions.error, len(shrinkages)),
        )
        directions = replace(directions, inverse=inverse, error=error)
    inverse = directions.inverse
    zero = directions.basis.T @ (centre - classes.centre)
    if form.whitens:  # scikit-learn has its zero at the centre
        zero = np.zeros_like(zero)
    origin = np.sqrt(zero**2 @ inverse**2)
    numbers, constant = _numbers(along, inverse, np.log(priors), zero if zero_matters else None)
    columns, count = len(centre), len(shrinkages)
    coef = (directions.basis @ numbers.reshape(len(inverse), -1)).reshape(columns, count, -1)
    steep = np.abs(coef).max(axis=2)
    # scikit-learn adds up rows one after the other for means of columns that are not centred
    fixed = EPS * np.sqrt(classes.rows) * (~classes.centred * np.abs(centre + classes.shift)) @ steep
    return Linear(
        coef=coef,
        constant=constant - np.tensordot(centre, coef, axes=1),
        shift=classes.shift,
        centre=centre,
        directions=directions,
        origin=origin,
        size=np.sqrt((along[:, :, None] ** 2 * inverse[:, None, :] ** 2).sum(axis=0).max(axis=0)),
        steep=steep,
        fixed=fixed,
    )


def _numbers(along: Floats, inverse: Floats, logs: Floats, zero: Floats | None) -> tuple[Floats, Floats]:
    """Return coefficients (directions × candidates × numbers) and constants (candidates × numbers)."""
    if along.shape[1] == 2:
        ahead, both = along[:, 1] - along[:, 0], along[:, 1] + along[:, 0]
        constant = -0.5 * (ahead * both) @ inverse + (logs[1] - logs[0])
        return (inverse * ahead[:, None])[:, :, None], constant[:, None]
    numbers = inverse[:, :, None] * along[:, None, :]
    constant = -0.5 * np.einsum("jk,js->sk", along**2, inverse) + logs
    if zero is None:
        return numbers, constant
    numbers = np.concatenate([numbers, (inverse * zero[:, None])[:, :, None]], axis=2)
    return numbers, np.concatenate([constant, 0.5 * (zero**2 @ inverse)[:, None]], axis=1)


def within(form: Form, classes: Classes) -> tuple[Floats, float]:
    """Return the scatter within classes as a covariance of scaled columns, and by what factor rounding errors grew."""
    if form.whitens or form.priors is None:
        weights = np.full(len(classes.counts), 1.0 / classes.rows)
    else:
        weights = np.array(form.priors) / classes.counts
    matrix = np.tensordot(weights, classes.scatter, axes=1) / np.outer(classes.scale, classes.scale)
    return matrix, amplified(weights @ classes.spread, weights @ classes.reach)


def _shrunk(form: Form, classes: Classes, shrinkages: Floats) -> Directions:
    """Return the inverse scatter of solvers "lsqr" and "eigen", which shrink."""
    matrix, grown = within(form, classes)
    values, vectors = np.linalg.eigh(matrix)
    target = float(np.trace(matrix)) / len(matrix)
    shrunk = np.maximum(values, 0.0)[:, None] * (1.0 - shrinkages) + shrinkages * target
    error = ROUNDINGS * EPS * grown * shrunk[-1]
    if not (error <= HOPELESS * shrunk[0]).any():
        raise Undecided
    with np.errstate(divide="ignore"):
        inverse = np.where(error <= HOPELESS * shrunk[0], 1.0 / shrunk, np.nan)
    return Directions(basis=vectors / classes.scale[:, None], inverse=inverse, unit=classes.scale, error=error)


def _whitened(form: Form, classes: Classes) -> Directions:
    """Return the inverse scatter of solver "svd", which scales columns to equal spread within classes.

    Directions narrower than `tol` are dropped, as in scikit-learn.
    """
    matrix, grown = within(form, classes)
    spread = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    _check_spread(classes, spread)
    still = spread == 0
    unit = np.where(still, 1.0, spread)
    values, vectors = np.linalg.eigh(matrix / np.outer(unit, unit))
    error = ROUNDINGS * EPS * grown * float(values[-1])
    limit = form.tol**2
    kept = values > limit
    if (np.abs(values - limit) <= BORDER * limit + error).any() or (values[kept] * HOPELESS < error).any():
        raise Undecided
    if not kept.any():  # nothing spreads within classes, and scikit-learn's own fit fails
        raise Undecided
    unit = unit * classes.scale
    basis = vectors[:, kept] / unit[:, None]
    return Directions(basis=basis, inverse=1.0 / values[kept][:, None], unit=unit, error=np.array([error]))


def _check_spread(classes: Classes, spread: Floats) -> None:
    """Raise Undecided where rounding decides whether a column varies within classes.

    scikit-learn leaves a column without spread unscaled; a spread that is only rounding error would be blown up. Only
    exact zeros of whole numbers are sure.
    """
    raw = classes.means + classes.shift
    middle = np.abs(raw).max(axis=0)
    still = spread == 0
    noisy = ~still & (spread * classes.scale <= 100 * classes.rows * EPS * middle)
    whole = (raw == np.round(raw)).all(axis=0) & (middle * classes.rows < WHOLE)
    if classes.prepared:
        whole &= (raw == raw[0]).all(axis=0)
    if (noisy | (still & ~whole)).any():
        raise Undecided


def _between(form: Form, weights: Floats, along: Floats, inverse: Floats) -> Floats:
    """Return the class means without the directions in which they hardly differ, which scikit-learn drops."""
    roots = np.sqrt(inverse)[:, None]
    inside = (along * roots).T  # classes × directions
    _, sizes, turned = np.linalg.svd(np.sqrt(weights / (len(weights) - 1))[:, None] * inside, full_matrices=False)
    limit = form.tol * sizes[0]
    gone = sizes <= 1e-10 * sizes[0]  # the means lie in one dimension less than there are classes
    if (np.abs(sizes - limit) <= BORDER * limit).any() or (gone & (sizes > limit) & (form.tol > 0)).any():
        raise Undecided
    turned = turned[sizes > limit]
    return np.asarray((inside @ turned.T @ turned).T / roots)
