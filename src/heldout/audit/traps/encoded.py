"""H615: categories that were replaced by their mean target over all rows, before any split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.audit.traps.columns import Column, Floats
from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import ERROR, Trap

FEWEST_VALUES, MOST_OUTPUTS = 3, 50
_EXACT = 1e-6


def find_encoded(table: Table, *, aside: set[str]) -> list[Trap]:
    """A trap for each column whose values are the mean targets of the rows that hold them."""
    candidates = [
        column
        for column in table.columns
        if column.kind == "number" and column.name not in aside and FEWEST_VALUES <= column.distinct <= len(table) / 2
    ]
    traps = []
    for column in candidates:
        if not _are_means(column, table.task.y[table.rows], table.task.classification, slack=table.sampled):
            continue
        if table.sampled and not _are_means(table.whole(column), table.task.y, table.task.classification, slack=False):
            continue
        seen = f"Each of the {column.distinct:,} values of column {column.name!r} is the mean target of its rows."
        traps.append(Trap(code="H615", severity=ERROR, seen=seen, columns=(column.name,)))
    return traps


def _are_means(column: Column, y: NDArray[np.generic], classification: bool, *, slack: bool) -> bool:
    counts = column.counts
    if (counts > 1).sum() < FEWEST_VALUES:
        return False
    values = column.numbers[column.order][np.flatnonzero(np.diff(column.sorted_codes, prepend=-1))]
    for output in _outputs(y, classification):
        target = output[column.order]
        means = np.bincount(column.sorted_codes, weights=target) / counts
        reach = float(np.ptp(target))
        if reach == 0 or not np.isfinite(reach):
            continue
        spread = float((target / reach).std()) * reach  # so that no square is too large
        allowed = 6 * spread / np.sqrt(counts) if slack else _EXACT * spread
        if bool((np.abs(means - values) <= allowed).all()):
            return True
    return False


def _outputs(y: NDArray[np.generic], classification: bool) -> list[Floats]:
    """The target as numbers: an indicator a class, or the numbers themselves."""
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
