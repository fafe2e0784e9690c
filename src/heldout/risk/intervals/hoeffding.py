"""Hoeffding: the simplest bound for losses between two known numbers."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from heldout.risk.estimate import Interval
from heldout.risk.intervals.draws import (
    promised,
    refuse_out_of_range,
    refuse_unbounded,
    refuse_unequal_draws,
    scaled_draws,
)
from heldout.risk.intervals.ends import interval_around, unscaled
from heldout.risk.intervals.method import Method
from heldout.risk.record import Floats, Record


def hoeffding_half_width(rows: int, *, level: float) -> float:
    """√(ln(2/δ)/2n), which holds whatever the losses are, so it can be planned with.

    >>> [round(hoeffding_half_width(rows, level=0.95), 4) for rows in (738, 4612, 18445)]
    [0.05, 0.02, 0.01]
    """
    return sqrt(log(2 / (1 - level)) / (2 * rows))


def hoeffding(losses: Floats, *, level: float) -> Interval:
    """The interval of the mean of independent losses in [0, 1]: mean ± √(ln(2/δ)/2n).

    It knows nothing of the spread of the losses, so it is wide where they vary little.

    >>> interval = hoeffding(np.array([0.0, 1.0, 1.0, 0.0]), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.1791, 1.1791)
    """
    mean, half = float(np.mean(losses)), hoeffding_half_width(len(losses), level=level)
    return interval_around(mean, mean - half, mean + half, level=level, method="Hoeffding", guarantee="finite-sample")


def refuse_recipe(record: Record) -> str | None:
    """Why this is not one test set of independent draws of a bounded loss, whatever the losses, or None."""
    return refuse_unequal_draws(record) or refuse_unbounded(record)


def refuse_bounded(record: Record) -> str | None:
    """The same, once the losses are known."""
    return refuse_recipe(record) or refuse_out_of_range(record)


def _interval(record: Record, value: float, level: float) -> Interval:
    plain = hoeffding(scaled_draws(record), level=level)
    return unscaled(plain, record, value, promised("finite-sample", record))


HOEFFDING = Method(key="hoeffding", name="Hoeffding", refusal=refuse_bounded, early=refuse_recipe, interval=_interval)
