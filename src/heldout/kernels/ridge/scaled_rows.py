"""Held-out responses of single rows from one eigendecomposition, with a scaler inside or without.

A scaler fitted without row i divides column j by a standard deviation that is smaller by the row's share eᵢⱼ of the
sum of squares. In the scale of the full set this takes α·diag(eᵢ) from the matrix, besides the change of rank one.
With Bᵢ the matrix without the diagonal term, ω = Bᵢ⁻¹(dᵢ + α·eᵢ∘ω) is a contraction, whose factor is known
beforehand; each round costs two matrix products for all rows together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.ridge.design import Floats

SLOW = 0.3  # contraction factors above this are solved row by row
ENOUGH = 1e-13  # of the largest response: what later rounds could still add
DENSE_NUMBERS = 1 << 21  # of matrices solved at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Eigen:
    """C = VΛVᵀ of the full set, in units of `unit`."""

    values: Floats
    vectors: Floats
    inverse: Floats  # directions × alphas: 1/(λ+α)
    right: Floats  # directions × targets: Vᵀd
    unit: Floats  # columns
    matrix: Floats
    d: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Change:
    """What leaving each of some rows out changes."""

    u: Floats  # rows × columns, about the centre, in units
    v: Floats  # rows × targets, about the centre
    c: Floats  # rows
    share: Floats | None  # rows × columns: the row's share of what a scaler divides by; None without a scaler


def corrected(eigen: Eigen, change: Change, alphas: Floats) -> tuple[Floats, Floats, Floats]:
    """uᵢ·ωᵢ for rows × alphas × targets; 1 − leverage; and the coordinates of the rows."""
    z = change.u @ eigen.vectors
    leverage = change.c[:, None] * (z**2 @ eigen.inverse)
    left = 1.0 - leverage
    directions, count = eigen.inverse.shape
    weights = (eigen.inverse[:, :, None] * eigen.right[:, None, :]).reshape(directions, -1)
    fitted = (z @ weights).reshape(len(z), count, -1)
    inside = (fitted - leverage[:, :, None] * change.v[:, None, :]) / left[:, :, None]
    if change.share is None:
        return inside, left, z
    lowest = float(eigen.values[0])
    biggest = change.share.max(axis=1)
    for place, alpha in enumerate(alphas):
        factor = alpha * biggest / (left[:, place] * (lowest + alpha)) if alpha > 0 else np.zeros(len(z))
        slow = ~(factor <= SLOW)
        if slow.all() or alpha == 0:
            continue
        rows = np.flatnonzero(~slow) if slow.any() else slice(None)
        for target in range(inside.shape[2]):
            inside[rows, place, target] += _rounds(
                eigen, change, z[rows], left[rows, place], _At(place, target, alpha, float(factor[rows].max())), rows
            )
    _solve_slow(eigen, change, alphas, left, inside)
    return inside, left, z


@dataclass(frozen=True, slots=True)
class _At:
    alpha_place: int
    target: int
    alpha: float
    factor: float


def _rounds(eigen: Eigen, change: Change, z: Floats, left: Floats, at: _At, rows: NDArray[np.intp] | slice) -> Floats:
    """What the fixed-point rounds add to the responses of these rows at one alpha."""
    assert change.share is not None
    V, inverse = eigen.vectors, eigen.inverse[:, at.alpha_place]
    c, v = change.c[rows], change.v[rows, at.target]
    share = change.share[rows]
    q = z * inverse
    pull = q * (c / left)[:, None]
    tau = eigen.right[:, at.target] - (c * v)[:, None] * z
    reference = np.abs(np.einsum("ij,ij->i", q, tau) / left).max()
    added = np.zeros(len(z))
    while True:
        now = tau * inverse
        now += pull * np.einsum("ij,ij->i", q, tau)[:, None]
        omega = now @ V.T
        omega *= share
        omega *= at.alpha
        tau = omega @ V
        term = np.einsum("ij,ij->i", q, tau) / left
        added += term
        size = np.abs(term).max()
        # A round without end is impossible: the factor is at most SLOW; NaN ends it too.
        if not size * at.factor / (1.0 - at.factor) > ENOUGH * reference:
            return added


def _solve_slow(eigen: Eigen, change: Change, alphas: Floats, left: Floats, inside: Floats) -> None:
    """Responses of the rows that contract too slowly, by solving their own equations."""
    assert change.share is not None
    lowest = float(eigen.values[0])
    biggest = change.share.max(axis=1)
    width = change.u.shape[1]
    batch = max(1, DENSE_NUMBERS // width**2)
    for place, alpha in enumerate(alphas):
        if alpha == 0:
            continue
        slow = np.flatnonzero(~(alpha * biggest / (left[:, place] * (lowest + alpha)) <= SLOW))
        for start in range(0, len(slow), batch):
            rows = slow[start : start + batch]
            u, c = change.u[rows], change.c[rows]
            A = eigen.matrix - c[:, None, None] * (u[:, :, None] * u[:, None, :])
            diagonal = np.arange(width)
            A[:, diagonal, diagonal] += alpha * (1.0 - change.share[rows])
            right = eigen.d - (c[:, None] * u)[:, :, None] * change.v[rows][:, None, :]
            try:
                omega = np.linalg.solve(A, right)
            except np.linalg.LinAlgError:
                inside[rows, place] = np.nan
                continue
            inside[rows, place] = np.einsum("ij,ijt->it", u, omega)
