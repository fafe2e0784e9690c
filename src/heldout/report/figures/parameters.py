"""The validation loss against each parameter, with what was chosen and the one-standard-error mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import line, number, shortened
from heldout.report.figures.canvas import (
    BLUE,
    INK,
    PAPER,
    SMALL,
    SOFT,
    VERMILION,
    Shape,
    axes_of,
    better,
    ends,
    is_finite,
    key,
    left_of_numbers,
    linear,
    log_ends,
    name_axes,
    named,
    powers,
    present,
    quiet,
    real,
)
from heldout.report.figures.describe import (
    POINTS,
    Description,
    describe,
    evenly,
    left_out,
)
from heldout.report.words import amount, counted

Panel = Mapping[str, Any]
ACROSS = 52  # letters of all categories side by side, else they stand upright
UPRIGHT = 14  # letters of one that stands
MOST_NAMED = 24
DASHED: Any = (0, (4, 3))
DOTTED: Any = (0, (1, 2))


def shape_of_panel(data: Mapping[str, Any]) -> Shape:
    """Taller where names stand upright under the axis."""
    panel = data["panels"][0]
    upright = _scale(panel) == "category" and not _lies(_values(panel))
    return Shape(
        height=3.0 + (0.85 if upright else 0),
        top=0.62,
        bottom=0.52 + (0.85 if upright else 0),
        left=left_of_numbers(*_reach(data)),
    )


def panels_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same data a panel at a time."""
    return [{**data, "panels": [panel]} for panel in data["panels"]]


def draw_parameters(data: Mapping[str, Any], axes: Sequence[Any] | None = None) -> list[Any]:
    """A panel a parameter: mean validation loss and one standard error at each value, the chosen values marked."""
    pieces = panels_of(present(data))
    found = [axes_of(shape_of_panel(piece)) for piece in pieces] if axes is None else list(axes)
    return [draw_panel(piece, ax) for piece, ax in zip(pieces, found, strict=True)]


def draw_panel(data: Mapping[str, Any], ax: Any) -> Any:
    """One parameter, on axes that are given."""
    panel = data["panels"][0]
    scale, points = _scale(panel), _shown(panel)
    quiet(ax, grid=True)
    xs, ys = _places(panel, [point["value"] for point in points]), [real(point["mean"]) for point in points]
    errors = _errors(points)
    if any(errors):
        ax.vlines(
            xs,
            [y - e for y, e in zip(ys, errors, strict=True)],
            [y + e for y, e in zip(ys, errors, strict=True)],
            color=BLUE,
            linewidth=1.2,
            alpha=0.5,
            zorder=2,
        )
    if scale != "category" and len(points) > 1:
        ax.plot(xs, ys, color=BLUE, linewidth=1.2, alpha=0.6, zorder=2)
    ax.scatter(xs, ys, s=26, color=BLUE, edgecolors=PAPER, linewidths=0.8, zorder=4, clip_on=False, gid=POINTS)
    _x_axis(ax, panel)
    limit = _limit(data)
    ax.set_ylim(*_reach(data))
    linear(ax.yaxis)
    _mark_choices(ax, data, dict(zip(map(repr, (p["value"] for p in points)), ys, strict=True)))
    _mark_one_se(ax, panel, limit)
    name_axes(ax, x=_name(panel))
    _key(ax, data, limit)
    return ax


def _errors(points: Sequence[Mapping[str, Any]]) -> list[float]:
    return [real(point["se"]) if is_finite(point["se"]) else 0.0 for point in points]


def _limit(data: Mapping[str, Any]) -> Any:
    return data["one_se"]["limit"] if data["one_se"] else None


def _reach(data: Mapping[str, Any]) -> tuple[float, float]:
    """From where to where losses are drawn, with room for the count of folds on the side where chosen values lie."""
    points = _shown(data["panels"][0])
    means = [real(point["mean"]) for point in points]
    low, high = ends(
        [*(m + side * e for m, e in zip(means, _errors(points), strict=True) for side in (-1, 1)), _limit(data)]
    )
    free = 0.14 * (high - low)
    return (low, high + free) if data["greater_is_better"] else (low - free, high)


def _scale(panel: Panel) -> str:
    """The scale asked for; names where a power of ten cannot place every value."""
    values, scale = _values(panel), str(panel["scale"])
    if scale == "category" or not all(isinstance(v, int | float) and is_finite(v) for v in values):
        return "category"
    return "linear" if scale == "log" and min(map(real, values), default=1.0) <= 0 else scale


def _values(panel: Panel) -> list[Any]:
    """Every value on the axis, each once: those with a mean, those chosen, and the simplest."""
    found = [point["value"] for point in panel["points"]] + [value for value, _ in panel["chosen"]]
    found += [] if panel["simplest"] is None else [panel["simplest"]]
    return list({repr(value): value for value in found}.values())


def _shown(panel: Panel) -> list[Mapping[str, Any]]:
    return [point for point in panel["points"] if is_finite(point["mean"])]


def _places(panel: Panel, values: Sequence[Any]) -> list[float]:
    if _scale(panel) != "category":
        return [real(value) for value in values]
    order = {repr(value): float(place) for place, value in enumerate(_values(panel))}
    return [order[repr(value)] for value in values]


def _lies(values: Sequence[Any]) -> bool:
    return sum(len(_word(value)) + 2 for value in values) <= ACROSS


def _word(value: Any) -> str:
    return number(value) if isinstance(value, float) else line(value)


def _name(panel: Panel) -> str:
    family = line(panel["family"] or "")
    return f"{shortened(panel['param'], 36)} of {shortened(family, 18)}" if family else shortened(panel["param"], 56)


def _x_axis(ax: Any, panel: Panel) -> None:
    values, scale = _values(panel), _scale(panel)
    if scale == "log":
        low, high = log_ends([real(value) for value in values])
        ax.set_xlim(low, high)  # before the scale, which else would look for limits of its own
        ax.set_xscale("log")
        powers(ax.xaxis, low, high)
    elif scale == "linear":
        ax.set_xlim(*ends(values))
        linear(ax.xaxis, most=6, whole=all(isinstance(value, int) for value in values))
    else:
        ax.set_xlim(-0.6, len(values) - 0.4)
        lies = _lies(values)
        step = -(-len(values) // MOST_NAMED)
        words = [_word(value) if lies else shortened(_word(value), UPRIGHT) for value in values]
        named(ax.xaxis, range(0, len(values), step), words[::step], rotation=0 if lies else 90)
    ax.tick_params(which="both", length=0)


def _mark_choices(ax: Any, data: Mapping[str, Any], means: Mapping[str, float]) -> None:
    """A ring round each value that a fold chose, and how many did."""
    panel, up = data["panels"][0], bool(data["greater_is_better"])
    taken = [(value, count) for value, count in panel["chosen"] if repr(value) in means]
    xs = _places(panel, [value for value, _ in taken])
    ys = [means[repr(value)] for value, _ in taken]
    look: dict[str, Any] = {"facecolors": "none", "edgecolors": VERMILION, "linewidths": 1.8}
    ax.scatter(xs, ys, s=110, zorder=5, clip_on=False, **look)
    for x, y, (_, count) in zip(xs, ys, taken, strict=True):
        ax.annotate(
            f"{count:,}",
            (x, y),
            xytext=(5, 5 if up else -5),
            textcoords="offset points",
            ha="left",
            va="bottom" if up else "top",
            fontsize=SMALL + 0.5,
            fontweight="bold",
            color=INK,
            zorder=6,
        )


def _mark_one_se(ax: Any, panel: Panel, limit: Any) -> None:
    if not is_finite(limit):
        return
    ax.axhline(real(limit), color=SOFT, linewidth=1.1, linestyle=DASHED, zorder=1.5)
    if panel["simplest"] is not None:
        (x,) = _places(panel, [panel["simplest"]])
        ax.axvline(x, color=SOFT, linewidth=1.1, linestyle=DOTTED, zorder=1.5)


def _key(ax: Any, data: Mapping[str, Any], limit: Any) -> None:
    """What is on the y axis, and under it what the marks mean."""
    from matplotlib.lines import Line2D

    name_axes(ax, y=better(data, of="validation "))
    ax.yaxis.set_label_coords(0, 1.125)
    handles: list[Any] = []
    panel = data["panels"][0]
    if panel["chosen"]:
        ring = Line2D([], [], marker="o", linestyle="none", markersize=8, label="chosen (by folds)")
        ring.set(markerfacecolor="none", markeredgecolor=VERMILION, markeredgewidth=1.8)
        handles.append(ring)
    if is_finite(limit):
        handles.append(Line2D([], [], color=SOFT, linewidth=1.1, linestyle=DASHED, label="best + 1 std. error"))
        if panel["simplest"] is not None:
            handles.append(Line2D([], [], color=SOFT, linewidth=1.1, linestyle=DOTTED, label="its choice"))
    if handles:
        key(ax, handles)


def describe_panel(data: Mapping[str, Any]) -> Description:
    """One parameter in words and numbers."""
    panel = data["panels"][0]
    points, chosen = _shown(panel), {repr(value): count for value, count in panel["chosen"]}
    alt = f"{counted(len(panel['points']), 'value')} of {_name(panel)} by {better(data, of='validation ')}."
    if points:
        pick = max if data["greater_is_better"] else min
        best = pick(points, key=lambda point: real(point["mean"]))
        alt += f" Best at {_word(best['value'])}: {amount(best['mean'])}."
    if chosen:
        told = "; ".join(
            f"{shortened(_word(value), 40)} by {counted(count, 'fold')}" for value, count in panel["chosen"][:5]
        )
        alt += f" Chosen: {told}{'; …' if len(chosen) > 5 else ''}."
    if panel["simplest"] is not None:
        alt += f" The one-standard-error rule would take {shortened(_word(panel['simplest']), 40)}."
    listed = evenly(list(panel["points"]))
    return describe(
        title=f"Risk against {_name(panel)}",
        alt=alt + left_out(len(listed), len(panel["points"]), "values"),
        head=(_name(panel), "mean", "standard error", "candidates", "chosen by folds"),
        rows=tuple(
            (_cell(p["value"]), p["mean"], p["se"], p["candidates"], chosen.get(repr(p["value"]), 0)) for p in listed
        ),
        tips=[_tip(point, chosen.get(repr(point["value"]), 0)) for point in points],
    )


def _cell(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else line(value)


def _tip(point: Mapping[str, Any], times: int) -> str:
    error = f" ± {amount(point['se'])}" if is_finite(point["se"]) else ""
    taken = f", chosen by {counted(times, 'fold')}" if times else ""
    return f"{shortened(_word(point['value']), 60)}: {amount(point['mean'])}{error}{taken}"
