"""The ends of intervals: finite whatever the losses, and around the value that is shown."""

from __future__ import annotations

import sys

from heldout.risk.estimate import Interval
from heldout.risk.record import Record

LARGEST = sys.float_info.max
ROUNDING = 1e-12  # of the ends: an interval narrower than that is a point
NO_WIDTH = "No interval: the losses do not vary, so nothing tells by how much they would on other rows."


def finite(end: float) -> float:
    """An end that ran over the largest number there is, brought back to it.

    >>> finite(float("inf")) == LARGEST
    True
    """
    return min(max(end, -LARGEST), LARGEST)


def interval_around(
    value: float, low: float, high: float, *, level: float, method: str, guarantee: str, seed: int | None = None
) -> Interval:
    """An interval with finite ends that holds the value it is the interval of.

    Methods that shuffle, resample or round can leave the mean out by a hair or by bad luck; a wider interval covers no
    less.
    """
    return Interval(
        low=finite(min(low, value)),
        high=finite(max(high, value)),
        level=level,
        method=method,
        guarantee=guarantee,
        seed=seed,
    )


def has_no_width(interval: Interval) -> bool:
    """Whether an interval is a point, up to rounding: no number of rows makes a risk known for sure.

    >>> has_no_width(Interval(low=0.0, high=0.0, level=0.95, method="Student", guarantee="asymptotic"))
    True
    """
    return interval.high - interval.low <= ROUNDING * max(abs(interval.low), abs(interval.high))


def unscaled(plain: Interval, record: Record, value: float, guarantee: str) -> Interval:
    """An interval for losses scaled to [0, 1], in the loss's own range."""
    width = record.high - record.low
    return interval_around(
        value,
        record.low + width * plain.low,
        record.low + width * plain.high,
        level=plain.level,
        method=plain.method,
        guarantee=guarantee,
        seed=plain.seed,
    )
