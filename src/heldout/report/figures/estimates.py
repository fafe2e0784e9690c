"""Every estimate the study affords, one below the other: the honest ones filled, the optimistic ones hollow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.report.figures.canvas import Shape, axes_of, better, name_axes, present
from heldout.report.figures.lettering import cleaned, short
from heldout.report.figures.palette import BLUE, VERMILION
from heldout.report.figures.rows import MOST_ROWS, Row, draw_rows, number_words, rows_shape
from heldout.report.figures.scales import is_finite
from heldout.report.figures.told import Told, counted, tell

OPTIMISTIC = "optimistic"


def shape_of_estimates(data: Mapping[str, Any]) -> Shape:
    """A row an estimate."""
    return rows_shape(len(data["rows"]))


def draw_estimates(data: Mapping[str, Any], ax: Any = None) -> Any:
    """A row an estimate with its interval; what is optimistic is hollow and says so."""
    data = present(data)
    ax = axes_of(shape_of_estimates(data)) if ax is None else ax
    draw_rows(ax, _rows(data))
    name_axes(ax, x=better(data))
    return ax


def _rows(data: Mapping[str, Any]) -> list[Row]:
    return [
        Row(
            label=f"{cleaned(one['label'])}{f' ({OPTIMISTIC})' if one['optimistic'] else ''}",
            value=one["value"],
            low=one["low"],
            high=one["high"],
            colour=VERMILION if one["optimistic"] else BLUE,
            hollow=bool(one["optimistic"]),
        )
        for one in data["rows"]
    ]


def tell_estimates(data: Mapping[str, Any]) -> Told:
    """The estimates in words and numbers."""
    rows = _rows(data)[:MOST_ROWS]
    alt = f"{counted(len(data['rows']), 'estimate')} of {better(data)}: "
    alt += "; ".join(f"{short(row.label, 60)} {number_words(row)}" for row in rows[:6])
    return tell(
        title="The estimates side by side",
        alt=alt + ("; …" if len(rows) > 6 else "."),
        head=("estimate", cleaned(data["loss"]), "low", "high", "level", "optimistic"),
        rows=tuple(
            (
                cleaned(one["label"]),
                one["value"],
                one["low"],
                one["high"],
                one["level"],
                "yes" if one["optimistic"] else "no",
            )
            for one in data["rows"]
        ),
        tips=[f"{row.label}: {number_words(row)}" for row in rows if is_finite(row.value)],
    )
