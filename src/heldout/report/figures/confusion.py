"""Which classes are taken for which: a table of counts, shaded by the share of each true class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures.canvas import (
    BLUE,
    GRID,
    INK,
    SMALL,
    TEXT,
    Shape,
    drawing,
    name_axes,
    named,
    quiet,
    write,
)
from heldout.report.figures.describe import (
    MOST_ROWS,
    POINTS,
    Description,
    describe,
    left_out,
)
from heldout.report.words import counted

DARKEST = 0.6  # so that ink stays readable on it, in light and in dark
SHARES_TO = 6  # classes up to which the share stands under the count
COUNTS_TO = 14
NAMED_TO = 24
LETTERS = 12  # of a class beside the table
LIES_TO = 4  # classes whose names have room to lie flat


def shape_of_confusion(data: Mapping[str, Any]) -> Shape:
    """Cells about as high as wide, as far as a phone allows."""
    classes = len(data["labels"])
    names = _names(data, LETTERS)
    left = 0.36 + 0.086 * max((len(name) for name in names), default=1)
    under = 0.52 if _lies(classes) else 0.42 + 0.086 * max((len(name) for name in names), default=1)
    cells = min(max(0.62 * classes, 1.1), 3.6)
    return Shape(height=cells + under + 0.36, left=left, bottom=under, top=0.36)


@drawing(shape_of_confusion)
def draw_confusion(data: Mapping[str, Any], ax: Any) -> None:
    """A row a true class, a column a predicted one: counts, and which share of the row they are."""
    quiet(ax)
    classes = len(data["labels"])
    ax.set_xlim(0, classes)
    ax.set_ylim(classes, 0)
    _cells(ax, data)
    names = _names(data, LETTERS)
    step = -(-classes // NAMED_TO)
    places = [place + 0.5 for place in range(0, classes, step)]
    named(ax.xaxis, places, names[::step], rotation=0 if _lies(classes) else 90)
    named(ax.yaxis, places, names[::step])
    name_axes(ax, x="predicted class", y="true class, and how its rows were predicted")


def _lies(classes: int) -> bool:
    return classes <= LIES_TO


def _names(data: Mapping[str, Any], most: int) -> list[str]:
    return [shortened(label, most) for label in data["labels"]]


def _shares(row: Sequence[int]) -> list[float]:
    whole = sum(row)
    return [count / whole if whole else 0.0 for count in row]


def _cells(ax: Any, data: Mapping[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    classes = len(data["labels"])
    for true, row in enumerate(data["counts"]):
        for guess, (count, share) in enumerate(zip(row, _shares(row), strict=True)):
            cell = Rectangle((guess, true), 1, 1, facecolor=BLUE, alpha=DARKEST * share, linewidth=0, gid=POINTS)
            ax.add_patch(cell)
            if classes <= COUNTS_TO and count:
                _words(ax, (guess + 0.5, true + 0.5), f"{count:,}", share if classes <= SHARES_TO else None)
    for edge in range(classes + 1):
        ax.plot([edge, edge], [0, classes], color=GRID, linewidth=0.8, clip_on=False, zorder=3)
        ax.plot([0, classes], [edge, edge], color=GRID, linewidth=0.8, clip_on=False, zorder=3)


def _words(ax: Any, place: tuple[float, float], count: str, share: float | None) -> None:
    if share is None:
        write(ax, place, count, ha="center", va="center", fontsize=SMALL, zorder=4)
        return
    x, y = place
    write(ax, (x, y - 0.02), count, ha="center", va="bottom", fontsize=TEXT, fontweight="bold", color=INK, zorder=4)
    write(ax, (x, y + 0.04), _percent(share), ha="center", va="top", fontsize=SMALL, color=INK, zorder=4)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.01 or share == 0 else "<1%"


def describe_confusion(data: Mapping[str, Any]) -> Description:
    """The table in words and numbers."""
    labels, counts = [line(label) for label in data["labels"]], data["counts"]
    right = sum(int(counts[place][place]) for place in range(len(labels)))
    cells = [(t, p, int(n)) for t, row in enumerate(counts) for p, n in enumerate(row)]
    wrong = sorted((cell for cell in cells if cell[0] != cell[1] and cell[2]), key=lambda cell: -cell[2])
    alt = f"{right:,} of {data['rows']:,} rows on the diagonal, of {counted(len(labels), 'class')}."
    if wrong:
        told = "; ".join(
            f"“{shortened(labels[t], 40)}” taken for “{shortened(labels[p], 40)}” in {n:,}" for t, p, n in wrong[:3]
        )
        alt += f" Most often mixed up: {told} rows."
    whole = [sum(int(n) for n in row) for row in counts]
    listed = [cell for cell in cells if cell[2]][:MOST_ROWS]
    return describe(
        title="Which classes are taken for which",
        alt=alt + left_out(len(listed), sum(1 for cell in cells if cell[2]), "pairs of classes"),
        head=("true class", "predicted class", "rows", "share of the true class"),
        rows=tuple((labels[t], labels[p], n, n / whole[t]) for t, p, n in listed),
        tips=[
            f"“{shortened(labels[t], 36)}” taken for “{shortened(labels[p], 36)}”: {n:,} of {whole[t]:,} rows"
            for t, p, n in cells
        ],
    )
