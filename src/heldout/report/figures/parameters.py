"""Validation loss against each parameter, with the chosen values and the one-standard-error rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import shortened
from heldout.report.figures import canvas
from heldout.report.figures.canvas import DASHED, SMALL, Shape, better, dots, line_key, name_axes
from heldout.report.figures.describe import (
    Data,
    Description,
    Kind,
    describe,
    evenly,
    left_out,
    listed,
    one_each,
    parameter_name,
    value_words,
)
from heldout.report.figures.palette import BLUE, INK, SOFT, VERMILION
from heldout.report.figures.scales import column, ends, finite, is_finite, linear, logarithmic, real
from heldout.report.words import amount, counted, parameter_value

Panel = Mapping[str, Any]
ACROSS = 52  # characters of all categories together, beyond which their labels are set vertically
UPRIGHT = 14  # characters of a vertical label
MOST_NAMED = 24
DOTTED: Any = (0, (1, 2))


def _shape(data: Data) -> Shape:
    """Return the figure size, higher where the tick labels stand upright."""
    panel = data["panels"][0]
    below = 0.85 if _scale(panel) == "category" and not _lies(_values(panel)) else 0
    return Shape(height=3.0 + below, top=0.62, bottom=0.52 + below)


def _draw(data: Data, ax: Any) -> None:
    """Draw the mean validation loss ± one standard error at each value of a parameter, and mark the chosen values."""
    panel = data["panels"][0]
    scale, points = _scale(panel), _shown(panel)
    canvas.quiet(ax, grid=True)
    xs, ys = _places(panel, [point["value"] for point in points]), column(points, "mean")
    errors = [real(point["se"]) if is_finite(point["se"]) else 0.0 for point in points]
    lows, highs = ([y + side * e for y, e in zip(ys, errors, strict=True)] for side in (-1, 1))
    if any(errors):
        ax.vlines(xs, lows, highs, color=BLUE, linewidth=1.2, alpha=0.5, zorder=2)
    if scale != "category" and len(points) > 1:
        ax.plot(xs, ys, color=BLUE, linewidth=1.2, alpha=0.6, zorder=2)
    dots(ax, xs, ys, size=26)
    _draw_x_axis(ax, panel)
    limit = data["one_se"]["limit"] if data["one_se"] else None
    low, high = ends([*lows, *highs, limit])
    free = 0.14 * (high - low)  # for the count of folds, on the side where chosen values lie
    ax.set_ylim(*((low, high + free) if data["greater_is_better"] else (low - free, high)))
    linear(ax.yaxis)
    means = dict(zip(map(repr, (point["value"] for point in points)), ys, strict=True))
    handles = [*_mark_choices(ax, data, means), *_mark_one_se(ax, panel, limit)]
    name_axes(ax, x=parameter_name(panel), y=better(data, of="validation "), height=1.125)
    if handles:
        canvas.key(ax, handles)


def _scale(panel: Panel) -> str:
    """Return the x axis scale: "category" if a value is no finite number, "linear" if a logarithm is undefined."""
    values, scale = _values(panel), str(panel["scale"])
    if scale == "category" or not all(isinstance(v, int | float) and is_finite(v) for v in values):
        return "category"
    return "linear" if scale == "log" and min(map(real, values), default=1.0) <= 0 else scale


def _values(panel: Panel) -> list[Any]:
    """Return each value on the axis once: those with a mean, those chosen, and the one-standard-error choice."""
    values = [point["value"] for point in panel["points"]] + [value for value, _ in panel["chosen"]]
    values += [] if panel["simplest"] is None else [panel["simplest"]]
    return list({repr(value): value for value in values}.values())


def _shown(panel: Panel) -> list[Mapping[str, Any]]:
    return finite(panel["points"], "mean")


def _places(panel: Panel, values: Sequence[Any]) -> list[float]:
    if _scale(panel) != "category":
        return [real(value) for value in values]
    order = {repr(value): float(place) for place, value in enumerate(_values(panel))}
    return [order[repr(value)] for value in values]


def _lies(values: Sequence[Any]) -> bool:
    return sum(len(value_words(value)) + 2 for value in values) <= ACROSS


def _draw_x_axis(ax: Any, panel: Panel) -> None:
    values, scale = _values(panel), _scale(panel)
    if scale == "log":
        logarithmic(ax, [real(value) for value in values])
    elif scale == "linear":
        ax.set_xlim(*ends(values))
        linear(ax.xaxis, most=6, whole=all(isinstance(value, int) for value in values))
    else:
        ax.set_xlim(-0.6, len(values) - 0.4)
        lies = _lies(values)
        step = -(-len(values) // MOST_NAMED)
        words = [value_words(value) if lies else shortened(value_words(value), UPRIGHT) for value in values]
        canvas.named(ax.xaxis, range(0, len(values), step), words[::step], rotation=0 if lies else 90)
    ax.tick_params(which="both", length=0)


def _mark_choices(ax: Any, data: Data, means: Mapping[str, float]) -> list[Any]:
    """Draw a ring around each chosen value with its number of folds; return the legend entries."""
    panel, up = data["panels"][0], bool(data["greater_is_better"])
    taken = [(value, count) for value, count in panel["chosen"] if repr(value) in means]
    xs, ys = _places(panel, [value for value, _ in taken]), [means[repr(value)] for value, _ in taken]
    ax.scatter(xs, ys, s=110, zorder=5, clip_on=False, facecolors="none", edgecolors=VERMILION, linewidths=1.8)
    how: dict[str, Any] = {"textcoords": "offset points", "ha": "left", "va": "bottom" if up else "top", "zorder": 6}
    how |= {"fontsize": SMALL + 0.5, "fontweight": "bold", "color": INK}
    for x, y, (_, count) in zip(xs, ys, taken, strict=True):
        ax.annotate(f"{count:,}", (x, y), xytext=(5, 5 if up else -5), **how)
    ring = {"markerfacecolor": "none", "markeredgecolor": VERMILION, "markeredgewidth": 1.8, "markersize": 8}
    return [line_key("chosen (by folds)", marker="o", linestyle="none", **ring)] if panel["chosen"] else []


def _mark_one_se(ax: Any, panel: Panel, limit: Any) -> list[Any]:
    """Draw the limit of the one-standard-error rule and the value it would choose; return the legend entries."""
    if not is_finite(limit):
        return []
    look = {"color": SOFT, "linewidth": 1.1}
    ax.axhline(real(limit), linestyle=DASHED, zorder=1.5, **look)
    handles = [line_key("best + 1 std. error", linestyle=DASHED, **look)]
    if panel["simplest"] is not None:
        ax.axvline(*_places(panel, [panel["simplest"]]), linestyle=DOTTED, zorder=1.5, **look)
        handles.append(line_key("its choice", linestyle=DOTTED, **look))
    return handles


def _describe(data: Data) -> Description:
    panel = data["panels"][0]
    name = parameter_name(panel)
    points, chosen = _shown(panel), {repr(value): count for value, count in panel["chosen"]}
    alt = f"{counted(len(panel['points']), 'value')} of {name} by {better(data, of='validation ')}."
    if points:
        pick = max if data["greater_is_better"] else min
        best = pick(points, key=lambda point: real(point["mean"]))
        alt += f" Best at {value_words(best['value'])}: {amount(best['mean'])}."
    if chosen:
        texts = [f"{shortened(value_words(value), 40)} by {counted(count, 'fold')}" for value, count in panel["chosen"]]
        alt += f" Chosen: {listed(texts, 5)}"
    caption = ""
    if panel["simplest"] is not None:
        caption = f"The one-standard-error rule would take {shortened(value_words(panel['simplest']), 40)}."
    rows, names = evenly(list(panel["points"])), ("mean", "se", "candidates")
    return describe(
        title=f"Risk against {name}",
        alt=alt + left_out(len(rows), len(panel["points"]), "values"),
        head=(name, "mean", "standard error", "candidates", "chosen by folds"),
        rows=[
            (parameter_value(p["value"]), *(p[name] for name in names), chosen.get(repr(p["value"]), 0)) for p in rows
        ],
        tips=[_tip(point, chosen.get(repr(point["value"]), 0)) for point in points],
        caption=caption,
    )


def _tip(point: Mapping[str, Any], times: int) -> str:
    error = f" ± {amount(point['se'])}" if is_finite(point["se"]) else ""
    taken = f", chosen by {counted(times, 'fold')}" if times else ""
    return f"{shortened(value_words(point['value']), 60)}: {amount(point['mean'])}{error}{taken}"


PARAMETERS = Kind(shape=_shape, draw=_draw, describe=_describe, panels=one_each("panels"))
