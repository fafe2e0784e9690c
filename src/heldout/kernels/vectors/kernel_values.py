"""Values of kernel functions, from squared distances or products of rows that functions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import ddot
from sklearn.utils import check_array

from heldout.kernels.sums.rounding import Floats, Undecided
from heldout.kernels.vectors.machines import Shape

BLOCK_NUMBERS = 1 << 16  # half a megabyte, which stays in a core's cache
SURE = 1e-9  # how far a squared distance times gamma may be off: past it scikit-learn's own digits decide
LARGEST_OFFSET = 1e4  # of squared norms to those about the mean: past it products lose the digits that tell rows apart


def squares_of(points: Floats) -> Floats:
    """The product of each row with itself, by the very routine that the machine uses."""
    return np.array([ddot(row, row) for row in points])


def resolve_gamma(shape: Shape, points: Floats) -> float:
    """The number that gamma is on these training rows."""
    if shape.gamma == "scale":
        variance = points.var()
        return float(1.0 / (points.shape[1] * variance)) if variance != 0 else 1.0
    if shape.gamma == "auto":
        return 1.0 / int(points.shape[1])
    assert not isinstance(shape.gamma, str)
    return shape.gamma


def is_sure(shape: Shape, gamma: float, points: Floats, squares: Floats) -> bool:
    """Whether the digits of kernel values are beyond doubt on these rows."""
    largest = float(squares.max(initial=0.0))
    if not np.isfinite(largest):
        return False
    if shape.kernel == "rbf":
        return bool(gamma * largest * 8 * float(np.finfo(float).eps) <= SURE)
    centred = points - points.mean(axis=0)
    return largest <= LARGEST_OFFSET * float(np.einsum("ij,ij->i", centred, centred).max(initial=0.0))


def base_of(kind: str, points: Floats, squares: Floats) -> Floats:
    """Squared distances or inner products of these rows; a row with itself without rounding."""
    base = base_between(kind, (points, squares), (points, squares))
    np.fill_diagonal(base, 0.0 if kind == "distances" else squares)
    return base


def base_between(kind: str, left: tuple[Floats, Floats], right: tuple[Floats, Floats]) -> Floats:
    """Squared distances or inner products of rows and others, both given with their squares."""
    if kind != "distances":
        return np.asarray(left[0] @ right[0].T)
    one, other = np.ones((len(left[0]), 1)), np.ones((len(right[0]), 1))
    wide = np.hstack([left[0] * -2.0, left[1][:, None], one])
    tall = np.hstack([right[0], other, right[1][:, None]])
    distances = wide @ tall.T
    return np.asarray(np.maximum(distances, 0.0, out=distances))


def kernel_values(shape: Shape, gamma: float, base: Floats) -> Floats:
    """The kernel function of distances or products, in a matrix of its own."""
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
    """The rows of one training set and its held-out parts. Raises where the machine would."""

    def __init__(self, train: Any, held: Sequence[Any]) -> None:
        each = [check_array(X, dtype=np.float64, order="C", accept_large_sparse=False) for X in (train, *held)]
        self._train, *self._held = [(points, squares_of(points)) for points in each]
        self._bases: dict[str, Grams] = {}

    def grams(self, shape: Shape) -> Grams:
        """The matrices of one kernel function. Raises Undecided where their digits are in doubt."""
        gamma = resolve_gamma(shape, self._train[0])
        if not all(is_sure(shape, gamma, *rows) for rows in (self._train, *self._held) if len(rows[0])):
            raise Undecided
        if shape.base not in self._bases:
            between = [base_between(shape.base, rows, self._train) for rows in self._held]
            self._bases[shape.base] = Grams(base_of(shape.base, *self._train), between)
        base = self._bases[shape.base]
        return Grams(kernel_values(shape, gamma, base.train), [kernel_values(shape, gamma, one) for one in base.held])
