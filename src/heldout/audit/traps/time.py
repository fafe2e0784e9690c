"""H607 and H608: undeclared time, seen in a column of dates or in the order of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from heldout.audit.association import FALSE_ALARM, agreement_in_order, agreement_within
from heldout.audit.check_table import Codes, Column, Floats, Table, as_responses, class_codes, read_column
from heldout.audit.trap import INFO, WARNING, Trap, shown
from heldout.base.rowkeys import derive

FEWEST_ROWS = 30
IN_ORDER = 0.9  # rank correlation with the order of the rows
SORTED = 0.999
BLOCKS = 20
STRETCH = 64  # rows of the file that are looked at together, where not all are
_A_ROW = 300.0  # operations for a row in the order of the file
LEAST_AGREEMENT, LEAST_DRIFT, STRONG_AGREEMENT = 0.1, 0.02, 0.3


def find_dates(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each column of dates if no time is declared."""
    return [] if table.task.time is not None else [_date(table, column) for column in columns]


def _date(table: Table, column: Column) -> Trap:
    order = column.order
    responses = table.responses[order]
    agreed = agreement_in_order(responses - responses.mean(axis=0))
    along = _rank_correlation(column.numbers[order], table.rows[order].astype(np.float64))
    reasons: list[str] = []
    short: list[str] = []
    if len(order) >= FEWEST_ROWS and agreed.p < FALSE_ALARM and agreed.value >= LEAST_AGREEMENT:
        reasons.append(f"neighbours in time agree on the target ({agreed.value:.2f}, where 0 is chance and 1 always)")
        short.append(f"neighbours agree by {agreed.value:.2f}")
    if len(order) >= FEWEST_ROWS and abs(along) >= IN_ORDER:
        reasons.append("the rows come in its order")
        short.append("in file order")
    told = f": {' and '.join(reasons)}" if reasons else "; neither the target nor the order of the rows follows it"
    seen = f"Column {column.name!r} holds dates, and no time is declared{told}."
    evidence = {"agreement": agreed.value, "order": along}
    severity = WARNING if reasons else INFO
    columns = (column.name,)
    return Trap(code="H607", severity=severity, seen=seen, columns=columns, evidence=evidence, told=", ".join(short))


def find_row_order(table: Table, dated: bool, grouped_by: str | None) -> list[Trap]:
    """Report neighbours in the file that agree on the target, unless `dated` or `grouped_by` already explains it."""
    task = table.task
    if task.time is not None or dated:
        return []
    rows = _in_order(table, grouped_by)
    if len(rows) < FEWEST_ROWS:
        return []
    y = task.y[rows]
    if (words := _sorted_by_target(y)) is not None:
        instead = "Keep shuffling (the default); parts without shuffling would hold one kind of target each."
        return [Trap(code="H608", severity=INFO, seen=f"The rows are sorted by {words}.", instead=instead)]
    responses = as_responses(y, classification=task.classification)
    beside = agreement_in_order(responses)
    blocks = agreement_within(responses, np.arange(len(rows)) * BLOCKS // len(rows))
    near = beside.p < FALSE_ALARM and beside.value >= LEAST_AGREEMENT
    drifts = blocks.p < FALSE_ALARM and blocks.value >= LEAST_DRIFT
    if not (near or drifts):
        return []
    sorting = tuple(column.name for column in table.columns if _sorts(table, column))
    strong = (near and beside.value >= STRONG_AGREEMENT) or (drifts and blocks.value >= STRONG_AGREEMENT)
    told = [f"neighbours in the file agree on the target ({beside.value:.2f})"] * near
    told += [f"rows in the same {BLOCKS}th of the file agree on the target ({blocks.value:.2f})"] * drifts
    joined = " and ".join(told)
    seen = f"{joined[0].upper()}{joined[1:]}, where 0 is chance and 1 always"
    seen += f"; the rows are sorted by {shown(sorting)}." if sorting else "."
    evidence = {"neighbours": beside.value, "blocks": blocks.value, "sorted_by": list(sorting)}
    severity = WARNING if strong and not sorting else INFO
    return [Trap(code="H608", severity=severity, seen=seen, columns=sorting, evidence=evidence)]


def _in_order(table: Table, grouped_by: str | None) -> Codes:
    """Return all rows, or stretches of the file where they are many; the first of each group, since its rows agree."""
    task, codes = table.task, table.task.groups
    rows = np.arange(task.size, dtype=np.intp)
    if not table.affords(_A_ROW * task.size):
        chosen = np.random.default_rng(derive(table.seed, "order")).permutation(task.size // STRETCH)
        starts = STRETCH * np.sort(chosen[: max(1, len(table) // STRETCH)])
        rows = (starts[:, None] + np.arange(STRETCH)).ravel().astype(np.intp)
    if codes is None and grouped_by is not None:
        position = next(column.position for column in table.columns if column.name == grouped_by)
        codes = read_column(task.X, position).codes
    return rows if codes is None else np.sort(rows[np.unique(codes[rows], return_index=True)[1]])


def _sorted_by_target(y: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str | None:
    if y.ndim == 2:
        return None
    codes = class_codes(y)
    runs = int(np.count_nonzero(np.diff(codes))) + 1
    if runs == int(codes.max()) + 1 < len(codes):
        return "their target, equal ones together"
    if y.dtype.kind in "biuf" and abs(_rank_correlation(y.astype(np.float64), np.arange(len(y), dtype=float))) > SORTED:
        return "their target"
    return None


def _sorts(table: Table, column: Column) -> bool:
    if column.kind == "category":
        codes = column.sorted_codes[np.argsort(table.rows[column.order])]
        return 1 < column.distinct == int(np.count_nonzero(np.diff(codes))) + 1 < len(codes)
    if column.distinct < 2 or column.kind == "text":
        return False
    placed: Floats = table.rows[column.order].astype(np.float64)
    if np.abs(np.diff(placed)).mean() > 0.1 * table.task.size:  # by far: a third of it in no order at all
        return False
    return abs(_rank_correlation(column.numbers[column.order], placed)) > SORTED


def _rank_correlation(first: Floats, second: Floats) -> float:
    ranks = rankdata(first), rankdata(second)
    if min(map(np.ptp, ranks)) == 0:
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])
