"""The data of a picture of splits: how many rows of each stretch a part trains on, holds out and leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.splits.drawn import Splits
from heldout.splits.roles import in_time_order
from heldout.splits.unused import distinct
from heldout.task import Task

MOST_LANES = 40  # parts that are shown, evenly spread over all of them; more are too thin to see
MOST_BINS = 240  # stretches of rows, each at least a pixel or two wide
MARKS = 5  # places along the axis that are named


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Picture:
    """Who is held out when, in so few numbers that twenty million rows are drawn as fast as twenty."""

    words: str
    parts: int  # all of them
    lanes: NDArray[np.intp]  # the parts that are shown, one below the other
    in_time: bool  # rows from earliest to latest, not by their number
    edges: NDArray[np.intp]  # where stretches begin and end, in rows
    marks: tuple[tuple[int, str], ...]  # a place on the axis, and the time or the row number there
    train: NDArray[np.intp]  # lanes × stretches: rows
    held: NDArray[np.intp]
    unused: NDArray[np.intp]


def picture_of(task: Task, splits: Splits, *, most_lanes: int = MOST_LANES, most_bins: int = MOST_BINS) -> Picture:
    """Count the rows of every part in stretches of the data, in time order where time is declared."""
    n = len(splits.rows)
    ordered = splits.rows if task.time is None else in_time_order(task, splits.rows)[0]
    bins = min(n, most_bins)
    lanes = np.unique(np.linspace(0, len(splits) - 1, min(len(splits), most_lanes)).astype(np.intp))
    edges = np.arange(bins + 1) * n // bins
    bin_of = np.empty(int(splits.rows[-1]) + 1, dtype=np.int32)  # by row number; only rows of this level are looked up
    bin_of[ordered] = np.repeat(np.arange(bins, dtype=np.int32), np.diff(edges))
    sizes = np.diff(edges)
    train, held = (np.zeros((len(lanes), bins), dtype=np.intp) for _ in range(2))
    for lane, part in enumerate(lanes.tolist()):
        held[lane] = np.bincount(bin_of[splits.held_rows(part)], minlength=bins)
        if splits.train is None:
            train[lane] = sizes - held[lane]
        else:
            train[lane] = np.bincount(bin_of[distinct(splits.train_rows(part))], minlength=bins)
    return Picture(
        words=splits.recipe.words,
        parts=len(splits),
        lanes=lanes,
        in_time=task.time is not None,
        edges=edges,
        marks=_marks(None if task.time is None else task.time[ordered], n),
        train=train,
        held=held,
        unused=sizes - train - held,
    )


def _marks(times: NDArray[Any] | None, n: int) -> tuple[tuple[int, str], ...]:
    """Some evenly spaced places, the first and the last row among them."""
    places = sorted({int(place) for place in np.linspace(0, n - 1, MARKS)})
    if times is None:
        return tuple((place, f"{place:,}") for place in places)
    if times.dtype.kind == "M" and times[-1] - times[0] >= np.timedelta64(MARKS, "D"):
        times = times.astype("datetime64[D]")
    return tuple((place, str(times[place])) for place in places)
