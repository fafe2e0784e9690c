"""Estimates, learners or differences as rows: a name, the number and a line for its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures import canvas
from heldout.report.figures.canvas import ABOVE, BELOW, LETTERS, SMALL, better, dots, name_axes, rows_shape, write
from heldout.report.figures.describe import Data, Description, Kind, describe, ends_words, evenly, listed
from heldout.report.figures.palette import BLUE, GREY, INK, PAPER, SOFT, VERMILION
from heldout.report.figures.scales import ends, is_finite, linear, real, within
from heldout.report.words import amount, counted

MOST_ROWS = 45  # all pairs of ten learners; more rows are not readable
ROW = 0.46  # inches
OPTIMISTIC = "optimistic"
MINUS = " − "


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Holds one row of the figure. A hollow mark warns that the number is optimistic."""

    label: str
    value: Any
    low: Any = None
    high: Any = None
    colour: str = BLUE
    hollow: bool = False

    @property
    def words(self) -> str:
        """The number and its interval: "0.12 (0.1 to 0.14)"."""
        return f"{amount(self.value)}{ends_words(self.low, self.high)}".replace("-", "−")


def _row_of(values: Mapping[str, Any], label: str, **looks: Any) -> Row:
    return Row(label=label, value=values["value"], low=values["low"], high=values["high"], **looks)


def draw_rows(ax: Any, rows: Sequence[Row], *, always: Sequence[float] = ()) -> None:
    """Draw the rows from the top down. An arrow marks an end of an interval that lies outside the axes."""
    rows = rows[:MOST_ROWS]
    canvas.open_rows(ax, len(rows))
    ax.set_xlim(*ends([*(value for row in rows for value in (row.value, row.low, row.high)), *always]))
    linear(ax.xaxis)
    for place, row in enumerate(rows):
        canvas.label_row(ax, place + ABOVE, row.label, row.words)
        if row.low is not None and row.high is not None:
            _draw_interval(ax, place + BELOW, row)
    marked = [(place, row) for place, row in enumerate(rows) if is_finite(row.value)]
    dots(
        ax,
        [real(row.value) for _, row in marked],
        [place + BELOW for place, _ in marked],
        size=44,
        c=[PAPER if row.hollow else row.colour for _, row in marked],
        edgecolors=[row.colour for _, row in marked],
        width=1.6,
    )


def _draw_interval(ax: Any, y: float, row: Row) -> None:
    left, right = ax.get_xlim()
    low, high = real(row.low), real(row.high)
    shown = (within(low, left, right), within(high, left, right))
    style = (0, (3, 2)) if row.hollow else "-"
    ax.plot(shown, (y, y), color=row.colour, linewidth=2.4, linestyle=style, solid_capstyle="round", clip_on=False)
    for end, past, mark in ((left, low < left, "<"), (right, high > right, ">")):
        if past:
            ax.plot([end], [y], marker=mark, markersize=6, color=row.colour, linestyle="none", clip_on=False)


def in_words(rows: Sequence[Row]) -> str:
    return listed([f"{shortened(row.label, 60)} {row.words}" for row in rows], 6)


def row_tips(rows: Sequence[Row]) -> list[str]:
    return [f"{row.label}: {row.words}" for row in rows[:MOST_ROWS] if is_finite(row.value)]


def _draw_estimates(data: Data, ax: Any) -> None:
    draw_rows(ax, _estimate_rows(data))
    name_axes(ax, x=better(data))


def _estimate_rows(data: Data) -> list[Row]:
    """Return one row per estimate; optimistic estimates get a hollow mark and are labelled so."""
    return [
        _row_of(estimate, f"{line(estimate['label'])} ({OPTIMISTIC})", colour=VERMILION, hollow=True)
        if estimate["optimistic"]
        else _row_of(estimate, line(estimate["label"]))
        for estimate in data["rows"]
    ]


def _describe_estimates(data: Data) -> Description:
    rows = _estimate_rows(data)[:MOST_ROWS]
    names = ("label", "value", "low", "high", "level")
    return describe(
        title="The estimates side by side",
        alt=f"{counted(len(data['rows']), 'estimate')} of {better(data)}: {in_words(rows)}",
        head=("estimate", data["loss"], "low", "high", "level", "optimistic"),
        rows=[
            (*(estimate[name] for name in names), "yes" if estimate["optimistic"] else "no")
            for estimate in data["rows"]
        ],
        tips=row_tips(rows),
    )


ESTIMATES = Kind(
    shape=lambda data: rows_shape(len(data["rows"]), most=MOST_ROWS, row=ROW),
    draw=_draw_estimates,
    describe=_describe_estimates,
)


def _draw_ranking(data: Data, ax: Any) -> None:
    """Draw one row per learner, the best at the top."""
    rows = _ranking_rows(data)
    draw_rows(ax, rows)
    more = f", the best {MOST_ROWS} of {len(rows):,}" if len(rows) > MOST_ROWS else ""
    name_axes(ax, x=better(data.get("score", data)) + more)


def _ranking_rows(data: Data) -> list[Row]:
    return [
        _row_of(estimate, f"{place}. {line(estimate['name'])}")
        for place, estimate in enumerate(data["ranking"], start=1)
    ]


def _describe_ranking(data: Data) -> Description:
    rows, score = _ranking_rows(data), data.get("score", data)
    names = ("name", "value", "low", "high", "level")
    return describe(
        title="The ranking",
        alt=f"{counted(len(rows), 'learner')} by {better(score)}, the best first: {in_words(rows)}",
        head=("rank", "learner", score["loss"], "low", "high", "level"),
        rows=[
            (place, *(estimate[name] for name in names))
            for place, estimate in evenly([*enumerate(data["ranking"], start=1)])
        ],
        tips=row_tips(rows),
    )


RANKING = Kind(
    shape=lambda data: rows_shape(len(data["ranking"]), most=MOST_ROWS, row=ROW),
    draw=_draw_ranking,
    describe=_describe_ranking,
)


def _draw_comparison(data: Data, ax: Any) -> None:
    """Draw one row per pair: the difference, its interval, the zero line and the shaded region of equivalence."""
    rope, count = real(data["rope"]) if is_finite(data["rope"]) else 0.0, len(data["pairs"])
    draw_rows(ax, _pair_rows(data, letters=canvas.room(ax)), always=(0.0, -rope, rope))
    if rope > 0:
        ax.axvspan(-rope, rope, color=GREY, alpha=0.45, linewidth=0, zorder=0.5)
    places = range(min(count, MOST_ROWS))  # the zero line is left out where the words of a row stand
    starts, stops = [place + 0.02 for place in places], [place + 0.42 for place in places]
    ax.vlines([0.0] * len(places), starts, stops, color=INK, linewidth=1.2, zorder=2)
    _name_sides(ax, data)
    more = f", {MOST_ROWS} of {count:,} pairs" if count > MOST_ROWS else ""
    equal = f", equal within ±{amount(data['rope'])} (shaded)" if rope > 0 else ""
    name_axes(ax, x=f"difference in {shortened(data['loss'], 20)}{equal}{more}", most=64)


def _name_sides(ax: Any, data: Data) -> None:
    """Label each side of zero with the learner that is better there."""
    left, right = ("second", "first") if data["greater_is_better"] else ("first", "second")
    low, high = ax.get_xlim()
    gap, enough = (high - low) * 0.015, (high - low) * 0.3
    how = {"transform": ax.get_xaxis_transform(), "color": SOFT, "fontsize": SMALL}
    if -low > enough:
        write(ax, (-gap, 1.01), f"← {left} is better", ha="right", **how)
    if high > enough:
        write(ax, (gap, 1.01), f"{right} is better →", ha="left", **how)


def _pair_rows(data: Data, *, letters: int = LETTERS) -> list[Row]:
    rows = [Row(label="", value=pair["difference"], low=pair["low"], high=pair["high"]) for pair in data["pairs"]]
    return [replace(row, label=_pair_label(pair, row, letters)) for pair, row in zip(data["pairs"], rows, strict=True)]


def _pair_label(pair: Mapping[str, Any], row: Row, letters: int) -> str:
    """Return both names, each cut to half of the free characters; a short name leaves its rest to the other."""
    free = max(letters - len(row.words) - len(MINUS), 12)
    first, second = line(pair["first"]), line(pair["second"])
    half = free // 2
    return f"{shortened(first, max(half, free - len(second)))}{MINUS}{shortened(second, max(half, free - len(first)))}"


def _describe_comparison(data: Data) -> Description:
    rows, pairs = _pair_rows(data), data["pairs"]
    way = "above" if data["greater_is_better"] else "below"
    equal = f" Within ±{amount(data['rope'])} they count as equal." if is_finite(data["rope"]) else ""
    alt = f"{counted(len(pairs), 'difference')} in {shortened(data['loss'], 40)}, {way} 0 where the first is better: "
    names = ("first", "second", "difference", "low", "high", "verdict")
    return describe(
        title="Differences, pair by pair",
        alt=alt + in_words(rows) + equal,
        head=names,
        rows=[tuple(pair[name] for name in names) for pair in evenly(pairs)],
        tips=row_tips(rows),
    )


COMPARISON = Kind(
    shape=lambda data: rows_shape(len(data["pairs"]), most=MOST_ROWS, row=ROW, above=0.22),
    draw=_draw_comparison,
    describe=_describe_comparison,
)
