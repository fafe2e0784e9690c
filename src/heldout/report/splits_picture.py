"""A picture of drawn splits on matplotlib axes: a lane for each part, rows from left to right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import OptionError

# Told apart by people who see few colours, and in grey: blue, orange and light grey (Okabe and Ito).
COLOURS = {"train": "#0072B2", "held": "#E69F00", "unused": "#DDDDDD"}
WORDS = {"train": "training", "held": "held out", "unused": "neither"}
LANE = 0.8  # of the height of a lane that is filled
LEAST = 0.12  # of a lane: what a stretch has any rows of is never thinner, so that one row of a thousand is seen
LONG = 50  # letters of a title that leave no place for the legend beside it
WIDTH, LANE_INCHES = 8.0, 0.22


def draw_picture(picture: Any, ax: Any = None) -> Any:
    """Draw a picture of :mod:`heldout.splits.picture`, and give back its axes.

    Each stretch of rows is a column in each lane, filled from below by the share of its rows that is held out, then by
    those that are neither held out nor trained on, then by those that are trained on.
    """
    lanes = len(picture.train)
    if ax is None:
        ax = _axes(lanes)
    heights = _heights({side: getattr(picture, side) for side in COLOURS})
    for side, colour in COLOURS.items():
        low, high = heights[side]
        for lane in range(lanes):
            if (high[lane] > low[lane]).any():
                bottom = lane + LANE / 2  # lanes go down, so the foot of a lane is the larger number
                ax.stairs(
                    bottom - LANE * high[lane],
                    picture.edges,
                    baseline=bottom - LANE * low[lane],
                    fill=True,
                    color=colour,
                    linewidth=0,
                )
    _dress(ax, picture, shown=[side for side in COLOURS if getattr(picture, side).any()])
    return ax


def _heights(counts: dict[str, NDArray[np.intp]]) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """From where to where each side fills a stretch of a lane, from 0 at its foot to 1 at its head."""
    stacked = {side: np.where(counts[side] > 0, 1.0, 0.0) * LEAST for side in ("held", "unused", "train")}
    total = sum(counts.values())
    free = 1 - sum(stacked.values())
    filled: Any = np.zeros(next(iter(counts.values())).shape)
    heights = {}
    for side, least in stacked.items():
        upper = filled + least + free * counts[side] / total
        heights[side] = (filled, upper)
        filled = upper
    return heights


def _axes(lanes: int) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError(
            "A picture of splits needs matplotlib. Install it with pip install 'heldout[plot]', or read "
            "splits.summary() instead."
        ) from None
    import sys

    size = (WIDTH, 1.1 + LANE_INCHES * max(lanes, 4))
    pyplot = sys.modules.get("matplotlib.pyplot")  # where the user has it, the figure is shown as any other is
    figure = (
        Figure(figsize=size, layout="constrained")
        if pyplot is None
        else pyplot.figure(figsize=size, layout="constrained")
    )
    return figure.subplots()


def _dress(ax: Any, picture: Any, *, shown: list[str]) -> None:
    from matplotlib.patches import Patch

    lanes = len(picture.train)
    step = -(-lanes // 10)
    named = range(0, lanes, step)
    ax.set_yticks(named, [f"{picture.lanes[lane]:,}" for lane in named])
    ax.set_ylim(lanes - 0.5, -0.5)
    ax.set_xlim(picture.edges[0], picture.edges[-1])
    ax.set_xticks([place for place, _ in picture.marks], [words for _, words in picture.marks])
    ax.set_xlabel("rows in time order" if picture.in_time else "rows in the order of the data")
    ax.set_ylabel(f"{lanes:,} of {picture.parts:,} parts" if picture.parts > lanes else "part")
    ax.set_title(picture.words, loc="left", fontsize="medium", pad=22 if len(picture.words) > LONG else None)
    ax.spines[["top", "right", "left"]].set_visible(False)
    patches = [Patch(color=COLOURS[side], label=WORDS[side]) for side in shown]
    ax.legend(handles=patches, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False, fontsize="small")
