"""Calibration curve: the observed share of a class against its predicted probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures import canvas
from heldout.report.figures.canvas import DASHED, SMALL, Shape, dots, line_key, name_axes
from heldout.report.figures.describe import MOST_ROWS, Data, Description, Kind, describe, ends_words, one_each
from heldout.report.figures.palette import GREY, PAPER, SEVERAL, SOFT
from heldout.report.figures.scales import column, ends, finite, real
from heldout.report.words import amount, counted

FLOOR = -0.22  # y of the foot of the bars that count the rows per bin, below the curve
TALLEST = 0.12
MARKS = "os^Dvp"
TICKS = ("0", "0.25", "0.5", "0.75", "1")


def _shape(data: Data) -> Shape:
    """Return a nearly square figure size, so that the diagonal lies near 45 degrees."""
    above = 0.22 if len(data["curves"]) > 1 else 0
    return Shape(height=4.0 + above, top=0.36 + above)


def _draw(data: Data, ax: Any) -> None:
    """Draw the observed share against the predicted probability, the diagonal, and the rows per bin below."""
    canvas.quiet(ax, grid=True)
    curves = data["curves"]
    bins = [point for curve in curves for point in _bins(curve)]
    single = len(curves) == 1
    ax.set_xlim(*ends([0, 1, *(point["predicted"] for point in bins)], pad=0.02))
    ax.set_ylim(*ends([FLOOR if single else 0.0, 1, *(point["observed"] for point in bins)], pad=0.02))
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=1.1, linestyle=DASHED, zorder=1.5)
    ax.set_xticks([*map(float, TICKS)], labels=TICKS)
    ax.set_yticks([*map(float, TICKS)], labels=TICKS)
    handles = []
    for place, curve in enumerate(curves):
        looks = {"color": SEVERAL[place % len(SEVERAL)], "marker": MARKS[place // len(SEVERAL) % len(MARKS)]}
        _draw_curve(ax, curve, **looks)
        label = shortened(curve["label"], max(4, 44 // len(curves)))
        handles.append(line_key(label, markersize=6, linewidth=1.2, **looks))
    of = shortened(curves[0]["label"], 24) if single else "the class"
    height = 1.03 if single else 1.085
    name_axes(ax, x=f"predicted probability of {of}", y="share of rows where it was true", height=height)
    if single:
        _draw_rows(ax, bins)
    else:
        canvas.key(ax, handles)


def _bins(curve: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return finite(curve["bins"], "low", "high", "predicted", "observed")


def _draw_curve(ax: Any, curve: Mapping[str, Any], *, color: str, marker: str) -> None:
    bins = _bins(curve)
    xs, ys = column(bins, "predicted"), column(bins, "observed")
    sure = finite(bins, "observed_low", "observed_high")
    lows, highs = column(sure, "observed_low"), column(sure, "observed_high")
    ax.vlines(column(sure, "predicted"), lows, highs, color=color, linewidth=1.4, alpha=0.55, zorder=2)
    ax.plot(xs, ys, color=color, linewidth=1.2, alpha=0.7, zorder=2)
    dots(ax, xs, ys, size=40, c=color, marker=marker)


def _draw_rows(ax: Any, bins: Sequence[Mapping[str, Any]]) -> None:
    """Draw the number of rows in each bin as a bar as wide as the bin."""
    largest = max((int(point["rows"]) for point in bins), default=1)
    for point in bins:
        low, high = real(point["low"]), real(point["high"])
        tall, wide = TALLEST * point["rows"] / largest, max(high - low, 0.012)
        ax.bar([(low + high) / 2], [tall], width=wide, bottom=FLOOR, color=GREY, edgecolor=PAPER, linewidth=0.6)
    words = f"rows behind each point, at most {largest:,}"
    canvas.write(ax, (0, FLOOR + TALLEST + 0.02), words, color=SOFT, fontsize=SMALL, va="bottom")
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=1)


def _describe(data: Data) -> Description:
    curves = data["curves"]
    of = f" of {shortened(curves[0]['label'], 60)}" if len(curves) == 1 else ""
    bins = [(curve, point) for curve in curves for point in _bins(curve)]
    alt = f"Share of rows where it was true against the predicted probability{of}, in {counted(len(bins), 'bin')}"
    alt += f" of {data['rows']:,} rows."
    caption = ""
    if bins:
        worst = max(
            (point for _, point in bins), key=lambda point: abs(real(point["observed"]) - real(point["predicted"]))
        )
        caption = (
            f"Farthest from the diagonal: predicted {amount(worst['predicted'])}, observed {amount(worst['observed'])}"
            f" in {counted(int(worst['rows']), 'row')}."
        )
    names = ("predicted", "observed", "observed_low", "observed_high", "rows")
    return describe(
        title=f"Calibration{of}",
        alt=alt,
        head=("class", "predicted", "observed", "low", "high", "rows"),
        rows=[(line(curve["label"]), *(point[name] for name in names)) for curve, point in bins[:MOST_ROWS]],
        tips=[
            f"predicted {amount(point['predicted'])}: true in {amount(point['observed'])}"
            f"{ends_words(point['observed_low'], point['observed_high'])} of {point['rows']:,} rows"
            for _, point in bins
        ],
        caption=caption,
    )


CALIBRATION = Kind(shape=_shape, draw=_draw, describe=_describe, panels=one_each("curves"))
