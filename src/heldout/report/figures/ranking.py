"""Learners that were compared, the best first, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.report.figures.canvas import Shape, axes_of, better, name_axes, present
from heldout.report.figures.lettering import cleaned, short
from heldout.report.figures.rows import MOST_ROWS, Row, draw_rows, number_words, rows_shape
from heldout.report.figures.scales import is_finite
from heldout.report.figures.told import Told, counted, spread, tell


def shape_of_ranking(data: Mapping[str, Any]) -> Shape:
    """A row a learner."""
    return rows_shape(len(data["ranking"]))


def draw_ranking(data: Mapping[str, Any], ax: Any = None) -> Any:
    """A row a learner, the best at the top."""
    data = present(data)
    ax = axes_of(shape_of_ranking(data)) if ax is None else ax
    draw_rows(ax, _rows(data))
    whole = len(data["ranking"])
    beside = f", the best {MOST_ROWS} of {whole:,}" if whole > MOST_ROWS else ""
    name_axes(ax, x=better(data) + beside)
    return ax


def _rows(data: Mapping[str, Any]) -> list[Row]:
    return [
        Row(label=f"{place}. {cleaned(one['name'])}", value=one["value"], low=one["low"], high=one["high"])
        for place, one in enumerate(data["ranking"], start=1)
    ]


def tell_ranking(data: Mapping[str, Any]) -> Told:
    """The ranking in words and numbers."""
    rows = _rows(data)
    alt = f"{counted(len(rows), 'learner')} by {better(data)}, the best first: "
    alt += "; ".join(f"{short(row.label, 60)} {number_words(row)}" for row in rows[:6])
    return tell(
        title="The ranking",
        alt=alt + ("; …" if len(rows) > 6 else "."),
        head=("rank", "learner", cleaned(data["loss"]), "low", "high", "level"),
        rows=tuple(
            (place, cleaned(one["name"]), one["value"], one["low"], one["high"], one["level"])
            for place, one in enumerate(spread(data["ranking"]), start=1)
        ),
        tips=[f"{row.label}: {number_words(row)}" for row in rows[:MOST_ROWS] if is_finite(row.value)],
    )
