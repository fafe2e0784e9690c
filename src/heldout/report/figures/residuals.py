"""Target less prediction against the prediction: what a good regression leaves behind is a level cloud around zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.words import shortened
from heldout.report.figures.canvas import (
    BLUE,
    INK,
    VERMILION,
    Shape,
    drawing,
    ends,
    is_finite,
    key,
    left_of_numbers,
    linear,
    name_axes,
    quiet,
    real,
)
from heldout.report.figures.describe import (
    POINTS,
    Description,
    describe,
    evenly,
    left_out,
    span,
)
from heldout.report.words import amount


def shape_of_residuals(data: Mapping[str, Any]) -> Shape:
    """Room above for what the marks mean."""
    return Shape(height=3.3, top=0.6, left=left_of_numbers(*_reach(data["outputs"][0]), least=0.7))


def outputs_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same data an output at a time."""
    return [{**data, "outputs": [output]} for output in data["outputs"]]


@drawing(shape_of_residuals)
def draw_residuals(data: Mapping[str, Any], ax: Any) -> None:
    """A dot a row of the first output, the zero line, and the middle and spread of the residuals along the way."""
    output = data["outputs"][0]
    quiet(ax, grid=True)
    points, bands = _points(output), _bands(output)
    ax.scatter(
        [real(point["predicted"]) for point in points],
        [real(point["residual"]) for point in points],
        s=7,
        color=BLUE,
        alpha=0.4,
        linewidths=0,
        zorder=2.5,
        clip_on=False,
        gid=POINTS,
    )
    ax.set_xlim(*ends(real(one["predicted"]) for one in (*points, *bands)))
    ax.set_ylim(*_reach(output))
    ax.axhline(0.0, color=INK, linewidth=1.2, zorder=3)
    if bands:
        along = [real(band["predicted"]) for band in bands]
        sides = [[real(band[side]) for band in bands] for side in ("low", "middle", "high")]
        ax.fill_between(along, sides[0], sides[2], color=VERMILION, alpha=0.2, linewidth=0, zorder=1.5)
        ax.plot(along, sides[1], color=VERMILION, linewidth=1.8, zorder=4)
    linear(ax.xaxis)
    linear(ax.yaxis)
    of = f" {shortened(output['label'], 24)}" if output["label"] else ""
    name_axes(ax, x=f"predicted{of}", y="residual: target less prediction")
    _marks(ax, data, banded=bool(bands))


def _points(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [point for point in output["points"] if is_finite(point["predicted"], point["residual"])]


def _reach(output: Mapping[str, Any]) -> tuple[float, float]:
    points, bands = _points(output), _bands(output)
    return ends([*(p["residual"] for p in points), *(b[side] for b in bands for side in ("low", "high")), 0.0])


def _bands(output: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = [band for band in output["bands"] if is_finite(*(band[side] for side in BAND))]
    return sorted(found, key=lambda band: real(band["predicted"]))


BAND = ("predicted", "low", "middle", "high")


def _marks(ax: Any, data: Mapping[str, Any], *, banded: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    output = data["outputs"][0]
    of = f" of {output.get('rows', data.get('rows')):,}" if data["sampled"] else ""
    handles: list[Any] = [
        Line2D(
            [], [], marker="o", linestyle="none", markersize=4, color=BLUE, label=f"{len(output['points']):,}{of} rows"
        )
    ]
    if banded:
        handles.append(Line2D([], [], color=VERMILION, linewidth=1.8, label="their middle"))
        handles.append(Patch(color=VERMILION, alpha=0.2, linewidth=0, label="and spread"))
    key(ax, handles)
    ax.yaxis.set_label_coords(0, 1.1)


def describe_residuals(data: Mapping[str, Any]) -> Description:
    """The residuals in words, and their bands (or the points, where there are none) in numbers."""
    output = data["outputs"][0]
    points, bands = _points(output), _bands(output)
    of = f" of {shortened(output['label'], 60)}" if output["label"] else ""
    alt = f"Residuals{of} of {len(points):,} rows, {span([p['residual'] for p in points])}, against predictions "
    alt += f"{span([p['predicted'] for p in points])}."
    if bands:
        first, last = bands[0], bands[-1]
        alt += (
            f" Their middle is {amount(first['middle'])} at the lowest predictions and {amount(last['middle'])} at the "
            "highest."
        )
    title = f"Residuals{of}"
    texts = [f"predicted {amount(p['predicted'])}: residual {amount(p['residual'])}" for p in points]
    if bands:
        rows = tuple(tuple(band[side] for side in BAND) for band in evenly(bands))
        return describe(title=title, alt=alt, head=("predicted", "low", "middle", "high"), rows=rows, tips=texts)
    listed = evenly(points)
    return describe(
        title=title,
        alt=alt + left_out(len(listed), len(points), "rows"),
        head=("predicted", "residual"),
        rows=tuple((point["predicted"], point["residual"]) for point in listed),
        tips=texts,
    )
