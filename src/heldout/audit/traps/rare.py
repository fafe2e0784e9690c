"""H101: classes with fewer rows than there are folds."""

from __future__ import annotations

from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import WARNING, Trap
from heldout.splits.findings import rare_class_note


def find_rare_classes(table: Table) -> list[Trap]:
    """A trap where stratified folds cannot all hold every class."""
    splits = table.splits
    if splits is None or splits.recipe.kind != "kfold" or not splits.recipe.stratified:
        return []
    note = rare_class_note(table.task, splits.rows, len(splits) // splits.recipe.repeats)
    if note is None:
        return []
    seen, _, advice = note.rpartition(". ")
    instead = f"{advice} Or gather more rows of the class, or merge it with another."
    return [Trap(code="H101", severity=WARNING, seen=f"{seen}.", instead=instead)]
