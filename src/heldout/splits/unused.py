"""Rows that a part neither trains on nor holds out."""

from __future__ import annotations

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits


def unused_rows(splits: Splits, part: int) -> Rows:
    """The rows at this level that are on neither side of a part."""
    idle = np.ones(len(splits.rows), dtype=bool)
    for side in (splits.held_rows(part), splits.train_rows(part)):
        idle[np.searchsorted(splits.rows, side)] = False
    return splits.rows[idle]


def distinct(rows: Rows) -> Rows:
    """Each row once, ascending; rows that ascend already are given back as they are."""
    return rows if (np.diff(rows) > 0).all() else np.unique(rows)
