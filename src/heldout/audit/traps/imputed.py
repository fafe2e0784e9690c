"""H613: gaps that were filled over all rows, before any split."""

from __future__ import annotations

import numpy as np

from heldout.audit.traps.columns import Column
from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import INFO, Trap, plural, shown

FEWEST_FILLED, LEAST_SHARE = 5, 0.005
RARER = 5  # times rarer the next value is
_EXACT = 1e-9


def find_imputed(table: Table) -> list[Trap]:
    """One trap, with the columns that hold their own mean, or the median of the rest, far too often."""
    found = [column for column in table.columns if _has_peak(column)]
    names = [column.name for column in found if _is_filled(table.whole(column) if table.sampled else column)]
    if not names:
        return []
    seen = f"{plural(len(names), 'column')} with one value in many rows that is the mean or the median: {shown(names)}."
    return [Trap(code="H613", severity=INFO, seen=seen, columns=tuple(names))]


def _has_peak(column: Column) -> bool:
    if column.kind != "number" or column.distinct <= 20:
        return False
    counts = np.sort(column.counts)
    most, next_most = int(counts[-1]), int(counts[-2])
    return most >= max(FEWEST_FILLED, LEAST_SHARE * len(column.order)) and most >= RARER * next_most


def _is_filled(column: Column) -> bool:
    values = column.numbers[column.order]
    peak = float(values[np.searchsorted(column.sorted_codes, int(np.argmax(column.counts)))])
    spread = float(values.std())
    if abs(float(values.mean()) - peak) <= _EXACT * max(spread, abs(peak)):
        return True
    # Zero and other whole numbers are where measured values gather by themselves.
    return peak != np.trunc(peak) and int((values < peak).sum()) == int((values > peak).sum())
