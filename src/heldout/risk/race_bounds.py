"""Bounds by which a race drops candidates early, from the losses of the parts that each candidate has run.

The losses are fixed and the order of the parts is random, so the parts that were run are a sample without replacement.
Serfling (1974) gives Hoeffding's bound for such samples. Bardenet and Maillard (2015) sharpen it once more than half of
the parts are known (Corollary 2.5) and give an empirical Bernstein bound (Theorem 4.3). The latter needs more parts,
and is tighter if the losses of parts vary little. Both bounds assume only the range of the losses. The paired test
takes any loss and few parts, but its level is a heuristic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special


def exact_low(losses: NDArray[np.float64], *, parts: int, low: float) -> NDArray[np.float64]:
    """Return the smallest possible mean over all `parts`, for each candidate.

    `losses` (candidates × n) are the mean losses of the parts that were run; `low` is the smallest loss there is.

    >>> exact_low(np.array([[0.5, 0.3]]), parts=4, low=0.0).tolist()
    [0.2]
    """
    rest = parts - losses.shape[1]
    return np.asarray((losses.sum(axis=1) + rest * low) / parts, dtype=np.float64)


def share_unknown(n: int, parts: int) -> float:
    """Return ρₙ of Bardenet and Maillard: the factor on a squared deviation when n of `parts` parts are known.

    >>> share_unknown(1, 10), round(share_unknown(9, 10), 3), share_unknown(10, 10)
    (1.0, 0.111, 0.0)
    """
    return 1.0 - (n - 1) / parts if 2 * n <= parts else (1.0 - n / parts) * (1.0 + 1.0 / n)


def hoeffding_low(losses: NDArray[np.float64], *, parts: int, span: float, level: float) -> NDArray[np.float64]:
    """Return Hoeffding–Serfling lower bounds of the mean over all `parts`; each fails with probability `level` at most.

    `losses` (candidates × n) are the mean losses of the first n parts of a random order; `span` is the largest possible
    loss minus the smallest.

    >>> hoeffding_low(np.full((1, 100), 0.5), parts=1000, span=1.0, level=0.001).round(3).tolist()
    [0.324]
    """
    n = losses.shape[1]
    deviation = span * np.sqrt(share_unknown(n, parts) * np.log(1.0 / level) / (2.0 * n))
    return np.asarray(losses.mean(axis=1) - deviation, dtype=np.float64)


_KAPPA = 7.0 / 3.0 + 3.0 / np.sqrt(2.0)
_EVENTS = 5.0  # the bound of the theorem fails with probability 5δ at most


def bernstein_low(losses: NDArray[np.float64], *, parts: int, span: float, level: float) -> NDArray[np.float64]:
    """Return empirical Bernstein lower bounds of the mean over all `parts`; parameters as for `hoeffding_low`.

    >>> bernstein_low(np.full((1, 500), 0.5), parts=1000, span=1.0, level=0.001).round(3).tolist()
    [0.424]
    """
    n = losses.shape[1]
    log = np.log(_EVENTS / level)
    deviation = losses.std(axis=1) * np.sqrt(2.0 * share_unknown(n, parts) * log / n) + _KAPPA * span * log / n
    return np.asarray(losses.mean(axis=1) - deviation, dtype=np.float64)


FEWEST = 3  # parts; a standard deviation of fewer tells too little


def surely_worse(
    losses: NDArray[np.float64], leader: NDArray[np.float64], *, ratio: float, level: float
) -> NDArray[np.bool_]:
    """Return which candidates are worse than the leader, by a one-sided corrected t test at `level`.

    A candidate whose differences from the leader do not vary is never dropped: their variance is not known.

    `losses` (candidates × n) are the mean losses of the parts that were run, `leader` has the leader's on the same
    parts, and `ratio` is the number of held-out rows of a part over its training rows.

    >>> leader = np.array([0.1, 0.12, 0.11, 0.09])
    >>> surely_worse(np.array([[0.5, 0.5, 0.52, 0.51], [0.1, 0.2, 0.1, 0.1]]), leader, ratio=0.25, level=0.001).tolist()
    [True, False]
    """
    n = losses.shape[1]
    if n < FEWEST:
        return np.zeros(len(losses), dtype=bool)
    differences = losses - leader
    spread = differences.std(axis=1, ddof=1)
    needed = -special.stdtrit(n - 1, level) * spread * np.sqrt(1.0 / n + ratio)
    tiny = 1e-12 * np.abs(differences).max(axis=1)  # rounding error of differences that are all the same
    return np.asarray((spread > tiny) & (differences.mean(axis=1) > needed), dtype=np.bool_)
