"""The p-value of a permutation test."""

from __future__ import annotations

import numpy as np

from heldout.risk.comparison.differences import ROUNDING
from heldout.risk.record import Floats


def permutation_p(loss: float, shuffled: Floats) -> float:
    """How probable so small a loss is where the target has nothing to do with the features: (1 + #)/(B + 1).

    # counts the shuffled targets whose loss is as small, ties within rounding and missing losses among them. The
    loss itself counts as one of the B + 1, which makes the test exact for any B.

    >>> permutation_p(0.1, np.array([0.5, 0.4, 0.1, np.nan]))
    0.6
    """
    finite = shuffled[np.isfinite(shuffled)]
    tie = ROUNDING * max(abs(loss), float(np.max(np.abs(finite), initial=0.0)))
    beaten = np.sum(shuffled > loss + tie)
    return float((1 + len(shuffled) - beaten) / (len(shuffled) + 1))
