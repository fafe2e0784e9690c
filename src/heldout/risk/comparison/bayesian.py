"""Bayesian comparisons with a region of practical equivalence: the correlated t test, and the signed rank test."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtr

from heldout.risk.intervals.method import standard_deviation
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

    `differences` are the first learner's losses less the second's, one a split; `rope` is half the width of the region
    of practical equivalence, in the unit of the loss.

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


DRAWS = 20_000
PRIOR = 0.5  # the weight of the one made-up dataset, on which the learners are equal
_AT_ONCE = 1 << 21  # numbers in memory


def signed_rank(differences: Floats, *, rope: float = 0.0, seed: int, draws: int = DRAWS) -> Probabilities:
    """Probabilities that one learner is better on a dataset like these (Benavoli et al. 2014, 2017).

    Datasets are weighted by a Dirichlet draw; of all pairs of differences, each weighted by the product of its
    weights, some have a mean below −rope, some within, some above. A draw goes to the largest of the three, and the
    probabilities are the shares of the draws. Differences must be on one scale, as those of error rates are.

    `differences` are the first learner's losses less the second's, one a dataset. The standard error of a probability
    is at most 0.5/√draws, which is 0.0035.

    >>> found = signed_rank(np.array([-0.05, -0.02, -0.04, -0.03, 0.01, -0.06]), rope=0.01, seed=0)
    >>> found.left > 0.9
    True
    """
    values = np.concatenate([[0.0], np.asarray(differences, dtype=np.float64)])
    sums = values[:, None] + values[None, :]
    below, above = _step(-sums - 2 * rope), _step(sums - 2 * rope)
    prior = np.concatenate([[PRIOR], np.ones(len(values) - 1)])
    rng = np.random.default_rng(seed)
    shares = []
    for size in _blocks(draws, len(values)):
        weights = rng.dirichlet(prior, size)
        left = np.einsum("si,si->s", weights @ below, weights)
        right = np.einsum("si,si->s", weights @ above, weights)
        shares.append(np.stack([left, 1 - left - right, right], axis=1))
    if rope == 0:
        return _two_sided(np.concatenate(shares))
    counts = np.bincount(np.argmax(np.concatenate(shares), axis=1), minlength=3) / draws
    return Probabilities(left=float(counts[0]), rope=float(counts[1]), right=float(counts[2]))


def _two_sided(shares: Floats) -> Probabilities:
    """Without a region in between, draws that lie in the middle go half to each side."""
    left = float(np.mean(shares[:, 0] > shares[:, 2]) + np.mean(shares[:, 0] == shares[:, 2]) / 2)
    return Probabilities(left=left, rope=0.0, right=1 - left)


def _step(values: Floats) -> Floats:
    return np.heaviside(values, 0.5)


def _blocks(draws: int, width: int) -> list[int]:
    most = max(1, _AT_ONCE // width)
    return [most] * (draws // most) + ([draws % most] if draws % most else [])
