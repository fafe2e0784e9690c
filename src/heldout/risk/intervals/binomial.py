"""Intervals of an error probability: Clopper–Pearson, which is exact, and Wilson."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from scipy.special import betaincinv

from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import Method, interval_around, refuse_dependent_test_rows, unscaled, z_quantile
from heldout.risk.record import Record, zero_one_errors


def clopper_pearson(errors: int, rows: int, *, level: float) -> Interval:
    """Return the Clopper–Pearson interval of the error probability, given `errors` among `rows` independent rows.

    It inverts two binomial tests, so its coverage is at least the level for every probability, and mostly higher:
    .9826 at the level .95 for 100 rows and a probability of .05.

    >>> interval = clopper_pearson(0, 10, level=0.95)
    >>> interval.low, round(interval.high, 4)
    (0.0, 0.3085)
    """
    low, high = (float(end) for end in clopper_pearson_ends(np.float64(errors), rows, (1 - level) / 2))
    return Interval(low=low, high=high, level=level, method="Clopper–Pearson", guarantee="exact")


def clopper_pearson_ends(errors: Any, rows: int, tail: float) -> tuple[Any, Any]:
    """Return the lower and upper ends for one or an array of error counts; `tail` is the miss probability per side."""
    least, most = np.maximum(errors, 1), np.minimum(errors, rows - 1)
    low = np.where(errors == 0, 0.0, betaincinv(least, rows - least + 1, tail))
    high = np.where(errors == rows, 1.0, betaincinv(most + 1, rows - most, 1 - tail))
    return low, high


def refuse_other_than_right_or_wrong(record: Record) -> str | None:
    """Return why the rows are not independent zero-one errors of one test set; None if they are."""
    if (reason := refuse_dependent_test_rows(record)) is not None:
        return reason
    if record.high - record.low != 1.0 or (zero_one_errors(record) is None and not record.unknown):
        return f"it counts rows that are right or wrong, and the loss {record.loss!r} takes other values"
    return None


def wilson(errors: int, rows: int, *, level: float) -> Interval:
    """Return Wilson's interval of the error probability: those p that a normal test with variance p(1−p)/n accepts.

    It is shorter than Clopper–Pearson's. Its coverage is close to the level on average over probabilities, but can be
    some points lower if errors are rare.

    >>> interval = wilson(0, 10, level=0.95)
    >>> interval.low, round(interval.high, 4)
    (0.0, 0.2775)
    """
    z = z_quantile(level)
    share = errors / rows
    middle = (errors + z * z / 2) / (rows + z * z)
    half = z / (rows + z * z) * sqrt(rows * share * (1 - share) + z * z / 4)
    low = 0.0 if errors == 0 else max(0.0, middle - half)
    high = 1.0 if errors == rows else min(1.0, middle + half)
    return interval_around(share, low, high, level=level, method="Wilson", guarantee="asymptotic")


def _counted(record: Record) -> tuple[int, int]:
    """Return the number of wrong rows and the number of rows."""
    errors = zero_one_errors(record)
    assert errors is not None  # refused above
    return round(float(errors.sum())), len(errors)


CLOPPER_PEARSON = Method(
    key="clopper-pearson",
    name="Clopper–Pearson",
    refusal=refuse_other_than_right_or_wrong,
    # A stratified draw varies less than the binomial that the method inverts; the coverage was .98 to 1.0.
    interval=lambda record, value, level: unscaled(clopper_pearson(*_counted(record), level=level), record, value),
)
WILSON = Method(
    key="wilson",
    name="Wilson",
    refusal=refuse_other_than_right_or_wrong,
    interval=lambda record, value, level: unscaled(wilson(*_counted(record), level=level), record, value),
)
