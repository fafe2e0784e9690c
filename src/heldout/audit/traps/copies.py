"""H605: the target among the columns, under another name."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from heldout.audit.traps.columns import Codes, Column, Floats
from heldout.audit.traps.table import Table, class_codes
from heldout.audit.traps.trap import ERROR, Trap

FEWEST_ROWS = 10
_LOG_CHANCE = -log(1e9)  # an order that arises by chance less often than this
_EXACT = 1e-9


def find_copies(table: Table) -> list[Trap]:
    """A trap for each column that is the target, a function of it with an inverse, or its steps."""
    y = table.task.y[table.rows]
    outputs = y if y.ndim == 2 else y[:, None]
    traps = []
    for column in table.columns:
        for number, output in enumerate(outputs.T):
            words = _relation(column, output, classification=table.task.classification)
            if words is not None:
                which = "the target" if y.ndim == 1 else f"output {number} of the target"
                seen = f"Column {column.name!r} {words.format(which)} in every row that was looked at."
                traps.append(Trap(code="H605", severity=ERROR, seen=seen, columns=(column.name,)))
                break
    return traps


def _relation(column: Column, output: NDArray[Any], *, classification: bool) -> str | None:
    order, codes = column.order, column.sorted_codes
    if len(order) < FEWEST_ROWS or column.distinct < 2 or column.kind == "text":
        return None
    if classification:
        return _recoded(codes, class_codes(output[order]))
    return _functional(column, output[order].astype(np.float64))


def _recoded(codes: Codes, classes: Codes) -> str | None:
    """Whether each value stands for one class and each class has one value."""
    levels, labels = int(codes.max()) + 1, int(classes.max()) + 1
    if levels != labels or labels < 2 or len(np.unique(codes * labels + classes)) != levels:
        return None
    chance = _log_orders(codes) + float(gammaln(levels + 1))
    return "writes {} in other words, one value a class," if chance < _LOG_CHANCE else None


def _functional(column: Column, y: Floats) -> str | None:
    """Whether the target rises or falls from value to value, or at least no two values overlap in it."""
    codes = column.sorted_codes
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    low, high = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    chance = _log_orders(codes) + float(gammaln(_ties(y)))
    if column.kind == "category":
        order = np.argsort(low, kind="stable")
        low, high = low[order], high[order]
        chance += float(gammaln(column.distinct + 1))
    if chance > _LOG_CHANCE or low[0] == high[-1]:
        return None
    rises, falls = bool((high[:-1] <= low[1:]).all()), bool((low[:-1] >= high[1:]).all())
    if not (rises or falls):
        return None
    if column.kind == "category" or column.distinct < len(np.unique(y)) / 2:
        return "cuts {} into steps"
    values = column.numbers[column.order]
    if np.array_equal(values, y):
        return "equals {}"
    scaled = values / np.abs(values).max(), y / np.abs(y).max()  # so that no square is too large
    if abs(abs(float(np.corrcoef(*scaled)[0, 1])) - 1) < _EXACT:
        return "is {} times a number plus a number"
    return f"{'rises' if rises else 'falls'} with {{}}, without exception,"


def _log_orders(codes: Codes) -> float:
    """The log of the chance that rows in a random order fall into these levels in this order."""
    counts = np.bincount(codes)
    return float(gammaln(counts + 1).sum() - gammaln(counts.sum() + 1))


def _ties(y: Floats) -> int:
    """One more than how often the commonest target comes: its rows may stand in any order."""
    return int(np.unique(y, return_counts=True)[1].max()) + 1
