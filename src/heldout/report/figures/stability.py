"""Stability of the choice: how many folds chose each candidate, or each value of a parameter."""

from __future__ import annotations

from typing import Any

from heldout.base.errors import OptionError, did_you_mean
from heldout.base.words import line, shortened
from heldout.report.figures import canvas
from heldout.report.figures.canvas import POINTS, name_axes, rows_shape
from heldout.report.figures.describe import (
    Data,
    Description,
    Kind,
    describe,
    evenly,
    left_out,
    listed,
    parameter_name,
    value_words,
)
from heldout.report.figures.palette import BLUE, GREY
from heldout.report.figures.scales import linear
from heldout.report.words import counted

MOST_BARS = 12
THICK = 0.3


def _views(data: Data) -> list[Data]:
    """Return one panel for whole choices; with several parameters, also one for each on which the folds disagree."""
    views: list[Data] = [{**data, "params": []}]
    if len(data["params"]) > 1:
        disputed = [param for param in data["params"] if len(param["values"]) > 1]  # on the others all folds agree
        views += [{**data, "choices": [], "params": [param]} for param in disputed]
    return views


def only_param(data: Data, param: str) -> Data:
    """Return the data restricted to the values of one parameter."""
    values = {member["param"]: member for member in reversed(data["params"])}
    if param not in values:
        names = [member["param"] for member in data["params"]]
        raise OptionError(f"No fold chose a value of {param!r}. {did_you_mean(param, names)}")
    return {**data, "choices": [], "params": [values[param]]}


def _draw(data: Data, ax: Any) -> None:
    """Draw one bar per choice, or per value of one parameter, as long as the number of folds that chose it."""
    bars, what = _bars(data)
    shown, folds = bars[:MOST_BARS], max(int(data["folds"]), 1)
    canvas.open_rows(ax, len(shown))
    ax.set_xlim(0, folds)
    linear(ax.xaxis, most=10 if folds <= 10 else 5, whole=True)
    heights = [place + 0.2 for place in range(len(shown))]
    ax.barh(heights, folds, height=THICK, color=GREY, alpha=0.45, linewidth=0)
    for bar in ax.barh(heights, [count for _, count in shown], height=THICK, color=BLUE, linewidth=0):
        bar.set_gid(POINTS)
    for place, (words, count) in enumerate(shown):
        canvas.label_row(ax, place - 0.17, words, f"{count:,} of {folds:,}")
    more = f", {MOST_BARS} of {len(bars):,}" if len(bars) > MOST_BARS else ""
    name_axes(ax, x=f"folds that chose {'it' if what is None else f'this {shortened(what, 30)}'}{more}")


def _bars(data: Data) -> tuple[list[tuple[str, int]], str | None]:
    """Return the label and count of each bar, and the name of the parameter, None for whole choices."""
    if data["choices"]:
        return [(line(bar["words"]), int(bar["count"])) for bar in data["choices"]], None
    param = data["params"][0]
    return [(value_words(bar["value"]), int(bar["count"])) for bar in param["values"]], parameter_name(param)


def _describe(data: Data) -> Description:
    bars, what = _bars(data)
    folds = int(data["folds"])
    alt = f"What {counted(folds, 'fold')} chose{f' as {what}' if what else ''}: "
    alt += listed([f"{shortened(words, 60)} by {count:,}" for words, count in bars], 5)
    rows = evenly(bars)
    return describe(
        title=f"How often each {what} was chosen" if what else "How often each choice won",
        alt=alt + left_out(len(rows), len(bars), "choices"),
        head=(what or "choice", "folds", "of"),
        rows=[(words, count, folds) for words, count in rows],
        tips=[f"{shortened(words, 200)}: {count:,} of {counted(folds, 'fold')}" for words, count in bars[:MOST_BARS]],
    )


STABILITY = Kind(
    shape=lambda data: rows_shape(len(_bars(data)[0]), most=MOST_BARS), draw=_draw, describe=_describe, panels=_views
)
