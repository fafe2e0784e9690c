"""Estimates, learners and differences one below the other: a name, the number, and a line for its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures.canvas import (
    BLUE,
    GREY,
    INK,
    LETTERS,
    PAPER,
    SMALL,
    SOFT,
    VERMILION,
    Shape,
    better,
    drawing,
    ends,
    is_finite,
    linear,
    name_axes,
    quiet,
    real,
    room,
    within,
    write,
)
from heldout.report.figures.describe import (
    POINTS,
    Description,
    describe,
    evenly,
)
from heldout.report.words import amount, counted

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
    label = shortened(row.label, max(room(ax) - len(words), 6))
    write(ax, (0, place + WORDS), label, transform=flat, va="center", color=INK)
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


def list_rows(rows: Sequence[Row], *, whole: int) -> str:
    """The first rows in words, as they end a description."""
    first = "; ".join(f"{shortened(row.label, 60)} {number_words(row)}" for row in rows[:6])
    return first + ("; …" if whole > 6 else ".")


def row_tips(rows: Sequence[Row]) -> list[str]:
    """What stands beside the mark of each row."""
    return [f"{row.label}: {number_words(row)}" for row in rows[:MOST_ROWS] if is_finite(row.value)]


OPTIMISTIC = "optimistic"


def shape_of_estimates(data: Mapping[str, Any]) -> Shape:
    """A row an estimate."""
    return rows_shape(len(data["rows"]))


@drawing(shape_of_estimates)
def draw_estimates(data: Mapping[str, Any], ax: Any) -> None:
    """A row an estimate with its interval; what is optimistic is hollow and says so."""
    draw_rows(ax, _estimate_rows(data))
    name_axes(ax, x=better(data))


def _estimate_rows(data: Mapping[str, Any]) -> list[Row]:
    return [
        Row(
            label=f"{line(one['label'])}{f' ({OPTIMISTIC})' if one['optimistic'] else ''}",
            value=one["value"],
            low=one["low"],
            high=one["high"],
            colour=VERMILION if one["optimistic"] else BLUE,
            hollow=bool(one["optimistic"]),
        )
        for one in data["rows"]
    ]


def describe_estimates(data: Mapping[str, Any]) -> Description:
    """The estimates in words and numbers."""
    rows = _estimate_rows(data)[:MOST_ROWS]
    names = ("label", "value", "low", "high", "level")
    return describe(
        title="The estimates side by side",
        alt=f"{counted(len(data['rows']), 'estimate')} of {better(data)}: {list_rows(rows, whole=len(rows))}",
        head=("estimate", data["loss"], "low", "high", "level", "optimistic"),
        rows=[(*(one[name] for name in names), "yes" if one["optimistic"] else "no") for one in data["rows"]],
        tips=row_tips(rows),
    )


def shape_of_ranking(data: Mapping[str, Any]) -> Shape:
    """A row a learner."""
    return rows_shape(len(data["ranking"]))


@drawing(shape_of_ranking)
def draw_ranking(data: Mapping[str, Any], ax: Any) -> None:
    """A row a learner, the best at the top."""
    draw_rows(ax, _ranking_rows(data))
    whole = len(data["ranking"])
    beside = f", the best {MOST_ROWS} of {whole:,}" if whole > MOST_ROWS else ""
    name_axes(ax, x=better(data) + beside)


def _ranking_rows(data: Mapping[str, Any]) -> list[Row]:
    return [
        Row(label=f"{place}. {line(one['name'])}", value=one["value"], low=one["low"], high=one["high"])
        for place, one in enumerate(data["ranking"], start=1)
    ]


def describe_ranking(data: Mapping[str, Any]) -> Description:
    """The ranking in words and numbers."""
    rows = _ranking_rows(data)
    names = ("name", "value", "low", "high", "level")
    first = f"{counted(len(rows), 'learner')} by {better(data)}, the best first: "
    return describe(
        title="The ranking",
        alt=first + list_rows(rows, whole=len(rows)),
        head=("rank", "learner", data["loss"], "low", "high", "level"),
        rows=[
            (place, *(one[name] for name in names)) for place, one in evenly(list(enumerate(data["ranking"], start=1)))
        ],
        tips=row_tips(rows),
    )


MINUS = " − "


def shape_of_comparison(data: Mapping[str, Any]) -> Shape:
    """A row a pair, and a line of words above."""
    rows = rows_shape(len(data["pairs"]))
    return Shape(height=rows.height + 0.22, left=rows.left, top=rows.top + 0.22, bottom=rows.bottom)


@drawing(shape_of_comparison)
def draw_comparison(data: Mapping[str, Any], ax: Any) -> None:
    """A row a pair: the difference, its interval, the zero line, and the region of practical equivalence shaded."""
    rope = real(data["rope"]) if is_finite(data["rope"]) else 0.0
    draw_rows(ax, _pair_rows(data, letters=room(ax)), always=(0.0, -rope, rope))
    if rope > 0:
        ax.axvspan(-rope, rope, color=GREY, alpha=0.45, linewidth=0, zorder=0.5)
    _zero(ax, min(len(data["pairs"]), MOST_ROWS))
    _sides(ax, data)
    shown = len(data["pairs"])
    beside = f", {MOST_ROWS} of {shown:,} pairs" if shown > MOST_ROWS else ""
    equal = f", equal within ±{amount(data['rope'])} (shaded)" if rope > 0 else ""
    name_axes(ax, x=f"difference in {shortened(data['loss'], 20)}{equal}{beside}", most=64)


def _zero(ax: Any, rows: int) -> None:
    """The zero line, left out where the words of a row stand."""
    places = range(rows)
    ax.vlines([0.0] * rows, [p + 0.02 for p in places], [p + 0.42 for p in places], color=INK, linewidth=1.2, zorder=2)


def _sides(ax: Any, data: Mapping[str, Any]) -> None:
    """Which side of zero speaks for whom."""
    left, right = ("second", "first") if data["greater_is_better"] else ("first", "second")
    flat = ax.get_xaxis_transform()
    low, high = ax.get_xlim()
    room = (high - low) * 0.015
    enough = (high - low) * 0.3
    if 0.0 - low > enough:
        write(ax, (-room, 1.01), f"← {left} is better", transform=flat, ha="right", color=SOFT, fontsize=SMALL)
    if high - 0.0 > enough:
        write(ax, (room, 1.01), f"{right} is better →", transform=flat, ha="left", color=SOFT, fontsize=SMALL)


def _pair_rows(data: Mapping[str, Any], *, letters: int = LETTERS) -> list[Row]:
    bare = [Row(label="", value=one["difference"], low=one["low"], high=one["high"]) for one in data["pairs"]]
    return [replace(row, label=_pair(one, row, letters)) for one, row in zip(data["pairs"], bare, strict=True)]


def _pair(one: Mapping[str, Any], row: Row, letters: int) -> str:
    """Both names, each with half of the room that the numbers leave; what one does not need, the other has."""
    free = max(letters - len(number_words(row)) - len(MINUS), 12)
    first, second = line(one["first"]), line(one["second"])
    half = free // 2
    return f"{shortened(first, max(half, free - len(second)))}{MINUS}{shortened(second, max(half, free - len(first)))}"


def describe_comparison(data: Mapping[str, Any]) -> Description:
    """The differences in words and numbers."""
    rows, pairs = _pair_rows(data)[:MOST_ROWS], data["pairs"]
    way = "above" if data["greater_is_better"] else "below"
    equal = f" Within ±{amount(data['rope'])} they count as equal." if is_finite(data["rope"]) else ""
    alt = f"{counted(len(pairs), 'difference')} in {shortened(data['loss'], 40)}, {way} 0 where the first is better: "
    names = ("first", "second", "difference", "low", "high", "verdict")
    return describe(
        title="Differences, pair by pair",
        alt=alt + list_rows(rows, whole=len(pairs)) + equal,
        head=names,
        rows=[tuple(pair[name] for name in names) for pair in evenly(pairs)],
        tips=row_tips(rows),
    )
