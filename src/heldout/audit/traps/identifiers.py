"""H603: columns that identify rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from heldout.audit.check_table import Column, Floats, Table
from heldout.audit.trap import INFO, WARNING, Trap
from heldout.task.column_kinds import is_id_name

FEWEST_ROWS = 20
MEETINGS = 14.0  # expected coincidences: to see none has a chance of one in a million


def find_identifiers(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each column whose values never repeat and look like codes."""
    traps = []
    for column in columns:
        if column.kind not in ("category", "number") or not column.whole or column.distinct < len(column.order):
            continue
        if len(column.order) < max(FEWEST_ROWS, 0.5 * len(table)):
            continue
        found = _codes_of_text(column) if column.kind == "category" else _codes_of_numbers(column)
        if found is None:
            continue
        whole = table.whole(column)
        if whole.distinct < len(whole.order):  # values repeat outside the sample, so these may be groups
            continue
        severity, words = found
        seen = f"Column {column.name!r} has a different value in each of its {len(whole.order):,} rows{words}."
        told = words.lstrip(":, ")
        traps.append(Trap(code="H603", severity=severity, seen=seen, columns=(column.name,), told=told))
    return traps


def _codes_of_text(column: Column) -> tuple[str, str] | None:
    if column.words > 2 and not is_id_name(column.name, loosely=True):
        return None  # more likely names or short remarks than codes
    return WARNING, ", none of them like a sentence"


def _codes_of_numbers(column: Column) -> tuple[str, str] | None:
    values = column.numbers[column.order]
    span = float(values[-1] - values[0]) + 1
    if span == len(values):
        return WARNING, f": the whole numbers from {values[0]:.0f} to {values[-1]:.0f}"
    expected = _expected_meetings(values)
    if expected >= MEETINGS:
        return WARNING, f", where about {expected:.0f} pairs of measured whole numbers would meet by chance"
    if is_id_name(column.name, loosely=True):
        return WARNING, ", and the name of an identifier"
    if len(values) >= 100 and values[0] >= 1e5 and len(str(int(values[0]))) == len(str(int(values[-1]))):
        return INFO, f", all whole numbers of {len(str(int(values[0])))} digits"
    return None


def _expected_meetings(values: Floats) -> float:
    """Return how many pairs of equal integers to expect by chance, if numbers have the distribution of these.

    Within blocks of the sorted values the distribution is taken as uniform: m numbers over w places give m²/2w pairs.
    """
    blocks = np.array_split(values, max(1, int(sqrt(len(values)) / 2)))
    return float(sum(len(block) ** 2 / (2 * (block[-1] - block[0] + 1)) for block in blocks if len(block) > 1))
