"""How far the folds agree in what they chose: how often each choice, or each value of a parameter, won."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.errors import OptionError, did_you_mean
from heldout.base.words import line, number, shortened
from heldout.report.figures.canvas import (
    BLUE,
    GREY,
    INK,
    SMALL,
    SOFT,
    Shape,
    axes_of,
    linear,
    name_axes,
    present,
    quiet,
    room,
    write,
)
from heldout.report.figures.describe import (
    POINTS,
    Description,
    describe,
    evenly,
    left_out,
)
from heldout.report.words import counted

MOST_BARS = 12
ROW, THICK = 0.42, 0.3


def shape_of_stability(data: Mapping[str, Any]) -> Shape:
    """A row a choice."""
    bars, _ = _bars(data)
    return Shape(height=0.62 + ROW * max(1, min(len(bars), MOST_BARS)), left=0.14, top=0.08, bottom=0.54)


def views_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Whole choices first, then each parameter by itself where a choice is made of several."""
    views = [{**data, "params": []}]
    if len(data["params"]) > 1:
        open_ones = [one for one in data["params"] if len(one["values"]) > 1]  # on the others all folds agree
        views += [{**data, "choices": [], "params": [one]} for one in open_ones]
    return views


def draw_stability(data: Mapping[str, Any], ax: Any = None, *, param: str | None = None) -> Any:
    """A bar a choice, as long as the number of folds that made it; or a bar a value of one parameter."""
    data = present(data)
    if param is not None:
        data = _only(data, param)
    ax = axes_of(shape_of_stability(data)) if ax is None else ax
    bars, what = _bars(data)
    shown, folds = bars[:MOST_BARS], max(int(data["folds"]), 1)
    quiet(ax, floor=True)
    ax.set_xlim(0, folds)
    ax.set_ylim(len(shown) - 0.4, -0.55)
    ax.set_yticks([])
    linear(ax.xaxis, most=10 if folds <= 10 else 5, whole=True)
    heights = [place + 0.2 for place in range(len(shown))]
    ax.barh(heights, folds, height=THICK, color=GREY, alpha=0.45, linewidth=0)
    drawn = ax.barh(heights, [count for _, count in shown], height=THICK, color=BLUE, linewidth=0)
    for bar in drawn:
        bar.set_gid(POINTS)
    flat = ax.get_yaxis_transform()
    for place, (words, count) in enumerate(shown):
        share = f"{count:,} of {folds:,}"
        most = max(room(ax) - len(share), 6)
        write(ax, (0, place - 0.17), shortened(words, most), transform=flat, va="center", color=INK)
        write(ax, (1, place - 0.17), share, transform=flat, va="center", ha="right", color=SOFT, fontsize=SMALL)
    more = f", {MOST_BARS} of {len(bars):,}" if len(bars) > MOST_BARS else ""
    name_axes(
        ax, x=f"folds that chose it{more}" if what is None else f"folds that chose this {shortened(what, 30)}{more}"
    )
    return ax


def _only(data: Mapping[str, Any], param: str) -> Mapping[str, Any]:
    known = [one["param"] for one in data["params"]]
    found = [one for one in data["params"] if one["param"] == param]
    if not found:
        raise OptionError(f"No fold chose a value of {param!r}. {did_you_mean(param, known)}")
    return {**data, "choices": [], "params": found[:1]}


def _bars(data: Mapping[str, Any]) -> tuple[list[tuple[str, int]], str | None]:
    """Words and count of each bar; and the parameter, where the bars are its values."""
    if data["choices"]:
        return [(line(one["words"]), int(one["count"])) for one in data["choices"]], None
    one = data["params"][0]
    return [(_word(value["value"]), int(value["count"])) for value in one["values"]], _name(one)


def _name(one: Mapping[str, Any]) -> str:
    family = line(one["family"] or "")
    return f"{shortened(one['param'], 36)} of {shortened(family, 18)}" if family else shortened(one["param"], 56)


def _word(value: Any) -> str:
    return number(value) if isinstance(value, float) else line(value)


def describe_stability(data: Mapping[str, Any]) -> Description:
    """The choices in words and numbers."""
    bars, what = _bars(data)
    folds = int(data["folds"])
    alt = f"What {counted(folds, 'fold')} chose{f' as {what}' if what else ''}: "
    alt += "; ".join(f"{shortened(words, 60)} by {count:,}" for words, count in bars[:5]) + (
        "; …" if len(bars) > 5 else "."
    )
    listed = evenly(bars)
    return describe(
        title=f"How often each {what} was chosen" if what else "How often each choice won",
        alt=alt + left_out(len(listed), len(bars), "choices"),
        head=(what or "choice", "folds", "of"),
        rows=tuple((words, count, folds) for words, count in listed),
        tips=[f"{shortened(words, 200)}: {count:,} of {counted(folds, 'fold')}" for words, count in bars[:MOST_BARS]],
    )
