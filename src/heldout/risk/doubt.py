"""Doubts about an interval, from what was recorded: when it may miss more often than it says.

Bounded losses have intervals that hold for any number of rows. Those of unbounded losses need rows enough to tell
how the losses lean, and tails that are not too heavy (:mod:`heldout.risk.tails`). `make coverage` measures how often
each warning fires, where intervals cover and where they do not.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from heldout.base.finding import Finding
from heldout.risk.intervals.bootstrap_t import FEWEST
from heldout.risk.intervals.draws import count_draws
from heldout.risk.record import Record
from heldout.risk.tails import heavy_tails


def doubts(record: Record, *, columns: int | None = None) -> tuple[Finding, ...]:
    """What the record says against its own interval: warnings, and a caution where `columns` outnumber training rows.

    Examples
    --------
    >>> record = Record(
    ...     loss="squared", sign=1, low=0.0, high=np.inf, fold_losses=np.array([1.5]), kind="holdout",
    ...     row_losses=(np.array([1.0, 2.0]),), train_sizes=np.array([8]), held_sizes=np.array([2]),
    ... )
    >>> [finding.code for finding in doubts(record, columns=3)]
    ['H303']
    """
    found = [_few_rows(record), _heavy(record), _more_columns_than_rows(record, columns)]
    return tuple(finding for finding in found if finding is not None)


def _heavy(record: Record) -> Finding | None:
    note = heavy_tails(record)
    return None if note is None else Finding(code="H302", severity="warning", message=note)


def _few_rows(record: Record) -> Finding | None:
    if record.parts != 1 or record.row_losses is None or record.timed or isfinite(record.high):
        return None
    rows = count_draws(record)
    if rows >= FEWEST or rows < 2:  # one row has no interval to doubt
        return None
    what = "groups" if record.grouped else "rows"
    text = (
        f"{rows} test {what} are too few to tell how the losses lean, so the interval of the unbounded loss "
        f"{record.loss!r} may miss more often than it says. Hold out at least {FEWEST}, or use KFold."
    )
    return Finding(code="H303", severity="warning", message=text)


def _more_columns_than_rows(record: Record, columns: int | None) -> Finding | None:
    """No warning: with lasso and ridge the default intervals cover there. Learners that jump from fold to fold may
    not, and this is where they live.
    """
    trained = int(np.min(record.train_sizes))
    if columns is None or record.parts == 1 or not 0 < trained < columns:
        return None
    text = (
        f"There are {columns:,} columns for {trained:,} training rows. Fold predictors of a learner that is not "
        "regularised enough then differ much, and the interval may miss more often than it says."
    )
    return Finding(code="H304", severity="info", message=text)
