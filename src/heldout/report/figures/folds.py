"""A dot for each fold: of one learner with the estimate behind them, of several joined fold by fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures.canvas import (
    BLUE,
    GREY,
    INK,
    PAPER,
    SMALL,
    SOFT,
    Shape,
    better,
    drawing,
    ends,
    is_finite,
    left_of_numbers,
    linear,
    name_axes,
    quiet,
    real,
    room,
    within,
    write,
)
from heldout.report.figures.describe import (
    MOST_TIPS,
    POINTS,
    Description,
    describe,
    evenly,
    left_out,
    span,
)
from heldout.report.figures.estimates import MARK, MOST_ROWS, WORDS, rows_shape
from heldout.report.words import amount, counted, interval

MOST_DOTS = 2_000  # of leave-one-out on many rows; evenly spread over all
FEW = 60
EVERY = 12  # folds that are all named
JITTER = 0.56  # of a column of repeats, over which its folds are spread


def shape_of_folds(data: Mapping[str, Any]) -> Shape:
    """Room at the right for the words of the mean."""
    return Shape(height=2.75, right=0.86, left=left_of_numbers(*_reach(data)))


def _reach(data: Mapping[str, Any]) -> tuple[float, float]:
    return ends([*(p["value"] for p in _shown(data)), data["value"], data["low"], data["high"]])


@drawing(shape_of_folds)
def draw_folds(data: Mapping[str, Any], ax: Any) -> None:
    """A dot a test part: folds side by side, repeats in columns; the estimate as a line, its interval as a band."""
    points = _shown(data)
    quiet(ax, grid=True)
    places = _places(points)
    few = len(points) <= FEW
    ax.scatter(
        places,
        [real(point["value"]) for point in points],
        s=46 if few else 9,
        color=BLUE,
        edgecolors=PAPER if few else "none",
        linewidths=0.8 if few else 0,
        alpha=None if few else 0.6,
        zorder=4,
        clip_on=False,
        gid=POINTS,
    )
    ax.set_ylim(*_reach(data))
    linear(ax.yaxis)
    _columns(ax, data, points)
    _estimate(ax, data)
    name_axes(ax, y=better(data))


def _shown(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The folds that have a value, and of very many some."""
    return evenly([point for point in data["points"] if is_finite(point["value"])], MOST_DOTS)


def _repeats(points: Sequence[Mapping[str, Any]]) -> list[int]:
    return sorted({int(point["repeat"] or 0) for point in points})


def _places(points: Sequence[Mapping[str, Any]]) -> list[float]:
    """Where each dot stands: its fold, or its repeat with the folds of one repeat beside each other."""
    repeats = _repeats(points)
    if len(repeats) < 2:
        return [float(point["fold"]) for point in points]
    seen: dict[int, int] = dict.fromkeys(repeats, 0)
    sizes = {one: sum(int(point["repeat"] or 0) == one for point in points) for one in repeats}
    found = []
    for point in points:
        repeat = int(point["repeat"] or 0)
        step = JITTER / max(sizes[repeat] - 1, 1)
        found.append(repeat + (seen[repeat] * step - JITTER / 2 if sizes[repeat] > 1 else 0.0))
        seen[repeat] += 1
    return found


def _columns(ax: Any, data: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> None:
    repeats, whole = _repeats(points), len(data["points"])
    if len(repeats) > 1:
        ax.set_xlim(repeats[0] - 0.6, repeats[-1] + 0.6)
        linear(ax.xaxis, most=8, whole=True)
        name_axes(ax, x="repeat")
        return
    last = max((int(point["fold"]) for point in data["points"]), default=0)
    ax.set_xlim(-0.6, last + 0.6)
    if last < EVERY:
        ax.set_xticks(range(last + 1))
    else:
        linear(ax.xaxis, most=8, whole=True)
    name_axes(ax, x="fold" if whole <= MOST_DOTS else f"fold ({len(points):,} of {whole:,} are drawn)")


def _estimate(ax: Any, data: Mapping[str, Any]) -> None:
    bottom, top = ax.get_ylim()
    if data["low"] is not None and data["high"] is not None:
        low, high = within(data["low"], bottom, top), within(data["high"], bottom, top)
        ax.axhspan(low, high, color=BLUE, alpha=0.14, linewidth=0, zorder=1)
    if not is_finite(data["value"]):
        return
    value = real(data["value"])
    ax.axhline(value, color=INK, linewidth=1.2, zorder=2)
    flat = ax.get_yaxis_transform()
    write(ax, (1.02, value), amount(data["value"]), transform=flat, va="center", fontweight="bold")
    if data["low"] is not None:
        level = f"{100 * data['level']:.4g}% interval"
        write(
            ax, (1.02, value), "\n\n" + level.replace(" ", "\n"), transform=flat, va="top", color=SOFT, fontsize=SMALL
        )


def describe_folds(data: Mapping[str, Any]) -> Description:
    """The folds in words and numbers."""
    points, shown = list(data["points"]), _shown(data)
    missing = len(points) - sum(is_finite(point["value"]) for point in points)
    sure = interval(data)
    alt = (
        f"{counted(len(points), 'fold')} by {better(data)}, {span([point['value'] for point in points])}. "
        f"The estimate is {amount(data['value'])}{f', {sure}' if sure else ', without an interval'}."
    )
    if missing:
        alt += f" {counted(missing, 'fold')} without a value."
    listed, repeated = evenly(points), len(_repeats(points)) > 1
    return describe(
        title="Each fold",
        alt=alt + left_out(len(listed), len(points), "folds"),
        head=("fold", "repeat", better(data), "training rows", "held-out rows"),
        rows=tuple((p["fold"], p["repeat"], p["value"], p["train_rows"], p["held_rows"]) for p in listed),
        tips=[_tip(point, repeated=repeated) for point in shown],
    )


def _tip(point: Mapping[str, Any], *, repeated: bool) -> str:
    of = f", repeat {point['repeat']}" if repeated else ""
    return f"fold {point['fold']}{of}: {amount(point['value'])} ({point['held_rows']:,} rows held out)"


MOST_PARTS = 200  # lines that are joined; more are a grey area
ASIDE = 0.16  # of a row


def shape_of_paired_folds(data: Mapping[str, Any]) -> Shape:
    """A row a learner."""
    return rows_shape(len(data["folds"]["names"]))


@drawing(shape_of_paired_folds)
def draw_paired_folds(data: Mapping[str, Any], ax: Any) -> None:
    """A row a learner, a dot a fold, and a line through the dots of each fold."""
    names, parts, columns = _paired(data)
    quiet(ax, floor=True)
    ax.set_xlim(*ends(value for column in columns for value in column))
    ax.set_ylim(len(names) - 0.4, -0.55)
    ax.set_yticks([])
    linear(ax.xaxis)
    for place, name in enumerate(names):
        write(ax, (0, place + WORDS), shortened(name, room(ax)), transform=ax.get_yaxis_transform(), va="center")
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


def _paired(data: Mapping[str, Any]) -> tuple[list[str], list[int], list[list[Any]]]:
    """The names, the parts that are drawn, and for each part the value of each learner."""
    names, values = data["folds"]["names"][:MOST_ROWS], data["folds"]["values"][:MOST_ROWS]
    parts = evenly(list(range(len(values[0]) if values else 0)), MOST_PARTS)
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


def describe_paired_folds(data: Mapping[str, Any]) -> Description:
    """The folds of each learner in words and numbers."""
    names, parts, columns = _paired(data)
    values = data["folds"]["values"]
    whole = len(values[0]) if values else 0
    alt = f"{counted(len(names), 'learner')} in {counted(whole, 'fold')}, by {better(data)}: "
    alt += "; ".join(f"{shortened(name, 40)} {span(row)}" for name, row in zip(names[:6], values, strict=False))
    return describe(
        title="The same folds, learner by learner",
        alt=alt + ("; …" if len(names) > 6 else ".") + left_out(len(parts), whole, "folds"),
        head=("fold", *(shortened(name, 60) for name in names)),
        rows=tuple((part, *column) for part, column in zip(parts, columns, strict=True)),
        tips=[f"{line(names[row])}, fold {parts[place]}: {amount(value)}" for value, row, place in _dots(columns)],
    )
