"""Runs all checks of a table. Checks that explain a column come first, so that one cause is reported once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from heldout.audit.check_table import Codes, Column, Table
from heldout.audit.screens import screen
from heldout.audit.trap import INFO, WARNING, Trap, merge_columns, plural, shown
from heldout.audit.traps.copied_rows import (
    NearRows,
    cost_of_near_rows,
    find_near_rows,
    find_same_rows,
    near_rows,
    same_rows,
)
from heldout.audit.traps.drift import COST_OF_DRIFT, find_drift
from heldout.audit.traps.fitted_on_all_rows import find_encoded, find_imputed, find_rotated, find_scaled
from heldout.audit.traps.groups import find_groups
from heldout.audit.traps.identifiers import find_identifiers
from heldout.audit.traps.target_leaks import find_copies, find_giveaways, find_telling_gaps
from heldout.audit.traps.time import find_dates, find_row_order
from heldout.splits.remarks import class_note

NOT_DRAWN, GROUPED, TIMED = "the test parts are drawn, not given", "groups are declared", "time is declared"
_IN_ALL_ROWS = ("H603", "H606", "H610", "H612", "H613", "H614", "H615")  # are looked up there
_ONE_BY_ONE = ("H603", "H606", "H610", "H615")  # tell something of one column without the others
COSTLY = 'it would take more than a tenth of the study; checks="all" looks'


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckReport:
    """The findings of a table, and what was not looked for."""

    traps: tuple[Trap, ...]  # by number
    groups: NDArray[np.intp] | None  # a code for each row that holds copies and near copies together; None without any
    missed: Mapping[str, str] = field(default_factory=dict)  # the reason, by number


def run_checks(table: Table, *, ignore: frozenset[str] = frozenset(), lenient: bool = False) -> CheckReport:
    """Run every check of the table, except the ignored ones and those that it does not afford.

    A check that raises an error is missed where `lenient` is set: a study goes on without it.
    """
    missed: dict[str, str] = dict.fromkeys(ignore, "ignored")
    traps: list[Trap] = []

    def look(code: str, find: Callable[..., Any], *asked: Any) -> Any:
        try:
            return find(*asked)
        except Exception as error:
            if not lenient:
                raise
            missed.setdefault(code, f"the check failed by {type(error).__name__}: {error}")
            return []

    def found(code: str, find: Callable[..., list[Trap]], columns: Sequence[Column], *asked: Any) -> list[Trap]:
        own: list[Trap] = look(code, find, table, columns, *asked) if columns else []
        traps.extend(own)
        return own

    suspects = screen(table)
    for code in _IN_ALL_ROWS if table.sampled else ():
        asked = len(suspects[code])
        if asked > table.whole_columns:
            suspects[code] = suspects[code][: table.whole_columns] if code in _ONE_BY_ONE else []
            missed.setdefault(code, f"{len(suspects[code])} of {asked} columns were looked up in all rows; {COSTLY}")
    task, every = table.task, table.columns
    constants = found("H610", find_constants, suspects["H610"])
    copies = found("H605", find_copies, suspects["H605"])
    identifiers = found("H603", find_identifiers, suspects["H603"])
    telling = without(every, identifiers)
    explained = [*identifiers, *constants, *copies]
    left = without(every, explained)
    grouped = found("H606", find_groups, without(suspects["H606"], explained), left)
    encoded = found("H615", find_encoded, without(suspects["H615"], explained))
    honest = without(left, [*grouped, *encoded])
    found("H604", find_giveaways, without(suspects["H604"], [*explained, *grouped, *encoded]), honest)
    dates = found("H607", find_dates, suspects["H607"])
    dated = any(trap.severity == WARNING for trap in dates)
    by = next((trap.columns[0] for trap in grouped if trap.severity == WARNING), None)
    traps += look("H608", find_row_order, table, dated, by)
    rotated = found("H614", find_rotated, suspects["H614"])
    found("H612", find_scaled, without(suspects["H612"], rotated))
    found("H613", find_imputed, suspects["H613"])
    found("H611", find_telling_gaps, suspects["H611"])
    traps += [] if "H101" in ignore else look("H101", find_rare_classes, table)
    same, near = np.arange(task.size), list[NearRows]()
    if "H601" not in ignore:
        same = look("H601", same_rows, table, telling)
        traps += look("H601", find_same_rows, table, same, identifiers, telling)
    if "H602" not in ignore and table.affords(cost_of_near_rows(table)):
        near = look("H602", near_rows, table, telling)
        traps += look("H602", find_near_rows, table, near)
    elif "H602" not in ignore:
        missed["H602"] = COSTLY
    if table.held is None:
        missed["H609"] = NOT_DRAWN
    elif "H609" not in ignore and table.affords(COST_OF_DRIFT):
        found("H609", find_drift, telling)
    else:
        missed.setdefault("H609", COSTLY)
    missed |= {"H606": GROUPED} if task.groups is not None else {}
    missed |= dict.fromkeys(("H607", "H608"), TIMED) if task.time is not None else {}
    kept = sorted((trap for trap in traps if trap.code not in ignore), key=lambda trap: trap.code)
    return CheckReport(traps=tuple(merge_columns(kept)), groups=_joined(task.size, same, near, kept), missed=missed)


def without(columns: Sequence[Column], traps: Iterable[Trap]) -> list[Column]:
    """Return the columns that these findings do not explain."""
    explained = {name for trap in traps for name in trap.columns}
    return [column for column in columns if column.name not in explained]


def _joined(n: int, same: Codes, near: list[NearRows], traps: Iterable[Trap]) -> NDArray[np.intp] | None:
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


def find_constants(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report columns that are empty or constant. Columns that look so in a sample are checked in all rows."""
    columns = [table.whole(column) for column in columns]
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
