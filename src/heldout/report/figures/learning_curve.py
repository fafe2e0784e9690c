"""The risk at several training sizes, and where the curve points to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.report.figures.canvas import (
    BLUE,
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
    log_ends,
    name_axes,
    powers,
    quiet,
    real,
    within,
)
from heldout.report.figures.describe import (
    POINTS,
    Description,
    describe,
    evenly,
)
from heldout.report.words import amount, counted

LOG_FROM = 12.0  # how many times the smallest size the largest is, from which on powers of ten are clearer


def shape_of_learning_curve(data: Mapping[str, Any]) -> Shape:
    """Wide enough at the left for the risks."""
    return Shape(height=2.9, left=left_of_numbers(*_reach(data)))


@drawing(shape_of_learning_curve)
def draw_learning_curve(data: Mapping[str, Any], ax: Any) -> None:
    """A dot a training size with its interval; the extrapolated point is hollow and its line dashed."""
    quiet(ax, grid=True)
    points, beyond = _points(data), _beyond(data)
    xs, ys = [real(point["size"]) for point in points], [real(point["value"]) for point in points]
    bottom, top = _reach(data)
    sure = [point for point in points if point["low"] is not None and point["high"] is not None]
    ax.vlines(
        [real(point["size"]) for point in sure],
        [within(point["low"], bottom, top) for point in sure],
        [within(point["high"], bottom, top) for point in sure],
        color=BLUE,
        linewidth=1.4,
        alpha=0.5,
        zorder=2,
    )
    ax.plot(xs, ys, color=BLUE, linewidth=1.4, zorder=2)
    if beyond and points:
        ax.plot([xs[-1], beyond["size"]], [ys[-1], beyond["value"]], color=BLUE, linewidth=1.4, linestyle=(0, (3, 2)))
    every = [*points, *([beyond] if beyond else [])]
    ax.scatter(
        [real(one["size"]) for one in every],
        [real(one["value"]) for one in every],
        s=44,
        c=[BLUE] * len(points) + [PAPER] * bool(beyond),
        edgecolors=[PAPER] * len(points) + [BLUE] * bool(beyond),
        linewidths=[0.8] * len(points) + [1.6] * bool(beyond),
        zorder=4,
        clip_on=False,
        gid=POINTS,
    )
    ax.set_ylim(bottom, top)
    _sizes(ax, [real(one["size"]) for one in every])
    linear(ax.yaxis)
    if beyond:
        where = {"xytext": (0, 9), "textcoords": "offset points", "ha": "right", "fontsize": SMALL, "color": SOFT}
        ax.annotate(f"extrapolated {amount(beyond['value'])}", (real(beyond["size"]), real(beyond["value"])), **where)
    name_axes(ax, x="training rows", y=better(data))


def _points(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = [point for point in data["points"] if is_finite(point["size"], point["value"])]
    return sorted(found, key=lambda point: real(point["size"]))


def _reach(data: Mapping[str, Any]) -> tuple[float, float]:
    """From where to where risks are drawn: every dot, and the ends of intervals that have one."""
    points, beyond = _points(data), _beyond(data)
    found = [one["value"] for one in (*points, *([beyond] if beyond else []))]
    return ends([*found, *(point[end] for point in points for end in ("low", "high"))])


def _beyond(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    beyond: Mapping[str, Any] | None = data["extrapolated"]
    return beyond if beyond and is_finite(beyond["size"], beyond["value"]) else None


def _sizes(ax: Any, sizes: list[float]) -> None:
    if sizes and min(sizes) > 0 and max(sizes) / min(sizes) >= LOG_FROM:
        low, high = log_ends(sizes)
        ax.set_xlim(low, high)  # before the scale, which else would look for limits of its own
        ax.set_xscale("log")
        powers(ax.xaxis, low, high)
    else:
        ax.set_xlim(*ends(sizes))
        linear(ax.xaxis, most=6, whole=True)
    ax.tick_params(which="both", length=0)


def describe_learning_curve(data: Mapping[str, Any]) -> Description:
    """The curve in words and numbers."""
    points, beyond = _points(data), _beyond(data)
    alt = f"{counted(len(points), 'training size')} by {better(data)}"
    if points:
        first, last = points[0], points[-1]
        alt += f": {amount(first['value'])} with {real(first['size']):,.0f} rows"
        alt += f", {amount(last['value'])} with {real(last['size']):,.0f} rows"
    alt += "."
    rows: list[tuple[Any, ...]] = [
        (p["size"], p["value"], p["low"], p["high"], "measured") for p in evenly(points, 199)
    ]
    texts = [_tip(point) for point in points]
    if beyond:
        alt += f" Extrapolated to {real(beyond['size']):,.0f} rows: {amount(beyond['value'])}, a rule of thumb."
        rows.append((beyond["size"], beyond["value"], None, None, "extrapolated"))
        texts.append(f"{real(beyond['size']):,.0f} rows: {amount(beyond['value'])}, extrapolated")
    head = ("training rows", better(data), "low", "high", "how")
    return describe(title="Learning curve", alt=alt, head=head, rows=tuple(rows), tips=texts)


def _tip(point: Mapping[str, Any]) -> str:
    sure = "" if point["low"] is None else f" ({amount(point['low'])} to {amount(point['high'])})"
    return f"{real(point['size']):,.0f} rows: {amount(point['value'])}{sure}"
