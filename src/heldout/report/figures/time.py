"""Seconds of fitting and scoring, by level and family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.errors import OptionError
from heldout.base.words import line, shortened, show_seconds
from heldout.report.figures import canvas
from heldout.report.figures.canvas import POINTS, name_axes, patch_key, rows_shape
from heldout.report.figures.describe import Data, Description, Kind, describe, evenly, listed
from heldout.report.figures.palette import BLUE, ORANGE
from heldout.report.figures.scales import is_finite, linear, real
from heldout.report.words import DASH, counted

NO_BARS = "This result does not say where its time went: no fit was timed."
MOST_BARS = 16
THICK = 0.3

Bar = Mapping[str, Any]


def _draw(data: Data, ax: Any) -> None:
    """Draw one bar per level and family: seconds of fitting, then of scoring."""
    if not data["bars"]:
        raise OptionError(NO_BARS)
    bars = _bars(data)[:MOST_BARS]
    canvas.open_rows(ax, len(bars))
    ax.set_xlim(0, max(map(_whole, bars)) * 1.02 or 1.0)
    linear(ax.xaxis)
    _draw_side(ax, bars, "fit", BLUE)
    _draw_side(ax, bars, "score", ORANGE)
    for place, bar in enumerate(bars):
        canvas.label_row(ax, place - 0.17, _name(bar), f"{seconds(_whole(bar))}, {bar['cells']:,} cells")
    more = f", {MOST_BARS} of {len(data['bars']):,}" if len(data["bars"]) > MOST_BARS else ""
    name_axes(ax, x=f"seconds of work{more}; the study took {seconds(data['total'])}")
    canvas.key(ax, [patch_key("fitting", BLUE), patch_key("scoring", ORANGE)])


def _draw_side(ax: Any, bars: list[Bar], side: str, colour: str) -> None:
    drawn = [(place, bar) for place, bar in enumerate(bars) if _part(bar, side) > 0]
    for bar in ax.barh(
        [place + 0.2 for place, _ in drawn],
        [_part(bar, side) for _, bar in drawn],
        left=[0.0 if side == "fit" else _part(bar, "fit") for _, bar in drawn],
        height=THICK,
        color=colour,
        linewidth=0,
    ):
        bar.set_gid(POINTS)


def seconds(value: Any) -> str:
    """Return a duration in seconds as text, or a dash if it is not finite."""
    return show_seconds(real(value)) if is_finite(value) else DASH


def _bars(data: Data) -> list[Bar]:
    """Return the bars, the longest first."""
    return sorted(data["bars"], key=_whole, reverse=True)


def _whole(bar: Bar) -> float:
    return _part(bar, "fit") + _part(bar, "score")


def _part(bar: Bar, side: str) -> float:
    return max(real(bar[side]), 0.0) if is_finite(bar[side]) else 0.0


def _name(bar: Bar) -> str:
    level, family = line(bar["level"]), line(bar["family"] or "")
    return f"{level}: {family}" if family else level


def _describe(data: Data) -> Description:
    bars = _bars(data)
    parts = [(bar, _name(bar), _part(bar, "fit"), _part(bar, "score")) for bar in bars]
    work = [
        f"{shortened(name, 60)} {seconds(fit)} fitting and {seconds(score)} scoring" for _, name, fit, score in parts
    ]
    drawn, each = parts[:MOST_BARS], data.get("each")
    test = f" A tested predictor took {seconds(each['fit'])} to fit, and " if each else ""
    test += f"{seconds(each['predict'])} to predict 1,000 rows and score them." if each else ""
    tips = [
        f"{name}: {seconds(fit)} fitting {counted(int(bar['cells']), 'cell')}" for bar, name, fit, _ in drawn if fit
    ]
    tips += [f"{name}: {seconds(score)} scoring" for _, name, _, score in drawn if score]
    return describe(
        title="Where the time went",
        alt=f"The study took {seconds(data['total'])}. Work: {listed(work, 4)}{test}",
        head=("level", "family", "seconds fitting", "seconds scoring", "cells"),
        rows=[(line(b["level"]), line(b["family"] or ""), b["fit"], b["score"], b["cells"]) for b in evenly(bars)],
        tips=tips,
    )


TIME = Kind(
    shape=lambda data: rows_shape(len(data["bars"]), most=MOST_BARS, above=0.22),
    draw=_draw,
    describe=_describe,
    panels=lambda data: [data] if data["bars"] else [],
)
