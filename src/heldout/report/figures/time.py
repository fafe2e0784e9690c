"""Where the time went: fitting and scoring, by level and by family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.errors import OptionError
from heldout.base.words import line, shortened
from heldout.report.figures.canvas import (
    BLUE,
    INK,
    ORANGE,
    SMALL,
    SOFT,
    Shape,
    axes_of,
    is_finite,
    key,
    linear,
    name_axes,
    present,
    quiet,
    real,
    room,
    write,
)
from heldout.report.figures.describe import (
    POINTS,
    Description,
    describe,
    evenly,
)
from heldout.report.words import counted

NO_BARS = "This result does not say where its time went: no fit was timed."
MOST_BARS = 16
ROW, THICK = 0.42, 0.3


def shape_of_time(data: Mapping[str, Any]) -> Shape:
    """A row a level and family, and a line of words above."""
    return Shape(height=0.84 + ROW * max(1, min(len(data["bars"]), MOST_BARS)), left=0.14, top=0.3, bottom=0.54)


def timed(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The data, where anything was timed."""
    return [data] if data["bars"] else []


def draw_time(data: Mapping[str, Any], ax: Any = None) -> Any:
    """A bar a level and family: seconds of fitting, then of scoring."""
    data = present(data)
    if not data["bars"]:
        raise OptionError(NO_BARS)
    ax = axes_of(shape_of_time(data)) if ax is None else ax
    bars = _bars(data)[:MOST_BARS]
    quiet(ax, floor=True)
    longest = max((_fit(bar) + _score(bar) for bar in bars), default=0.0)
    ax.set_xlim(0, longest * 1.02 or 1.0)
    ax.set_ylim(len(bars) - 0.4, -0.55)
    ax.set_yticks([])
    linear(ax.xaxis)
    for colour, lengths, starts in _sides_of(bars):
        drawn = [place for place, length in enumerate(lengths) if length > 0]
        for bar in ax.barh(
            [place + 0.2 for place in drawn],
            [lengths[place] for place in drawn],
            left=[starts[place] for place in drawn],
            height=THICK,
            color=colour,
            linewidth=0,
        ):
            bar.set_gid(POINTS)
    flat = ax.get_yaxis_transform()
    for place, bar in enumerate(bars):
        words = f"{seconds(_fit(bar) + _score(bar))}, {bar['cells']:,} cells"
        label = shortened(_name(bar), max(room(ax) - len(words), 6))
        write(ax, (0, place - 0.17), label, transform=flat, va="center", color=INK)
        write(ax, (1, place - 0.17), words, transform=flat, va="center", ha="right", color=SOFT, fontsize=SMALL)
    more = f", {MOST_BARS} of {len(data['bars']):,}" if len(data["bars"]) > MOST_BARS else ""
    name_axes(ax, x=f"seconds of work{more}; the study took {seconds(data['total'])}")
    _key(ax)
    return ax


def seconds(value: Any) -> str:
    """ "0.4 s", "95 s", "12 min", "3.5 h"."""
    number = real(value)
    if not is_finite(number):
        return "–"
    if number < 120:
        return f"{number:.3g} s"
    return f"{number / 60:.3g} min" if number < 7_200 else f"{number / 3_600:.3g} h"


def _bars(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The longest first."""
    return sorted(data["bars"], key=lambda bar: -(_fit(bar) + _score(bar)))


def _fit(bar: Mapping[str, Any]) -> float:
    return max(real(bar["fit"]), 0.0) if is_finite(bar["fit"]) else 0.0


def _score(bar: Mapping[str, Any]) -> float:
    return max(real(bar["score"]), 0.0) if is_finite(bar["score"]) else 0.0


def _name(bar: Mapping[str, Any]) -> str:
    level, family = line(bar["level"]), line(bar["family"] or "")
    return f"{level}: {family}" if family else level


def _sides_of(bars: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[float], list[float]]]:
    """The colour, the lengths and the beginnings of each side of the bars."""
    fits, scores = [_fit(bar) for bar in bars], [_score(bar) for bar in bars]
    return [(BLUE, fits, [0.0] * len(bars)), (ORANGE, scores, fits)]


def _key(ax: Any) -> None:
    from matplotlib.patches import Patch

    key(ax, [Patch(color=BLUE, label="fitting", linewidth=0), Patch(color=ORANGE, label="scoring", linewidth=0)])


def describe_time(data: Mapping[str, Any]) -> Description:
    """The seconds in words and numbers."""
    bars = _bars(data)
    alt = f"The study took {seconds(data['total'])}. Work: "
    alt += "; ".join(
        f"{shortened(_name(bar), 60)} {seconds(_fit(bar))} fitting and {seconds(_score(bar))} scoring"
        for bar in bars[:4]
    )
    drawn = bars[:MOST_BARS]
    texts = [
        f"{_name(bar)}: {seconds(_fit(bar))} fitting {counted(int(bar['cells']), 'cell')}" for bar in drawn if _fit(bar)
    ]
    texts += [f"{_name(bar)}: {seconds(_score(bar))} scoring" for bar in drawn if _score(bar)]
    return describe(
        title="Where the time went",
        alt=alt + ("; …" if len(bars) > 4 else "."),
        head=("level", "family", "seconds fitting", "seconds scoring", "cells"),
        rows=tuple((line(b["level"]), line(b["family"] or ""), b["fit"], b["score"], b["cells"]) for b in evenly(bars)),
        tips=texts,
    )
