"""The standard deviation of a sample, for losses of any size."""

from __future__ import annotations

import numpy as np

from heldout.risk.record import Floats


def standard_deviation(sample: Floats) -> float:
    """The sample standard deviation (n − 1), scaled so that squares of huge or tiny losses stay finite.

    >>> standard_deviation(np.array([1e200, 3e200]))
    1.414213562373095e+200
    """
    scale = float(np.max(np.abs(sample)))
    return 0.0 if scale == 0 else scale * float(np.std(sample / scale, ddof=1))
