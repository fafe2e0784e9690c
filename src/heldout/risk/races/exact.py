"""The smallest mean that a candidate can still reach: every part that it has not run at the loss's lower end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def exact_low(losses: NDArray[np.float64], *, parts: int, low: float) -> NDArray[np.float64]:
    """The least that the mean over all `parts` can be.

    Parameters
    ----------
    losses : array of shape (candidates, n)
        Mean losses of the parts that were run.
    parts : int
        How many there are in all.
    low : float
        The smallest loss there is.

    Examples
    --------
    >>> import numpy as np
    >>> exact_low(np.array([[0.5, 0.3]]), parts=4, low=0.0).tolist()
    [0.2]
    """
    rest = parts - losses.shape[1]
    return np.asarray((losses.sum(axis=1) + rest * low) / parts, dtype=np.float64)
