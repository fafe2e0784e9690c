"""Improved kernel PLS (Dayal & MacGregor 1997, algorithm 2) of one target, for several training sets at a time.

Each run has a shadow: the same run on products that are shaken by a known, small amount. How far the shadow strays
tells how far rounding may have gone, here and in scikit-learn, whatever the reason: components past the rank, columns
that are nearly collinear, a covariance that is used up.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heldout.kernels.ridge.design import Floats

SHAKEN = 1e-11  # relative size of the change that the shadow gets
DIRECTIONS = 4  # of the change, which is a matrix of so low a rank that it costs next to nothing
SEED = 20_240_117  # of the change, the same in every study

Products = Callable[[Floats], Floats]  # rows r to rC, for training sets × run and shadow × columns


def run_components(products: Products, d: Floats, size: Floats, length: Floats, *, count: int) -> tuple[Floats, Floats]:
    """Coefficients for 1 to `count` components, and those of the shadow: training sets × components × columns.

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
    W, P, R = (np.zeros((sets, 2, count, columns)) for _ in range(3))
    sum_so_far = np.zeros((sets, 2, columns))
    with np.errstate(all="ignore"):  # what is not finite is not used
        for k in range(count):
            w = _unit(S)
            if k:  # weights are orthogonal in exact arithmetic
                w = _unit(w - _mix(W[:, :, :k], w, W[:, :, :k]))
                r = w - _mix(P[:, :, :k], w, R[:, :, :k])
            else:
                r = w
            Cr = products(r)
            Cr[:, 1] += SHAKEN * shake(r[:, 1])
            square = _dot(r, Cr)
            share = _dot(w, S) / square
            W[:, :, k], R[:, :, k], P[:, :, k] = w, r, Cr / square
            S = S - Cr * share
            sum_so_far += r * share
            coef[:, :, k] = sum_so_far
    return coef[:, 0], coef[:, 1]


class _Shake:
    """A symmetric change of C, each entry of it about as large as the product of the two columns' lengths."""

    def __init__(self, size: Floats, columns: int) -> None:
        random = np.random.default_rng(SEED)
        self._U: Floats = random.normal(size=(DIRECTIONS, columns)) / np.sqrt(DIRECTIONS)
        self._signs = np.resize([1.0, -1.0], DIRECTIONS)
        self._size = size
        self.target: Floats = random.normal(size=columns)

    def __call__(self, r: Floats) -> Floats:
        along = ((r * self._size) @ self._U.T) * self._signs
        return np.asarray((along @ self._U) * self._size)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("svp,svp->sv", a, b)[:, :, None])


def _unit(a: Floats) -> Floats:
    return a / np.sqrt(_dot(a, a))


def _mix(against: Floats, w: Floats, of: Floats) -> Floats:
    """Σⱼ (againstⱼ·w) ofⱼ."""
    shares = np.matmul(against, w[:, :, :, None])
    return np.asarray(np.matmul(shares.transpose(0, 1, 3, 2), of)[:, :, 0, :])
