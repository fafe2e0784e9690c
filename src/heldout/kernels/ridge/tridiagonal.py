"""Many alphas from one tridiagonal form: C = QTQᵀ costs a quarter of an eigendecomposition, T + αI almost nothing."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from heldout.kernels.sums.rounding import Floats

SAFE_CONDITION = 3e4  # up to here rounding stays well along the tier, whatever the held-out rows


def solve_all(C: Floats, d: Floats, alphas: Floats, weights: Floats) -> list[int]:
    """Write the solutions of (C + αI)w = d into columns × alphas × targets; the places whose condition is not safe.

    Those places hold no answer.
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
    """Q or Qᵀ times these columns: the first row stays as it is."""
    turned = np.array(values, order="F")
    lower, _, failed = lapack.dormqr("L", way, reflectors, tau, turned[1:], 64 * max(1, turned.shape[1]))
    assert failed == 0, "dormqr fails on wrong arguments alone"
    turned[1:] = lower
    return turned


def _solve(diagonal: Floats, off_diagonal: Floats, right: Floats) -> tuple[Floats, float, int]:
    """The solution of a tridiagonal system, its reciprocal condition, and whether it failed."""
    _, _, solution, reciprocal, _, _, failed = lapack.dptsvx(diagonal, off_diagonal, right)
    return solution, float(reciprocal), int(failed)
