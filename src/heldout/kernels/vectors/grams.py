"""Kernel matrices of training sets: of rows after a preparation of their own, or cut from those of the whole task."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.vectors.kernel_values import (
    Floats,
    base_between,
    base_of,
    is_sure,
    kernel_values,
    resolve_gamma,
    squares_of,
)
from heldout.kernels.vectors.machines import Shape


class Doubtful(Exception):
    """The digits of kernel values are in doubt, so that scikit-learn's own routine must compute them."""


class Grams(NamedTuple):
    """The kernel matrix of a training set, and of each held-out side with it."""

    train: Floats
    held: list[Floats]


class TrainingRows(Protocol):
    """Where the kernel matrices of one training set come from."""

    def grams(self, shape: Shape) -> Grams:
        """The matrices of one kernel function; raises Doubtful."""
        ...


class OwnRows:
    """The rows of one training set and its held-out sides, after a preparation of their own."""

    def __init__(self, train: Floats, held: Sequence[Floats]) -> None:
        self._train = (train, squares_of(train))
        self._held = [(rows, squares_of(rows)) for rows in held]
        self._bases: dict[str, Grams] = {}

    def grams(self, shape: Shape) -> Grams:
        gamma = resolve_gamma(shape, self._train[0])
        if not all(is_sure(shape, gamma, *rows) for rows in (self._train, *self._held) if len(rows[0])):
            raise Doubtful
        if shape.base not in self._bases:
            between = [base_between(shape.base, rows, self._train) for rows in self._held]
            self._bases[shape.base] = Grams(base_of(shape.base, *self._train), between)
        base = self._bases[shape.base]
        return Grams(kernel_values(shape, gamma, base.train), [kernel_values(shape, gamma, one) for one in base.held])


class SharedRows:
    """All rows of a task whose columns are not prepared: each training set is a cut from the same matrices."""

    def __init__(self, points: Floats, *, kept: int) -> None:
        self.points, self.squares = points, squares_of(points)
        self._kept = max(1, kept)  # kernel matrices that are held at once
        self._bases: dict[str, Floats] = {}
        self._values: OrderedDict[Shape, Floats] = OrderedDict()
        self._making = Lock()

    def values(self, shape: Shape) -> Floats:
        """The kernel matrix of all rows, where gamma is the same in every training set."""
        with self._making:
            if shape not in self._values:
                gamma = resolve_gamma(shape, self.points)
                self._values[shape] = kernel_values(shape, gamma, self._base(shape.base))
                while len(self._values) > self._kept:
                    self._values.popitem(last=False)
            return self._values[shape]

    def base(self, kind: str) -> Floats:
        """Squared distances or inner products of all rows."""
        with self._making:
            return self._base(kind)

    def _base(self, kind: str) -> Floats:
        if kind not in self._bases:
            self._bases[kind] = base_of(kind, self.points, self.squares)
        return self._bases[kind]


class CutRows:
    """One training set of shared rows."""

    def __init__(self, shared: SharedRows, train: Rows, held: Sequence[Rows]) -> None:
        self._shared, self._train, self._held = shared, train, held

    def grams(self, shape: Shape) -> Grams:
        gamma = resolve_gamma(shape, self._shared.points[self._train])
        if not is_sure(shape, gamma, self._shared.points, self._shared.squares):
            raise Doubtful
        if shape.gamma != "scale":
            whole = self._shared.values(shape)
            return Grams(self._cut(whole, self._train), [self._cut(whole, rows) for rows in self._held])
        base = self._shared.base(shape.base)
        return Grams(
            kernel_values(shape, gamma, self._cut(base, self._train)),
            [kernel_values(shape, gamma, self._cut(base, rows)) for rows in self._held],
        )

    def _cut(self, matrix: Floats, rows: Rows) -> Floats:
        return np.asarray(matrix.take(rows, axis=0).take(self._train, axis=1))
