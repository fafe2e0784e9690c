"""Whether probabilities mean what they say: how often a class was the true one where it was said to be so likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures.canvas import (
    GREY,
    PAPER,
    SEVERAL,
    SMALL,
    SOFT,
    Shape,
    drawing,
    ends,
    is_finite,
    key,
    name_axes,
    quiet,
    real,
    write,
)
from heldout.report.figures.describe import (
    MOST_ROWS,
    POINTS,
    Description,
    describe,
)
from heldout.report.words import amount, counted

FLOOR = -0.22  # below the curve, bars of how many rows stand behind each point
TALLEST = 0.12
MARKS = "os^Dvp"


def shape_of_calibration(data: Mapping[str, Any]) -> Shape:
    """Nearly square, since the diagonal is what the eye compares with."""
    several = len(data["curves"]) > 1
    return Shape(height=4.0 + (0.22 if several else 0), top=0.36 + (0.22 if several else 0))


def curves_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same data a class at a time."""
    return [{**data, "curves": [curve]} for curve in data["curves"]]


@drawing(shape_of_calibration)
def draw_calibration(data: Mapping[str, Any], ax: Any) -> None:
    """Observed share against predicted probability with its interval, the diagonal, and rows a bin below."""
    quiet(ax, grid=True)
    bins = [one for curve in data["curves"] for one in _bins(curve)]
    floor = FLOOR if len(data["curves"]) == 1 else 0.0
    ax.set_xlim(*ends([0, 1, *(one["predicted"] for one in bins)], pad=0.02))
    ax.set_ylim(*ends([floor, 1, *(one["observed"] for one in bins)], pad=0.02))
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1.5)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "0.25", "0.5", "0.75", "1"])
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "0.25", "0.5", "0.75", "1"])
    for place, curve in enumerate(data["curves"]):
        _curve(ax, curve, colour=SEVERAL[place % len(SEVERAL)], mark=MARKS[place // len(SEVERAL) % len(MARKS)])
    if len(data["curves"]) == 1:
        _rows(ax, _bins(data["curves"][0]))
    else:
        _classes(ax, data["curves"])
    of = f" of {shortened(data['curves'][0]['label'], 24)}" if len(data["curves"]) == 1 else " of the class"
    name_axes(ax, x=f"predicted probability{of}", y="share of rows where it was true")
    if len(data["curves"]) > 1:
        ax.yaxis.set_label_coords(0, 1.085)


def _bins(curve: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in curve["bins"] if is_finite(*(one[key] for key in ("low", "high", "predicted", "observed")))]


def _curve(ax: Any, curve: Mapping[str, Any], *, colour: str, mark: str) -> None:
    bins = _bins(curve)
    xs, ys = [real(one["predicted"]) for one in bins], [real(one["observed"]) for one in bins]
    sure = [one for one in bins if is_finite(one["observed_low"], one["observed_high"])]
    ax.vlines(
        [real(one["predicted"]) for one in sure],
        [real(one["observed_low"]) for one in sure],
        [real(one["observed_high"]) for one in sure],
        color=colour,
        linewidth=1.4,
        alpha=0.55,
        zorder=2,
    )
    ax.plot(xs, ys, color=colour, linewidth=1.2, alpha=0.7, zorder=2)
    ax.scatter(
        xs, ys, s=40, color=colour, marker=mark, edgecolors=PAPER, linewidths=0.8, zorder=4, clip_on=False, gid=POINTS
    )


def _rows(ax: Any, bins: Sequence[Mapping[str, Any]]) -> None:
    """How many rows stand behind each point: a bar from the first to the last probability of its bin."""
    largest = max((int(one["rows"]) for one in bins), default=1)
    for one in bins:
        low, high = real(one["low"]), real(one["high"])
        wide = max(high - low, 0.012)
        middle = (low + high) / 2
        ax.bar(
            [middle],
            [TALLEST * one["rows"] / largest],
            width=wide,
            bottom=FLOOR,
            color=GREY,
            edgecolor=PAPER,
            linewidth=0.6,
        )
    words = f"rows behind each point, at most {largest:,}"
    write(ax, (0, FLOOR + TALLEST + 0.02), words, color=SOFT, fontsize=SMALL, va="bottom")
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=1)


def _classes(ax: Any, curves: Sequence[Mapping[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    room = max(4, 44 // len(curves))
    handles = [
        Line2D(
            [],
            [],
            color=SEVERAL[place % len(SEVERAL)],
            marker=MARKS[place // len(SEVERAL) % len(MARKS)],
            markersize=6,
            linewidth=1.2,
            label=shortened(curve["label"], room),
        )
        for place, curve in enumerate(curves)
    ]
    key(ax, handles)


def describe_calibration(data: Mapping[str, Any]) -> Description:
    """The curves in words and numbers."""
    curves = data["curves"]
    single = len(curves) == 1
    of = f" of {shortened(curves[0]['label'], 60)}" if single else ""
    bins = [(curve, one) for curve in curves for one in _bins(curve)]
    off = [abs(real(one["observed"]) - real(one["predicted"])) for _, one in bins]
    alt = f"Share of rows where it was true against the predicted probability{of}, in {counted(len(bins), 'bin')}"
    alt += f" of {data['rows']:,} rows."
    if off:
        _, worst = bins[off.index(max(off))]
        alt += (
            f" Farthest from the diagonal: predicted {amount(worst['predicted'])}, observed {amount(worst['observed'])}"
            f" in {counted(int(worst['rows']), 'row')}."
        )
    return describe(
        title=f"Calibration{of}",
        alt=alt,
        head=("class", "predicted", "observed", "low", "high", "rows"),
        rows=tuple(
            (line(c["label"]), b["predicted"], b["observed"], b["observed_low"], b["observed_high"], b["rows"])
            for c, b in bins[:MOST_ROWS]
        ),
        tips=[_tip(one) for _, one in bins],
    )


def _tip(one: Mapping[str, Any]) -> str:
    sure = "" if one["observed_low"] is None else f" ({amount(one['observed_low'])} to {amount(one['observed_high'])})"
    return f"predicted {amount(one['predicted'])}: true in {amount(one['observed'])}{sure} of {one['rows']:,} rows"
