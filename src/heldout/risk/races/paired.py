"""The paired corrected t: differences to the leader, part by part, with Nadeau and Bengio's correction.

The parts share training rows, so the variance of their mean is larger than independent parts would have it; the
correction adds the ratio of held-out to training rows. It takes any loss and few parts, and its level is a heuristic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

FEWEST = 3  # parts, before a standard deviation is worth anything


def surely_worse(
    losses: NDArray[np.float64], leader: NDArray[np.float64], *, ratio: float, level: float
) -> NDArray[np.bool_]:
    """Which candidates are worse than the leader, by a one-sided test at `level`.

    Differences that do not vary say nothing of how they vary, so they drop nobody.

    Parameters
    ----------
    losses : array of shape (candidates, n)
        Mean losses of the parts that were run.
    leader : array of shape (n,)
        Those of the leader on the same parts.
    ratio : float
        Held-out rows to training rows of a part.
    level : float
        Of one test.

    Examples
    --------
    >>> import numpy as np
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
