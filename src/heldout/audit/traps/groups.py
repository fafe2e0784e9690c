"""H606: rows that look grouped, although no groups are declared."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

import numpy as np
from scipy.stats import norm

from heldout.audit.association import FALSE_ALARM, agreement_of_next, agreement_within, goes_along
from heldout.audit.check_table import Codes, Column, Floats, Table, as_responses
from heldout.audit.trap import INFO, WARNING, Trap, shown
from heldout.task.column_kinds import are_years, is_id_name

FEWEST_GROUPS, MOST_ROWS_A_GROUP, FEW_ROWS_A_GROUP = 10, 100, 12
FEWEST_CODES = 30  # of numbers without the name of a code: fewer are mostly counts, grades or months
LEAST_AGREEMENT = 0.1
MOSTLY = 0.95  # of the groups with several rows have one value of a column
MOST_GROUPS = 3_000  # in which other columns are looked at
PAIRS = 100  # of rows of one group that rule most columns out
_SCATTERED = 0.2  # how far above chance neighbouring numbers may agree and still count as codes


def find_groups(table: Table, columns: Sequence[Column], others: Sequence[Column]) -> list[Trap]:
    """Report each column of repeated codes whose rows agree on the target or on others of these columns."""
    if table.task.groups is not None or not columns:
        return []
    told = [other for other in others if other.kind != "text" and other.distinct > 1]
    coded = np.array([other.codes for other in told]).reshape(len(told), len(table))
    return [trap for column in columns if (trap := _as_groups(table, column, told, coded)) is not None]


def _as_groups(table: Table, column: Column, others: Sequence[Column], coded: Codes) -> Trap | None:
    whole = table.whole(column)
    counts = whole.counts
    several = counts[counts > 1]
    size = float(counts.mean())
    if several.sum() < 0.3 * counts.sum() or size > MOST_ROWS_A_GROUP or len(several) < FEWEST_GROUPS:
        return None
    named = is_id_name(column.name, loosely=True)
    few = column.distinct < FEWEST_CODES
    if column.kind == "number" and not named and (few or _is_amount(table, column, others)):
        return None
    agreed = _target_agreement(table, whole)
    same = _unvarying(column, others, coded)
    if agreed is None and len(same) < (1 if named else 2):
        return None
    severity = WARNING if named or size <= FEW_ROWS_A_GROUP else INFO
    reasons = []
    if agreed is not None:
        reasons.append(f"rows that share a value agree on the target ({agreed:.2f}, where 0 is chance and 1 always)")
    if same:
        reasons.append(f"in rows that share a value {shown(same, 3)} hardly ever changes")
    seen = f"Column {column.name!r} has {column.distinct:,} values with {size:.3g} rows each: {'; '.join(reasons)}."
    evidence = {"agreement": agreed, "unvarying": list(same), "rows_a_value": size}
    told = f"{column.distinct:,} values"
    return Trap(code="H606", severity=severity, seen=seen, columns=(column.name,), evidence=evidence, told=told)


def _is_amount(table: Table, column: Column, others: Sequence[Column]) -> bool:
    """Return whether a number is one for whose values the order counts: a year, or an area that goes with the price."""
    if are_years(column.numbers[column.order[0]], column.numbers[column.order[-1]]):
        return True
    return goes_along(column, [other for other in others if other is not column], table.responses, surely=5.0)


def _target_agreement(table: Table, whole: Column) -> float | None:
    if not table.sampled:
        return _agreement(whole, table.responses)
    return _agreement(whole, as_responses(table.task.y, classification=table.task.classification))


def _agreement(column: Column, responses: Floats) -> float | None:
    """Return how much rows of one group agree on the target, or None if the agreement is small or may be chance.

    It is also None for a numeric column if rows with neighbouring numbers agree almost as much. Such a column measures
    something and names no groups.
    """
    within = agreement_within(responses, column.codes)
    if within.p > FALSE_ALARM or within.value < LEAST_AGREEMENT:
        return None
    if column.kind == "number":
        beside = agreement_of_next(responses, column.codes)
        beyond, error = within.value - beside.value, hypot(within.error, beside.error)
        if beyond < within.value / 2 or norm.sf(beyond / error) > FALSE_ALARM:
            return None  # it changes smoothly with the number, as with a measured one
    return within.value


def _unvarying(column: Column, others: Sequence[Column], coded: Codes) -> tuple[str, ...]:
    """Return other columns that are constant in nearly every group, although two rows seldom agree by chance.

    `coded` holds the codes of these others, a row each.
    """
    step = max(1, column.distinct // MOST_GROUPS)
    some = np.flatnonzero((column.codes >= 0) & (column.codes % step == 0))  # every so many groups
    some = some[np.argsort(column.codes[some], kind="stable")]
    groups = column.codes[some]
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    counts = np.diff(starts, append=len(some))
    several = counts > 1
    if np.count_nonzero(several) < FEWEST_GROUPS:
        return ()
    first = starts[several][:PAIRS]
    one, next_one = coded[:, some[first]], coded[:, some[first + 1]]
    likely = ((one == next_one) | (one < 0) | (next_one < 0)).mean(axis=1) >= MOSTLY - 0.15
    others, coded = [other for other, kept in zip(others, likely, strict=True) if kept], coded[likely]
    block = coded[:, some]
    known = block >= 0
    lowest = np.minimum.reduceat(np.where(known, block, len(column)), starts, axis=1)[:, several]
    constant = (lowest >= np.maximum.reduceat(block, starts, axis=1)[:, several]).mean(axis=1)
    spare = 5 * np.sqrt(0.25 / np.count_nonzero(several))
    names = []
    for place in np.flatnonzero((constant >= MOSTLY) & (known.mean(axis=1) >= 0.5)):
        codes, other = block[place], others[place]
        shares = np.bincount(codes[known[place]]) / np.count_nonzero(known[place])
        by_chance = float((shares**2).sum())  # that two rows share a value
        expected = float((by_chance ** (counts[several] - 1.0)).mean())
        follows = column.kind == "number" and _steps_along(groups, codes)
        made = other is column or _marks_one(groups, other, codes)
        if constant[place] > expected + spare and not follows and not made:
            names.append(other.name)
    return tuple(names)


def _marks_one(groups: Codes, other: Column, codes: Codes) -> bool:
    """Return whether a column of two values was made from the codes to mark one of them, as a dummy variable does."""
    return other.distinct == 2 and min(len(np.unique(groups[codes == value])) for value in (0, 1)) <= 1


def _steps_along(groups: Codes, codes: Codes) -> bool:
    """Return whether the codes follow the number, as an age group follows the age: neighbours share a code."""
    both = (groups >= 0) & (codes >= 0)
    first = np.full(int(groups.max()) + 1, -1, dtype=np.intp)
    first[groups[both]] = codes[both]
    first = first[first >= 0]
    shares = np.bincount(first) / len(first)
    agree = float((first[1:] == first[:-1]).mean()) if len(first) > 1 else 0.0
    follows = abs(float(np.corrcoef(np.arange(len(first)), first)[0, 1])) if len(np.unique(first)) > 1 else 1.0
    return agree > float((shares**2).sum()) + _SCATTERED or follows > 0.5
