"""A dot for each fold, and the estimate with its interval behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.report.figures.canvas import Shape, axes_of, better, left_of_numbers, name_axes, present, quiet
from heldout.report.figures.lettering import SMALL, write
from heldout.report.figures.palette import BLUE, INK, PAPER, SOFT
from heldout.report.figures.scales import ends, is_finite, linear, real, within
from heldout.report.figures.told import POINTS, Told, between, counted, interval, some, spread, tell
from heldout.report.words import amount

MOST_DOTS = 2_000  # of leave-one-out on many rows; evenly spread over all
FEW = 60
EVERY = 12  # folds that are all named
JITTER = 0.56  # of a column of repeats, over which its folds are spread


def shape_of_folds(data: Mapping[str, Any]) -> Shape:
    """Room at the right for the words of the mean."""
    return Shape(height=2.75, right=0.86, left=left_of_numbers(*_reach(data)))


def _reach(data: Mapping[str, Any]) -> tuple[float, float]:
    return ends([*(p["value"] for p in _shown(data)), data["value"], data["low"], data["high"]])


def draw_folds(data: Mapping[str, Any], ax: Any = None) -> Any:
    """A dot a test part: folds side by side, repeats in columns; the estimate as a line, its interval as a band."""
    data = present(data)
    ax = axes_of(shape_of_folds(data)) if ax is None else ax
    points = _shown(data)
    quiet(ax, grid=True)
    places = _places(points)
    few = len(points) <= FEW
    ax.scatter(
        places,
        [real(point["value"]) for point in points],
        s=46 if few else 9,
        color=BLUE,
        edgecolors=PAPER if few else "none",
        linewidths=0.8 if few else 0,
        alpha=None if few else 0.6,
        zorder=4,
        clip_on=False,
        gid=POINTS,
    )
    ax.set_ylim(*_reach(data))
    linear(ax.yaxis)
    _columns(ax, data, points)
    _estimate(ax, data)
    name_axes(ax, y=better(data))
    return ax


def _shown(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The folds that have a value, and of very many some."""
    return spread([point for point in data["points"] if is_finite(point["value"])], MOST_DOTS)


def _repeats(points: Sequence[Mapping[str, Any]]) -> list[int]:
    return sorted({int(point["repeat"] or 0) for point in points})


def _places(points: Sequence[Mapping[str, Any]]) -> list[float]:
    """Where each dot stands: its fold, or its repeat with the folds of one repeat beside each other."""
    repeats = _repeats(points)
    if len(repeats) < 2:
        return [float(point["fold"]) for point in points]
    seen: dict[int, int] = dict.fromkeys(repeats, 0)
    sizes = {one: sum(int(point["repeat"] or 0) == one for point in points) for one in repeats}
    found = []
    for point in points:
        repeat = int(point["repeat"] or 0)
        step = JITTER / max(sizes[repeat] - 1, 1)
        found.append(repeat + (seen[repeat] * step - JITTER / 2 if sizes[repeat] > 1 else 0.0))
        seen[repeat] += 1
    return found


def _columns(ax: Any, data: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> None:
    repeats, whole = _repeats(points), len(data["points"])
    if len(repeats) > 1:
        ax.set_xlim(repeats[0] - 0.6, repeats[-1] + 0.6)
        linear(ax.xaxis, most=8, whole=True)
        name_axes(ax, x="repeat")
        return
    last = max((int(point["fold"]) for point in data["points"]), default=0)
    ax.set_xlim(-0.6, last + 0.6)
    if last < EVERY:
        ax.set_xticks(range(last + 1))
    else:
        linear(ax.xaxis, most=8, whole=True)
    name_axes(ax, x="fold" if whole <= MOST_DOTS else f"fold ({len(points):,} of {whole:,} are drawn)")


def _estimate(ax: Any, data: Mapping[str, Any]) -> None:
    bottom, top = ax.get_ylim()
    if data["low"] is not None and data["high"] is not None:
        low, high = within(data["low"], bottom, top), within(data["high"], bottom, top)
        ax.axhspan(low, high, color=BLUE, alpha=0.14, linewidth=0, zorder=1)
    if not is_finite(data["value"]):
        return
    value = real(data["value"])
    ax.axhline(value, color=INK, linewidth=1.2, zorder=2)
    flat = ax.get_yaxis_transform()
    write(ax, (1.02, value), amount(data["value"]), transform=flat, va="center", fontweight="bold")
    if data["low"] is not None:
        level = f"{100 * data['level']:.4g}% interval"
        write(
            ax, (1.02, value), "\n\n" + level.replace(" ", "\n"), transform=flat, va="top", color=SOFT, fontsize=SMALL
        )


def tell_folds(data: Mapping[str, Any]) -> Told:
    """The folds in words and numbers."""
    points, shown = list(data["points"]), _shown(data)
    missing = len(points) - sum(is_finite(point["value"]) for point in points)
    sure = interval(data["low"], data["high"], data["level"])
    alt = (
        f"{counted(len(points), 'fold')} by {better(data)}, {between([point['value'] for point in points])}. "
        f"The estimate is {amount(data['value'])}{f', {sure}' if sure else ', without an interval'}."
    )
    if missing:
        alt += f" {counted(missing, 'fold')} without a value."
    listed, repeated = spread(points), len(_repeats(points)) > 1
    return tell(
        title="Each fold",
        alt=alt + some(len(listed), len(points), "folds"),
        head=("fold", "repeat", better(data), "training rows", "held-out rows"),
        rows=tuple((p["fold"], p["repeat"], p["value"], p["train_rows"], p["held_rows"]) for p in listed),
        tips=[_tip(point, repeated=repeated) for point in shown],
    )


def _tip(point: Mapping[str, Any], *, repeated: bool) -> str:
    of = f", repeat {point['repeat']}" if repeated else ""
    return f"fold {point['fold']}{of}: {amount(point['value'])} ({point['held_rows']:,} rows held out)"
