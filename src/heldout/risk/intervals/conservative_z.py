"""The conservative Z interval of Nadeau and Bengio, from cross-validations of disjoint halves of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import Method, spread_of_pairs, symmetric, z_quantile
from heldout.risk.record import Floats, Record

FEWEST = 5  # pairs of halves


def conservative_z(halves: Floats, *, level: float, centre: float | None = None) -> Interval:
    """Return the interval of an expected risk from M pairs of halves that share no row.

    The two estimates of a pair are independent, so half their squared difference is an unbiased estimate of the
    variance of one of them: σ̂² = Σ(first − second)²/2M. The interval is mean ± zσ̂ (Nadeau & Bengio 2003). The mean
    over halves varies less than a single half, so the interval is conservative. `halves` (M × 2) has a row for each
    pair; `centre` replaces the mean (None: the mean).

    >>> interval = conservative_z(np.array([[0.1, 0.3]] * 8), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0772, 0.4772)
    """
    sigma = spread_of_pairs(halves)
    middle = float(np.mean(halves)) if centre is None else centre
    return symmetric(middle, z_quantile(level) * sigma, level=level, method="conservative Z", guarantee="heuristic")


def _refusal(record: Record) -> str | None:
    if record.timed:
        return "the parts follow each other in time, so halves are not independent"
    pairs = 0 if record.halves is None else len(np.unique(record.halves)) // 2
    if pairs < FEWEST:
        count = "none" if pairs == 0 else str(pairs)
        return (
            f"it needs at least {FEWEST} pairs of halves of the rows, each with training and held-out rows of its own, "
            f"and there are {count}: KFold and Resample draw from all rows"
        )
    if not np.sum(record.train_sizes):
        return "nothing was trained, so halves do not tell how training rows matter"
    return None


def half_means(losses: Floats, halves: NDArray[np.integer]) -> Floats:
    """Return the mean loss of each half (pairs × 2); `halves` numbers the half of each loss, 2i and 2i + 1 for pair i.

    >>> half_means(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1]))
    array([[2., 6.]])
    """
    means = np.array([float(np.mean(losses[halves == half])) for half in np.unique(halves)])
    return means.reshape(-1, 2)


def _interval(record: Record, value: float, level: float) -> Interval:
    assert record.halves is not None  # refused above
    return conservative_z(half_means(record.fold_losses, record.halves), level=level, centre=value)


CONSERVATIVE_Z = Method(key="conservative-z", name="conservative Z", refusal=_refusal, interval=_interval)
