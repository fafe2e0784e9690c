"""H603: columns that identify rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heldout.audit.association import goes_along
from heldout.audit.check_table import Column, Floats, Table
from heldout.audit.trap import INFO, WARNING, Trap
from heldout.task.column_kinds import are_years, rows_identified_by, words_identify_rows

FEWEST_UNRELATED = 50  # rows


def find_identifiers(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each column whose values never repeat and look like codes."""
    traps = []
    for column in columns:
        whole = table.whole(column)
        if whole.distinct < len(whole.order):  # values repeat outside the sample, so these may be groups
            continue
        found = _codes_of_text(whole) if column.kind == "category" else _codes_of_numbers(table, column, whole)
        if found is None:
            continue
        severity, words = found
        seen = f"Column {column.name!r} has a different value in each of its {len(whole.order):,} rows{words}."
        told = words.lstrip(":, ")
        traps.append(Trap(code="H603", severity=severity, seen=seen, columns=(column.name,), told=told))
    return traps


def _codes_of_text(column: Column) -> tuple[str, str] | None:
    """Return the severity of a finding and why; None for names, short remarks and prose."""
    return (WARNING, ", none of them like a sentence") if words_identify_rows(column.words, column.name) else None


def _codes_of_numbers(table: Table, column: Column, whole: Column) -> tuple[str, str] | None:
    """Return the severity of a finding and why; None for amounts: the order of their values means something."""
    values = whole.numbers[whole.present] if table.sampled else _in_file_order(table, column)
    found = rows_identified_by(values, column.name)
    if found is not None:
        return WARNING, found[1]
    if len(values) < FEWEST_UNRELATED or are_years(values.min(), values.max()):
        return None
    related = goes_along(column, [other for other in table.columns if other is not column], table.responses, surely=4.0)
    return None if related else (INFO, ", whole numbers whose order goes with no other column")


def _in_file_order(table: Table, column: Column) -> Floats:
    ordered = np.empty(len(table))
    ordered[table.rows] = column.numbers
    return ordered[~np.isnan(ordered)]
