"""Learners that lean to the commoner class, on data that do not tell which class is commoner.

Stratified folds give both sides of a part the class shares of the sample. Where these are near one half, which class
has more rows is chance, and yet every held-out part agrees with its training part about it. A learner that answers the
commoner class is then right more often than it will be on new rows: by (2m − 1)(p − 1/2), where m is the share of its
answers that are that class and p the class's share of the sample.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

BALANCED = 0.4  # the least share of the rarer class that counts as near balance
UNSURE = 2.0  # standard errors: a share nearer to one half than this does not tell the commoner class
LEANING = 0.2  # by how much answers exceed the share of the class they favour


def leaning_note(positive: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> str | None:
    """A warning where predictions lean to the commoner of two classes that are about equally frequent; else None.

    Parameters
    ----------
    positive : array of bool
        For each row of the sample, whether it is of the one class or the other.
    predicted : array of bool
        The same of the predictions for rows held out by stratified splits, whatever their order.

    Examples
    --------
    >>> coins = np.arange(60) < 32
    >>> leaning_note(coins, np.ones(60, dtype=bool)) is None, leaning_note(coins, coins) is None
    (False, True)
    """
    n, share = len(positive), float(np.mean(positive))
    common = max(share, 1 - share)
    if common == 0.5 or common > 1 - BALANCED or (2 * common - 1) * sqrt(n) >= UNSURE or not len(predicted):
        return None
    answers = float(np.mean(predicted == (share > 0.5)))
    if answers - common < LEANING:
        return None
    better = (2 * answers - 1) * (common - 0.5)
    return (
        f"{answers:.0%} of the predictions are the commoner class, which has {common:.1%} of {n:,} rows: too near one "
        "half to tell which class is commoner in new data. Stratified folds keep that share in training and held-out "
        f"rows, so the error rate looks about {better:.2g} better than if both classes were equally frequent. "
        "Use stratify=False."
    )
