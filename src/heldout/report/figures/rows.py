"""Estimates one below the other: a name, the number, and a line from the low end of its interval to the high one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heldout.report.figures.canvas import Shape, quiet
from heldout.report.figures.lettering import SMALL, room, short, write
from heldout.report.figures.palette import BLUE, INK, PAPER, SOFT
from heldout.report.figures.scales import ends, is_finite, linear, real, within
from heldout.report.figures.told import POINTS
from heldout.report.words import amount

MOST_ROWS = 45  # all pairs of ten learners; more are no picture
ROW = 0.46  # inches
WORDS, MARK = -0.2, 0.22  # of a row: where its words stand and where its mark does


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of such a figure. A hollow mark stands for a number to be taken with care."""

    label: str
    value: Any
    low: Any = None
    high: Any = None
    colour: str = BLUE
    hollow: bool = False


def rows_shape(count: int) -> Shape:
    """As high as the rows ask for."""
    return Shape(height=0.62 + ROW * max(1, min(count, MOST_ROWS)), left=0.14, top=0.08, bottom=0.54)


def number_words(row: Row) -> str:
    """The number of a row and its interval: "0.12 (0.1 to 0.14)"."""
    beside = "" if row.low is None or row.high is None else f" ({amount(row.low)} to {amount(row.high)})"
    return f"{amount(row.value)}{beside}".replace("-", "−")


def draw_rows(ax: Any, rows: Sequence[Row], *, always: Sequence[float] = ()) -> None:
    """Draw them from the top down. Where an interval has no end, an arrow says so."""
    rows = rows[:MOST_ROWS]
    quiet(ax, floor=True)
    low, high = ends([*(v for row in rows for v in (row.value, row.low, row.high)), *always])
    ax.set_xlim(low, high)
    ax.set_ylim(len(rows) - 0.4, -0.55)
    ax.set_yticks([])
    linear(ax.xaxis)
    for place, row in enumerate(rows):
        _label(ax, place, row)
        if row.low is not None and row.high is not None:
            _line(ax, place + MARK, row)
    told = [(place, row) for place, row in enumerate(rows) if is_finite(row.value)]
    if told:
        ax.scatter(
            [real(row.value) for _, row in told],
            [place + MARK for place, _ in told],
            s=44,
            c=[PAPER if row.hollow else row.colour for _, row in told],
            edgecolors=[row.colour for _, row in told],
            linewidths=1.6,
            zorder=4,
            clip_on=False,
            gid=POINTS,
        )


def _label(ax: Any, place: int, row: Row) -> None:
    words = number_words(row)
    flat = ax.get_yaxis_transform()
    write(
        ax, (0, place + WORDS), short(row.label, max(room(ax) - len(words), 6)), transform=flat, va="center", color=INK
    )
    write(ax, (1, place + WORDS), words, transform=flat, va="center", ha="right", color=SOFT, fontsize=SMALL)


def _line(ax: Any, y: float, row: Row) -> None:
    left, right = ax.get_xlim()
    low, high = real(row.low), real(row.high)
    shown = (within(low, left, right), within(high, left, right))
    style = (0, (3, 2)) if row.hollow else "-"
    ax.plot(shown, (y, y), color=row.colour, linewidth=2.4, linestyle=style, solid_capstyle="round", clip_on=False)
    for end, past, mark in ((left, low < left, "<"), (right, high > right, ">")):
        if past:
            ax.plot([end], [y], marker=mark, markersize=6, color=row.colour, linestyle="none", clip_on=False)
