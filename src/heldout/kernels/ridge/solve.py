"""Solving the normal equations for every alpha at once, with an estimate of how far rounding may have gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.normal import EPS, Normal
from heldout.kernels.ridge.tridiagonal import SAFE_CONDITION, solve_all

FEW_ALPHAS = 6  # a tridiagonal form takes about as long as six Cholesky factors
WITHIN = 1e-9  # the tier: of the largest response of a cell
ROUNDINGS = 8.0  # rounding errors of products and factors, in units of the last place of the largest eigenvalue
CUT_MARGIN = 1e-13  # of the largest eigenvalue: nearer to the cutoff than this, rounding decides on which side


class Undecided(Exception):
    """Rounding decides which directions count: scikit-learn's own fit must answer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spectrum:
    """What a check of some alphas needs: coordinates of a held-out row are ((x − shift) − centre)/scale · basis."""

    basis: Floats
    inverse: Floats  # directions × alphas: 1 / (λ + α), 0 where cut off
    size: Floats  # alphas: how large the errors of the right side and the matrix are


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solved:
    """Linear predictors, one for each alpha and target: (x − shift)·coef + constant."""

    coef: Floats  # columns × alphas × targets, on unscaled columns
    constant: Floats  # alphas × targets
    shift: Floats
    centre: Floats
    scale: Floats
    spectra: Mapping[tuple[int, ...], Spectrum]  # by places of alphas that must be checked on the held-out rows


def solve(normal: Normal, alphas: Floats, *, cutoff: float | None) -> Solved:
    """The predictors for these alphas; `cutoff` is that of least squares, where alpha is 0."""
    if cutoff is None:
        weights: Floats = np.empty((len(normal.d), len(alphas), len(normal.yy)))
        left = range(len(alphas)) if len(alphas) <= FEW_ALPHAS else solve_all(normal.C, normal.d, alphas, weights)
        return _each_alone(normal, alphas, left, weights)
    values, vectors = np.linalg.eigh(normal.C)
    inverse = inverses(values, alphas, cutoff)
    with np.errstate(over="ignore", invalid="ignore"):
        inside = inverse[:, :, None] * (vectors.T @ normal.d)[:, None, :]
        weights = (vectors @ inside.reshape(len(vectors), -1)).reshape(inside.shape)
    if not is_doubtful(values, inverse).any():
        return as_solved(normal, weights, {})
    if (inverse == 0).any():
        size = sizes(float(values[-1]), inside, normal.yy)
        return as_solved(normal, weights, {(0,): Spectrum(basis=vectors, inverse=inverse, size=size)})
    return _each_alone(normal, alphas, range(len(alphas)), weights)


def _each_alone(normal: Normal, alphas: Floats, places: Iterable[int], weights: Floats) -> Solved:
    """Weights of these alphas, each from its own matrix brought to a diagonal of ones.

    Columns of very different sizes make a large condition number that harms nobody: products of columns are as
    exact as the columns are, whatever their units. On the matrix of ones what is left is true collinearity.
    """
    spectra: dict[tuple[int, ...], Spectrum] = {}
    for place in places:
        unit, A = with_ones(normal.C, float(alphas[place]))
        right = normal.d / unit[:, None]
        found = _by_cholesky(A, right)
        if found is None:
            values, vectors = np.linalg.eigh(A)
            inverse = inverses(values, np.zeros(1), None)
            with np.errstate(over="ignore", invalid="ignore"):
                inside = inverse[:, :, None] * (vectors.T @ right)[:, None, :]
                found = vectors @ inside[:, 0, :]
                size = sizes(float(values[-1]), inside, normal.yy)
                basis = vectors / unit[:, None]
            spectra[place,] = Spectrum(basis=basis, inverse=inverse, size=size)
        weights[:, place, :] = found / unit[:, None]
    return as_solved(normal, weights, spectra)


def with_ones(C: Floats, alpha: float) -> tuple[Floats, Floats]:
    """The roots of the diagonal of C + αI, and that matrix divided by them on both sides."""
    diagonal = np.diagonal(C) + alpha
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A = C / np.outer(unit, unit)
    A.flat[:: len(A) + 1] = np.where(diagonal > 0, 1.0, 0.0)
    return unit, A


def sizes(largest: float, inside: Floats, yy: Floats) -> Floats:
    """For each alpha, how large rounding errors of the matrix times the weights, and of the right side, may be."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(largest * np.sqrt((inside**2).sum(axis=(0, 2))) + np.sqrt(largest * yy.sum()))


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


def as_solved(normal: Normal, weights: Floats, spectra: Mapping[tuple[int, ...], Spectrum]) -> Solved:
    """Scaled weights (columns × alphas × targets) as predictors on unscaled columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        coef = weights / normal.scale[:, None, None]
        constant = normal.y_centre + normal.shift.y - np.tensordot(normal.centre, coef, axes=1)
    return Solved(
        coef=coef, constant=constant, shift=normal.shift.x, centre=normal.centre, scale=normal.scale, spectra=spectra
    )


def _by_cholesky(A: Floats, right: Floats) -> Floats | None:
    """The solution by Cholesky's factor, or None where the matrix is too badly conditioned to trust it unchecked."""
    factor, failed = lapack.dpotrf(A.copy(order="F"), lower=1, overwrite_a=1, clean=0)
    if failed:
        return None
    reciprocal, _ = lapack.dpocon(factor, np.abs(A).sum(axis=0).max(), uplo="L")
    if not reciprocal * SAFE_CONDITION >= 1.0:
        return None
    solution: Floats = lapack.dpotrs(factor, right, lower=1)[0]
    return solution
