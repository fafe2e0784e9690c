"""The corrected t with at most four degrees of freedom: the default where no row is known."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.intervals.corrected_t import CORRECTED_T
from heldout.risk.intervals.ends import interval_around
from heldout.risk.intervals.method import Method
from heldout.risk.intervals.spread import standard_deviation
from heldout.risk.record import Floats, Record

MOST = 4  # degrees of freedom: those of five folds


def cautious_t(losses: Floats, *, test_ratio: float, level: float, centre: float | None = None) -> Interval:
    """The interval of :func:`~heldout.risk.intervals.corrected_t.corrected_t`, but with min(J − 1, 4) degrees of
    freedom.

    More folds, repeats or resamples of the same rows make the spread between them smoother, but do not tell better how
    far their mean is off: all of them share training rows and move together. With J − 1 degrees of freedom the
    corrected t of repeats and resamples misses more often than it says in ordinary settings (`make coverage`).

    >>> from heldout.risk.intervals.corrected_t import corrected_t
    >>> losses = np.array([0.1, 0.2, 0.3] * 5)
    >>> cautious_t(losses, test_ratio=0.5, level=0.95).high > corrected_t(losses, test_ratio=0.5, level=0.95).high
    True
    """
    splits = len(losses)
    error = standard_deviation(losses) * sqrt(1 / splits + test_ratio)
    half = float(stdtrit(min(splits - 1, MOST), 0.5 + level / 2)) * error
    middle = float(np.mean(losses)) if centre is None else centre
    return interval_around(
        middle, middle - half, middle + half, level=level, method="cautious t", guarantee="heuristic"
    )


def _interval(record: Record, value: float, level: float) -> Interval:
    ratio = float(np.sum(record.held_sizes) / np.sum(record.train_sizes))
    return cautious_t(record.fold_losses, test_ratio=ratio, level=level, centre=value)


CAUTIOUS_T = Method(key="cautious-t", name="cautious t", refusal=CORRECTED_T.refusal, interval=_interval)
