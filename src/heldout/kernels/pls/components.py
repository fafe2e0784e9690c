"""Improved kernel PLS (Dayal & MacGregor 1997, algorithm 2) of one target, for several training sets at a time.

Each run has a shadow: the same run on products that are shaken by a known, small amount. How far the shadow strays
tells how far rounding may have gone, here and in scikit-learn, whatever the reason: components past the rank, columns
that are nearly collinear, a covariance that is used up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from heldout.kernels.ridge.design import Floats

SHAKEN = 1e-11  # relative size of the change that the shadow gets
DIRECTIONS = 4  # of the change, which is a matrix of so low a rank that it costs next to nothing
USED_UP = 1e-3  # a weight that is not orthogonal to those before it is nothing but rounding errors
SEED = 20_240_117  # of the change, the same in every study

Products = Callable[[Floats], Floats]  # rows r to rC, for training sets × run and shadow × columns


class Run(NamedTuple):
    """One training set's run."""

    coef: Floats  # components × columns
    shadow: Floats  # components × columns
    share: Floats  # components: of the columns' squares, the least that one of the components so far has


def run_components(products: Products, d: Floats, size: Floats, length: Floats, *, count: int) -> list[Run]:
    """Coefficients for 1 to `count` components, and those of the shadow, for each training set.

    Parameters
    ----------
    d : array of training sets × columns
        Products of columns with the target.
    size : array of training sets × columns
        Lengths of the columns, the roots of C's diagonal.
    length : array of training sets
        Length of the target.
    """
    sets, columns = d.shape
    shake = _Shake(size, columns)
    S = np.stack([d, d + SHAKEN * shake.target * size * length[:, None]], axis=1)
    coef = np.empty((sets, 2, count, columns))
    W = np.empty((sets, 2, count, columns))
    total = np.zeros((sets, 2, columns))
    squares = np.empty((sets, count))
    inside = np.zeros((sets, count))  # what is left of a weight in the span of those before it
    r = p = total
    with np.errstate(all="ignore"):  # what is not finite is not used
        for k in range(count):
            w = S
            if k:  # weights are orthogonal in exact arithmetic, and so are loadings to all weights but the next
                w = S - _part_in(W[:, :, :k], S)
            w = w / np.sqrt(_dot(w, w))
            if k:
                inside[:, k] = np.abs(np.matmul(W[:, 0, :k], w[:, 0, :, None])).max(axis=(1, 2))
            r = w - _dot(p, w) * r if k else w
            Cr = products(r)
            Cr[:, 1] += shake(r[:, 1])
            square = _dot(r, Cr)
            squares[:, k] = square[:, 0, 0]
            share = _dot(w, S) / square
            W[:, :, k], p = w, Cr / square
            S = S - Cr * share
            total += r * share
            coef[:, :, k] = total
        squares[~(inside <= USED_UP)] = 0.0
        shares = np.minimum.accumulate(squares / (size**2).sum(axis=1, keepdims=True), axis=1)
    return [Run(*one) for one in zip(coef[:, 0], coef[:, 1], shares, strict=True)]


class _Shake:
    """A symmetric change of C, each entry of it about as large as the product of the two columns' lengths."""

    def __init__(self, size: Floats, columns: int) -> None:
        U = np.random.default_rng(SEED).normal(size=(DIRECTIONS + 1, columns))
        self.target: Floats = U[-1]
        self._into = (U[:-1] * np.resize([1.0, -1.0], DIRECTIONS)[:, None]).T * (SHAKEN / DIRECTIONS**0.5)
        self._back = U[:-1]
        self._size = size

    def __call__(self, r: Floats) -> Floats:
        return np.asarray(((r * self._size) @ self._into) @ self._back * self._size)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.vecdot(a, b)[:, :, None])


def _part_in(W: Floats, s: Floats) -> Floats:
    """The part of each s that lies in the span of its rows of W, which are orthonormal."""
    along = np.matmul(W, s[:, :, :, None])
    return np.asarray(np.matmul(along.transpose(0, 1, 3, 2), W)[:, :, 0, :])
