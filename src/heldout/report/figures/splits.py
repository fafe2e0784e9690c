"""Drawing of splits: one lane per part, with the rows from left to right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.words import line, shortened
from heldout.report.figures import canvas
from heldout.report.figures.canvas import TEXT, Shape, patch_key
from heldout.report.figures.describe import MOST_ROWS, Data, Description, Kind, describe, left_out
from heldout.report.figures.palette import BLUE, GREY, INK, ORANGE
from heldout.report.words import counted
from heldout.splits.summary import Picture

COLOURS = {"train": BLUE, "held": ORANGE, "unused": GREY}
WORDS = {"train": "training", "held": "held out", "unused": "neither"}
LANE = 0.8  # share of a lane's height that is filled
LEAST = 0.12  # of a lane: the least height of a kind that has rows, so that one row of a thousand is visible
ACROSS = 62  # characters that fit along the x axis
WIDE_TITLE, LONGEST_TITLE = 54, 76  # characters of a title in full size; longer ones are set smaller, then clipped
LEVELS = 40  # distinct heights within a lane; finer ones are not visible, and equal neighbours are merged
FEW_LANES, STRETCHES = 12, 120  # with more lanes, the row ranges are merged to this many
LANE_INCHES, ALL_LANES = 0.17, 3.6  # heights of a lane, and of all lanes at most

Counts = NDArray[np.intp]
Heights = NDArray[np.float64]


def _shape(data: Data) -> Shape:
    """Return the figure size, which grows with the number of lanes."""
    lanes = min(LANE_INCHES * max(len(data["lanes"]), 6), ALL_LANES)
    return Shape(height=1.12 + lanes, top=0.6, left=0.54, right=0.24)


def _draw(data: Data, ax: Any) -> None:
    """Draw each range of rows as a stacked column in each lane.

    From the bottom up, a column shows the shares of its rows that are held out, unused and trained on.
    """
    canvas.quiet(ax)
    edges, counts = _stretches(data)
    tops = _tops(counts)
    for lane in range(len(data["lanes"])):
        foot = lane + LANE / 2  # lanes go down, so the foot of a lane is the larger number
        for side in ("train", "unused", "held"):  # each from the foot, over the one before: no seams
            if counts[side][lane].any():
                _fill(ax, edges, foot - LANE * tops[side][lane], foot, COLOURS[side])
    _label(ax, data)
    canvas.key(ax, [patch_key(WORDS[side], COLOURS[side]) for side in COLOURS if counts[side].any()])


def _stretches(data: Data) -> tuple[Counts, dict[str, Counts]]:
    """Return the edges of the row ranges and the rows of each kind in them; many thin ranges are merged."""
    edges = np.asarray(data["edges"], dtype=np.intp)
    counts = {side: np.asarray(data[side], dtype=np.intp).reshape(len(data["lanes"]), -1) for side in COLOURS}
    if len(data["lanes"]) <= FEW_LANES or len(edges) - 1 <= STRETCHES:
        return edges, counts
    step = -(-(len(edges) - 1) // STRETCHES)
    starts = np.arange(0, len(edges) - 1, step)
    return np.append(edges[starts], edges[-1]), {s: np.add.reduceat(c, starts, axis=1) for s, c in counts.items()}


def _tops(counts: Mapping[str, Counts]) -> dict[str, Heights]:
    """Return how high each kind and those below it fill a range, from 0 (bottom) to 1 (top of the lane)."""
    order = ("held", "unused", "train")
    least = {side: np.where(counts[side] > 0, LEAST, 0.0) for side in order}
    total = np.maximum(sum(counts.values()), 1)
    free = 1 - sum(least.values())
    filled: Any = np.zeros(counts["held"].shape)
    tops = {}
    for side in order:
        filled = filled + least[side] + free * counts[side] / total
        tops[side] = np.round(filled * LEVELS) / LEVELS
    return tops


def _fill(ax: Any, edges: Counts, heads: Heights, foot: float, colour: str) -> None:
    """Draw one kind of rows in one lane; neighbours of equal height are merged."""
    first = np.flatnonzero(np.append(True, heads[1:] != heads[:-1]))
    ax.stairs(heads[first], np.append(edges[first], edges[-1]), baseline=foot, fill=True, color=colour, linewidth=0)


def _label(ax: Any, data: Data) -> None:
    lanes, parts = len(data["lanes"]), int(data["parts"])
    step = -(-lanes // 10)
    ax.set_ylim(lanes - 0.5, -0.5)
    ax.set_xlim(data["edges"][0], data["edges"][-1])
    canvas.named(ax.yaxis, range(0, lanes, step), [f"{data['lanes'][lane]:,}" for lane in range(0, lanes, step)])
    marks = _marks(data)
    canvas.named(ax.xaxis, [place for place, _ in marks], [words for _, words in marks])
    labels = [tick.label1 for tick in ax.xaxis.get_major_ticks()]
    for label, side in ((labels[0], "left"), (labels[-1], "right")):
        label.set_horizontalalignment(side)
    canvas.name_axes(ax, x="rows in time order" if data["in_time"] else "rows in the order of the data")
    ax.set_ylabel(f"{lanes:,} of {parts:,} parts" if parts > lanes else "part", fontsize=TEXT, color=INK)
    words = shortened(data["words"], LONGEST_TITLE)
    size = TEXT * min(1.0, WIDE_TITLE / len(words)) if words else TEXT
    canvas.literal((ax.set_title(words, loc="left", fontsize=size, color=INK, pad=21),))


def _marks(data: Data) -> list[tuple[Any, str]]:
    """Return as many of the x tick labels as fit side by side, always including the first and the last."""
    marks = [(place, shortened(words, 25)) for place, words in data["marks"]]
    for step in (1, 2):
        if sum(len(words) + 2 for _, words in marks[::step]) <= ACROSS:
            return marks[::step]
    return marks if len(marks) < 2 else [marks[0], marks[-1]]


def _describe(data: Data) -> Description:
    parts, lanes = int(data["parts"]), list(data["lanes"])
    sums = {side: [sum(map(int, row)) for row in data[side]] for side in COLOURS}
    order = "in time order" if data["in_time"] else "in the order of the data"
    alt = f"{line(data['words'])}: {counted(parts, 'part')}, rows {order}."
    if lanes:
        alt += f" Part {lanes[0]} trains on {sums['train'][0]:,} rows and holds out {sums['held'][0]:,}"
        alt += f", {sums['unused'][0]:,} serve neither." if sums["unused"][0] else "."
    rows = list(zip(lanes, sums["train"], sums["held"], sums["unused"], strict=True))[:MOST_ROWS]
    return describe(
        title="Who is held out when",
        alt=alt + left_out(len(rows), parts, "parts"),
        head=("part", "rows trained on", "rows held out", "rows that serve neither"),
        rows=rows,
    )


SPLITS = Kind(shape=_shape, draw=_draw, describe=_describe)


def draw_picture(picture: Picture, ax: Any = None) -> Any:
    """Draw a picture of :mod:`heldout.splits.summary` and return its axes."""
    return SPLITS.plot({name: getattr(picture, name) for name in Picture.__slots__}, ax)
