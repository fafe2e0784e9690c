"""Axes to draw on, and the marks, labels and keys that several figures share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.base.errors import OptionError
from heldout.base.words import shortened
from heldout.report.figures.palette import BLUE, GRID, INK, PAPER, SOFT

POINTS = "points"  # the marks of a figure, by the id that matplotlib gives the drawing
TEXT = 10.0  # points; a figure as wide as a phone shows them about as large as they are
SMALL = 9.0
LETTERS = 58  # that fit side by side across a figure of ours
LETTER = 6.1  # points, of a usual one
LARGEST_LEFT = 1.4  # inches: room for the longest ticks
DIGIT, ASIDE = 6.4, 7.0  # points: the width of a digit, and what is free on both sides of a number
WIDTH = 5.2  # inches: on the page as wide as a phone, so that ten points are ten points
ABOVE, BELOW = -0.2, 0.22  # of a row: where its words stand, and where its mark does
DASHED: Any = (0, (4, 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The height of a figure and its margins, in inches. Fixed, since measuring every label takes most of the time."""

    height: float
    left: float = 0.62
    right: float = 0.14
    bottom: float = 0.52
    top: float = 0.36


def rows_shape(count: int, *, most: int, row: float = 0.42, above: float = 0.0) -> Shape:
    """A figure of rows with their words inside the axes, with room above for a line of words."""
    return Shape(height=0.62 + row * max(1, min(count, most)) + above, left=0.14, top=0.08 + above, bottom=0.54)


def matplotlib_figure() -> Any:
    """The figures of matplotlib, which is imported when the first one is drawn; an error that names the extra."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError(
            "A figure needs matplotlib. Install it with pip install 'heldout[plot]', or read the numbers from "
            "summary(figures=True) instead."
        ) from None
    return Figure


def axes_of(shape: Shape, *, shown: bool = True) -> Any:
    """Axes on a figure of their own. Where the user has pyplot and it is to be shown, pyplot shows it as any other."""
    make = matplotlib_figure()
    pyplot = sys.modules.get("matplotlib.pyplot")
    if shown and pyplot is not None:
        make = pyplot.figure
    figure = make(figsize=(WIDTH, shape.height), facecolor=PAPER)
    figure.subplots_adjust(
        left=shape.left / WIDTH,
        right=1 - shape.right / WIDTH,
        bottom=shape.bottom / shape.height,
        top=1 - shape.top / shape.height,
    )
    return figure.subplots()


def widen_left(ax: Any) -> None:
    """Widen the left margin where the ticks need it: counted in letters, since measuring takes long."""
    letters = max((len(label.get_text()) for label in ax.get_yticklabels()), default=0)
    needed = min((letters * DIGIT + ASIDE) / 72, LARGEST_LEFT)
    ax.figure.subplots_adjust(left=max(ax.figure.subplotpars.left, needed / WIDTH))


def room(ax: Any) -> int:
    """How many letters fit side by side across these axes, which may be the user's own and narrow."""
    inches = ax.get_position().width * ax.figure.get_figwidth()
    return max(12, int(inches * 72 / LETTER))


def literal(texts: Iterable[Any]) -> None:
    """A dollar sign in a name is a dollar sign: matplotlib would take two of them for a formula."""
    for text in texts:
        text.set_parse_math(False)


def write(ax: Any, place: tuple[float, float], text: str, **how: Any) -> Any:
    """Put a text on the axes, at a place in data or whatever ``transform`` says."""
    how = {"fontsize": TEXT, "color": INK, **how}
    return ax.text(*place, text, parse_math=False, clip_on=False, **how)


def dots(ax: Any, xs: Sequence[float], ys: Sequence[float], *, size: float, **how: Any) -> None:
    """The marks of a figure, which may have words of their own; a ``width`` of 0 draws them without an edge."""
    width = how.pop("width", 0.8)
    how = {"c": BLUE, "edgecolors": PAPER if width else "none", "zorder": 4, **how}
    ax.scatter(xs, ys, s=size, linewidths=width, clip_on=False, gid=POINTS, **how)


def quiet(ax: Any, *, grid: bool = False, floor: bool = False) -> None:
    """No frame and no ticks; faint lines where values are read off, or a floor where each has its number beside it."""
    ax.set_facecolor("none")
    ax.spines[:].set_visible(False)
    ax.spines["bottom"].set(visible=floor, color=GRID)
    ax.grid(False)
    if grid:
        ax.grid(True, axis="y", color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
    ax.tick_params(which="both", length=0, bottom=False, left=False, labelsize=TEXT, labelcolor=SOFT, pad=4)
    if floor:
        ax.tick_params(axis="x", bottom=True, length=4, width=0.8, color=GRID)


def open_rows(ax: Any, count: int) -> None:
    """Axes for so many rows from the top down, each with its words inside."""
    quiet(ax, floor=True)
    ax.set_ylim(count - 0.4, -0.55)
    ax.set_yticks([])


def label_row(ax: Any, y: float, left: str, right: str) -> None:
    """The words of a row: a name, cut to what the number at the right leaves free."""
    flat = ax.get_yaxis_transform()
    write(ax, (0, y), shortened(left, max(room(ax) - len(right), 6)), transform=flat, va="center")
    write(ax, (1, y), right, transform=flat, va="center", ha="right", color=SOFT, fontsize=SMALL)


def named(axis: Any, places: Sequence[float], words: Sequence[str], **how: Any) -> None:
    """Ticks that are names from data."""
    axis.set_ticks(list(places), labels=list(words), **how)
    literal(tick.label1 for tick in axis.get_major_ticks())


def name_axes(ax: Any, *, x: Any = None, y: Any = None, most: int = 54, height: float = 1.03) -> None:
    """Words under the x axis, and words for the y axis lying flat above it, where a phone has room for them."""
    if x is not None:
        ax.set_xlabel(shortened(x, most), fontsize=TEXT, color=INK)
    if y is not None:
        label = ax.set_ylabel(shortened(y, most), fontsize=TEXT, color=INK)
        label.set(rotation=0, ha="left", va="bottom")
        ax.yaxis.set_label_coords(0, height)
    literal((ax.xaxis.label, ax.yaxis.label))


def better(data: Mapping[str, Any], *, of: str = "") -> str:
    """The loss with its direction: "log loss (lower is better)"."""
    loss = shortened(data["loss"], 28)
    return f"{of}{loss} ({'higher' if data['greater_is_better'] else 'lower'} is better)"


def line_key(label: str, **how: Any) -> Any:
    """A line or a mark in the key."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **how)


def patch_key(label: str, colour: str, **how: Any) -> Any:
    """A patch of colour in the key."""
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label, linewidth=0, **how)


def key(ax: Any, handles: list[Any]) -> None:
    """What colours and marks mean, in a line above the axes."""
    legend = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize=SMALL,
        labelcolor=SOFT,
        borderaxespad=0.2,
        borderpad=0,
        handlelength=1.3,
        handletextpad=0.5,
        columnspacing=1.2,
    )
    literal(legend.get_texts())
