"""Classes, subgroups, columns and coefficients as rows: a name, the number and a line for its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures.canvas import better, name_axes, rows_shape
from heldout.report.figures.describe import MOST_ROWS as MOST_IN_TABLE
from heldout.report.figures.describe import Data, Description, Kind, describe, left_out
from heldout.report.figures.estimates import MOST_ROWS, ROW, Row, draw_rows, in_words, row_tips
from heldout.report.figures.palette import BLUE, INK, SOFT
from heldout.report.figures.scales import is_finite, real
from heldout.report.words import counted

FEW = 20  # columns that are drawn
Rows = Callable[[Data], list[Row]]


def _draw(
    rows_of: Rows, x_words: Callable[[Data], str], data: Data, ax: Any, *, mark: Callable[[Data], Any], most: int
) -> None:
    """Draw the first rows, and a line at the number that they are to be compared with."""
    rows, middle = rows_of(data)[:most], mark(data)
    more = f", {len(rows)} of {len(data['rows']):,}" if len(rows) == most < len(data["rows"]) else ""
    always = [real(middle)] if is_finite(middle) else []
    draw_rows(ax, rows, always=always)
    places = range(len(rows)) if always else ()
    starts, stops = [place + 0.02 for place in places], [place + 0.42 for place in places]
    ax.vlines(always * len(places), starts, stops, color=INK, linewidth=1.2, zorder=2)
    name_axes(ax, x=x_words(data) + more, most=64)


def _kind(
    rows_of: Rows,
    x_words: Callable[[Data], str],
    describe_rows: Callable[[Data, Sequence[Row]], Description],
    mark: Callable[[Data], Any] = lambda data: None,
    most: int = MOST_ROWS,
) -> Kind:
    return Kind(
        shape=lambda data: rows_shape(len(rows_of(data)), most=most, row=ROW),
        draw=partial(_draw, rows_of, x_words, mark=mark, most=most),
        describe=lambda data: describe_rows(data, rows_of(data)),
    )


def _table(data: Data, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the values `names` of the rows; texts from the data on one line."""
    values = [[row.get(name) for name in names] for row in data["rows"][:MOST_IN_TABLE]]
    return [tuple(line(value) if isinstance(value, str) else value for value in row) for row in values]


def _class_rows(data: Data) -> list[Row]:
    """Return two rows for each class: how many of it are found, and how many that are called so are."""
    rows = []
    for row in data["rows"]:
        for name, count, what in (("recall", "support", "rows"), ("precision", "predicted", "called so")):
            ends = {end: row.get(f"{name}_{end}") for end in ("low", "high")}
            label = f"{name} of {shortened(row['class'], 40)}, {row[count]:,} {what}"
            rows.append(Row(label=label, value=row[name], **ends))
    return rows


def _describe_classes(data: Data, rows: Sequence[Row]) -> Description:
    names = ("class", "support", "predicted", "precision", "recall", "f1")
    return describe(
        title="Each class",
        alt=f"Recall and precision of {counted(len(data['rows']), 'class')}: {in_words(rows)}"
        + left_out(len(data["rows"]), len(data["rows"]) + data["left_out"], "classes"),
        head=("class", "rows", "called so", "precision", "recall", "F1"),
        rows=_table(data, names),
        tips=row_tips(rows),
    )


CLASSES = _kind(_class_rows, lambda data: "share of the rows", _describe_classes)


def _subgroup_rows(data: Data) -> list[Row]:
    return [
        Row(
            label=f"{shortened(row['slice'], 30)}: {shortened(row['group'], 40)} ({row['rows']:,})",
            value=row["value"],
            low=row["low"],
            high=row["high"],
            hollow=row["low"] is None,
        )
        for row in data["rows"]
    ]


def _describe_subgroups(data: Data, rows: Sequence[Row]) -> Description:
    return describe(
        title="Risk by subgroup",
        alt=f"{counted(len(rows), 'subgroup')} by {better(data)}.",
        caption=line(data["sentence"]),
        head=("by", "subgroup", "rows", shortened(data["loss"], 40), "low", "high", "why without an interval"),
        rows=_table(data, ("slice", "group", "rows", "value", "low", "high", "reason")),
        tips=row_tips(rows),
    )


SUBGROUPS = _kind(
    _subgroup_rows,
    lambda data: f"{better(data)}; the line is all rows",
    _describe_subgroups,
    lambda data: data["value"],
)


def _importance_rows(data: Data) -> list[Row]:
    return [
        Row(label=line(row["feature"]), value=row["importance"], low=row["low"], high=row["high"])
        for row in data["rows"]
    ]


def _describe_importance(data: Data, rows: Sequence[Row]) -> Description:
    whole = len(rows) + data["left_out"]
    return describe(
        title="What the learner uses",
        alt=f"How much worse {shortened(data['loss'], 40)} gets on held-out rows where a column is permuted, "
        f"{data['repeats']} times in each fold: {in_words(rows)}" + left_out(len(rows), whole, "columns"),
        caption="Columns that tell the same stand in for each other, so that none of them alone seems to matter.",
        head=("column", "importance", "low", "high", "spread over folds"),
        rows=_table(data, ("feature", "importance", "low", "high", "sd")),
        tips=row_tips(rows[:FEW]),
    )


IMPORTANCE = _kind(
    _importance_rows,
    lambda data: f"how much worse {shortened(data['loss'], 24)} gets without the column",
    _describe_importance,
    lambda data: 0.0,
    most=FEW,
)


def _has_values(data: Data) -> bool:
    return any("mean" in row for row in data["rows"])


def _coefficient_rows(data: Data) -> list[Row]:
    """Return a row for each coefficient, from its least to its greatest value; grey where some folds leave it out."""
    return [
        Row(
            label=_coefficient_label(row),
            value=row.get("mean", row["selected"]),
            low=row.get("low"),
            high=row.get("high"),
            colour=BLUE if row["selected"] == row["folds"] else SOFT,
        )
        for row in data["rows"]
    ]


def _coefficient_label(row: Mapping[str, Any]) -> str:
    label = shortened(row["feature"], 36) + (f" for {shortened(row['class'], 20)}" if row.get("class") else "")
    return label if row["selected"] == row["folds"] else f"{label}, in {row['selected']} of {row['folds']} folds"


def _describe_coefficients(data: Data, rows: Sequence[Row]) -> Description:
    unsure = sum(row["selected"] != row["folds"] for row in data["rows"])
    what = "Coefficients, mean and range over folds" if _has_values(data) else "In how many folds a column is selected"
    some = f"{counted(unsure, 'column')} not selected in every fold." if unsure else ""
    return describe(
        caption=some,
        title="Coefficients" if _has_values(data) else "Columns that are selected",
        alt=f"{what}: {in_words(rows)}" + left_out(len(rows), len(rows) + data["left_out"], "columns"),
        head=("column", "class", "mean", "spread over folds", "least", "greatest", "selected in folds", "of"),
        rows=_table(data, ("feature", "class", "mean", "sd", "low", "high", "selected", "folds")),
        tips=row_tips(rows[:FEW]),
    )


COEFFICIENTS = _kind(
    _coefficient_rows,
    lambda data: "coefficient, from the least to the greatest fold" if _has_values(data) else "folds that select it",
    _describe_coefficients,
    lambda data: 0.0,
    most=FEW,
)
