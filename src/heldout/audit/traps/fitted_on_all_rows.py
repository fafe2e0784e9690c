"""H612 to H615: columns that were scaled, imputed, rotated or target-encoded over all rows, before any split."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from heldout.audit.check_table import Column, Floats, Table
from heldout.audit.trap import ERROR, INFO, WARNING, Trap, plural, shown

FEWEST_ROWS, FEWEST_SCALED = 20, 10
_EXACT = 1e-9
DIGITS = 1e-6  # how near the mean is to 0 and the deviation to 1; files are rounded
STANDARD, NORMED, ROBUST, RANGED = (
    "mean 0 and standard deviation 1",
    "mean 0 and norm 1",
    "median 0 and quartiles 1 apart",
    "the range from 0 to 1",
)


def find_scaled(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each kind of scaling, with its columns. A single column from 0 to 1 is left out: it may be a share."""
    by_way: dict[str | None, list[str]] = {}
    for column in columns:
        fine = column.kind == "number" and not column.whole and column.distinct > FEWEST_SCALED
        if fine and len(column.order) >= FEWEST_ROWS:
            way = _by_moments(table, column) or _by_order(table, column)
            by_way.setdefault(way, []).append(column.name)
    traps = []
    for way, names in by_way.items():
        if way and (way != RANGED or len(names) > 1):
            seen = f"Over all rows {plural(len(names), 'column has', 'columns have')} {way}: {shown(names)}."
            traps.append(Trap(code="H612", severity=INFO, seen=seen, columns=tuple(names)))
    return traps


def _is_centred(table: Table, column: Column) -> bool:
    """Return whether the mean over all rows is 0. The sampled rows rule it out for most columns."""
    if table.sampled:
        values = column.numbers[column.order]
        if abs(float(values.mean())) > 8 * float(values.std()) / sqrt(len(values)):
            return False
    mean, deviation = table.moments(column)
    return abs(mean) <= DIGITS * deviation


def _by_moments(table: Table, column: Column) -> str | None:
    """Return which scaling the mean and standard deviation show; None if neither kind."""
    if not _is_centred(table, column):
        return None
    _, deviation = table.moments(column)
    n = round(len(column.order) * table.task.size / len(table))
    if abs(deviation - 1) <= DIGITS or abs(deviation * sqrt(n / (n - 1)) - 1) <= DIGITS:
        return STANDARD
    return NORMED if abs(deviation * sqrt(n) - 1) <= DIGITS else None


def _by_order(table: Table, column: Column) -> str | None:
    """Return which scaling the range or the quartiles show; None if neither kind."""
    values = column.numbers[column.order]  # ascending
    low, middle, high = (float(values[int(share * (len(values) - 1))]) for share in (0.25, 0.5, 0.75))
    ranged = values[0] >= 0 and values[-1] <= 1
    near = 8 / sqrt(len(values))
    if not ranged and (abs(middle) > near or abs(high - low - 1) > near):
        return None
    whole = table.whole(column)
    values = whole.numbers[whole.present]
    if ranged:
        return RANGED if values.min() == 0 and values.max() == 1 else None
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return ROBUST if abs(middle) <= _EXACT and abs(high - low - 1) <= _EXACT else None


FEWEST_FILLED, LEAST_SHARE = 5, 0.005
RARER = 5  # times rarer the next value is


def find_imputed(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report the columns in which the mean of the column, or the median of the rest, occurs far too often."""
    found = [column for column in columns if _has_peak(column)]
    names = [column.name for column in found if _is_filled(table.whole(column))]
    if not names:
        return []
    seen = f"{plural(len(names), 'column')} with one value in many rows that is the mean or the median: {shown(names)}."
    return [Trap(code="H613", severity=INFO, seen=seen, columns=tuple(names))]


def _has_peak(column: Column) -> bool:
    if column.kind != "number" or column.distinct <= 20:
        return False
    counts = np.sort(column.counts)
    most, next_most = int(counts[-1]), int(counts[-2])
    return most >= max(FEWEST_FILLED, LEAST_SHARE * len(column.order)) and most >= RARER * next_most


def _is_filled(column: Column) -> bool:
    values = column.numbers[column.order]
    peak = float(values[np.searchsorted(column.sorted_codes, int(np.argmax(column.counts)))])
    spread = float(values.std())
    if abs(float(values.mean()) - peak) <= _EXACT * max(spread, abs(peak)):
        return True
    # Measured values often repeat at zero and other integers by themselves.
    return peak != np.trunc(peak) and int((values < peak).sum()) == int((values > peak).sum())


FEWEST_COLUMNS, FEWEST_ROTATED = 3, 20
ZERO = 1e-6  # a correlation; files are rounded
MOST_COLUMNS = 500


def find_rotated(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report columns of mean 0 that are uncorrelated to many digits, each with at least two others."""
    columns = [one for one in columns if _may_be(one) and _is_centred(table, one)][:MOST_COLUMNS]
    columns = _uncorrelated([table.whole(column) for column in columns])
    if len(columns) < FEWEST_COLUMNS:
        return []
    names = [column.name for column in columns]
    seen = f"Over all rows {len(names):,} columns are uncorrelated to many digits: {shown(names)}."
    return [Trap(code="H614", severity=WARNING, seen=seen, columns=tuple(names))]


def _may_be(column: Column) -> bool:
    """Return whether a column has many fine values. Designed experiments do not, and are uncorrelated by design."""
    fine = column.kind == "number" and not column.whole and column.distinct > FEWEST_ROTATED
    return fine and len(column.order) == len(column.numbers) >= FEWEST_ROWS and column.continuous


def _uncorrelated(columns: list[Column]) -> list[Column]:
    if len(columns) < FEWEST_COLUMNS:
        return []
    table = np.column_stack([column.numbers for column in columns])
    table = table - table.mean(axis=0)
    norms = np.sqrt((table**2).sum(axis=0))
    zero = np.abs(table.T @ table) < ZERO * np.outer(norms, norms)  # False on the diagonal
    enough = zero.sum(axis=0) + 1 >= FEWEST_COLUMNS
    return [column for column, kept in zip(columns, enough, strict=True) if kept]


FEWEST_ENCODED, MOST_OUTPUTS = 3, 50
EXACT_MEAN = 1e-6


def find_encoded(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each column whose values are the mean targets of the rows that hold them."""
    y, classification = table.task.y, table.task.classification
    traps = []
    for column in columns:
        if column.kind != "number" or not FEWEST_ENCODED <= column.distinct <= len(table) / 2:
            continue
        found = _are_means(column, y[table.rows], classification, slack=table.sampled)
        if found and (not table.sampled or _are_means(table.whole(column), y, classification, slack=False)):
            seen = f"Each of the {column.distinct:,} values of column {column.name!r} is the mean target of its rows."
            told = f"{column.distinct:,} values"
            traps.append(Trap(code="H615", severity=ERROR, seen=seen, columns=(column.name,), told=told))
    return traps


def _are_means(column: Column, y: NDArray[np.generic], classification: bool, *, slack: bool) -> bool:
    counts = column.counts
    if (counts > 1).sum() < FEWEST_ENCODED:
        return False
    values = column.numbers[column.order][np.flatnonzero(np.diff(column.sorted_codes, prepend=-1))]
    for output in _outputs(y, classification):
        target = output[column.order]
        means = np.bincount(column.sorted_codes, weights=target) / counts
        reach = float(np.ptp(target))
        if reach == 0 or not np.isfinite(reach):
            continue
        spread = float((target / reach).std()) * reach  # so that no square is too large
        allowed = 6 * spread / np.sqrt(counts) if slack else EXACT_MEAN * spread
        if bool((np.abs(means - values) <= allowed).all()):
            return True
    return False


def _outputs(y: NDArray[np.generic], classification: bool) -> list[Floats]:
    """Return the target as numbers: one indicator per class, or the numbers themselves."""
    outputs = y if y.ndim == 2 else y[:, None]
    if not classification:
        return [output.astype(np.float64) for output in outputs.T[:MOST_OUTPUTS]]
    made: list[Floats] = []
    for output in outputs.T:
        labels = np.unique(output)[:MOST_OUTPUTS]
        made += [(output == label).astype(np.float64) for label in labels]
        if labels.dtype.kind in "biuf":
            made.append(output.astype(np.float64))
    return made
