"""Runs all checks of a table. Checks that explain a column come first, so that one cause is reported once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from heldout.audit.check_table import Codes, Table
from heldout.audit.trap import INFO, WARNING, Trap, plural, shown
from heldout.audit.traps.copied_rows import NearRows, find_near_rows, find_same_rows, near_rows, same_rows
from heldout.audit.traps.fitted_on_all_rows import find_encoded, find_imputed, find_rotated, find_scaled
from heldout.audit.traps.groups import find_groups
from heldout.audit.traps.identifiers import find_identifiers
from heldout.audit.traps.target_leaks import find_copies, find_giveaways, find_telling_gaps
from heldout.audit.traps.time import find_dates, find_row_order
from heldout.splits.remarks import class_note


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckReport:
    """The findings of a table."""

    traps: tuple[Trap, ...]  # by number
    groups: NDArray[np.intp] | None  # a code for each row that holds copies and near copies together; None without any


def run_checks(table: Table, *, ignore: frozenset[str] = frozenset()) -> CheckReport:
    """Run every check of the table alone, except the ignored ones."""
    constants, copies, identifiers = find_constants(table), find_copies(table), find_identifiers(table)
    telling = table.without(identifiers)
    unexplained = telling.without([*constants, *copies])
    grouped, encoded = find_groups(unexplained), find_encoded(unexplained)
    dates, rotated = find_dates(table), find_rotated(table)
    dated = any(trap.severity == WARNING for trap in dates)
    by = next((trap.columns[0] for trap in grouped if trap.severity == WARNING), None)
    same = np.arange(table.task.size) if "H601" in ignore else same_rows(telling)
    near = [] if "H602" in ignore else near_rows(telling)
    traps = [
        *find_rare_classes(table),
        *find_same_rows(table, same, identifiers),
        *find_near_rows(table, near),
        *identifiers,
        *find_giveaways(unexplained.without([*grouped, *encoded])),
        *copies,
        *grouped,
        *dates,
        *find_row_order(table, dated=dated, grouped_by=by),
        *constants,
        *find_telling_gaps(table),
        *find_scaled(table.without(rotated)),
        *find_imputed(table),
        *rotated,
        *encoded,
    ]
    kept = tuple(trap for trap in traps if trap.code not in ignore)
    return CheckReport(traps=kept, groups=_joined(table.task.size, same, near, kept))


def _joined(n: int, same: Codes, near: list[NearRows], traps: tuple[Trap, ...]) -> NDArray[np.intp] | None:
    """Return a group code for each row, so that equal and nearly equal rows are together, also through other rows."""
    codes = {trap.code for trap in traps}
    if not codes & {"H601", "H602"}:
        return None
    copies = same if "H601" in codes else np.arange(n, dtype=np.intp)
    pairs = [copies[found.pairs] for found in near] if "H602" in codes else []
    ends: Any = np.vstack(pairs) if pairs else np.empty((0, 2), dtype=np.intp)
    links = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    labels = connected_components(links, directed=False)[1]
    return np.unique(labels[copies], return_inverse=True)[1].astype(np.intp)


def find_rare_classes(table: Table) -> list[Trap]:
    """Report parts that cannot all have every class in its share."""
    note = None if table.splits is None else class_note(table.task, table.splits)
    if note is None:
        return []
    seen, _, advice = note.rpartition(". ")
    instead = f"{advice} Or gather more rows of the class, or merge it with another."
    return [Trap(code="H101", severity=WARNING, seen=f"{seen}.", instead=instead)]


def find_constants(table: Table) -> list[Trap]:
    """Report columns that are empty or constant. Columns that look so in a sample are checked in all rows."""
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
