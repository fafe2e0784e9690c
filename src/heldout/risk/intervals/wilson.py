"""Wilson: the interval of a proportion of errors from the normal test it would pass."""

from __future__ import annotations

from math import sqrt

from scipy.special import ndtri

from heldout.risk.estimate import Interval
from heldout.risk.intervals.clopper_pearson import refuse_other_than_right_or_wrong, refuse_unless_right_or_wrong
from heldout.risk.intervals.ends import interval_around, unscaled
from heldout.risk.intervals.method import Method
from heldout.risk.record import Record, zero_one_errors


def wilson(errors: int, rows: int, *, level: float) -> Interval:
    """The interval of the error probability: those that a normal test with their own variance does not reject.

    Shorter than Clopper–Pearson's, and close to its level on average over probabilities, but not for each: it can
    fall some points short where errors are rare.

    >>> interval = wilson(0, 10, level=0.95)
    >>> interval.low, round(interval.high, 4)
    (0.0, 0.2775)
    """
    z = float(ndtri(0.5 + level / 2))
    share = errors / rows
    middle = (errors + z * z / 2) / (rows + z * z)
    half = z / (rows + z * z) * sqrt(rows * share * (1 - share) + z * z / 4)
    low = 0.0 if errors == 0 else max(0.0, middle - half)
    high = 1.0 if errors == rows else min(1.0, middle + half)
    return interval_around(share, low, high, level=level, method="Wilson", guarantee="asymptotic")


def _interval(record: Record, value: float, level: float) -> Interval:
    errors = zero_one_errors(record)
    assert errors is not None  # refused above
    return unscaled(wilson(round(float(errors.sum())), len(errors), level=level), record, value, "asymptotic")


WILSON = Method(
    key="wilson",
    name="Wilson",
    refusal=refuse_other_than_right_or_wrong,
    early=refuse_unless_right_or_wrong,
    interval=_interval,
)
