"""Solving the normal equations for every alpha at once, with an estimate of how far rounding may have gone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import lapack

from heldout.kernels.designs.equations import Equations
from heldout.kernels.designs.linear import LinearPredictors, Spectrum, linear_predictors
from heldout.kernels.ridge.tridiagonal import SAFE_CONDITION, solve_all
from heldout.kernels.sums.rounding import Bools, Floats, Undecided

FEW_ALPHAS = 6  # a tridiagonal form takes about as long as six Cholesky factors
CUT_MARGIN = 1e-13  # of the largest eigenvalue: nearer to the cutoff than this, rounding decides on which side


def solve(equations: Equations, alphas: Floats, *, cutoff: float | None) -> LinearPredictors:
    """The predictors for these alphas; `cutoff` is that of least squares, where alpha is 0."""
    if cutoff is None:
        weights: Floats = np.empty((len(equations.d), len(alphas), len(equations.yy)))
        unsafe: Iterable[int] = range(len(alphas))
        if len(alphas) > FEW_ALPHAS:
            unsafe = solve_all(equations.C, equations.d, alphas, weights)
        return _each_alone(equations, alphas, unsafe, weights)
    values, vectors = np.linalg.eigh(equations.C)
    inverse = inverses(values, alphas, cutoff)
    with np.errstate(over="ignore", invalid="ignore"):
        along = inverse[:, :, None] * (vectors.T @ equations.d)[:, None, :]
        weights = (vectors @ along.reshape(len(vectors), -1)).reshape(along.shape)
    if not is_doubtful(values, inverse).any():
        return linear_predictors(equations, weights)
    if (inverse == 0).any():
        size = sizes(float(values[-1]), along, equations.yy)
        return linear_predictors(equations, weights, {(0,): Spectrum(basis=vectors, inverse=inverse, size=size)})
    return _each_alone(equations, alphas, range(len(alphas)), weights)


def _each_alone(equations: Equations, alphas: Floats, places: Iterable[int], weights: Floats) -> LinearPredictors:
    """Weights of these alphas, each from its own matrix brought to a diagonal of ones.

    Columns of very different sizes make a large condition number that harms nobody: products of columns are as
    exact as the columns are, whatever their units. On the matrix of ones what is left is true collinearity.
    """
    doubtful: dict[tuple[int, ...], Spectrum] = {}
    for place in places:
        unit, A = with_ones(equations.C, float(alphas[place]))
        right = equations.d / unit[:, None]
        solution = _by_cholesky(A, right)
        if solution is None:
            values, vectors = np.linalg.eigh(A)
            inverse = inverses(values, np.zeros(1), None)
            with np.errstate(over="ignore", invalid="ignore"):
                along = inverse[:, :, None] * (vectors.T @ right)[:, None, :]
                solution = vectors @ along[:, 0, :]
                size = sizes(float(values[-1]), along, equations.yy)
                basis = vectors / unit[:, None]
            doubtful[place,] = Spectrum(basis=basis, inverse=inverse, size=size)
        weights[:, place, :] = solution / unit[:, None]
    return linear_predictors(equations, weights, doubtful)


def with_ones(C: Floats, alpha: float) -> tuple[Floats, Floats]:
    """The roots of the diagonal of C + αI, and that matrix divided by them on both sides."""
    diagonal = np.diagonal(C) + alpha
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A = C / np.outer(unit, unit)
    A.flat[:: len(A) + 1] = np.where(diagonal > 0, 1.0, 0.0)
    return unit, A


def sizes(largest: float, along: Floats, yy: Floats) -> Floats:
    """For each alpha, how large rounding errors of the matrix times the weights, and of the right side, may be."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(largest * np.sqrt((along**2).sum(axis=(0, 2))) + np.sqrt(largest * yy.sum()))


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


def is_doubtful(values: Floats, inverse: Floats) -> Bools:
    """Alphas at which the condition number leaves the answer's last nine digits to the held-out rows."""
    largest = max(float(values[-1]), 0.0)
    return np.asarray(~(largest * inverse.max(axis=0) <= SAFE_CONDITION))


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
