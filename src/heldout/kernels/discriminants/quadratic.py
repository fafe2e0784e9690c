"""Quadratic discriminants of one training set, for all shrinkages at once.

The discriminant of class i is −½((x − mᵢ)ᵀΣᵢ⁻¹(x − mᵢ) + log det Σᵢ) + log πᵢ. One eigendecomposition of each class's
covariance serves every shrinkage: eigenvalues become (1 − r)λ + r, or (1 − s)λ + s·tr(Σᵢ)/p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.kernels.discriminants.classes import Classes, amplified
from heldout.kernels.discriminants.forms import Form
from heldout.kernels.discriminants.linear import BORDER, HOPELESS
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, Floats, Undecided


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """Holds one class: its mean, the eigenvectors of its covariance, and the inverse variances for each candidate."""

    mean: Floats  # columns, less the shift
    basis: Floats  # columns × directions, on unscaled columns
    inverse: Floats  # directions × candidates; NaN where the candidate is left to brute force
    constant: Floats  # candidates: what is added to −½ of the squared distance
    error: Floats  # candidates: error bound of the covariance
    unsteady: Floats  # candidates: how far an error of the mean, and of reading a row, may move a distance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quadratic:
    """Holds the discriminants of each class, and what bounds their rounding errors."""

    shapes: tuple[Shape, ...]
    shift: Floats
    scale: Floats

    def scores(self, x: Floats) -> tuple[Floats, Floats]:
        """Return scores (rows × candidates × classes) of rows less the shift, and their error bound by candidate."""
        count = self.shapes[0].inverse.shape[1]
        scores = np.empty((len(x), count, len(self.shapes)))
        errors = np.zeros(count)
        reading = EPS * float(np.abs((x + self.shift) / self.scale).max(initial=0.0))
        for place, shape in enumerate(self.shapes):
            along = x @ shape.basis
            along -= shape.mean @ shape.basis
            distance = np.square(along, out=along) @ shape.inverse
            scores[:, :, place] = -0.5 * distance + shape.constant
            # the squared length of the inverse covariance times the vector from the mean
            steep = (along @ shape.inverse**2).max(axis=0, initial=0.0)
            whole = shape.inverse.sum(axis=0)
            with np.errstate(over="ignore", invalid="ignore"):
                moved = np.sqrt(distance.max(axis=0, initial=0.0)) * (shape.unsteady + reading * np.sqrt(whole))
                errors = np.maximum(errors, shape.error * (steep + whole) + 4.0 * moved)
        return scores, errors


def solve_quadratic(form: Form, classes: Classes, shrinkages: Floats) -> Quadratic:
    """Return the discriminants of every shrinkage. Raises Undecided where scikit-learn's own fit must answer."""
    columns = len(classes.shift)
    fewest = columns if form.solver == "svd" else 2
    if (classes.counts < max(2, fewest)).any():
        raise Undecided
    logs = np.log(classes.priors(form))
    shapes = tuple(_shape(form, classes, kind, shrinkages, logs[kind]) for kind in range(len(logs)))
    if np.isnan(sum(shape.inverse.sum(axis=0) for shape in shapes)).all():
        raise Undecided
    return Quadratic(shapes=shapes, shift=classes.shift, scale=classes.scale)


def _shape(form: Form, classes: Classes, kind: int, shrinkages: Floats, log_prior: float) -> Shape:
    count, scale = classes.counts[kind], classes.scale
    values, vectors = np.linalg.eigh(classes.scatter[kind] / np.outer(scale, scale) / count)
    target = max(float(values.sum()) / len(values), 0.0) if form.to_trace else 1.0
    shrunk = np.maximum(values, 0.0)[:, None] * (1.0 - shrinkages) + shrinkages * target
    grown = amplified(np.diagonal(classes.scatter[kind]), classes.reach[kind])
    middle = np.linalg.norm((classes.means[kind] - classes.centre) / scale)
    error = ROUNDINGS * EPS * grown * shrunk[-1]
    sure = (shrunk[0] > form.tol * (1.0 + BORDER) + error) & (error <= HOPELESS * shrunk[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(sure, 1.0 / shrunk, np.nan)
        return Shape(
            mean=classes.means[kind],
            basis=vectors / scale[:, None],
            inverse=inverse,
            constant=-0.5 * np.log(shrunk).sum(axis=0) + log_prior,
            error=error,
            unsteady=EPS * np.sqrt(count) * middle * np.sqrt(inverse[0]),
        )
