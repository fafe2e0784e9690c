"""Solves the normal equations for all alphas at once, and estimates the rounding errors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import lapack

from heldout.base.rowkeys import Rows
from heldout.kernels.designs.linear import Equations, LinearPredictors, Spectrum, equations_of_rows, linear_predictors
from heldout.kernels.driver.contract import Group
from heldout.kernels.sums.rounding import Bools, Floats, Undecided

FEW_ALPHAS = 6  # a tridiagonal form takes about as long as six Cholesky factors
CUT_MARGIN = 1e-13  # of the largest eigenvalue: nearer to the cutoff than this, rounding decides on which side


def solve(equations: Equations, alphas: Floats, *, cutoff: float | None) -> LinearPredictors:
    """Return the predictors for these alphas; `cutoff` is that of least squares, where alpha is 0, else None."""
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
    """Solve these alphas one by one, each with its matrix scaled to a diagonal of ones, and return all predictors.

    Columns of very different sizes make a large condition number that does no harm: products of columns are as exact as
    the columns are, whatever their units. With a diagonal of ones only true collinearity is left.
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
    """Return the square roots of the diagonal of C + αI, and that matrix divided by them on both sides."""
    diagonal = np.diagonal(C) + alpha
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A = C / np.outer(unit, unit)
    A.flat[:: len(A) + 1] = np.where(diagonal > 0, 1.0, 0.0)
    return unit, A


def sizes(largest: float, along: Floats, yy: Floats) -> Floats:
    """Return how large rounding errors of matrix times weights, and of the right side, may be for each alpha."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(largest * np.sqrt((along**2).sum(axis=(0, 2))) + np.sqrt(largest * yy.sum()))


def inverses(values: Floats, alphas: Floats, cutoff: float | None) -> Floats:
    """Return 1/(λ+α) for each direction and alpha; for least squares, directions below the cutoff get 0.

    Raise Undecided if rounding decides on which side of the cutoff a direction is.
    """
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
    """Return whether each alpha's condition number is too large to be sure of nine digits on any held-out row."""
    largest = max(float(values[-1]), 0.0)
    return np.asarray(~(largest * inverse.max(axis=0) <= SAFE_CONDITION))


def _by_cholesky(A: Floats, right: Floats) -> Floats | None:
    """Return the solution by Cholesky's method, or None if the matrix is too ill-conditioned to trust it unchecked."""
    factor, failed = lapack.dpotrf(A.copy(order="F"), lower=1, overwrite_a=1, clean=0)
    if failed:
        return None
    reciprocal, _ = lapack.dpocon(factor, np.abs(A).sum(axis=0).max(), uplo="L")
    if not reciprocal * SAFE_CONDITION >= 1.0:
        return None
    solution: Floats = lapack.dpotrs(factor, right, lower=1)[0]
    return solution


SAFE_CONDITION = 3e4  # up to this condition number rounding errors stay well within the tier on any held-out rows


def solve_all(C: Floats, d: Floats, alphas: Floats, weights: Floats) -> list[int]:
    """Write the solutions of (C + αI)w = d into `weights`, columns × alphas × targets, and return the unsafe alphas.

    These are positions of alphas whose condition number is not safe; `weights` holds no solution for them.
    """
    width, targets = d.shape
    if width < 2:
        return list(range(len(alphas)))
    form, diagonal, off_diagonal, tau, failed = lapack.dsytrd(C, lower=1, lwork=64 * width)
    if failed:
        return list(range(len(alphas)))
    # The reflectors below the subdiagonal are those of a QR decomposition one row shorter.
    reflectors = np.asfortranarray(form[1:, :-1])
    right = _turn(reflectors, tau, d, "T")
    along = np.empty((width, len(alphas), targets))
    unsafe: list[int] = []
    for place, alpha in enumerate(alphas):
        solution, reciprocal, failed = _solve(diagonal + alpha, off_diagonal, right)
        if failed or not reciprocal * SAFE_CONDITION >= 1.0:
            unsafe.append(place)
            along[:, place] = 0.0
        else:
            along[:, place] = solution
    weights[:] = _turn(reflectors, tau, along.reshape(width, -1), "N").reshape(weights.shape)
    return unsafe


def _turn(reflectors: Floats, tau: Floats, values: Floats, way: str) -> Floats:
    """Return Q or Qᵀ times these columns; the first row stays as it is."""
    turned = np.array(values, order="F")
    lower, _, failed = lapack.dormqr("L", way, reflectors, tau, turned[1:], 64 * max(1, turned.shape[1]))
    assert failed == 0, "dormqr fails on wrong arguments alone"
    turned[1:] = lower
    return turned


def _solve(diagonal: Floats, off_diagonal: Floats, right: Floats) -> tuple[Floats, float, int]:
    """Return the solution of a tridiagonal system, its reciprocal condition number, and LAPACK's error code."""
    _, _, solution, reciprocal, _, _, failed = lapack.dptsvx(diagonal, off_diagonal, right)
    return solution, float(reciprocal), int(failed)


def solve_dual(group: Group, rows: Rows) -> LinearPredictors:
    """Return the predictors trained on these rows, from the eigendecomposition of their Gram matrix."""
    cutoff = group.form.cutoff
    equations, Z, Y = equations_of_rows(group.columns, group.data, rows, intercept=group.form.intercept)
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
