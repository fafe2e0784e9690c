"""Rows whose time spans an interval: none that overlaps a held-out row may train."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits
from heldout.task import Task


def overlapping(task: Task, train: Rows, held: Rows) -> NDArray[np.bool_]:
    """For each training row, whether its span shares an instant with that of any held-out row.

    >>> time = np.arange(4)
    >>> task = Task(X=np.zeros((4, 1)), y=np.zeros(4), classification=False, time=time, time_end=time + 1)
    >>> overlapping(task, np.array([0, 1]), np.array([2, 3])).tolist()
    [False, True]
    """
    assert task.time is not None
    assert task.time_end is not None
    order = np.argsort(task.time[held], kind="stable")
    starts = task.time[held][order]
    latest = np.maximum.accumulate(task.time_end[held][order])  # the latest end among rows that start no later
    begun = np.searchsorted(starts, task.time_end[train], side="right")  # held-out rows that start before a row ends
    return np.asarray((begun > 0) & (latest[np.maximum(begun - 1, 0)] >= task.time[train]))


def refuse_overlap(task: Task, splits: Splits, *, who: str) -> None:
    """Raise a SplitError where a part trains on a row that overlaps one it holds out. Our own draws purge them."""
    for part in range(len(splits)):
        train = splits.train_rows(part)
        both = overlapping(task, train, splits.held_rows(part))
        if both.any():
            raise SplitError(
                f"{who}: part {part} trains on row {train[np.argmax(both)]}, whose time overlaps that of a held-out "
                f"row ({np.count_nonzero(both)} such rows). Use Forward, KFold, Holdout or Resample of heldout, which "
                "purge them, or pass pairs (training rows, held-out rows) without them."
            )
