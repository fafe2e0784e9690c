"""Leave-one-out responses from one eigendecomposition, with or without a scaler before the model.

A scaler fitted without row i divides column j by a smaller standard deviation: the sum of squares lacks the row's share
eᵢⱼ. In the scale of the full set this subtracts α·diag(eᵢ) from the matrix, besides the change of rank one. With Bᵢ the
matrix without the diagonal term, ω = Bᵢ⁻¹(dᵢ + α·eᵢ∘ω) is solved by fixed-point iteration. Its contraction factor is
known beforehand, and each round costs two matrix products for all rows together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.sums.rounding import Floats

MOST_ROUNDS = 60  # twice what the slowest factor needs
SLOW = 0.3  # contraction factors above this are solved row by row
ENOUGH = 1e-13  # of the largest response: what later rounds could still add
DENSE_NUMBERS = 1 << 21  # of matrices solved at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Eigen:
    """Holds the matrix of the full set and its eigendecomposition, in units of `unit`, for one alpha or several."""

    vectors: Floats
    inverse: Floats  # directions × alphas: 1/(λ+α)
    right: Floats  # directions × targets: Vᵀd
    unit: Floats  # columns
    matrix: Floats
    d: Floats
    ridge: Floats  # alphas: what the diagonal of `matrix` lacks
    penalty: Floats  # alphas: what shares are multiplied by


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Change:
    """Holds what changes in the equations if each of some rows is left out."""

    u: Floats  # rows × columns, about the centre, in units
    v: Floats  # rows × targets, about the centre
    c: Floats  # rows
    share: Floats | None  # rows × columns: the row's share of what a scaler divides by; None without a scaler


def corrected(eigen: Eigen, change: Change) -> tuple[Floats, Floats, Floats]:
    """Return uᵢ·ωᵢ (rows × alphas × targets), 1 − leverage (rows × alphas), and the coordinates of the rows."""
    z = change.u @ eigen.vectors
    leverage = change.c[:, None] * (z**2 @ eigen.inverse)
    left = 1.0 - leverage
    directions, count = eigen.inverse.shape
    weights = (eigen.inverse[:, :, None] * eigen.right[:, None, :]).reshape(directions, -1)
    fitted = (z @ weights).reshape(len(z), count, -1)
    inside = (fitted - leverage[:, :, None] * change.v[:, None, :]) / left[:, :, None]
    if change.share is None:
        return inside, left, z
    factors = _factors(eigen, change.share, left)
    for place, penalty in enumerate(eigen.penalty):
        rows = np.flatnonzero(factors[:, place] <= SLOW)
        if penalty == 0 or not len(rows):
            continue
        chosen = slice(None) if len(rows) == len(z) else rows
        for target in range(inside.shape[2]):
            at = _At(place, target, float(penalty), float(factors[rows, place].max()))
            inside[chosen, place, target] += _rounds(eigen, change, z[chosen], left[chosen, place], at, rows=chosen)
    _solve_slow(eigen, change, factors, inside)
    return inside, left, z


@dataclass(frozen=True, slots=True)
class _At:
    place: int  # of the alpha
    target: int
    penalty: float
    factor: float


def _factors(eigen: Eigen, share: Floats, left: Floats) -> Floats:
    """Return bounds on a round's contraction factor, rows × alphas: Bᵢ is at least (1 − h) times the full matrix."""
    return np.asarray(eigen.penalty * share.max(axis=1)[:, None] * eigen.inverse.max(axis=0) / left)


def _rounds(
    eigen: Eigen, change: Change, z: Floats, left: Floats, at: _At, *, rows: NDArray[np.intp] | slice
) -> Floats:
    """Return what the rounds of the fixed-point iteration add to the responses of these rows at one alpha."""
    assert change.share is not None
    V, inverse = eigen.vectors, eigen.inverse[:, at.place]
    c, v = change.c[rows], change.v[rows, at.target]
    share = change.share[rows]
    q = z * inverse
    pull = q * (c / left)[:, None]
    tau = eigen.right[:, at.target] - (c * v)[:, None] * z
    reference = np.abs(np.einsum("ij,ij->i", q, tau) / left).max()
    added = np.zeros(len(z))
    for _ in range(MOST_ROUNDS):
        now = tau * inverse
        now += pull * np.einsum("ij,ij->i", q, tau)[:, None]
        omega = now @ V.T
        omega *= share
        omega *= at.penalty
        tau = omega @ V
        term = np.einsum("ij,ij->i", q, tau) / left
        added += term
        size = np.abs(term).max()
        if not size * at.factor / (1.0 - at.factor) > ENOUGH * reference:
            return added
    return np.full(len(z), np.nan)  # rounding broke the bound: these rows go to brute force


def _solve_slow(eigen: Eigen, change: Change, factors: Floats, inside: Floats) -> None:
    """Write into `inside` the responses of rows that converge too slowly, by solving each row's equations."""
    assert change.share is not None
    width = change.u.shape[1]
    diagonal = np.arange(width)
    batch = max(1, DENSE_NUMBERS // width**2)
    for place, penalty in enumerate(eigen.penalty):
        slow = np.flatnonzero(~(factors[:, place] <= SLOW))
        for start in range(0, len(slow) if penalty > 0 else 0, batch):
            rows = slow[start : start + batch]
            u, c = change.u[rows], change.c[rows]
            A = eigen.matrix - c[:, None, None] * (u[:, :, None] * u[:, None, :])
            A[:, diagonal, diagonal] += eigen.ridge[place] - penalty * change.share[rows]
            right = eigen.d - (c[:, None] * u)[:, :, None] * change.v[rows][:, None, :]
            try:
                omega = np.linalg.solve(A, right)
            except np.linalg.LinAlgError:
                inside[rows, place] = np.nan
                continue
            inside[rows, place] = np.einsum("ij,ijt->it", u, omega)
