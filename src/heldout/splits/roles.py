"""What the roles of a task ask of any drawing: times to order by, groups to keep whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, Sentence, SplitError
from heldout.base.rowkeys import Rows
from heldout.task import Task


def group_codes(task: Task, rows: Rows) -> NDArray[np.intp] | None:
    """Groups of these rows as codes 0..G-1 without gaps, in the order of the task's own codes."""
    if task.groups is None:
        return None
    codes = task.groups[rows]
    present = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.intp)
    present[codes] = 1
    return (np.cumsum(present) - 1)[codes]


def group_name(task: Task, code: int) -> str:
    """The user's own name of a group."""
    return repr(task.group_names[code]) if task.group_names else str(code)


def in_time_order(task: Task, rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
    """`rows` from earliest to latest, and the places where a new time begins (the first, 0, left out)."""
    if task.time is None:
        raise SplitError("These splits need time, but the task has none.", Sentence("Pass {}.", Argument("time")))
    times = task.time[rows]
    order = np.argsort(times, kind="stable")
    times = times[order]
    return rows[order], np.flatnonzero(times[1:] != times[:-1]) + 1


def cuts_between_times(begins: NDArray[np.intp], targets: Sequence[int], *, who: str) -> list[int]:
    """Ascending cuts near `targets`, each at a place where a new time begins, so that no tie is cut through."""
    wanted = len(targets)
    if len(begins) < wanted:
        raise SplitError(
            f"{who} keeps rows of one time on one side, so it needs at least {wanted + 1} distinct times, but there "
            f"are {len(begins) + 1} at this level. Use fewer parts, or a finer time."
        )
    cuts, lowest = [], 0
    for done, target in enumerate(targets):
        right = int(np.searchsorted(begins, target))
        right = min(right, len(begins) - 1)
        nearest = right - 1 if right and target - begins[right - 1] < abs(begins[right] - target) else right
        # Leave a place for each of the cuts still to come, and go past the last one made.
        place = max(lowest, min(nearest, len(begins) - wanted + done))
        cuts.append(int(begins[place]))
        lowest = place + 1
    return cuts
