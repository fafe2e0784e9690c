"""Improved kernel PLS of one target (Dayal & MacGregor 1997, algorithm 2), and how far rounding errors go in it.

Every weight is what is left of the products with the target, s, made orthogonal to earlier weights. Rounding errors
of s are about as large as those of its first value d, so a weight is off by |d| / |s| roundings. The square of a
component is off by as many as its terms are larger than itself. The coefficients are off by both, times the component.
That sum was never exceeded more than fivefold, in independent, nearly collinear and smooth columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from heldout.kernels.sums.rounding import Floats


class Components(NamedTuple):
    """Coefficients of 1, 2, … components."""

    coef: Floats  # components × columns
    growth: Floats  # components: what a relative rounding error moves the coefficients by; NaN past the rank


def find_components(multiply: Callable[[Floats], Floats], squares: Floats, d: Floats, count: int) -> Components:
    """The first `count` components, from products of columns with a vector, with themselves and with the target."""
    W, coef, growth = np.empty((count, len(d))), np.empty((count, len(d))), np.empty(count)
    length, s = np.linalg.norm(d), d
    total, moved = np.zeros(len(d)), 0.0
    r = Cr = d
    square = 1.0
    with np.errstate(all="ignore"):  # past the rank numbers are not finite, and not used
        for k in range(count):
            w = s - W[:k].T @ (W[:k] @ s)
            left = np.linalg.norm(w)
            w = np.divide(w, left, out=W[k])
            r = w - (Cr @ w) / square * r if k else w
            Cr = multiply(r)
            square = r @ Cr
            share = (w @ s) / square
            s = s - share * Cr
            total = coef[k] = total + share * r
            roundings = length / left + squares @ r**2 / abs(square)
            moved = growth[k] = moved + roundings * abs(share) * np.linalg.norm(r)
    return Components(coef, growth)
