"""The empirical Bernstein bound for parts run in a random order: narrow where a candidate's parts agree.

Bardenet and Maillard (2015, Theorem 4.3), for samples without replacement. It asks for more parts than Hoeffding's
before it says anything, and says more where losses of parts vary little: with many repetitions, or resamples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.risk.races.hoeffding import share_unknown

_KAPPA = 7.0 / 3.0 + 3.0 / np.sqrt(2.0)
_EVENTS = 5.0  # the theorem holds but with probability 5δ


def bernstein_low(losses: NDArray[np.float64], *, parts: int, span: float, level: float) -> NDArray[np.float64]:
    """What the mean over all `parts` is above, but with probability `level`; parameters as of `hoeffding_low`.

    >>> import numpy as np
    >>> bernstein_low(np.full((1, 500), 0.5), parts=1000, span=1.0, level=0.001).round(3).tolist()
    [0.424]
    """
    n = losses.shape[1]
    log = np.log(_EVENTS / level)
    deviation = losses.std(axis=1) * np.sqrt(2.0 * share_unknown(n, parts) * log / n) + _KAPPA * span * log / n
    return np.asarray(losses.mean(axis=1) - deviation, dtype=np.float64)
