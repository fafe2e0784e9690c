"""Batch means: the difference of two learners on rows that follow each other in time."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.risk.comparison.paired_rows import Spread
from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import Method
from heldout.risk.intervals.spread import standard_deviation
from heldout.risk.record import Floats, Record

BATCHES = 5
FEWEST = 30  # independent rows that the differences must be worth: six a batch
NAME = "five batch means"


def batch_means(differences: Floats, *, order: NDArray[Any], weights: Floats | None = None) -> Spread:
    """The spread of a mean over rows in time, from the means of five stretches of equal length, t with 4 degrees.

    Rows near each other in time are alike; long stretches are nearly independent, so their means tell how far the
    mean of all may be off. Rows of one time stay together.

    >>> found = batch_means(np.tile([0.1, 0.3], 50), order=np.arange(100))
    >>> round(found.mean, 3), found.freedom
    (0.2, 4)
    """
    mass, batch = np.ones(len(differences)) if weights is None else weights, batches_in_time(order)
    means = np.array([np.average(differences[batch == b], weights=mass[batch == b]) for b in range(BATCHES)])
    error = standard_deviation(means) / sqrt(BATCHES)
    return Spread(mean=float(np.average(differences, weights=mass)), error=error, freedom=BATCHES - 1, method=NAME)


def batches_in_time(order: NDArray[Any]) -> NDArray[Any]:
    """Which of five stretches of about equally many rows each row lies in.

    >>> batches_in_time(np.array([3, 1, 2, 5, 4]))
    array([2, 0, 1, 4, 3])
    """
    places = np.unique(order, return_inverse=True)[1]
    counts = np.bincount(places)
    earlier = np.cumsum(counts) - counts  # rows of earlier times
    batches: NDArray[Any] = (earlier * BATCHES // len(order))[places]
    return batches


def worth_of_rows(differences: Floats, order: NDArray[Any]) -> float:
    """How many independent rows would tell as much: n(1 − ρ)/(1 + ρ), ρ the correlation of neighbours in time.

    >>> worth_of_rows(np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4))
    4.0
    """
    inorder = differences[np.argsort(order, kind="stable")]
    away = inorder - np.mean(inorder)
    total = float(np.sum(away**2))
    rho = 0.0 if total == 0 else max(0.0, float(np.sum(away[1:] * away[:-1])) / total)
    return len(differences) * (1 - rho) / (1 + rho)


def spread_in_time(record: Record) -> Spread:
    """The batch means of a record of differences that was not refused."""
    assert record.row_losses is not None
    assert record.order is not None
    weights = None if record.weights is None else np.concatenate(record.weights)
    return batch_means(np.concatenate(record.row_losses), order=np.concatenate(record.order), weights=weights)


def _refusal(record: Record) -> str | None:
    if record.row_losses is None:
        return "the rows follow each other in time, and this score belongs to whole sets"
    if not record.timed or record.order is None:
        return "the record does not say in which order of time the rows came"
    if record.groups is not None:
        return "the rows follow each other in time and come in groups, so neither stretches nor groups are independent"
    order = np.concatenate(record.order)
    if (times := len(np.unique(order))) < FEWEST or len(np.unique(batches_in_time(order))) < BATCHES:
        return f"the rows follow each other in time, and their {times} times do not make five stretches"
    worth = worth_of_rows(np.concatenate(record.row_losses), order)
    if worth < FEWEST:
        return (
            "the rows follow each other in time, and their differences are so alike from one to the next that "
            f"{len(order)} rows tell no more than {worth:.0f} independent ones would"
        )
    return None


def _interval(record: Record, value: float, level: float) -> Interval:
    return spread_in_time(record).interval(level, value=value)


BATCH_MEANS = Method(key="batch-means", name=NAME, refusal=_refusal, interval=_interval)
