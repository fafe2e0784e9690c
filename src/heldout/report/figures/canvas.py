"""Creates axes and draws the marks, labels and legends that several figures share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.base.errors import OptionError
from heldout.base.words import shortened
from heldout.report.figures.palette import BLUE, GRID, INK, PAPER, SOFT

POINTS = "points"  # the id that the marks of a figure have in matplotlib's SVG
TEXT = 10.0  # points: the font size; figures are as wide as a phone, which displays it at about this size
SMALL = 9.0
LETTERS = 58  # characters that fit across a figure of WIDTH
LETTER = 6.1  # points: the mean width of a character
LARGEST_LEFT = 1.4  # inches: room for the longest ticks
DIGIT, ASIDE = 6.4, 7.0  # points: the width of a digit, and the margins of a number together
WIDTH = 5.2  # inches: about as wide as a phone, so that text is displayed at its nominal size
ABOVE, BELOW = -0.2, 0.22  # row heights from the centre of a row: its label, and its mark
DASHED: Any = (0, (4, 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Holds the height and margins of a figure in inches. They are fixed, since measuring every label is slow."""

    height: float
    left: float = 0.62
    right: float = 0.14
    bottom: float = 0.52
    top: float = 0.36


def rows_shape(count: int, *, most: int, row: float = 0.42, above: float = 0.0) -> Shape:
    """Return the size of a figure of rows whose labels lie inside the axes; `above` leaves inches for a line on top."""
    return Shape(height=0.62 + row * max(1, min(count, most)) + above, left=0.14, top=0.08 + above, bottom=0.54)


def matplotlib_figure() -> Any:
    """Return matplotlib's Figure class; raise an OptionError that names the extra where it is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError(
            "A figure needs matplotlib. Install it with pip install 'heldout[plot]', or read the numbers from "
            "summary(figures=True) instead."
        ) from None
    return Figure


def axes_of(shape: Shape, *, shown: bool = True) -> Any:
    """Return axes on a new figure. If `shown` and pyplot is already imported, pyplot displays the figure."""
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
    """Widen the left margin for long tick labels; their width is estimated, since measuring is slow."""
    letters = max((len(label.get_text()) for label in ax.get_yticklabels()), default=0)
    needed = min((letters * DIGIT + ASIDE) / 72, LARGEST_LEFT)
    ax.figure.subplots_adjust(left=max(ax.figure.subplotpars.left, needed / WIDTH))


def room(ax: Any) -> int:
    """Return how many characters fit across these axes, which may be narrow axes of the user's own."""
    inches = ax.get_position().width * ax.figure.get_figwidth()
    return max(12, int(inches * 72 / LETTER))


def literal(texts: Iterable[Any]) -> None:
    """Turn off formula parsing for these texts: matplotlib reads two dollar signs in a name as a formula."""
    for text in texts:
        text.set_parse_math(False)


def write(ax: Any, place: tuple[float, float], text: str, **how: Any) -> Any:
    """Draw a text on the axes at a point in data coordinates, or in those of ``transform``."""
    how = {"fontsize": TEXT, "color": INK, **how}
    return ax.text(*place, text, parse_math=False, clip_on=False, **how)


def dots(ax: Any, xs: Sequence[float], ys: Sequence[float], *, size: float, **how: Any) -> None:
    """Draw the marks of a figure, which can have tooltips; a ``width`` of 0 draws them without an edge."""
    width = how.pop("width", 0.8)
    how = {"c": BLUE, "edgecolors": PAPER if width else "none", "zorder": 4, **how}
    ax.scatter(xs, ys, s=size, linewidths=width, clip_on=False, gid=POINTS, **how)


def quiet(ax: Any, *, grid: bool = False, floor: bool = False) -> None:
    """Remove frame and ticks; `grid` draws faint horizontal lines, `floor` keeps the x axis with its ticks."""
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
    """Set up axes for `count` rows from the top down, each with its label inside the axes."""
    quiet(ax, floor=True)
    ax.set_ylim(count - 0.4, -0.55)
    ax.set_yticks([])


def label_row(ax: Any, y: float, left: str, right: str) -> None:
    """Write the label of a row at the left, cut where it would reach the number at the right."""
    flat = ax.get_yaxis_transform()
    write(ax, (0, y), shortened(left, max(room(ax) - len(right), 6)), transform=flat, va="center")
    write(ax, (1, y), right, transform=flat, va="center", ha="right", color=SOFT, fontsize=SMALL)


def named(axis: Any, places: Sequence[float], words: Sequence[str], **how: Any) -> None:
    """Set ticks whose labels are names from the data."""
    axis.set_ticks(list(places), labels=list(words), **how)
    literal(tick.label1 for tick in axis.get_major_ticks())


def name_axes(ax: Any, *, x: Any = None, y: Any = None, most: int = 54, height: float = 1.03) -> None:
    """Label the axes; the y label lies horizontally above the axis, where it fits on a phone."""
    if x is not None:
        ax.set_xlabel(shortened(x, most), fontsize=TEXT, color=INK)
    if y is not None:
        label = ax.set_ylabel(shortened(y, most), fontsize=TEXT, color=INK)
        label.set(rotation=0, ha="left", va="bottom")
        ax.yaxis.set_label_coords(0, height)
    literal((ax.xaxis.label, ax.yaxis.label))


def better(data: Mapping[str, Any], *, of: str = "") -> str:
    """Return the name of the loss with its direction: "log loss (lower is better)"."""
    loss = shortened(data["loss"], 28)
    return f"{of}{loss} ({'higher' if data['greater_is_better'] else 'lower'} is better)"


def line_key(label: str, **how: Any) -> Any:
    """Return a legend entry for a line or a marker."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **how)


def patch_key(label: str, colour: str, **how: Any) -> Any:
    """Return a legend entry for a filled colour."""
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label, linewidth=0, **how)


def key(ax: Any, handles: list[Any]) -> None:
    """Draw the legend as one line above the axes."""
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
