"""The Bayesian correlated t test, with a region of practical equivalence."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtr

from heldout.risk.intervals.spread import standard_deviation
from heldout.risk.record import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilities:
    """Where the true difference of losses lies: below the region of practical equivalence, in it, above it.

    Losses are lower for the better learner, so `left` is the probability that the first is better.
    """

    left: float
    rope: float
    right: float


def correlated_t(differences: Floats, *, test_ratio: float, rope: float = 0.0) -> Probabilities:
    """Posterior probabilities from the differences of J splits that share training rows (Benavoli et al. 2017).

    The posterior of the mean difference is a t with J − 1 degrees of freedom around the mean, with the variance
    s²(1/J + ρ/(1 − ρ)), ρ = n_test/n, so that ρ/(1 − ρ) is the `test_ratio` n_test/n_train of the corrected t.

    Parameters
    ----------
    differences : array
        The first learner's loss less the second's, one a split.
    test_ratio : float
        Held-out rows for each training row.
    rope : float
        Half the width of the region of practical equivalence, in the unit of the loss.

    Examples
    --------
    >>> found = correlated_t(np.array([-0.05, -0.02, -0.04, -0.03, -0.01]), test_ratio=0.25, rope=0.01)
    >>> round(found.left, 3), round(found.rope, 3), round(found.right, 3)
    (0.934, 0.056, 0.01)
    """
    splits = len(differences)
    mean = float(np.mean(differences))
    scale = standard_deviation(differences) * sqrt(1 / splits + test_ratio)
    return t_posterior(mean, scale, splits - 1, rope=rope)


def t_posterior(mean: float, scale: float, freedom: float, *, rope: float = 0.0) -> Probabilities:
    """Where the true difference lies by a t around the mean: its posterior when nothing was known before."""
    if scale == 0:
        inside = abs(mean) <= rope and rope > 0
        half = 0.5 if mean == 0 else float(mean < 0)
        return Probabilities(left=0.0 if inside else half, rope=float(inside), right=0.0 if inside else 1 - half)
    left = float(stdtr(freedom, (-rope - mean) / scale))
    right = float(stdtr(freedom, (mean - rope) / scale))
    return Probabilities(left=left, rope=max(0.0, 1 - left - right) if rope > 0 else 0.0, right=right)
