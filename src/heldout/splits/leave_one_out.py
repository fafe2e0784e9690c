"""Leave-one-out: each row, each group or each time held out alone."""

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
        """One part a row (or group, or time). `seed` has no say in it."""
        if task.groups is not None and task.time is not None:
            raise SplitError(
                "LeaveOneOut() holds out a group or a time at a time, and the task has both.",
                "Declare one of groups and time, or use KFold or Forward, which hold out folds of groups in blocks of "
                "time.",
            )
        if task.time_end is not None:
            return _draw_spans(task, rows)
        groups = group_codes(task, rows)
        if groups is not None:
            held, sizes, unit = rows[np.argsort(groups, kind="stable")], np.bincount(groups), "group"
        elif task.time is not None:
            axis = TimeAxis.of(task, rows, who="LeaveOneOut()")
            held, sizes, unit = axis.rows, np.diff([0, *axis.begins, len(rows)]), "time"
        else:
            held, sizes, unit = rows, np.ones(len(rows), dtype=np.intp), "row"
        if len(sizes) < 2:
            raise SplitError(f"LeaveOneOut() needs at least two {unit}s, but there is {len(sizes)} at this level.")
        words = "leave-one-out" if unit == "row" else f"leave-one-{unit}-out ({len(sizes)} {unit}s)"
        recipe = Recipe(kind="loo", words=words, partition=True, grouped=unit == "group", timed=unit == "time")
        return checked(task, Splits.from_sizes(rows, held, sizes, recipe), who="LeaveOneOut()")


def _draw_spans(task: Task, rows: Rows) -> Splits:
    """Each distinct start held out in turn, with the training rows named: those that overlap it are purged."""
    axis = TimeAxis.of(task, rows, who="LeaveOneOut()")
    cuts = [0, *axis.begins.tolist(), len(rows)]
    times = len(cuts) - 1
    if times < 2:
        raise SplitError(f"LeaveOneOut() needs at least two times, but there is {times} at this level.")
    if times * len(rows) > MOST_NUMBERS:
        raise SplitError(
            f"LeaveOneOut() of {times:,} times that span intervals would name about {times * len(rows):,} training "
            "rows.",
            Sentence("Use {}.", Splitter("KFold", "…")),
        )
    recipe = Recipe(kind="loo", words=f"leave-one-time-out ({times} times)", partition=True)
    return draw_timed(task, axis, axis.blocks(cuts), recipe, TrainingRule())
