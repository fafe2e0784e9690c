"""One decomposition of a Gram matrix, and from it the inverse of K + λI for every λ.

With G = (K+λI)⁻¹ on some rows, the model trained without the rows B is wrong on them by z = G_BB⁻¹(Gy)_B. Its own
coefficients are c = Gy − G_·B z, which vanish on B. Weights w change K into √w·K·√w and y into √w·y.

How far rounding goes: an error E of the matrix moves the response at b by (1, W_b)·E·c, with W_b the weights that b
gives to training responses. |c| is bounded by the energy yᵀGy, which grows with rows, and W by that of single rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.smoothers.grams import Gram
from heldout.kernels.sums.rounding import EPS, Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """y on some rows, less a constant where models centre it, and the roots of weights."""

    Y: Floats  # rows × targets
    middle: Floats  # targets: what was taken away
    root: Floats | None  # of the rows' weights; None: 1 each
    centred: bool  # y less its mean over the training rows

    @cached_property
    def right(self) -> Floats:
        """√w·[Y, 1]: the right sides of all models."""
        every = np.column_stack([self.Y, np.ones(len(self.Y))]) if self.centred else self.Y
        return every if self.root is None else every * self.root[:, None]

    def means_without_each(self) -> Floats:
        """Rows × targets: the mean of y over all other rows, where models centre it."""
        return (self.Y.sum(axis=0) - self.Y) / (len(self.Y) - 1) if self.centred else np.zeros_like(self.Y)


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """K = U·diag(values)·Uᵀ on some rows, with weights inside, and all right sides turned by Uᵀ."""

    K: Floats
    values: Floats
    vectors: Floats
    turned: Floats  # Uᵀ·right
    entry: float  # how large errors of an entry of K are, in units of the last place
    lambdas: Floats

    @cached_property
    def inverse(self) -> Floats:
        """1/(values + λ): directions × lambdas."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (self.values[:, None] + self.lambdas))

    @cached_property
    def definite(self) -> NDArray[np.bool_]:
        """Lambdas at which K + λI is positive definite beyond doubt."""
        least = self.values[0] + self.lambdas
        return np.asarray(least > 64 * EPS * (np.abs(self.values).max(initial=0.0) + self.lambdas))

    @cached_property
    def diagonals(self) -> tuple[Floats, Floats, Floats]:
        """The diagonals of G, of G² and of KG: rows × lambdas each."""
        squares = self.vectors**2
        inverse = np.where(self.definite, self.inverse, 0.0)
        return squares @ inverse, squares @ inverse**2, squares @ (inverse * self.values[:, None])

    @cached_property
    def reach(self) -> Floats:
        """The length of the weights that each row, left out alone, gives to the others: rows × lambdas."""
        G, squared, _ = self.diagonals
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.sqrt(np.maximum(squared - G**2, 0.0)) / G)

    def coefficients_within(self, targets: Targets, means: Floats) -> Floats:
        """For each lambda, more than the length of the coefficients of any model on fewer rows."""
        inverse = np.where(self.definite, self.inverse, 0.0)
        root = np.sqrt(np.einsum("nl,nt->lt", inverse, self.turned**2))
        if targets.centred:
            root = root[:, :-1] + np.abs(means).max(axis=0, initial=0.0) * root[:, -1:]
        return np.asarray(np.sqrt(inverse.max(axis=0)) * root.max(axis=1))


def weighted_gram(gram: Gram, X: Floats, targets: Targets) -> tuple[Floats, float] | None:
    """The Gram matrix of these rows with weights inside, and the size of its entries' errors; None if it has none."""
    try:
        K = gram.matrix(X)
    except Exception:  # whatever it is, brute force will meet it and name the cell
        return None
    if K.shape != (len(X), len(X)) or not np.isfinite(K).all():
        return None
    noise = gram.noise(X, float(np.abs(K).max(initial=0.0)))
    if targets.root is None:
        return K, noise
    K *= targets.root[:, None]
    K *= targets.root
    return K, noise * float(targets.root.max()) ** 2


def decompose(gram: Gram, X: Floats, targets: Targets, lambdas: Floats) -> Spectrum | None:
    """The spectrum of a Gram matrix with weights inside; None where it cannot be decomposed."""
    made = weighted_gram(gram, X, targets)
    if made is None:
        return None
    K, noise = made
    try:
        values, vectors = np.linalg.eigh(K)
    except np.linalg.LinAlgError:
        return None
    entry = noise + float(np.abs(values).max()) / np.sqrt(len(K))
    turned = vectors.T @ targets.right
    return Spectrum(K=K, values=values, vectors=vectors, turned=turned, entry=entry, lambdas=lambdas)
