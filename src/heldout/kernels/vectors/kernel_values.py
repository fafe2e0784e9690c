"""Kernel matrices, from squared distances or inner products that several kernel functions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import ddot
from sklearn.utils import check_array

from heldout.kernels.sums.rounding import Floats, Undecided
from heldout.kernels.vectors.machines import Shape

BLOCK_NUMBERS = 1 << 16  # half a megabyte, which stays in a core's cache
SURE = 1e-9  # largest error of a squared distance times gamma; above it only scikit-learn's own rounding is right
LARGEST_OFFSET = 1e4  # largest squared norm over that of centred rows; above it products lose too many digits


def squares_of(points: Floats) -> Floats:
    """Return the inner product of each row with itself, by the BLAS routine that LIBSVM uses."""
    return np.array([ddot(row, row) for row in points])


def resolve_gamma(shape: Shape, points: Floats) -> float:
    """Return gamma as a number on these training rows."""
    if shape.gamma == "scale":
        variance = points.var()
        return float(1.0 / (points.shape[1] * variance)) if variance != 0 else 1.0
    if shape.gamma == "auto":
        return 1.0 / int(points.shape[1])
    assert not isinstance(shape.gamma, str)
    return shape.gamma


def is_sure(shape: Shape, gamma: float, points: Floats, squares: Floats) -> bool:
    """Return whether kernel values on these rows keep enough digits."""
    largest = float(squares.max(initial=0.0))
    if not np.isfinite(largest):
        return False
    if shape.kernel == "rbf":
        return bool(gamma * largest * 8 * float(np.finfo(float).eps) <= SURE)
    centred = points - points.mean(axis=0)
    return largest <= LARGEST_OFFSET * float(np.einsum("ij,ij->i", centred, centred).max(initial=0.0))


def base_of(kind: str, points: Floats, squares: Floats) -> Floats:
    """Return squared distances or inner products between these rows. The diagonal has no rounding error."""
    base = base_between(kind, (points, squares), (points, squares))
    np.fill_diagonal(base, 0.0 if kind == "distances" else squares)
    return base


def base_between(kind: str, left: tuple[Floats, Floats], right: tuple[Floats, Floats]) -> Floats:
    """Return squared distances or inner products of two sets of rows, both given with their squared norms."""
    if kind != "distances":
        return np.asarray(left[0] @ right[0].T)
    one, other = np.ones((len(left[0]), 1)), np.ones((len(right[0]), 1))
    wide = np.hstack([left[0] * -2.0, left[1][:, None], one])
    tall = np.hstack([right[0], other, right[1][:, None]])
    distances = wide @ tall.T
    return np.asarray(np.maximum(distances, 0.0, out=distances))


def kernel_values(shape: Shape, gamma: float, base: Floats) -> Floats:
    """Return the kernel function of distances or products, in a new matrix unless the kernel is linear."""
    if shape.kernel == "linear":
        return base
    values = np.empty_like(base)
    rows = max(1, BLOCK_NUMBERS // max(1, base.shape[-1]))
    for start in range(0, len(base), rows):
        block = slice(start, start + rows)
        _fill(shape, gamma, base[block], values[block])
    return values


def _fill(shape: Shape, gamma: float, base: Floats, out: Floats) -> None:
    if shape.kernel == "rbf":
        np.multiply(base, -gamma, out=out)
        np.exp(out, out=out)
        return
    np.multiply(base, gamma, out=out)
    out += shape.coef0
    if shape.kernel == "sigmoid":
        np.tanh(out, out=out)
    else:
        out[:] = _power(out, shape.degree)


def _power(base: Floats, times: int) -> Floats:
    """Raise to an integer power by repeated squaring, as LIBSVM does."""
    square, power = base, np.ones_like(base)
    while times > 0:
        if times % 2:
            power = power * square
        times //= 2
        if times:
            square = square * square
    return power


class Grams(NamedTuple):
    """The kernel matrix of a training set, and of each held-out part with it."""

    train: Floats
    held: list[Floats]


class TrainingRows:
    """Holds the rows of one training set and its held-out parts. Raises what scikit-learn's check_array raises."""

    def __init__(self, train: Any, held: Sequence[Any]) -> None:
        each = [check_array(X, dtype=np.float64, order="C", accept_large_sparse=False) for X in (train, *held)]
        self._train, *self._held = [(points, squares_of(points)) for points in each]
        self._bases: dict[str, Grams] = {}

    def grams(self, shape: Shape) -> Grams:
        """Return the matrices of one kernel function. Raises Undecided where too few digits are sure."""
        gamma = resolve_gamma(shape, self._train[0])
        if not all(is_sure(shape, gamma, *rows) for rows in (self._train, *self._held) if len(rows[0])):
            raise Undecided
        if shape.base not in self._bases:
            between = [base_between(shape.base, rows, self._train) for rows in self._held]
            self._bases[shape.base] = Grams(base_of(shape.base, *self._train), between)
        base = self._bases[shape.base]
        return Grams(kernel_values(shape, gamma, base.train), [kernel_values(shape, gamma, one) for one in base.held])
