"""The mean and the standard deviation of a sample, for losses of any size."""

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


def standardised(sample: Floats) -> tuple[Floats, float, float]:
    """The sample sorted, less its mean and over its largest deviation; that mean; and that deviation (0: constant).

    Sorted first, so that the order of rows cannot show even in the last bit.

    >>> standardised(np.array([3.0, 1.0, 2.0]))
    (array([-1.,  0.,  1.]), 2.0, 1.0)
    """
    ordered = np.sort(np.asarray(sample, dtype=np.float64))
    mean = float(np.mean(ordered))
    if ordered[0] == ordered[-1]:  # rounding of the mean is no spread
        return np.zeros(len(ordered)), float(ordered[0]), 0.0
    away = ordered - mean
    scale = float(np.max(np.abs(away)))
    return away / scale, mean, scale
