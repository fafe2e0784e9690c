"""Hoeffding's bound for parts run in a random order: what Maron and Moore's race (1994) drops candidates by.

The table of losses is fixed and the order of its parts is drawn, so the parts that were run are a sample without
replacement. Serfling (1974) has the bound for those, Bardenet and Maillard (2015, Corollary 2.5) sharpened it past the
half. Nothing is assumed of the losses but their range, nor of rows, folds or learners.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def share_unknown(n: int, parts: int) -> float:
    """By how much the square of a deviation shrinks because n of so many parts are known: ρₙ of Bardenet and Maillard.

    >>> share_unknown(1, 10), round(share_unknown(9, 10), 3), share_unknown(10, 10)
    (1.0, 0.111, 0.0)
    """
    return 1.0 - (n - 1) / parts if 2 * n <= parts else (1.0 - n / parts) * (1.0 + 1.0 / n)


def hoeffding_low(losses: NDArray[np.float64], *, parts: int, span: float, level: float) -> NDArray[np.float64]:
    """What the mean over all `parts` is above, but with probability `level`.

    Parameters
    ----------
    losses : array of shape (candidates, n)
        Mean losses of the parts that were run, the first n of a random order.
    parts : int
        How many there are in all.
    span : float
        The loss's largest value less its smallest.
    level : float
        The probability that a candidate's mean is below what is said here.

    Examples
    --------
    >>> import numpy as np
    >>> hoeffding_low(np.full((1, 100), 0.5), parts=1000, span=1.0, level=0.001).round(3).tolist()
    [0.324]
    """
    n = losses.shape[1]
    deviation = span * np.sqrt(share_unknown(n, parts) * np.log(1.0 / level) / (2.0 * n))
    return np.asarray(losses.mean(axis=1) - deviation, dtype=np.float64)
