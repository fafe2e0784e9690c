"""Confusion matrix: counts of true against predicted classes, shaded by their share of the true class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures import canvas
from heldout.report.figures.canvas import POINTS, SMALL, Shape, write
from heldout.report.figures.describe import MOST_ROWS, Data, Description, Kind, describe, left_out
from heldout.report.figures.palette import BLUE, GRID
from heldout.report.words import counted

DARKEST = 0.6  # opacity of the darkest cell: text on it stays readable in light and dark mode
SHARES_TO = 6  # up to this many classes, cells have their share under the count
COUNTS_TO = 14
NAMED_TO = 24
LETTERS = 12  # characters of a class name beside the table
LIES_TO = 4  # with more classes, their names are set vertically


def _shape(data: Data) -> Shape:
    """Return a figure size that makes the cells about square, as far as the width of a phone allows."""
    classes = len(data["labels"])
    longest = 0.086 * max(map(len, _names(data)), default=1)
    under = 0.52 if _lies(classes) else 0.42 + longest
    cells = min(max(0.62 * classes, 1.1), 3.6)
    return Shape(height=cells + under + 0.36, bottom=under)


def _draw(data: Data, ax: Any) -> None:
    """Draw one row per true class and one column per predicted class: counts and their shares of the row."""
    canvas.quiet(ax)
    classes = len(data["labels"])
    ax.set_xlim(0, classes)
    ax.set_ylim(classes, 0)
    _draw_cells(ax, data)
    names, step = _names(data), -(-classes // NAMED_TO)
    places = [place + 0.5 for place in range(0, classes, step)]
    canvas.named(ax.xaxis, places, names[::step], rotation=0 if _lies(classes) else 90)
    canvas.named(ax.yaxis, places, names[::step])
    canvas.name_axes(ax, x="predicted class", y="true class, and how its rows were predicted")


def _lies(classes: int) -> bool:
    return classes <= LIES_TO


def _names(data: Data) -> list[str]:
    return [shortened(label, LETTERS) for label in data["labels"]]


def _draw_cells(ax: Any, data: Data) -> None:
    from matplotlib.patches import Rectangle

    classes = len(data["labels"])
    for true, row in enumerate(data["counts"]):
        for guess, count in enumerate(row):
            share = count / max(sum(row), 1)
            cell = Rectangle((guess, true), 1, 1, facecolor=BLUE, alpha=DARKEST * share, linewidth=0, gid=POINTS)
            ax.add_patch(cell)
            x, y = guess + 0.5, true + 0.5
            if count and classes <= SHARES_TO:
                write(ax, (x, y - 0.02), f"{count:,}", ha="center", va="bottom", fontweight="bold", zorder=4)
                write(ax, (x, y + 0.04), _percent(share), ha="center", va="top", fontsize=SMALL, zorder=4)
            elif count and classes <= COUNTS_TO:
                write(ax, (x, y), f"{count:,}", ha="center", va="center", fontsize=SMALL, zorder=4)
    for edge in range(classes + 1):
        ax.plot([edge, edge], [0, classes], color=GRID, linewidth=0.8, clip_on=False, zorder=3)
        ax.plot([0, classes], [edge, edge], color=GRID, linewidth=0.8, clip_on=False, zorder=3)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.01 or share == 0 else "<1%"


def _describe(data: Data) -> Description:
    labels, counts = [line(label) for label in data["labels"]], data["counts"]
    right = sum(int(counts[place][place]) for place in range(len(labels)))
    cells = [(true, guess, int(n)) for true, row in enumerate(counts) for guess, n in enumerate(row)]
    filled = [cell for cell in cells if cell[2]]
    wrong = sorted((cell for cell in filled if cell[0] != cell[1]), key=lambda cell: -cell[2])
    alt = f"{right:,} of {data['rows']:,} rows on the diagonal, of {counted(len(labels), 'class')}."
    mixed = "; ".join(f"{_taken(labels, t, p, 40)} in {n:,}" for t, p, n in wrong[:3])
    whole = [sum(map(int, row)) for row in counts]
    return describe(
        title="Which classes are taken for which",
        alt=alt + left_out(min(len(filled), MOST_ROWS), len(filled), "pairs of classes"),
        head=("true class", "predicted class", "rows", "share of the true class"),
        rows=[(labels[t], labels[p], n, n / whole[t]) for t, p, n in filled[:MOST_ROWS]],
        tips=[f"{_taken(labels, t, p, 36)}: {n:,} of {whole[t]:,} rows" for t, p, n in cells],
        caption=f"Most often mixed up: {mixed} rows." if mixed else "",
    )


def _taken(labels: Sequence[str], true: int, guess: int, most: int) -> str:
    return f"“{shortened(labels[true], most)}” taken for “{shortened(labels[guess], most)}”"


CONFUSION = Kind(shape=_shape, draw=_draw, describe=_describe)
