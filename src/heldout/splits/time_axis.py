"""The rows of one level along time, and how far training rows must stay from what is held out.

A row is a span [start, end], a single point where no end was declared. A held-out block is a window of time. Training
rows lie wholly before it or wholly after it, beyond the buffer; after it, beyond the embargo too. Both ends of a span
count as part of it, and so does the last instant of a buffer, so that on one row a day a buffer of "7d" and one of 7
rows drop the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, Sentence, SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.distances import Distance, distance_words, is_none, nanoseconds, plain_number
from heldout.splits.drawn import Splits
from heldout.task import Task

Axis = NDArray[Any]  # int64 in the unit of the task's dates, or the numbers that time was declared in
_UNIT_NANOSECONDS = {"W": 7 * 86_400 * 10**9, "D": 86_400 * 10**9, "h": 3_600 * 10**9, "m": 60 * 10**9, "s": 10**9}
_UNIT_NANOSECONDS |= {"ms": 10**6, "us": 10**3, "ns": 1}


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


class HeldInterval(NamedTuple):
    """The time of a held-out block, both ends in it."""

    first: Any
    last: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """How far training rows stay from held-out rows: on both sides, and further after them."""

    buffer: Distance | None = None
    embargo: Distance | None = None

    def __bool__(self) -> bool:
        return not (is_none(self.buffer) and is_none(self.embargo))

    def words(self) -> str:
        """For a recipe: nothing, or ", buffer of 7 rows, embargo of 3d"."""
        asked = {"buffer": self.buffer, "embargo": self.embargo}
        return "".join(f", {name} of {distance_words(d)}" for name, d in asked.items() if d and not is_none(d))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimeAxis:
    """Rows from the earliest start to the latest; among equal starts in row order, which decides nothing."""

    rows: Rows
    starts: Axis
    ends: Axis  # in the order of `rows`
    ends_ascending: Axis
    unit: int | None  # nanoseconds in one unit of the axis; None where time is numbers
    spans: bool
    groups: NDArray[np.intp] | None = None  # codes of the task, in the order of `rows`

    @classmethod
    def of(cls, task: Task, rows: Rows) -> TimeAxis:
        """The axis of some rows of a task that has time."""
        assert task.time is not None, "only a task with time has a axis"
        starts, unit = _on_axis(task.time[rows])
        order = np.argsort(starts, kind="stable")
        rows, starts = rows[order], starts[order]
        spans = task.time_end is not None
        ends = _on_axis(task.time_end[rows])[0] if task.time_end is not None else starts
        return cls(
            rows=rows,
            starts=starts,
            ends=ends,
            ends_ascending=np.sort(ends) if spans else starts,
            unit=unit,
            spans=spans,
            groups=None if task.groups is None else task.groups[rows],
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def begins(self) -> NDArray[np.intp]:
        """The places where a new time begins; the first, 0, is left out."""
        return np.flatnonzero(self.starts[1:] != self.starts[:-1]) + 1

    def before(self, window: HeldInterval, buffer: Distance | None, *, who: str) -> Any:
        """The limit below which training rows must end to lie before the window and its buffer."""
        return self._back(window.first, buffer, self.ends_ascending, who)

    def after(self, window: HeldInterval, gap: Gap, *, who: str) -> Any:
        """The limit beyond which training rows must start to lie after the window, its buffer and its embargo."""
        return self._on(self._on(window.last, gap.buffer, who), gap.embargo, who)

    def since(self, limit: Any, length: Distance, *, who: str) -> Any:
        """The earliest start of training rows that end before `limit`, where only the latest of them serve.

        Rows of one time stay together, so there may be a few more than were asked for.
        """
        if not isinstance(length, int):
            return _plain(limit) - self._length(length, who)
        starts = self.starts[self.ends < limit]
        return starts[-length] if length < len(starts) else self.starts[0]

    def _back(self, first: Any, distance: Distance | None, ascending: Axis, who: str) -> Any:
        if distance is None or is_none(distance):
            return first
        if not isinstance(distance, int):
            return _plain(first) - self._length(distance, who)
        # Rows of one time are dropped together: the limit is the end of the earliest row within the distance.
        return ascending[max(int(np.searchsorted(ascending, first)) - distance, 0)]

    def _on(self, last: Any, distance: Distance | None, who: str) -> Any:
        if distance is None or is_none(distance):
            return last
        if not isinstance(distance, int):
            return _plain(last) + self._length(distance, who)
        place = int(np.count_nonzero(self.starts <= last)) + distance - 1
        return max(self.starts[min(place, len(self) - 1)], last)

    def _length(self, distance: str, who: str) -> Any:
        """A length of time in units of the axis, as a Python number, which cannot overflow."""
        number = plain_number(distance)
        if self.unit is None:
            if number is None:
                raise SplitError(
                    f"{who}: {distance!r} is a length of time in days or hours, but the task's time is plain numbers. "
                    f"Write it in the units of that time, in quotes, or as a number of rows; or pass time as dates."
                )
            length: Any = number if self.starts.dtype.kind == "f" else number.__floor__()
        else:
            if number is not None:
                raise SplitError(
                    f"{who}: {distance!r} has no unit, but the task's time is dates. Write '{distance}d' for days, "
                    f"'{distance}h' for hours, or {float(number):.0f} without quotes for rows."
                )
            # Times are whole units, so the fraction of a unit makes no difference.
            length = nanoseconds(distance) // self.unit
        # No length past the whole stretch of time tells anything apart, and a float holds what is left.
        length = min(length, _plain(self.ends_ascending[-1]) - _plain(self.starts[0]) + 1)
        return float(length) if self.starts.dtype.kind == "f" else length


def _plain(number: Any) -> Any:
    return number.item() if isinstance(number, np.generic) else number


def _on_axis(times: NDArray[Any]) -> tuple[Axis, int | None]:
    """Times as numbers to compare and subtract, and how many nanoseconds one unit has, where they are dates."""
    kind = times.dtype.kind
    if kind in "mM":
        unit, step = np.datetime_data(times.dtype)
        return times.astype(np.int64), _UNIT_NANOSECONDS[unit] * step
    if kind in "iu":
        return times.astype(np.int64), None
    return times.astype(np.float64), None
