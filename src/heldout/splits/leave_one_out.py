"""Leave-one-out: each row, each group or each time is held out alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from heldout.base.errors import Sentence, SplitError, Splitter
from heldout.base.registered import registered
from heldout.base.rowkeys import Rows
from heldout.splits.checks import checked
from heldout.splits.drawn import MOST_NUMBERS, Recipe, Splits
from heldout.splits.groups import group_codes
from heldout.splits.strategy import FrozenStrategy
from heldout.splits.time_blocks import TimeAxis, TrainingRule, draw_timed
from heldout.task import Task


@registered
@dataclass(frozen=True, slots=True, repr=False)
class LeaveOneOut(FrozenStrategy):
    """Each row held out alone while all the others train: K-fold with K = n.

    With groups declared, each group is held out in turn; with time declared, each distinct time. Memory is
    linear in the rows, since training sides are implied; not so where rows span an interval of time, and those that
    overlap what is held out are purged.

    Examples
    --------
    >>> LeaveOneOut()
    LeaveOneOut()
    """

    seeded: ClassVar[bool] = False

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return one part per row (or group, or time). `seed` has no effect."""
        if task.groups is not None and task.time is not None:
            raise SplitError(
                "LeaveOneOut() holds out a group or a time at a time, and the task has both.",
                "Declare one of groups and time, or use KFold or Forward, which hold out folds of groups in blocks of "
                "time.",
            )
        groups = group_codes(task, rows)
        axis = None if task.time is None else TimeAxis.of(task, rows, who="LeaveOneOut()")
        if groups is not None:
            held, sizes, unit = rows[np.argsort(groups, kind="stable")], np.bincount(groups), "group"
        elif axis is not None:
            held, sizes, unit = axis.rows, np.diff([0, *axis.begins, len(rows)]), "time"
        else:
            held, sizes, unit = rows, np.ones(len(rows), dtype=np.intp), "row"
        parts = len(sizes)
        if parts < 2:
            raise SplitError(f"LeaveOneOut() needs at least two {unit}s, but there is {parts} at this level.")
        words = "leave-one-out" if unit == "row" else f"leave-one-{unit}-out ({parts} {unit}s)"
        recipe = Recipe(kind="loo", words=words, partition=True, grouped=unit == "group", timed=unit == "time")
        if axis is None or not axis.spans:
            return checked(task, Splits.from_sizes(rows, held, sizes, recipe), who="LeaveOneOut()")
        if parts * len(rows) > MOST_NUMBERS:  # training rows that overlap are purged, so the others are named
            raise SplitError(
                f"LeaveOneOut() of {parts:,} times that span intervals would name about {parts * len(rows):,} training "
                "rows.",
                Sentence("Use {}.", Splitter("KFold", "…")),
            )
        return draw_timed(task, axis, axis.blocks([0, *axis.begins.tolist(), len(rows)]), recipe, TrainingRule())
