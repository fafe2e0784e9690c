"""The folds of all learners that were compared: dots of one fold joined, so that pairs are seen and not only means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.report.figures.canvas import Shape, axes_of, better, name_axes, present, quiet
from heldout.report.figures.lettering import cleaned, room, short, write
from heldout.report.figures.palette import BLUE, GREY, PAPER
from heldout.report.figures.rows import MARK, MOST_ROWS, WORDS, rows_shape
from heldout.report.figures.scales import ends, is_finite, linear, real
from heldout.report.figures.told import MOST_TIPS, POINTS, Told, between, counted, some, spread, tell
from heldout.report.words import amount

MOST_PARTS = 200  # lines that are joined; more are a grey area
ASIDE = 0.16  # of a row


def shape_of_paired_folds(data: Mapping[str, Any]) -> Shape:
    """A row a learner."""
    return rows_shape(len(data["folds"]["names"]))


def draw_paired_folds(data: Mapping[str, Any], ax: Any = None) -> Any:
    """A row a learner, a dot a fold, and a line through the dots of each fold."""
    data = present(data)
    ax = axes_of(shape_of_paired_folds(data)) if ax is None else ax
    names, parts, columns = _shown(data)
    quiet(ax, floor=True)
    ax.set_xlim(*ends(value for column in columns for value in column))
    ax.set_ylim(len(names) - 0.4, -0.55)
    ax.set_yticks([])
    linear(ax.xaxis)
    for place, name in enumerate(names):
        write(ax, (0, place + WORDS), short(name, room(ax)), transform=ax.get_yaxis_transform(), va="center")
    for place, column in enumerate(columns):
        heights = [row + MARK + _aside(place) for row in range(len(names))]
        ax.plot([real(value) for value in column], heights, color=GREY, linewidth=1, zorder=2, clip_on=False)
    dots = _dots(columns)
    few = len(dots) <= MOST_TIPS
    ax.scatter(
        [real(value) for value, _, _ in dots],
        [row + MARK + _aside(place) for _, row, place in dots],
        s=36 if few else 12,
        color=BLUE,
        edgecolors=PAPER if few else "none",
        linewidths=0.8 if few else 0,
        zorder=4,
        clip_on=False,
        gid=POINTS,
    )
    whole = len(data["folds"]["values"][0]) if names else 0
    beside = f", {len(parts)} of {whole:,} folds" if whole > len(parts) else ", a line a fold"
    name_axes(ax, x=better(data) + beside, most=64)
    return ax


def _shown(data: Mapping[str, Any]) -> tuple[list[str], list[int], list[list[Any]]]:
    """The names, the parts that are drawn, and for each part the value of each learner."""
    names, values = data["folds"]["names"][:MOST_ROWS], data["folds"]["values"][:MOST_ROWS]
    parts = spread(list(range(len(values[0]) if values else 0)), MOST_PARTS)
    return list(names), parts, [[row[part] for row in values] for part in parts]


def _aside(place: int) -> float:
    """A little up or down, another way for each fold, so that equal values do not hide each other."""
    return ASIDE * ((place * 0.618034) % 1 - 0.5)


def _dots(columns: Sequence[Sequence[Any]]) -> list[tuple[Any, int, int]]:
    """Value, learner and place of part of each dot; a fold that failed has none."""
    return [
        (value, row, place)
        for place, column in enumerate(columns)
        for row, value in enumerate(column)
        if is_finite(value)
    ]


def tell_paired_folds(data: Mapping[str, Any]) -> Told:
    """The folds of each learner in words and numbers."""
    names, parts, columns = _shown(data)
    values = data["folds"]["values"]
    whole = len(values[0]) if values else 0
    alt = f"{counted(len(names), 'learner')} in {counted(whole, 'fold')}, by {better(data)}: "
    alt += "; ".join(f"{short(name, 40)} {between(row)}" for name, row in zip(names[:6], values, strict=False))
    return tell(
        title="The same folds, learner by learner",
        alt=alt + ("; …" if len(names) > 6 else ".") + some(len(parts), whole, "folds"),
        head=("fold", *(short(name, 60) for name in names)),
        rows=tuple((part, *column) for part, column in zip(parts, columns, strict=True)),
        tips=[f"{cleaned(names[row])}, fold {parts[place]}: {amount(value)}" for value, row, place in _dots(columns)],
    )
