"""Axes to draw on: fixed margins, quiet lines, labels that lie flat."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.base.errors import OptionError
from heldout.report.figures.lettering import SMALL, TEXT, literal, short
from heldout.report.figures.palette import GRID, INK, PAPER, SOFT
from heldout.report.figures.scales import linear_words

LEFT, LARGEST_LEFT = 0.62, 1.4  # inches: room for numbers of five digits, and of as many as there may be
DIGIT, ASIDE = 6.4, 7.0  # points: the width of a digit, and what is free on both sides of a number
WIDTH = 5.2  # inches: on the page as wide as a phone, so that ten points are ten points


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The height of a figure and its margins, in inches. Fixed, since measuring every label takes most of the time."""

    height: float
    left: float = LEFT
    right: float = 0.14
    bottom: float = 0.52
    top: float = 0.36


def present(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The data of a figure; an error that says why where there are none."""
    if "none" in data:
        raise OptionError(str(data["none"]))
    return data


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


def left_of_numbers(low: float, high: float, *, least: float = LEFT) -> float:
    """Inches at the left of an axis that runs from here to there: counted in digits, since measuring takes long."""
    matplotlib_figure()  # its error says what to install
    needed = (max(map(len, linear_words(low, high)), default=0) * DIGIT + ASIDE) / 72
    return min(max(least, needed), LARGEST_LEFT)


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


def name_axes(ax: Any, *, x: Any = None, y: Any = None, most: int = 54) -> None:
    """Words under the x axis, and words for the y axis lying flat above it, where a phone has room for them."""
    if x is not None:
        ax.set_xlabel(short(x, most), fontsize=TEXT, color=INK)
    if y is not None:
        label = ax.set_ylabel(short(y, most), fontsize=TEXT, color=INK)
        label.set(rotation=0, ha="left", va="bottom")
        ax.yaxis.set_label_coords(0, 1.03)
    literal((ax.xaxis.label, ax.yaxis.label))


def better(data: Mapping[str, Any], *, of: str = "") -> str:
    """The loss with its direction: "log loss (lower is better)"."""
    loss = short(data["loss"], 28)
    return f"{of}{loss} ({'higher' if data['greater_is_better'] else 'lower'} is better)"


def key(ax: Any, handles: list[Any], *, height: float = 1.0) -> None:
    """What colours and marks mean, in a line above the axes (``height`` of 1 is their upper edge)."""
    legend = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, height),
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
