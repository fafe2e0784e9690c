"""One eigendecomposition of a Gram matrix K, and from it the inverse of K + λI for every λ.

With G = (K+λI)⁻¹ on some rows, the model trained without the rows B has the residuals z = G_BB⁻¹(Gy)_B on them. Its own
coefficients are c = Gy − G_·B z, which are 0 on B. Weights w change K into √w·K·√w and y into √w·y.

Rounding: an error E of the matrix moves the response at b by (1, W_b)·E·c, where W_b are the weights that b gives to
training responses. |c| is bounded through yᵀGy, which grows with rows, and W by that of rows left out alone.
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
    """y on some rows, less a constant where models centre it, and the roots of the rows' weights."""

    Y: Floats  # rows × targets
    middle: Floats  # targets: the constant that was subtracted
    root: Floats | None  # of the rows' weights; None: 1 each
    centred: bool  # whether models subtract the mean of y over the training rows

    @cached_property
    def right(self) -> Floats:
        """The right-hand sides of all models: √w·y, and where y is centred also √w·1."""
        every = np.column_stack([self.Y, np.ones(len(self.Y))]) if self.centred else self.Y
        return every if self.root is None else every * self.root[:, None]

    def means_without_each(self) -> Floats:
        """Return the mean of y over all other rows, where models centre it, otherwise 0: rows × targets."""
        return (self.Y.sum(axis=0) - self.Y) / (len(self.Y) - 1) if self.centred else np.zeros_like(self.Y)


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """The decomposition K = U·diag(values)·Uᵀ on some rows, with weights inside, and Uᵀ times all right-hand sides."""

    K: Floats
    values: Floats
    vectors: Floats
    turned: Floats  # Uᵀ·right: eigenvalues × right-hand sides
    entry: float  # error of an entry of K, in units of eps
    lambdas: Floats

    @cached_property
    def inverse(self) -> Floats:
        """1/(values + λ): eigenvalues × lambdas."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (self.values[:, None] + self.lambdas))

    @cached_property
    def definite(self) -> NDArray[np.bool_]:
        """Whether K + λI is surely positive definite, for each lambda."""
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
        """Return for each lambda an upper bound on the length of the coefficients of any model on fewer rows."""
        inverse = np.where(self.definite, self.inverse, 0.0)
        root = np.sqrt(np.einsum("nl,nt->lt", inverse, self.turned**2))
        if targets.centred:
            root = root[:, :-1] + np.abs(means).max(axis=0, initial=0.0) * root[:, -1:]
        return np.asarray(np.sqrt(inverse.max(axis=0)) * root.max(axis=1))


def weighted_gram(gram: Gram, X: Floats, targets: Targets) -> tuple[Floats, float] | None:
    """Return the Gram matrix with weights inside, and its entries' error in units of eps; None if that fails."""
    try:
        K = gram.matrix(X)
    except Exception:  # brute force meets the same error and names the cell
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
    """Return the spectrum of a Gram matrix with weights inside, or None where it cannot be decomposed."""
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
