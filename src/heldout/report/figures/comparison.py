"""Differences of learners pair by pair, with zero and what counts as equal behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heldout.report.figures.canvas import Shape, axes_of, name_axes, present
from heldout.report.figures.lettering import LETTERS, SMALL, cleaned, room, short, write
from heldout.report.figures.palette import GREY, INK, SOFT
from heldout.report.figures.rows import MOST_ROWS, Row, draw_rows, number_words, rows_shape
from heldout.report.figures.scales import is_finite, real
from heldout.report.figures.told import Told, counted, spread, tell
from heldout.report.words import amount

MINUS = " − "


def shape_of_comparison(data: Mapping[str, Any]) -> Shape:
    """A row a pair, and a line of words above."""
    rows = rows_shape(len(data["pairs"]))
    return Shape(height=rows.height + 0.22, left=rows.left, top=rows.top + 0.22, bottom=rows.bottom)


def draw_comparison(data: Mapping[str, Any], ax: Any = None) -> Any:
    """A row a pair: the difference, its interval, the zero line, and the region of practical equivalence shaded."""
    data = present(data)
    ax = axes_of(shape_of_comparison(data)) if ax is None else ax
    rope = real(data["rope"]) if is_finite(data["rope"]) else 0.0
    draw_rows(ax, _rows(data, letters=room(ax)), always=(0.0, -rope, rope))
    if rope > 0:
        ax.axvspan(-rope, rope, color=GREY, alpha=0.45, linewidth=0, zorder=0.5)
    _zero(ax, min(len(data["pairs"]), MOST_ROWS))
    _sides(ax, data)
    shown = len(data["pairs"])
    beside = f", {MOST_ROWS} of {shown:,} pairs" if shown > MOST_ROWS else ""
    equal = f", equal within ±{amount(data['rope'])} (shaded)" if rope > 0 else ""
    name_axes(ax, x=f"difference in {short(data['loss'], 20)}{equal}{beside}", most=64)
    return ax


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


def _rows(data: Mapping[str, Any], *, letters: int = LETTERS) -> list[Row]:
    bare = [Row(label="", value=one["difference"], low=one["low"], high=one["high"]) for one in data["pairs"]]
    return [replace(row, label=_pair(one, row, letters)) for one, row in zip(data["pairs"], bare, strict=True)]


def _pair(one: Mapping[str, Any], row: Row, letters: int) -> str:
    """Both names, each with half of the room that the numbers leave; what one does not need, the other has."""
    free = max(letters - len(number_words(row)) - len(MINUS), 12)
    first, second = cleaned(one["first"]), cleaned(one["second"])
    half = free // 2
    return f"{short(first, max(half, free - len(second)))}{MINUS}{short(second, max(half, free - len(first)))}"


def tell_comparison(data: Mapping[str, Any]) -> Told:
    """The differences in words and numbers."""
    rows, pairs = _rows(data)[:MOST_ROWS], data["pairs"]
    way = "above" if data["greater_is_better"] else "below"
    equal = f" Within ±{amount(data['rope'])} they count as equal." if is_finite(data["rope"]) else ""
    alt = f"{counted(len(pairs), 'difference')} in {short(data['loss'], 40)}, {way} 0 where the first is better: "
    alt += "; ".join(f"{row.label} {number_words(row)}" for row in rows[:6])
    listed = spread(pairs)
    return tell(
        title="Differences, pair by pair",
        alt=alt + ("; …" if len(pairs) > 6 else ".") + equal,
        head=("first", "second", "difference", "low", "high", "verdict"),
        rows=tuple(
            (cleaned(p["first"]), cleaned(p["second"]), p["difference"], p["low"], p["high"], cleaned(p["verdict"]))
            for p in listed
        ),
        tips=[f"{row.label}: {number_words(row)}" for row in rows if is_finite(row.value)],
    )
