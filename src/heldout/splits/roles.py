"""What the roles of a task ask of any drawing: strata to spread, times to order by, groups to keep whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.strategy import AUTO
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """The strata of some rows: codes 0..C-1 in the order of the values, and what each stands for."""

    codes: NDArray[np.intp]
    values: NDArray[Any]
    word: str  # "class" or "stratum"

    @property
    def counts(self) -> NDArray[np.intp]:
        return np.bincount(self.codes, minlength=len(self.values))

    def rarest(self) -> tuple[str, int]:
        """The stratum with the fewest rows, in words, and how many it has."""
        counts = self.counts
        rarest = int(np.argmin(counts))
        return self.named(rarest), int(counts[rarest])

    def named(self, code: int) -> str:
        value = self.values[code]
        return f"{self.word} {value.item() if isinstance(value, np.generic) else value!r}"


def is_stratified(task: Task, stratify: str | bool, *, who: str) -> bool:
    """Whether a draw must keep strata: as asked, or by "auto" where the task has strata or classes to keep."""
    possible = task.strata is not None or task.classes is not None
    if stratify == AUTO:
        return possible
    if stratify and not possible:
        target = "has several outputs" if task.classification else "is a number"
        raise SplitError(
            f"{who} was asked to stratify, but the target {target} and the task has no strata. "
            "Pass strata=… with the task, or stratify=False."
        )
    return bool(stratify)


def strata_of(task: Task, rows: Rows) -> Strata:
    """The strata of these rows: those declared, else the classes of y."""
    declared = task.strata is not None
    labels = task.strata if task.strata is not None else task.y
    values, codes = np.unique(labels[rows], return_inverse=True)
    return Strata(codes=codes, values=values, word="stratum" if declared else "class")


def group_codes(task: Task, rows: Rows) -> NDArray[np.intp] | None:
    """Groups of these rows as codes 0..G-1 without gaps, in the order of the task's own codes."""
    if task.groups is None:
        return None
    return np.unique(task.groups[rows], return_inverse=True)[1]


def group_name(task: Task, code: int) -> str:
    """The user's own name of a group."""
    return repr(task.group_names[code]) if task.group_names else str(code)


def refuse_groups_with_time(task: Task, *, who: str) -> None:
    """Time blocks cut through groups: there is no draw that obeys both."""
    if task.groups is not None and task.time is not None:
        raise SplitError(
            f"{who} cannot keep groups whole and follow time at once, and the task has both. "
            "Declare one of groups= and time=, or pass your own parts as Given(folds=…)."
        )


def in_time_order(task: Task, rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
    """`rows` from earliest to latest, and the places where a new time begins (the first, 0, left out)."""
    if task.time is None:
        raise SplitError("These splits need time, but the task has none. Pass time=….")
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
