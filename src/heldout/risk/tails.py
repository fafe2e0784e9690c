"""Heavy tails: whether a few large losses make up so much of the mean that no interval of it can be trusted."""

from __future__ import annotations

from math import isfinite

import numpy as np

from heldout.risk.record import Floats, Record

FEWEST = 20  # rows; with fewer, one large loss is nothing unusual
MOST = 4.0  # squared errors have 3 where errors are normal


def tail_weight(losses: Floats) -> float:
    """The mean of the squared losses over the square of their mean: 1 for equal losses, more the heavier their tail.

    Of squared errors it is the kurtosis of the errors, 3 where they are normal; of absolute errors π/2.

    >>> tail_weight(np.array([1.0, 1.0])), tail_weight(np.array([0.0, 0.0, 0.0, 8.0]))
    (1.0, 4.0)
    """
    scale = float(np.max(np.abs(losses)))
    if scale == 0:
        return 1.0
    scaled = losses / scale
    return float(np.mean(scaled**2) / np.mean(scaled) ** 2)


def heavy_from(rows: int) -> float:
    """The tail weight that so many rows show too seldom by chance: 4 up to 100 rows, then 4·(n/100)^¼.

    Squares of normal errors pass it in at most 8 % of samples (20 rows; 4 % at 100 rows, never at 1000), squares of
    Student errors with 3 degrees of freedom, which have no variance, in about 90 % and more from 100 rows on. It grows
    with the rows because losses with a variance settle at a fixed weight, and their mean becomes normal, while that
    of others grows without end.

    >>> heavy_from(50), heavy_from(1600)
    (4.0, 8.0)
    """
    return MOST * float(max(1.0, rows / 100) ** 0.25)


def distinct_rows(record: Record) -> int:
    """How many rows the losses are of: a resample holds out the same rows again and again."""
    return int(min(np.sum(record.held_sizes), np.max(record.train_sizes + record.held_sizes)))


def heavy_tails(record: Record) -> str | None:
    """A sentence where the losses of an unbounded loss have heavy tails, else None."""
    if record.row_losses is None or isfinite(record.high) or not isfinite(record.low):
        return None
    rows = np.concatenate(record.row_losses)
    if len(rows) < FEWEST or not np.isfinite(rows).all():
        return None
    rows = rows - record.low
    weight, most = tail_weight(rows), heavy_from(distinct_rows(record))
    if weight <= most:
        return None
    largest = np.sort(rows)[::-1][: max(1, len(rows) // 50)]
    share = float(np.sum(largest / np.max(rows)) / np.sum(rows / np.max(rows)))
    count = "the largest loss makes" if len(largest) == 1 else f"the {len(largest)} largest losses make"
    return (
        f"The {record.loss!r} losses have heavy tails: {count} up {share:.0%} of the sum of {len(rows):,}, and the "
        f"tail weight is {weight:.1f} where {most:.1f} would be much. Intervals of this mean then miss more often "
        "than they say; a bounded loss, or the absolute one, is safer."
    )
