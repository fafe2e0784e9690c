"""Squared distances after one row is taken out of a scatter: a change of rank one, by Sherman–Morrison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout.kernels.sums.rounding import Floats

LEVERAGE_LEFT = 1e-3  # a row that leaves less than this of the scatter in its own direction is answered apart
NUMBERS = 1 << 18  # of inverse variances at work at a time, where each row has its own


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inverses:
    """Inverse variances along directions for each candidate: the same for all rows, or of each row its own."""

    values: Floats  # directions × candidates, or rows × candidates × directions

    def product(self, squares: Floats) -> Floats:
        """Σ squares · inverse over directions: rows × candidates."""
        if self.values.ndim == 2:
            return np.asarray(squares @ self.values)
        return np.asarray((self.values @ squares[:, :, None])[:, :, 0])

    def squared(self, squares: Floats) -> Floats:
        """Σ squares · inverse² over directions."""
        return Inverses(values=self.values**2).product(squares)

    @property
    def largest(self) -> Floats:
        """Candidates, or rows × candidates."""
        return np.asarray(self.values.max(axis=0 if self.values.ndim == 2 else 2))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distances:
    """Squared distances (rows × candidates) of several vectors a row, when the row itself has been taken out."""

    of: tuple[Floats, ...]
    left: Floats  # rows × candidates: what taking the row out leaves of the determinant
    longest: Floats  # rows × candidates: the largest squared length of inverse times vector


def distances(inverses: Inverses, u: Floats, share: Floats, vectors: Sequence[Floats]) -> Distances:
    """vᵀ(M − share·uuᵀ)⁻¹v for each of these vectors, all along the directions of M (rows × directions)."""
    left = 1.0 - share * inverses.product(u * u)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        of = tuple(inverses.product(v * v) + share * inverses.product(v * u) ** 2 / left for v in vectors)
        longest = np.max([inverses.squared(v * v) for v in vectors], axis=0)
    return Distances(of=of, left=left, longest=longest)


def shrunk_inverses(values: Floats, shrinkages: Floats, target: Floats) -> Inverses:
    """1/((1 − s)λ + s·target), with a target for each row; one for all rows where nothing is shrunk towards it."""
    plain = np.maximum(values, 0.0)
    with np.errstate(divide="ignore"):
        if not shrinkages.any():
            return Inverses(values=np.repeat(1.0 / plain[:, None], len(shrinkages), axis=1))
        if (target == target[0]).all():
            return Inverses(values=1.0 / (plain[:, None] * (1.0 - shrinkages) + shrinkages * target[0]))
        shrunk = plain * (1.0 - shrinkages)[:, None] + (target[:, None] * shrinkages)[:, :, None]
        return Inverses(values=1.0 / shrunk)
