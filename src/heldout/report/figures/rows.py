"""Classes, subgroups, columns and coefficients as rows: a name, the number and a line for its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from heldout.base.words import line, shortened
from heldout.report.figures.canvas import better, name_axes, rows_shape
from heldout.report.figures.describe import MOST_ROWS as MOST_IN_TABLE
from heldout.report.figures.describe import Data, Description, Kind, describe, left_out
from heldout.report.figures.estimates import MOST_ROWS, ROW, Row, draw_rows, in_words, row_tips
from heldout.report.figures.palette import INK, SOFT
from heldout.report.figures.scales import is_finite, real
from heldout.report.words import counted

FEW = 20  # columns that are drawn


def _nothing(data: Data) -> Any:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Declares a figure of rows: what is drawn of each entry of its data, and the words around it."""

    of: Callable[[Mapping[str, Any]], list[Row]]
    x: Callable[[Data], str]
    title: Callable[[Data], str]
    caption: Callable[[Data], str]
    table: Mapping[str, str]  # the heading of each value
    mark: Callable[[Data], Any] = _nothing  # the number that the rows are to be compared with
    most: int = MOST_ROWS

    def rows(self, data: Data) -> list[Row]:
        """Return the rows that are drawn."""
        return [row for entry in data["rows"] for row in self.of(entry)][: self.most]

    def draw(self, data: Data, ax: Any) -> None:
        """Draw the rows, and a line at the number that they are to be compared with."""
        rows, middle = self.rows(data), self.mark(data)
        always = [real(middle)] if is_finite(middle) else []
        draw_rows(ax, rows, always=always)
        places = range(len(rows)) if always else ()
        starts, stops = [place + 0.02 for place in places], [place + 0.42 for place in places]
        ax.vlines(always * len(places), starts, stops, color=INK, linewidth=1.2, zorder=2)
        more = f", {len(rows)} of {len(data['rows']):,}" if len(rows) < len(data["rows"]) else ""
        name_axes(ax, x=self.x(data) + more, most=64)

    def describe(self, data: Data) -> Description:
        """Describe the rows; the table has more of them than are drawn."""
        rows, shown, whole = self.rows(data), len(data["rows"]), len(data["rows"]) + data.get("left_out", 0)
        values = [[entry.get(name) for name in self.table] for entry in data["rows"][:MOST_IN_TABLE]]
        return describe(
            title=self.title(data),
            alt=f"{self.title(data)}, {self.x(data)}: {in_words(rows)}" + left_out(shown, whole, "rows"),
            head=tuple(self.table.values()),
            rows=[tuple(line(value) if isinstance(value, str) else value for value in row) for row in values],
            tips=row_tips(rows),
            caption=self.caption(data),
        )

    @property
    def kind(self) -> Kind:
        """The figure, for the catalogue."""
        shape = partial(rows_shape, most=self.most, row=ROW)
        return Kind(shape=lambda data: shape(len(self.rows(data))), draw=self.draw, describe=self.describe)


def _of_class(entry: Mapping[str, Any]) -> list[Row]:
    """Return two rows for a class: how many of it are found, and how many that are called so are."""
    words = {"recall": f"{entry['support']:,} rows", "precision": f"{entry['predicted']:,} called so"}
    name = shortened(entry["class"], 40)
    return [
        Row(label=f"{of} of {name}, {how}", value=entry[of], low=entry.get(f"{of}_low"), high=entry.get(f"{of}_high"))
        for of, how in words.items()
    ]


def _of_subgroup(entry: Mapping[str, Any]) -> list[Row]:
    label = f"{shortened(entry['slice'], 30)}: {shortened(entry['group'], 40)} ({entry['rows']:,})"
    ends = {end: entry[end] for end in ("low", "high")}
    return [Row(label=label, value=entry["value"], **ends, hollow=entry["low"] is None)]


def _of_column(entry: Mapping[str, Any]) -> list[Row]:
    return [Row(label=line(entry["feature"]), value=entry["importance"], low=entry["low"], high=entry["high"])]


def _of_coefficient(entry: Mapping[str, Any]) -> list[Row]:
    """Return a row from the least to the greatest value of a coefficient; grey where some folds leave it out."""
    label = shortened(entry["feature"], 36) + (f" for {shortened(entry['class'], 20)}" if entry.get("class") else "")
    always = entry["selected"] == entry["folds"]
    label += "" if always else f", in {entry['selected']} of {entry['folds']} folds"
    value = entry.get("mean", entry["selected"])
    row = Row(label=label, value=value, low=entry.get("low"), high=entry.get("high"))
    return [row if always else replace(row, colour=SOFT)]


def _has_values(data: Data) -> bool:
    return any("mean" in row for row in data["rows"])


def _unsure(data: Data) -> str:
    count = sum(row["selected"] != row["folds"] for row in data["rows"])
    return f"{counted(count, 'column')} not selected in every fold." if count else ""


CLASSES = Rows(
    of=_of_class,
    x=lambda data: "share of the rows",
    title=lambda data: "Each class",
    caption=lambda data: "",
    table={"class": "class", "support": "rows", "predicted": "called so"}
    | {"precision": "precision", "recall": "recall", "f1": "F1"},
).kind
SUBGROUPS = Rows(
    of=_of_subgroup,
    x=lambda data: f"{better(data)}; the line is all rows",
    title=lambda data: "Risk by subgroup",
    caption=lambda data: line(data["sentence"]),
    table={"slice": "by", "group": "subgroup", "rows": "rows", "value": "value", "low": "low", "high": "high"}
    | {"reason": "why without an interval"},
    mark=lambda data: data["value"],
).kind
IMPORTANCE = Rows(
    of=_of_column,
    x=lambda data: f"how much worse {shortened(data['loss'], 24)} gets without the column",
    title=lambda data: "What the learner uses",
    caption=lambda data: "Columns that tell the same stand in for each other, so that none alone seems to matter.",
    table={"feature": "column", "importance": "importance", "low": "low", "high": "high", "sd": "spread over folds"},
    mark=lambda data: 0.0,
    most=FEW,
).kind
COEFFICIENTS = Rows(
    of=_of_coefficient,
    x=lambda data: "coefficient, from the least to the greatest fold" if _has_values(data) else "folds that select it",
    title=lambda data: "Coefficients" if _has_values(data) else "Columns that are selected",
    caption=_unsure,
    table={"feature": "column", "class": "class", "mean": "mean", "sd": "spread over folds", "low": "least"}
    | {"high": "greatest", "selected": "selected in folds", "folds": "of"},
    mark=lambda data: 0.0,
    most=FEW,
).kind
