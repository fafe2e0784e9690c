"""Solving the normal equations for every alpha at once, with an estimate of how far rounding may have gone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.normal import EPS, Normal

FEW_ALPHAS = 8  # an eigendecomposition takes about as long as ten Cholesky factors
SAFE_CONDITION = 3e4  # up to here rounding stays well inside the tier, whatever the held-out rows
WITHIN = 1e-9  # the tier: of the largest response of a cell
ROUNDINGS = 8.0  # rounding errors of products and factors, in units of the last place of the largest eigenvalue
CUT_MARGIN = 1e-13  # of the largest eigenvalue: nearer to the cutoff than this, rounding decides on which side


class Undecided(Exception):
    """Rounding decides which directions count: scikit-learn's own fit must answer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spectrum:
    """What a check of doubtful alphas needs: coordinates of a held-out row are ((x − shift) − centre)/scale · basis."""

    basis: Floats
    inverse: Floats  # directions × alphas: 1 / (λ + α), 0 where cut off
    size: Floats  # alphas: how large the errors of the right side and the matrix are


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solved:
    """Linear predictors, one for each alpha and target: (x − shift)·coef + constant."""

    coef: Floats  # columns × alphas × targets, on unscaled columns
    constant: Floats  # alphas × targets
    shift: Floats
    doubtful: NDArray[np.bool_]  # alphas that must pass the check on held-out rows
    centre: Floats
    scale: Floats
    spectrum: Spectrum | None  # where some alpha is doubtful


def solve(normal: Normal, alphas: Floats, *, cutoff: float | None) -> Solved:
    """The predictors for these alphas; `cutoff` is that of least squares, where alpha is 0."""
    if cutoff is None and len(alphas) <= FEW_ALPHAS:
        weights = _by_cholesky(normal, alphas)
        if weights is not None:
            return as_solved(normal, weights, doubtful=np.zeros(len(alphas), dtype=bool), spectrum=None)
    values, vectors = np.linalg.eigh(normal.C)
    inverse = inverses(values, alphas, cutoff)
    right = vectors.T @ normal.d
    with np.errstate(over="ignore", invalid="ignore"):
        inside = inverse[:, :, None] * right[:, None, :]
        weights = np.tensordot(vectors, inside, axes=1)
        doubtful = is_doubtful(values, inverse)
        spectrum = None
        if doubtful.any():
            largest = float(values[-1])
            length = np.sqrt((inside**2).sum(axis=(0, 2)))
            size = largest * length + np.sqrt(largest * normal.yy.sum())
            spectrum = Spectrum(basis=vectors, inverse=inverse, size=size)
    return as_solved(normal, weights, doubtful=doubtful, spectrum=spectrum)


def inverses(values: Floats, alphas: Floats, cutoff: float | None) -> Floats:
    """1/(λ+α) for each direction and alpha; for least squares, directions below the cutoff get 0."""
    positive = np.maximum(values, 0.0)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / (positive[:, None] + alphas)
    if cutoff is None:
        return np.asarray(inverse)
    largest = positive.max(initial=0.0)
    if largest == 0.0:
        return np.zeros_like(inverse)
    share = positive / largest
    limit = cutoff**2
    margin = limit * 1e-3 + CUT_MARGIN
    if (np.abs(share - limit) <= margin).any() and not (share <= CUT_MARGIN).all():
        raise Undecided
    inverse[share < limit] = 0.0
    return np.asarray(inverse)


def is_doubtful(values: Floats, inverse: Floats) -> NDArray[np.bool_]:
    """Alphas at which the condition number leaves the answer's last nine digits to the held-out rows."""
    largest = max(float(values[-1]), 0.0)
    return np.asarray(~(largest * inverse.max(axis=0) <= SAFE_CONDITION))


def error_of(coordinates: Floats, spectrum: Spectrum) -> Floats:
    """For each alpha, how far rounding may move the response of the worst of these held-out rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        growth = np.sqrt((coordinates**2 @ spectrum.inverse**2).max(axis=0, initial=0.0))
        return np.asarray(ROUNDINGS * EPS * growth * spectrum.size)


def as_solved(
    normal: Normal, weights: Floats, *, doubtful: NDArray[np.bool_], spectrum: Spectrum | None
) -> Solved:
    """Scaled weights (columns × alphas × targets) as predictors on unscaled columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        coef = weights / normal.scale[:, None, None]
        constant = normal.y_centre + normal.shift.y - np.tensordot(normal.centre, coef, axes=1)
    return Solved(
        coef=coef,
        constant=constant,
        shift=normal.shift.x,
        doubtful=doubtful,
        centre=normal.centre,
        scale=normal.scale,
        spectrum=spectrum,
    )


def _by_cholesky(normal: Normal, alphas: Floats) -> Floats | None:
    """Weights from one Cholesky factor an alpha, or None where one is too badly conditioned to be trusted."""
    p, targets = normal.d.shape
    weights = np.empty((p, len(alphas), targets))
    for place, alpha in enumerate(alphas):
        A = normal.C.copy(order="F")
        A.flat[:: p + 1] += alpha
        size = np.abs(A).sum(axis=0).max()
        factor, failed = lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
        if failed:
            return None
        reciprocal, _ = lapack.dpocon(factor, size, uplo="L")
        if not reciprocal * SAFE_CONDITION >= 1.0:
            return None
        weights[:, place, :] = lapack.dpotrs(factor, normal.d, lower=1)[0]
    return weights
