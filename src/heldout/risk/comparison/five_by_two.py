"""Tests for 2-fold cross-validation repeated 5 times: Dietterich's t, Alpaydin's F, and the F of the mean.

They are here to be asked for. Told to compare learners that are alike (two halves of exchangeable columns, 60 or 100
rows) at 5 %, the t rejected in 3 to 11 % of studies, the F in 2 to 16 %, the F of the mean in 0 to 9 %, the corrected t
on the same ten differences in 0 to 5 %.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.special import fdtrc, stdtr

from heldout.risk.record import Floats


def five_by_two_t(differences: Floats) -> float:
    """The two-sided p-value of Dietterich (1998): the first difference over the spread inside the five repeats.

    >>> round(five_by_two_t(np.array([0.04, 0.02, 0.03, 0.05, 0.01, 0.03, 0.04, 0.04, 0.02, 0.05])), 4)
    0.0398
    """
    first = float(_scaled(differences)[0])
    if first == 0:
        return 1.0
    spread = sqrt(float(np.mean(_spreads(_scaled(differences)))))
    return float(2 * stdtr(5, -abs(first) / spread)) if spread > 0 else 0.0


def five_by_two_f(differences: Floats) -> float:
    """The p-value of Alpaydin (1999), which takes all ten differences and so does not hang on their order.

    >>> round(five_by_two_f(np.array([0.04, 0.02, 0.03, 0.05, 0.01, 0.03, 0.04, 0.04, 0.02, 0.05])), 4)
    0.0313
    """
    scaled = _scaled(differences)
    return _p_of(float(np.sum(scaled**2)), scaled)


def _p_of(squares: float, differences: Floats) -> float:
    """The p-value of a sum of squares over the spread inside the repeats, F with 10 and 5 degrees of freedom."""
    spread = 2 * float(np.sum(_spreads(differences)))
    if squares == 0:
        return 1.0
    return float(fdtrc(10, 5, squares / spread if spread > 0 else inf))


def five_by_two_mean(differences: Floats) -> float:
    """The same with the mean of the ten in the place of each: what the 5×2 interval is dual to.

    Alpaydin's sum also grows where the differences vary from repeat to repeat, and can so be large around a mean of 0.
    A p-value that is to say which learner is better must not.

    >>> round(five_by_two_mean(np.array([0.04, 0.02, 0.03, 0.05, 0.01, 0.03, 0.04, 0.04, 0.02, 0.05])), 4)
    0.0416
    """
    scaled = _scaled(differences)
    return _p_of(float(np.mean(scaled)) ** 2 * 10, scaled)


def _scaled(differences: Floats) -> Floats:
    """The same with 1 as the largest, for squares of huge or tiny differences to stay finite; the tests do not mind."""
    largest = float(np.max(np.abs(differences)))
    return differences if largest == 0 else differences / largest


def _spreads(differences: Floats) -> Floats:
    """The sum of squares around the mean of each of the five repeats."""
    repeats = np.asarray(differences, dtype=np.float64).reshape(5, 2)
    spreads: Floats = (repeats[:, 0] - repeats[:, 1]) ** 2 / 2
    return spreads
