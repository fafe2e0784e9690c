"""Fold values as dots: of one learner with its estimate, or of several learners with a line per fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures import canvas
from heldout.report.figures.canvas import ABOVE, BELOW, SMALL, Shape, better, dots, name_axes, rows_shape, write
from heldout.report.figures.describe import MOST_TIPS, Data, Description, Kind, describe, evenly, left_out, listed, span
from heldout.report.figures.estimates import MOST_ROWS, ROW
from heldout.report.figures.palette import BLUE, GREY, INK, SOFT
from heldout.report.figures.scales import column, ends, finite, is_finite, linear, real, within
from heldout.report.words import amount, counted, interval, level_words

MOST_DOTS = 2_000  # reached by leave-one-out on many rows; chosen evenly from all folds
FEW = 60
EVERY = 12  # up to this many folds, each has a tick
JITTER = 0.56  # share of a repeat's column over which its folds are spread
MOST_PARTS = 200  # folds drawn as lines; more would merge into a grey area
ASIDE = 0.16  # row heights: the range of the vertical offsets


def _draw_folds(data: Data, ax: Any) -> None:
    """Draw one dot per fold (repeats in columns), the estimate as a line and its interval as a band."""
    points = _shown(data)
    canvas.quiet(ax, grid=True)
    few = len(points) <= FEW
    looks = {"size": 46} if few else {"size": 9, "width": 0, "alpha": 0.6}
    dots(ax, _places(points), column(points, "value"), **looks)
    ax.set_ylim(*ends([*column(points, "value"), data["value"], data["low"], data["high"]]))
    linear(ax.yaxis)
    _draw_x_axis(ax, data, points)
    _draw_estimate(ax, data)
    name_axes(ax, y=better(data))


def _shown(data: Data) -> list[Mapping[str, Any]]:
    """Return the folds that have a value, thinned out evenly if there are more than MOST_DOTS."""
    return evenly(finite(data["points"], "value"), MOST_DOTS)


def _repeats(points: Sequence[Mapping[str, Any]]) -> list[int]:
    return [int(point["repeat"] or 0) for point in points]


def _places(points: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the x position of each dot: its fold, or with several repeats its repeat plus an offset for the fold."""
    repeats = _repeats(points)
    sizes, drawn = Counter(repeats), Counter[int]()
    if len(sizes) < 2:
        return [float(point["fold"]) for point in points]
    places = []
    for repeat in repeats:
        step = JITTER / max(sizes[repeat] - 1, 1)
        places.append(repeat + (drawn[repeat] * step - JITTER / 2 if sizes[repeat] > 1 else 0.0))
        drawn[repeat] += 1
    return places


def _draw_x_axis(ax: Any, data: Data, points: Sequence[Mapping[str, Any]]) -> None:
    repeats, whole = _repeats(points), len(data["points"])
    if len(set(repeats)) > 1:
        ax.set_xlim(min(repeats) - 0.6, max(repeats) + 0.6)
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


def _draw_estimate(ax: Any, data: Data) -> None:
    bottom, top = ax.get_ylim()
    if data["low"] is not None and data["high"] is not None:
        low, high = within(data["low"], bottom, top), within(data["high"], bottom, top)
        ax.axhspan(low, high, color=BLUE, alpha=0.14, linewidth=0, zorder=1)
    if not is_finite(data["value"]):
        return
    place = (1.02, real(data["value"]))
    ax.axhline(place[1], color=INK, linewidth=1.2, zorder=2)
    flat = ax.get_yaxis_transform()
    write(ax, place, amount(data["value"]), transform=flat, va="center", fontweight="bold")
    if data["low"] is not None:
        words = f"\n\n{level_words(data['level'])}\ninterval"
        write(ax, place, words, transform=flat, va="top", color=SOFT, fontsize=SMALL)


def _describe_folds(data: Data) -> Description:
    points = list(data["points"])
    missing, sure = len(points) - len(finite(points, "value")), interval(data)
    alt = (
        f"{counted(len(points), 'fold')} by {better(data)}, {span([point['value'] for point in points])}. "
        f"The estimate is {amount(data['value'])}{f', {sure}' if sure else ', without an interval'}."
    )
    if missing:
        alt += f" {counted(missing, 'fold')} without a value."
    rows, repeated = evenly(points), len(set(_repeats(points))) > 1
    return describe(
        title="Each fold",
        alt=alt + left_out(len(rows), len(points), "folds"),
        head=("fold", "repeat", better(data), "training rows", "held-out rows"),
        rows=[tuple(p[name] for name in ("fold", "repeat", "value", "train_rows", "held_rows")) for p in rows],
        tips=[
            f"fold {point['fold']}{', repeat ' + str(point['repeat']) if repeated else ''}: {amount(point['value'])} "
            f"({point['held_rows']:,} rows held out)"
            for point in _shown(data)
        ],
    )


FOLDS = Kind(
    shape=lambda data: Shape(height=2.75, right=0.86),
    draw=_draw_folds,
    describe=_describe_folds,
)


def _draw_paired_folds(data: Data, ax: Any) -> None:
    """Draw one row per learner, one dot per fold, and a line that joins the dots of each fold."""
    names, parts, columns = _paired(data)
    canvas.open_rows(ax, len(names))
    ax.set_xlim(*ends(value for values in columns for value in values))
    linear(ax.xaxis)
    for place, name in enumerate(names):
        write(ax, (0, place + ABOVE), shortened(name, canvas.room(ax)), transform=ax.get_yaxis_transform(), va="center")
    for place, values in enumerate(columns):
        heights = [row + BELOW + _aside(place) for row in range(len(names))]
        ax.plot([real(value) for value in values], heights, color=GREY, linewidth=1, zorder=2, clip_on=False)
    marked = _dots(columns)
    heights = [row + BELOW + _aside(place) for _, row, place in marked]
    looks = {"size": 36} if len(marked) <= MOST_TIPS else {"size": 12, "width": 0}
    dots(ax, [real(value) for value, _, _ in marked], heights, **looks)
    whole = len(data["folds"]["values"][0]) if names else 0
    drawn = f", {len(parts)} of {whole:,} folds" if whole > len(parts) else ", a line a fold"
    name_axes(ax, x=better(data.get("score", data)) + drawn, most=64)


def _paired(data: Data) -> tuple[list[str], list[int], list[list[Any]]]:
    """Return the learners' names, the indices of the drawn folds, and for each of these the learners' values."""
    names, values = data["folds"]["names"][:MOST_ROWS], data["folds"]["values"][:MOST_ROWS]
    parts = evenly(range(len(values[0]) if values else 0), MOST_PARTS)
    return list(names), parts, [[row[part] for row in values] for part in parts]


def _aside(place: int) -> float:
    """Return a small vertical offset that differs from fold to fold, so that equal values do not hide each other."""
    return ASIDE * ((place * 0.618034) % 1 - 0.5)


def _dots(columns: Sequence[Sequence[Any]]) -> list[tuple[Any, int, int]]:
    """Return (value, learner index, fold position) of each dot; a fold that failed has none."""
    return [
        (value, row, place)
        for place, values in enumerate(columns)
        for row, value in enumerate(values)
        if is_finite(value)
    ]


def _describe_paired_folds(data: Data) -> Description:
    names, parts, columns = _paired(data)
    values = data["folds"]["values"]
    whole = len(values[0]) if values else 0
    alt = f"{counted(len(names), 'learner')} in {counted(whole, 'fold')}, by {better(data.get('score', data))}: "
    alt += listed([f"{shortened(name, 40)} {span(row)}" for name, row in zip(names, values, strict=False)], 6)
    return describe(
        title="The same folds, learner by learner",
        alt=alt + left_out(len(parts), whole, "folds"),
        head=("fold", *(shortened(name, 60) for name in names)),
        rows=[(part, *column) for part, column in zip(parts, columns, strict=True)],
        tips=[f"{line(names[row])}, fold {parts[place]}: {amount(value)}" for value, row, place in _dots(columns)],
    )


PAIRED_FOLDS = Kind(
    shape=lambda data: rows_shape(len(data["folds"]["names"]), most=MOST_ROWS, row=ROW),
    draw=_draw_paired_folds,
    describe=_describe_paired_folds,
)
