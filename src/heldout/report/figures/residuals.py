"""Residuals (target minus prediction) against the prediction; those of a good regression scatter evenly around zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.words import shortened
from heldout.report.figures import canvas
from heldout.report.figures.canvas import Shape, dots, line_key, name_axes, patch_key
from heldout.report.figures.describe import Data, Description, Kind, describe, evenly, left_out, one_each, span
from heldout.report.figures.palette import BLUE, INK, VERMILION
from heldout.report.figures.scales import column, ends, finite, linear, real
from heldout.report.words import amount

BAND = ("predicted", "low", "middle", "high")


def _draw(data: Data, ax: Any) -> None:
    """Draw one dot per row, the zero line, and the middle and spread of the residuals along the predictions."""
    output = data["outputs"][0]
    canvas.quiet(ax, grid=True)
    points, bands = _points(output), _bands(output)
    xs, ys = column(points, "predicted"), column(points, "residual")
    dots(ax, xs, ys, size=7, width=0, alpha=0.4, zorder=2.5)
    along, low, middle, high = (column(bands, name) for name in BAND)
    ax.set_xlim(*ends([*xs, *along]))
    ax.set_ylim(*ends([*ys, *low, *high, 0.0]))
    ax.axhline(0.0, color=INK, linewidth=1.2, zorder=3)
    of = f" of {output.get('rows', data.get('rows')):,}" if data["sampled"] else ""
    rows = f"{len(output['points']):,}{of} rows"
    handles = [line_key(rows, marker="o", linestyle="none", markersize=4, color=BLUE)]
    if bands:
        ax.fill_between(along, low, high, color=VERMILION, alpha=0.2, linewidth=0, zorder=1.5)
        ax.plot(along, middle, color=VERMILION, linewidth=1.8, zorder=4)
        handles.append(line_key("their middle", color=VERMILION, linewidth=1.8))
        handles.append(patch_key("and spread", VERMILION, alpha=0.2))
    linear(ax.xaxis)
    linear(ax.yaxis)
    of = f" {shortened(output['label'], 24)}" if output["label"] else ""
    name_axes(ax, x=f"predicted{of}", y="residual: target less prediction", height=1.1)
    canvas.key(ax, handles)


def _points(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return finite(output["points"], "predicted", "residual")


def _bands(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return sorted(finite(output["bands"], *BAND), key=lambda band: real(band["predicted"]))


def _describe(data: Data) -> Description:
    """Describe the residuals in words; the table holds their bands, or the points where there are no bands."""
    output = data["outputs"][0]
    points, bands = _points(output), _bands(output)
    of = f" of {shortened(output['label'], 60)}" if output["label"] else ""
    alt = f"Residuals{of} of {len(points):,} rows, {span([p['residual'] for p in points])}, against predictions "
    alt += f"{span([p['predicted'] for p in points])}."
    names, source = (BAND, bands) if bands else (("predicted", "residual"), points)
    rows = evenly(source)
    caption = ""
    if bands:
        caption = f"Their middle is {amount(bands[0]['middle'])} at the lowest predictions and "
        caption += f"{amount(bands[-1]['middle'])} at the highest: far from 0 the predictions are too low or too high."
    else:
        alt += left_out(len(rows), len(points), "rows")
    return describe(
        title=f"Residuals{of}",
        alt=alt,
        head=names,
        rows=[tuple(row[name] for name in names) for row in rows],
        tips=[f"predicted {amount(p['predicted'])}: residual {amount(p['residual'])}" for p in points],
        caption=caption,
    )


RESIDUALS = Kind(
    shape=lambda data: Shape(height=3.3, top=0.6), draw=_draw, describe=_describe, panels=one_each("outputs")
)
