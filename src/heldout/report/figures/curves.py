"""Curves of a classifier on held-out rows: ROC, precision and recall, gains, and what each threshold makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from heldout.base.words import line, share, shortened
from heldout.report.figures import canvas
from heldout.report.figures.calibration import TICKS
from heldout.report.figures.canvas import DASHED, Shape, line_key, name_axes
from heldout.report.figures.describe import Data, Description, Kind, describe, evenly
from heldout.report.figures.palette import SEVERAL, SOFT
from heldout.report.figures.scales import column, ends, finite, is_finite, linear, real, within
from heldout.report.words import amount, counted, level_words

MOST_IN_TABLE = 60  # points
Points = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Says which values of a curve's points are drawn, and what they are called."""

    title: str
    x: str
    y: tuple[str, ...]  # a line each
    x_words: str
    y_words: str
    head: tuple[str, ...]  # of the table: names of the values
    note: Callable[[Data], str]  # the number that sums up a curve
    floor: Callable[[Data], tuple[float, float] | None]  # what no model gives, at both ends


def _draw(axes: Axes, data: Data, ax: Any) -> None:
    """Draw each curve as a line, what no model gives as a dashed one, and the band of a single curve."""
    canvas.quiet(ax, grid=True)
    curves = data["curves"]
    lines = [(curve, name, finite(curve["points"], axes.x, name)) for curve in curves for name in axes.y]
    xs = [x for _, _, points in lines for x in column(points, axes.x)]
    shares = all(curve["probability"] for curve in curves) or axes.x != "threshold"
    ax.set_xlim(*ends([0, 1, *xs] if shares else xs, pad=0.02))
    ax.set_ylim(*ends([0, 1, *(y for _, name, points in lines for y in column(points, name))], pad=0.02))
    handles = []
    for place, (curve, name, points) in enumerate(lines):
        look = {"color": SEVERAL[place % len(SEVERAL)], "linewidth": 1.8, "linestyle": "-" if place < 6 else DASHED}
        ax.plot(column(points, axes.x), column(points, name), zorder=3, **look)
        words = name if len(axes.y) > 1 else shortened(curve["label"], max(4, 40 // len(curves)))
        handles.append(line_key(words if len(lines) > 1 else axes.note(curve), **look))
        if len(lines) == 1:
            _draw_band(ax, points, axes, look["color"])
    _draw_floor(ax, axes.floor(curves[0]) if len(curves) == 1 or axes.floor is _diagonal else None)
    if shares:
        ax.set_xticks([*map(float, TICKS)], labels=TICKS)
    else:
        linear(ax.xaxis)
    ax.set_yticks([*map(float, TICKS)], labels=TICKS)
    of = shortened(curves[0]["label"], 24) if len(curves) == 1 else "the class"
    name_axes(ax, x=axes.x_words.format(of), y=axes.y_words.format(of), height=1.085)
    canvas.key(ax, handles)


def _draw_band(ax: Any, points: Points, axes: Axes, colour: Any) -> None:
    low, high = f"{axes.y[0]}_low", f"{axes.y[0]}_high"
    sure = [point for point in points if is_finite(point.get(low), point.get(high))]
    bottom, top = ax.get_ylim()
    lows, highs = ([within(point[end], bottom, top) for point in sure] for end in (low, high))
    ax.fill_between(column(sure, axes.x), lows, highs, color=colour, alpha=0.15, linewidth=0, zorder=1.5)


def _draw_floor(ax: Any, heights: tuple[float, float] | None) -> None:
    if heights is not None:
        ax.plot([0, 1], heights, color=SOFT, linewidth=1.1, linestyle=DASHED, zorder=2)


def _diagonal(curve: Data) -> tuple[float, float]:
    return 0.0, 1.0


def _level(curve: Data) -> tuple[float, float] | None:
    return (real(curve["share"]), real(curve["share"])) if is_finite(curve["share"]) else None


def _of_area(curve: Data) -> str:
    return f"area {amount(curve['area'])}, {'mean over folds' if curve['by_fold'] else 'all rows together'}"


def _of_precision(curve: Data) -> str:
    return f"average precision {amount(curve['average_precision'])}"


def _of_gain(curve: Data) -> str:
    """Say which share of the class the tenth of the rows with the highest scores holds."""
    near = [point for point in finite(curve["points"], "share", "gain") if real(point["share"]) <= 0.1]
    if not near:
        return "gain"
    return f"the first {share(real(near[-1]['share']))} of the rows hold {share(real(near[-1]['gain']))}"


def _of_threshold(curve: Data) -> str:
    points = finite(curve["points"], "threshold", "f1")
    if not points:
        return "no threshold has an F1"
    best = max(points, key=lambda point: real(point["f1"]))
    return f"F1 is highest, {amount(best['f1'])}, at {amount(best['threshold'])}: found on these rows, so optimistic"


def _describe(axes: Axes, data: Data) -> Description:
    curves = data["curves"]
    of = f" of {shortened(curves[0]['label'], 60)}" if len(curves) == 1 else ""
    notes = [f"{shortened(curve['label'], 20)}: {axes.note(curve)}" for curve in curves]
    more = f" {counted(data['left_out'], 'class')} left out." if data["left_out"] else ""
    rows = [
        (line(curve["label"]), *(point.get(name) for name in axes.head))
        for curve in curves
        for point in evenly(curve["points"], max(MOST_IN_TABLE // len(curves), 2))
    ]
    banded = len(axes.y) == len(curves) == 1 and f"{axes.y[0]}_low" in next(iter(curves[0]["points"]), {})
    band = f" The band holds {level_words(data['level'])} of the time, point by point." if banded else ""
    return describe(
        title=f"{axes.title}{of}",
        alt=f"{axes.title}{of}, of all held-out rows.{more}",
        head=("class", *(name.replace("_", " ") for name in axes.head)),
        rows=rows,
        caption=f"{'; '.join(notes)}.{band}",
    )


def _kind(axes: Axes) -> Kind:
    shape = Shape(height=4.2, top=0.58)
    return Kind(shape=lambda data: shape, draw=partial(_draw, axes), describe=partial(_describe, axes))


ROC = _kind(
    Axes(
        title="ROC curve",
        x="fpr",
        y=("tpr",),
        x_words="false positive rate: the others called {}",
        y_words="true positive rate: {} that is found",
        head=("threshold", "fpr", "tpr", "tpr_low", "tpr_high"),
        note=_of_area,
        floor=_diagonal,
    )
)
PR = _kind(
    Axes(
        title="Precision and recall",
        x="recall",
        y=("precision",),
        x_words="recall: share of {} that is found",
        y_words="precision: share of those called {} that are",
        head=("threshold", "recall", "precision", "precision_low", "precision_high"),
        note=_of_precision,
        floor=_level,
    )
)
GAINS = _kind(
    Axes(
        title="Cumulative gains",
        x="share",
        y=("gain",),
        x_words="share of the rows, the most probable {} first",
        y_words="share of {} among them",
        head=("threshold", "share", "gain", "lift"),
        note=_of_gain,
        floor=_diagonal,
    )
)
THRESHOLDS = _kind(
    Axes(
        title="What each threshold gives",
        x="threshold",
        y=("precision", "recall", "f1", "share"),
        x_words="threshold from which a row is called {}",
        y_words="share",
        head=("threshold", "precision", "recall", "f1", "share"),
        note=_of_threshold,
        floor=lambda curve: None,
    )
)
