"""All checks of a table in turn: what explains a column is asked first, so that one cause is reported once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from heldout.audit.traps.constants import find_constants
from heldout.audit.traps.copies import find_copies
from heldout.audit.traps.encoded import find_encoded
from heldout.audit.traps.giveaway import find_giveaways
from heldout.audit.traps.groups import find_groups
from heldout.audit.traps.identifiers import find_identifiers
from heldout.audit.traps.imputed import find_imputed
from heldout.audit.traps.missing import find_telling_gaps
from heldout.audit.traps.near_rows import NearRows, find_near_rows, near_rows
from heldout.audit.traps.rare import find_rare_classes
from heldout.audit.traps.rotated import find_rotated
from heldout.audit.traps.same_rows import SameRows, find_same_rows, same_rows
from heldout.audit.traps.scaled import find_scaled
from heldout.audit.traps.table import Table
from heldout.audit.traps.time_order import find_dates, find_row_order
from heldout.audit.traps.trap import WARNING, Trap


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Looked:
    """What was found in a table."""

    traps: tuple[Trap, ...]  # by number
    groups: NDArray[np.intp] | None  # a code for each row that holds copies and near copies together; None without any


def look(table: Table, *, ignore: frozenset[str] = frozenset()) -> Looked:
    """Every check of the table alone; those that are ignored are left out."""
    constants, copies = find_constants(table), find_copies(table)
    identifiers = find_identifiers(table)
    known = _columns(identifiers)
    aside = known | _columns(constants) | _columns(copies)
    grouped = find_groups(table, aside=aside)
    dates = find_dates(table)
    dated = any(trap.severity == WARNING for trap in dates)
    by = next((trap.columns[0] for trap in grouped if trap.severity == WARNING), None)
    encoded = find_encoded(table, aside=aside)
    rotated = find_rotated(table)
    aside |= _columns(grouped) | _columns(encoded)
    same, near = _rows(table, known, ignore)
    traps = [
        *find_rare_classes(table),
        *find_same_rows(table, same, identifiers=known),
        *find_near_rows(table, near),
        *identifiers,
        *find_giveaways(table, aside=aside),
        *copies,
        *grouped,
        *dates,
        *find_row_order(table, dated=dated, grouped_by=by),
        *constants,
        *find_telling_gaps(table),
        *find_scaled(table, aside=_columns(rotated)),
        *find_imputed(table),
        *rotated,
        *encoded,
    ]
    kept = tuple(trap for trap in traps if trap.code not in ignore)
    return Looked(traps=kept, groups=_joined(len(table.task), same, near, kept))


def _rows(table: Table, identifiers: set[str], ignore: frozenset[str]) -> tuple[SameRows, list[NearRows]]:
    none = SameRows(codes=np.arange(len(table.task), dtype=np.intp), copies=0)
    same = none if "H601" in ignore else same_rows(table, identifiers=identifiers)
    return same, [] if "H602" in ignore else near_rows(table, aside=identifiers)


def _joined(n: int, same: SameRows, near: list[NearRows], traps: tuple[Trap, ...]) -> NDArray[np.intp] | None:
    """Rows held together by being the same or nearly so, through others too."""
    codes = {trap.code for trap in traps}
    if not codes & {"H601", "H602"}:
        return None
    copies = same.codes if "H601" in codes else np.arange(n, dtype=np.intp)
    pairs = [copies[one.pairs] for one in near] if "H602" in codes else []
    ends: Any = np.vstack(pairs) if pairs else np.empty((0, 2), dtype=np.intp)
    links = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    labels = connected_components(links, directed=False)[1]
    return np.unique(labels[copies], return_inverse=True)[1].astype(np.intp)


def _columns(traps: list[Trap]) -> set[str]:
    return {name for trap in traps for name in trap.columns}
