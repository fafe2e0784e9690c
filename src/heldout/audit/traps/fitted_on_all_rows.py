"""H612 to H615: columns that were scaled, imputed, rotated or target-encoded over all rows, before any split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heldout.audit.check_table import Column, Floats, Table, in_blocks
from heldout.audit.screens import RANGED, WAYS, is_centred, moments, scalings
from heldout.audit.trap import ERROR, INFO, WARNING, Trap, plural, shown

_EXACT = 1e-9


def find_scaled(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each kind of scaling, with its columns. A single column from 0 to 1 is left out: it may be a share."""
    by_way: dict[int, list[str]] = {}
    for some in in_blocks(columns, table.task.size):
        ordered = np.sort([table.whole(column).numbers for column in some], axis=1)
        present = ordered.shape[1] - np.isnan(ordered).sum(axis=1)
        ways = scalings(ordered, present, moments(ordered, present), sampled=False)
        for column, way in zip(some, ways.tolist(), strict=True):
            by_way.setdefault(way, []).append(column.name)
    traps = []
    for way, names in by_way.items():
        if way >= 0 and (WAYS[way] != RANGED or len(names) > 1):
            seen = f"Over all rows {plural(len(names), 'column has', 'columns have')} {WAYS[way]}: {shown(names)}."
            traps.append(Trap(code="H612", severity=INFO, seen=seen, columns=tuple(names)))
    return traps


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


FEWEST_COLUMNS, MOST_COLUMNS = 3, 500
ZERO = 1e-6  # a correlation; files are rounded


def find_rotated(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report columns of mean 0 that are uncorrelated to many digits, each with at least two others."""
    columns = _uncorrelated([table.whole(column) for column in columns[:MOST_COLUMNS]])
    if len(columns) < FEWEST_COLUMNS:
        return []
    names = [column.name for column in columns]
    seen = f"Over all rows {len(names):,} columns are uncorrelated to many digits: {shown(names)}."
    return [Trap(code="H614", severity=WARNING, seen=seen, columns=tuple(names))]


def _uncorrelated(columns: Sequence[Column]) -> list[Column]:
    if len(columns) < FEWEST_COLUMNS:
        return []
    table = np.stack([column.numbers for column in columns])
    of = moments(table, np.full(len(table), table.shape[1]))
    centred = is_centred(of, np.full(len(table), table.shape[1]), sampled=False)
    table = (table - of[0][:, None])[centred]
    norms = np.sqrt((table**2).sum(axis=1))
    zero = np.abs(table @ table.T) < ZERO * np.outer(norms, norms)  # False on the diagonal
    enough = zero.sum(axis=0) + 1 >= FEWEST_COLUMNS
    return [columns[place] for place in np.flatnonzero(centred)[enough]]


FEWEST_ENCODED, MOST_OUTPUTS = 3, 50
EXACT_MEAN = 1e-6


def find_encoded(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each column whose values are the mean targets of the rows that hold them."""
    outputs = _outputs(table.task.y, table.task.classification) if columns else []
    seen_outputs = [output[table.rows] for output in outputs]
    traps = []
    for column in columns:
        found = _are_means(column, seen_outputs, slack=table.sampled)
        if found and (not table.sampled or _are_means(table.whole(column), outputs, slack=False)):
            seen = f"Each of the {column.distinct:,} values of column {column.name!r} is the mean target of its rows."
            told = f"{column.distinct:,} values"
            traps.append(Trap(code="H615", severity=ERROR, seen=seen, columns=(column.name,), told=told))
    return traps


def _are_means(column: Column, outputs: Sequence[Floats], *, slack: bool) -> bool:
    mean = float(column.numbers.mean())  # of the target too, unless some are missing
    if not slack:
        outputs = [one for one in outputs if not abs(one.mean() - mean) > EXACT_MEAN * np.abs(one).max()]
    counts = column.counts if outputs else np.empty(0)
    if (counts > 1).sum() < FEWEST_ENCODED:
        return False
    values = column.numbers[column.order][np.flatnonzero(np.diff(column.sorted_codes, prepend=-1))]
    for output in outputs:
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
