"""Learning curve: the risk at several training sizes, and its extrapolation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.report.figures import canvas
from heldout.report.figures.canvas import SMALL, Shape, better, dots, name_axes
from heldout.report.figures.describe import Data, Description, Kind, describe, ends_words, evenly
from heldout.report.figures.palette import BLUE, PAPER, SOFT
from heldout.report.figures.scales import column, ends, finite, linear, logarithmic, real, within
from heldout.report.words import amount, counted

LOG_FROM = 12.0  # ratio of the largest to the smallest size from which on the axis is logarithmic


def _draw(data: Data, ax: Any) -> None:
    """Draw one dot with its interval per training size; the extrapolated point is hollow and its line is dashed."""
    canvas.quiet(ax, grid=True)
    points, beyond = _points(data), _beyond(data)
    every = [*points, *beyond]
    xs, ys = column(every, "size"), column(every, "value")
    bottom, top = ends([*ys, *(point[end] for point in points for end in ("low", "high"))])
    sure = [point for point in points if point["low"] is not None and point["high"] is not None]
    lows, highs = ([within(point[end], bottom, top) for point in sure] for end in ("low", "high"))
    ax.vlines(column(sure, "size"), lows, highs, color=BLUE, linewidth=1.4, alpha=0.5, zorder=2)
    ax.plot(xs[: len(points)], ys[: len(points)], color=BLUE, linewidth=1.4, zorder=2)
    if beyond and points:
        ax.plot(xs[-2:], ys[-2:], color=BLUE, linewidth=1.4, linestyle=(0, (3, 2)))
    dots(
        ax,
        xs,
        ys,
        size=44,
        c=[BLUE] * len(points) + [PAPER] * len(beyond),
        edgecolors=[PAPER] * len(points) + [BLUE] * len(beyond),
        width=[0.8] * len(points) + [1.6] * len(beyond),
    )
    if xs and min(xs) > 0 and max(xs) / min(xs) >= LOG_FROM:
        logarithmic(ax, xs)
    else:
        ax.set_xlim(*ends(xs))
        linear(ax.xaxis, most=6, whole=True)
    ax.tick_params(which="both", length=0)
    ax.set_ylim(bottom, top)
    linear(ax.yaxis)
    for point in beyond:
        where = {"xytext": (0, 9), "textcoords": "offset points", "ha": "right", "fontsize": SMALL, "color": SOFT}
        ax.annotate(f"extrapolated {amount(point['value'])}", (xs[-1], ys[-1]), **where)
    name_axes(ax, x="training rows", y=better(data))


def _points(data: Data) -> list[Mapping[str, Any]]:
    return sorted(finite(data["points"], "size", "value"), key=lambda point: real(point["size"]))


def _beyond(data: Data) -> list[Mapping[str, Any]]:
    """Return the extrapolated point as a list, empty if there is none."""
    return finite([data["extrapolated"]] if data["extrapolated"] else [], "size", "value")


def _describe(data: Data) -> Description:
    points, beyond = _points(data), _beyond(data)
    alt = f"{counted(len(points), 'training size')} by {better(data)}"
    if points:
        alt += f": {amount(points[0]['value'])} with {_size(points[0])}"
        alt += f", {amount(points[-1]['value'])} with {_size(points[-1])}"
    alt += "."
    rows = [(p["size"], p["value"], p["low"], p["high"], "measured") for p in evenly(points, 199)]
    tips = [f"{_size(p)}: {amount(p['value'])}{ends_words(p['low'], p['high'])}" for p in points]
    for point in beyond:
        alt += f" Extrapolated to {_size(point)}: {amount(point['value'])}, a rule of thumb."
        rows.append((point["size"], point["value"], None, None, "extrapolated"))
        tips.append(f"{_size(point)}: {amount(point['value'])}, extrapolated")
    head = ("training rows", better(data), "low", "high", "how")
    return describe(title="Learning curve", alt=alt, head=head, rows=rows, tips=tips)


def _size(point: Mapping[str, Any]) -> str:
    return f"{real(point['size']):,.0f} rows"


LEARNING_CURVE = Kind(shape=lambda data: Shape(height=2.9), draw=_draw, describe=_describe)
