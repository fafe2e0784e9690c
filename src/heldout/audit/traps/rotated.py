"""H614: columns that were made uncorrelated over all rows, before any split."""

from __future__ import annotations

from math import sqrt

import numpy as np

from heldout.audit.traps.columns import Column
from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import WARNING, Trap, shown

FEWEST_COLUMNS, FEWEST_ROWS, FEWEST_VALUES = 3, 20, 20
ZERO = 1e-6  # a correlation; files are rounded
MOST_COLUMNS = 500


def find_rotated(table: Table) -> list[Trap]:
    """One trap, with the columns of mean 0 of which each is uncorrelated with two others or more, to many digits."""
    columns = [column for column in table.columns if _may_be(column) and _is_centred(table, column)][:MOST_COLUMNS]
    if table.sampled:
        columns = [table.whole(column) for column in columns]
    columns = _uncorrelated(columns)
    if len(columns) < FEWEST_COLUMNS:
        return []
    names = [column.name for column in columns]
    seen = f"Over all rows {len(names):,} columns are uncorrelated to many digits: {shown(names)}."
    return [Trap(code="H614", severity=WARNING, seen=seen, columns=tuple(names))]


def _may_be(column: Column) -> bool:
    """A number measured finely; designed experiments have few values, and are uncorrelated by design."""
    fine = column.kind == "number" and not column.whole and column.distinct > FEWEST_VALUES
    return fine and len(column.order) == len(column.numbers) >= FEWEST_ROWS and column.continuous


def _is_centred(table: Table, column: Column) -> bool:
    """Whether its mean over all rows is 0, which principal components have; a sample rules most columns out."""
    values = column.numbers
    if abs(float(values.mean())) > 8 * float(values.std()) / sqrt(len(values)):
        return False
    mean, deviation = table.moments(column)
    return abs(mean) <= ZERO * deviation


def _uncorrelated(columns: list[Column]) -> list[Column]:
    if len(columns) < FEWEST_COLUMNS:
        return []
    table = np.column_stack([column.numbers for column in columns])
    table = table - table.mean(axis=0)
    norms = np.sqrt((table**2).sum(axis=0))
    zero = np.abs(table.T @ table) < ZERO * np.outer(norms, norms)  # with itself a column correlates
    return [
        column for column, partners in zip(columns, zero.sum(axis=0), strict=True) if partners + 1 >= FEWEST_COLUMNS
    ]
