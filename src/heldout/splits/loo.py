"""Leave-one-out: each row, each group or each time held out alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.check import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.roles import group_codes, in_time_order, refuse_groups_with_time
from heldout.splits.strategy import shown
from heldout.task import Task


@dataclass(frozen=True, slots=True, repr=False)
class LeaveOneOut:
    """Each row held out alone while all the others train: K-fold with K = n.

    With groups declared, each group is held out in turn; with time declared, each distinct time. Memory is
    linear in the rows, since training sides are implied.

    Examples
    --------
    >>> LeaveOneOut()
    LeaveOneOut()
    """

    inner_ok_under_partition: ClassVar[bool] = True

    def __repr__(self) -> str:
        return shown(self)

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """One part a row (or group, or time). `seed` has no say in it."""
        refuse_groups_with_time(task, who="LeaveOneOut()")
        groups = group_codes(task, rows)
        if groups is not None:
            held, sizes, one = rows[np.argsort(groups, kind="stable")], np.bincount(groups), "group"
        elif task.time is not None:
            held, begins = in_time_order(task, rows)
            sizes, one = np.diff([0, *begins, len(rows)]), "time"
        else:
            held, sizes, one = rows, np.ones(len(rows), dtype=np.intp), "row"
        if len(sizes) < 2:
            raise SplitError(f"LeaveOneOut() needs at least two {one}s, but there is {len(sizes)} at this level.")
        words = "leave-one-out" if one == "row" else f"leave-one-{one}-out ({len(sizes)} {one}s)"
        recipe = Recipe(kind="loo", words=words, partition=True, grouped=one == "group", timed=one == "time")
        return checked(task, Splits.from_sizes(rows, held, sizes, recipe), who="LeaveOneOut()")
