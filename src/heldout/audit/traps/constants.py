"""H610: columns that hold one value, or none."""

from __future__ import annotations

from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import INFO, WARNING, Trap, plural, shown


def find_constants(table: Table) -> list[Trap]:
    """Empty columns, and columns whose values are all the same with no gap; what a sample suggests is looked up."""
    some = [column for column in table.columns if column.distinct <= 1]
    columns = [table.whole(column) for column in some] if table.sampled else some
    empty = tuple(column.name for column in columns if column.distinct == 0)
    constant = tuple(column.name for column in columns if column.distinct == 1 and column.present.all())
    traps = []
    if empty:
        seen = f"{plural(len(empty), 'column')} without any value: {shown(empty)}."
        traps.append(Trap(code="H610", severity=WARNING, seen=seen, columns=empty))
    if constant:
        seen = f"{plural(len(constant), 'column')} with a single value: {shown(constant)}."
        traps.append(Trap(code="H610", severity=INFO, seen=seen, columns=constant))
    return traps
