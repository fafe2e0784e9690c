"""Bounds for the mean of losses in a known range: Hoeffding, and Maurer–Pontil, which uses their variance."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import (
    Method,
    count_draws,
    refuse_out_of_range,
    refuse_unbounded,
    refuse_unequal_draws,
    scaled_draws,
    standard_deviation,
    symmetric,
    unscaled,
)
from heldout.risk.record import Floats, Record


def hoeffding_half_width(rows: int, *, level: float) -> float:
    """Return Hoeffding's half width √(ln(2/δ)/2n); it does not depend on the losses, so it can be used for planning.

    >>> [round(hoeffding_half_width(rows, level=0.95), 4) for rows in (738, 4612, 18445)]
    [0.05, 0.02, 0.01]
    """
    return sqrt(log(2 / (1 - level)) / (2 * rows))


def hoeffding(losses: Floats, *, level: float) -> Interval:
    """Return Hoeffding's interval of the mean of independent losses in [0, 1]: mean ± √(ln(2/δ)/2n).

    It ignores the variance of the losses, so it is wide if they vary little.

    >>> interval = hoeffding(np.array([0.0, 1.0, 1.0, 0.0]), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.1791, 1.1791)
    """
    mean, half = float(np.mean(losses)), hoeffding_half_width(len(losses), level=level)
    return symmetric(mean, half, level=level, method="Hoeffding", guarantee="finite-sample")


def refuse_bounded(record: Record) -> str | None:
    """Return why the record is not one test set of independent draws of a bounded loss; None if it is."""
    return refuse_unequal_draws(record) or refuse_unbounded(record) or refuse_out_of_range(record)


HOEFFDING = Method(
    key="hoeffding",
    name="Hoeffding",
    refusal=refuse_bounded,
    interval=lambda record, value, level: unscaled(hoeffding(scaled_draws(record), level=level), record, value),
)


def maurer_pontil(losses: Floats, *, level: float) -> Interval:
    """Return the empirical Bernstein interval of the mean of independent losses in [0, 1] (Maurer & Pontil 2009).

    It is mean ± [√(2V ln(4/δ)/n) + 7 ln(4/δ)/(3(n−1))], with V the sample variance: each side by their Theorem 4 at
    δ/2. It is narrower than Hoeffding's if losses vary little and rows are many.

    >>> interval = maurer_pontil(np.full(1000, 0.3), level=0.95)
    >>> round(interval.high - 0.3, 4)
    0.0102
    """
    n, mean, width = len(losses), float(np.mean(losses)), log(4 / (1 - level))
    half = standard_deviation(losses) * sqrt(2 * width / n) + 7 * width / (3 * (n - 1))
    return symmetric(mean, half, level=level, method="Maurer–Pontil", guarantee="finite-sample")


def _refuse_single(record: Record) -> str | None:
    reason = refuse_unequal_draws(record) or refuse_unbounded(record)
    reason = reason or (None if count_draws(record) > 1 else "a single draw has no variance")
    return reason or refuse_out_of_range(record)


MAURER_PONTIL = Method(
    key="maurer-pontil",
    name="Maurer–Pontil",
    refusal=_refuse_single,
    interval=lambda record, value, level: unscaled(maurer_pontil(scaled_draws(record), level=level), record, value),
)
