"""H101: classes that are too rare to be in every test part."""

from __future__ import annotations

from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import WARNING, Trap
from heldout.splits.remarks import class_note


def find_rare_classes(table: Table) -> list[Trap]:
    """A trap where parts cannot all have every class in its share."""
    note = None if table.splits is None else class_note(table.task, table.splits)
    if note is None:
        return []
    seen, _, advice = note.rpartition(". ")
    instead = f"{advice} Or gather more rows of the class, or merge it with another."
    return [Trap(code="H101", severity=WARNING, seen=f"{seen}.", instead=instead)]
