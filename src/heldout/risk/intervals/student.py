"""Student's t over the rows of one test set, or over its groups."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.intervals.draws import count_draws, independent_draws, refuse_unequal_draws
from heldout.risk.intervals.ends import interval_around
from heldout.risk.intervals.method import Method
from heldout.risk.intervals.spread import standard_deviation
from heldout.risk.record import Floats, Record


def student(losses: Floats, *, level: float, centre: float | None = None) -> Interval:
    """The interval of a mean over independent rows, mean ± t·s/√n with n − 1 degrees of freedom.

    Exact for normal losses only; losses with heavy tails need many rows before it covers as it says.

    >>> interval = student(np.array([0.0, 1.0, 2.0]), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-1.4841, 3.4841)
    """
    n = len(losses)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * standard_deviation(losses) / sqrt(n)
    middle = float(np.mean(losses)) if centre is None else centre
    return interval_around(middle, middle - half, middle + half, level=level, method="Student", guarantee="asymptotic")


def _refusal(record: Record) -> str | None:
    if (reason := refuse_unequal_draws(record)) is not None:
        return reason
    if count_draws(record) < 2:
        return f"one test {'group' if record.grouped else 'row'} has no spread"
    return None


def _interval(record: Record, value: float, level: float) -> Interval:
    return student(independent_draws(record), level=level, centre=value)


STUDENT = Method(key="student", name="Student", refusal=_refusal, interval=_interval)
