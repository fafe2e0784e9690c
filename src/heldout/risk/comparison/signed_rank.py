"""The Bayesian signed rank test: two learners over several datasets, with a region of practical equivalence."""

from __future__ import annotations

import numpy as np

from heldout.risk.comparison.correlated_t import Probabilities
from heldout.risk.record import Floats

DRAWS = 20_000
PRIOR = 0.5  # the weight of the one made-up dataset, on which the learners are equal
_AT_ONCE = 1 << 21  # numbers in memory


def signed_rank(differences: Floats, *, rope: float = 0.0, seed: int, draws: int = DRAWS) -> Probabilities:
    """Probabilities that one learner is better on a dataset like these (Benavoli et al. 2014, 2017).

    Datasets are weighted by a Dirichlet draw; of all pairs of differences, each weighted by the product of its
    weights, some have a mean below −rope, some within, some above. A draw goes to the largest of the three, and the
    probabilities are the shares of the draws. Differences must be on one scale, as those of error rates are.

    Parameters
    ----------
    differences : array
        The first learner's loss less the second's, one a dataset.
    rope : float
        Half the width of the region of practical equivalence.
    seed : int
        Of the draws; the standard error of a probability is at most 0.5/√draws, which is 0.0035.
    draws : int
        How many.

    Examples
    --------
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
