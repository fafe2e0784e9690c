"""H612: columns that were scaled over all rows, before any split."""

from __future__ import annotations

from math import sqrt

import numpy as np

from heldout.audit.traps.columns import Column
from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import INFO, Trap, shown

FEWEST_ROWS, FEWEST_VALUES = 20, 10
_EXACT = 1e-9
DIGITS = 1e-6  # how near the mean is to 0 and the deviation to 1; files are rounded
STANDARD, NORMED, ROBUST, RANGED = (
    "mean 0 and standard deviation 1",
    "mean 0 and norm 1",
    "median 0 and quartiles 1 apart",
    "the range from 0 to 1",
)


def find_scaled(table: Table, *, aside: set[str]) -> list[Trap]:
    """A trap for each way of scaling, with its columns; a single column from 0 to 1 may be a share, and is left."""
    by_way: dict[str, list[str]] = {}
    for column in table.columns:
        if column.name in aside or column.kind != "number" or column.whole or column.distinct <= FEWEST_VALUES:
            continue
        if len(column.order) < FEWEST_ROWS:
            continue
        way = _by_moments(table, column) or _by_order(table, column)
        if way is not None:
            by_way.setdefault(way, []).append(column.name)
    return [
        Trap(
            code="H612",
            severity=INFO,
            seen=f"Over all rows {_have(names)} {way}: {shown(names)}.",
            columns=tuple(names),
        )
        for way, names in by_way.items()
        if way != RANGED or len(names) > 1
    ]


def _have(names: list[str]) -> str:
    return "1 column has" if len(names) == 1 else f"{len(names):,} columns have"


def _by_moments(table: Table, column: Column) -> str | None:
    """Whether the mean is 0 and the deviation 1; all rows are asked only where a sample leaves it open."""
    values = column.numbers[column.order]
    if abs(float(values.mean())) > 8 * float(values.std()) / sqrt(len(values)):
        return None
    mean, deviation = table.moments(column)
    n = round(len(values) * len(table.task) / len(table))
    if abs(mean) > DIGITS * deviation:
        return None
    if abs(deviation - 1) <= DIGITS or abs(deviation * sqrt(n / (n - 1)) - 1) <= DIGITS:
        return STANDARD
    return NORMED if abs(deviation * sqrt(n) - 1) <= DIGITS else None


def _by_order(table: Table, column: Column) -> str | None:
    """Whether the values reach from 0 to 1, or the middle one is 0 and the quartiles are 1 apart."""
    values = column.numbers[column.order]  # ascending
    low, middle, high = (float(values[int(share * (len(values) - 1))]) for share in (0.25, 0.5, 0.75))
    ranged = values[0] >= 0 and values[-1] <= 1
    near = 8 / sqrt(len(values))
    if not ranged and (abs(middle) > near or abs(high - low - 1) > near):
        return None
    whole = table.whole(column) if table.sampled else column
    values = whole.numbers[whole.present]
    if ranged:
        return RANGED if values.min() == 0 and values.max() == 1 else None
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return ROBUST if abs(middle) <= _EXACT and abs(high - low - 1) <= _EXACT else None
