"""Improved kernel PLS (Dayal & MacGregor 1997, algorithm 2) of one target, for several training sets at a time.

Each run has a shadow: the same run on products that are shaken by a known, small amount. How far the shadow strays
tells how far rounding may have gone, here and in scikit-learn, whatever the reason: components past the rank, columns
that are nearly collinear, a covariance that is used up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from heldout.kernels.sums.rounding import Floats

SHAKEN = 1e-11  # relative size of the change that the shadow gets
DIRECTIONS = 4  # of the change, which is a matrix of so low a rank that it costs next to nothing
USED_UP = 1e-3  # a weight that is not orthogonal to those before it is nothing but rounding errors
SEED = 20_240_117  # of the change, the same in every study

Products = Callable[[Floats], Floats]  # rows r to rC, for training sets × run and shadow × columns


class Runs(NamedTuple):
    """The runs of several training sets."""

    coef: Floats  # training sets × components × columns
    shadow: Floats  # training sets × components × columns
    share: Floats  # training sets × components: of the columns' squares, the least of the components so far
    weights: Floats  # training sets × run and shadow × components × columns


def run_components(products: Products, d: Floats, shake: Shake, *, count: int) -> Runs:
    """Coefficients for 1 to `count` components, and those of the shadow, for each training set.

    Parameters
    ----------
    d : array of training sets × columns
        Products of columns with the target.
    """
    sets, columns = d.shape
    S = shake.with_shadow(d)
    coef = np.empty((sets, 2, count, columns))
    W = np.empty((sets, 2, count, columns))
    squares = np.empty((sets, count))
    r = Cr = square = S
    with np.errstate(all="ignore"):  # what is not finite is not used
        for k in range(count):
            # Weights are orthogonal in exact arithmetic, and so are loadings to all weights but the next.
            w = np.subtract(S, _part_in(W[:, :, :k], S), out=W[:, :, k]) if k else S
            w = np.divide(w, np.sqrt(_dot(w, w)), out=W[:, :, k])
            r = w - _dot(Cr, w) / square * r if k else w
            Cr = products(r)
            Cr[:, 1] += shake(r[:, 1])
            square = _dot(r, Cr)
            squares[:, k] = square[:, 0, 0]
            share = _dot(w, S) / square
            S -= Cr * share
            np.multiply(r, share, out=coef[:, :, k])
            if k:
                coef[:, :, k] += coef[:, :, k - 1]
        squares[~(_overlap(W[:, 0]) <= USED_UP)] = 0.0
        shares = np.minimum.accumulate(squares / (shake.size**2).sum(axis=1, keepdims=True), axis=1)
    return Runs(coef[:, 0], coef[:, 1], shares, W)


def _overlap(W: Floats) -> Floats:
    """What is left of each weight in the span of those before it: the largest product with one of them."""
    products = np.matmul(W, W.transpose(0, 2, 1))
    return np.asarray(np.abs(np.tril(products, -1)).max(axis=2))


class Shake:
    """What the shadow gets: a change of d, and a symmetric one of C, each entry of it about as large as the product of
    the two columns' lengths.

    Parameters
    ----------
    size : array of training sets × columns
        Lengths of the columns, the roots of C's diagonal.
    length : array of training sets
        Length of the target.
    """

    def __init__(self, size: Floats, length: Floats) -> None:
        U = _directions(size.shape[1])
        self.size = size
        self._target = SHAKEN * U[-1] * size * length[:, None]
        self._into = (U[:-1] * np.resize([1.0, -1.0], DIRECTIONS)[:, None]).T * (SHAKEN / DIRECTIONS**0.5)
        self._back = U[:-1]

    def with_shadow(self, d: Floats) -> Floats:
        """Training sets × run and shadow × columns."""
        return np.stack([d, d + self._target], axis=1)

    def __call__(self, r: Floats) -> Floats:
        return np.asarray(((r * self.size) @ self._into) @ self._back * self.size)


@lru_cache(maxsize=8)
def _directions(columns: int) -> Floats:
    found = np.random.default_rng(SEED).normal(size=(DIRECTIONS + 1, columns))
    found.flags.writeable = False
    return found


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.vecdot(a, b)[:, :, None])


def _part_in(W: Floats, s: Floats) -> Floats:
    """The part of each s that lies in the span of its rows of W, which are orthonormal."""
    along = np.matmul(W, s[:, :, :, None])
    return np.asarray(np.matmul(along.transpose(0, 1, 3, 2), W)[:, :, 0, :])
