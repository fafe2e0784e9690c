"""Drawing from training rows that come in an order of their own, as pairs and foreign splitters may give them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from heldout.base.errors import Sentence, SplitError, Splitter
from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits
from heldout.splits.leave_one_out import MOST_NUMBERS
from heldout.splits.strategy import Strategy
from heldout.task import Task


def draw_in_sequence(strategy: Strategy, task: Task, rows: Rows, *, seed: int) -> Splits:
    """What the strategy draws from a task of just these rows, in this order: what a learner fitted on them would draw.

    Every training side keeps the order of `rows`, and is named row by row, since only ascending rows can be implied. A
    strategy that names rows of the whole task knows no other order than the task's.
    """
    ascending = rows if (np.diff(rows) >= 0).all() else np.sort(rows)
    if ascending is rows or not strategy.inner_ok_under_partition:
        return strategy.draw(task, ascending, seed=seed)
    alone = _set_apart(task, rows)
    drawn = strategy.draw(alone, alone.all_rows, seed=seed)
    named = int(drawn.train_sizes.sum())
    if drawn.train is None and named > MOST_NUMBERS:
        raise SplitError(
            f"{strategy!r} would name {named:,} training rows, because those of the level above come in an order of "
            "their own.",
            Sentence("Sort its training rows, or use fewer parts, such as {}.", Splitter("KFold", 5)),
        )
    pairs: list[tuple[Rows | None, Rows]] = [
        (rows[drawn.train_rows(part)], rows[drawn.held_rows(part)]) for part in range(len(drawn))
    ]
    return replace(Splits.from_pairs(ascending, pairs, drawn.recipe), buffered=drawn.buffered)


def _set_apart(task: Task, rows: Rows) -> Task:
    """These rows as a task of their own."""
    names = ("groups", "time", "time_end", "weight", "strata")
    roles: dict[str, Any] = {name: getattr(task, name)[rows] for name in names if getattr(task, name) is not None}
    return replace(task, X=task.take(rows), y=task.y[rows], **roles)
