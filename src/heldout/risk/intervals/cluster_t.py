"""Cluster t: Student's t where rows come in groups of any size, or have weights."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.intervals.draws import refuse_other_than_one_test_set
from heldout.risk.intervals.ends import interval_around
from heldout.risk.intervals.method import Method
from heldout.risk.record import Floats, Record


def cluster_t(
    losses: Floats,
    *,
    level: float,
    groups: NDArray[np.integer] | None = None,
    weights: Floats | None = None,
    centre: float | None = None,
) -> Interval:
    """The interval of a weighted mean over rows of which only the groups are independent.

    The mean is a ratio of two sums over groups, Σw·loss over Σw, with the variance G/(G−1)·Σ_g(Σ_{i∈g} w_i(loss_i −
    mean))²/(Σw)². The t has G − 1 degrees of freedom for groups of equal weight; for others G is (ΣW_g)²/ΣW_g², the
    number of equal groups that would weigh the mean as evenly. Without groups each row is one; without weights and
    groups this is Student's interval.

    >>> losses = np.array([0.0, 0.2, 1.0, 1.2, 3.0])
    >>> interval = cluster_t(losses, level=0.95, groups=np.array([0, 0, 1, 1, 2]))
    >>> round(interval.low, 4), round(interval.high, 4)
    (-2.1876, 4.3476)
    """
    own = np.arange(len(losses)) if groups is None else groups
    rows = np.ones(len(losses)) if weights is None else weights / np.max(weights)
    codes = np.unique(own, return_inverse=True)[1]
    totals = np.bincount(codes, weights=rows)
    count = int(np.count_nonzero(totals))
    mean = float(np.average(losses, weights=rows))
    away = losses - mean
    scale = float(np.max(np.abs(away[rows > 0])))
    sums = np.bincount(codes, weights=rows * away / scale) if scale > 0 else np.zeros(len(totals))
    error = scale * sqrt(count / (count - 1) * float(np.sum(sums**2))) / float(np.sum(rows))
    half = float(stdtrit(effective_groups(totals) - 1, 0.5 + level / 2)) * error
    middle = mean if centre is None else centre
    return interval_around(
        middle, middle - half, middle + half, level=level, method="cluster t", guarantee="asymptotic"
    )


def effective_groups(totals: NDArray[Any]) -> float:
    """How many groups of equal weight would weigh a mean as evenly as these do.

    >>> effective_groups(np.array([1.0, 1.0, 1.0])), round(effective_groups(np.array([8.0, 1.0, 1.0])), 2)
    (3.0, 1.52)
    """
    shares = totals / np.max(totals)
    return float(np.sum(shares) ** 2 / np.sum(shares**2))


def _refusal(record: Record) -> str | None:
    if (reason := refuse_other_than_one_test_set(record)) is not None:
        return reason
    what = "group" if record.grouped else "row"
    totals = _group_totals(record)
    if np.count_nonzero(totals) < 2:
        return f"one test {what} has no spread"
    if (effective := effective_groups(totals)) < 2:
        return (
            f"one {what} weighs so much that the {len(totals)} test {what}s tell no more than "
            f"{effective:.1f} equal ones would"
        )
    return None


def _group_totals(record: Record) -> Floats:
    n = int(record.held_sizes[0])
    weights = np.ones(n) if record.weights is None else record.weights[0]
    if not record.grouped or record.groups is None:
        return weights
    codes = np.unique(record.groups[0], return_inverse=True)[1]
    return np.asarray(np.bincount(codes, weights=weights), dtype=np.float64)


def _interval(record: Record, value: float, level: float) -> Interval:
    assert record.row_losses is not None  # refused above
    groups = record.groups[0] if record.grouped and record.groups is not None else None
    weights = None if record.weights is None else record.weights[0]
    return cluster_t(record.row_losses[0], level=level, groups=groups, weights=weights, centre=value)


CLUSTER_T = Method(key="cluster-t", name="cluster t", refusal=_refusal, interval=_interval)
