"""H611: gaps that tell the target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from heldout.audit.traps.columns import Floats
from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import ERROR, INFO, WARNING, Trap

FALSE_ALARM = 1e-4  # for a whole table
FEWEST_GAPS = 5
FULLY, MUCH, LITTLE = 0.9, 0.1, 0.01  # of the target, explained by gaps


def find_telling_gaps(table: Table) -> list[Trap]:
    """A trap for each column whose gaps go with the target, and for the number of gaps in a row."""
    masks = {c.name: ~c.present for c in table.columns if FEWEST_GAPS <= (~c.present).sum() <= len(table) - FEWEST_GAPS}
    if not masks:
        return []
    tests = len(masks) + (len(masks) > 1)
    traps = []
    for name, mask in masks.items():
        explained = _explained(mask, table.responses, tests)
        if explained is not None:
            words = f"Whether column {name!r} is missing ({mask.mean():.1%} of the rows) explains"
            traps.append(_trap(words, explained, (name,)))
    if len(masks) > 1 and not traps:
        gaps = np.sum(list(masks.values()), axis=0)
        many = gaps > np.median(gaps)
        explained = _explained(many, table.responses, tests) if many.any() else None
        if explained is not None:
            words = f"Whether a row has more gaps than most ({many.mean():.1%} of the rows) explains"
            traps.append(_trap(words, explained, tuple(masks)))
    return traps


def _explained(mask: NDArray[np.bool_], responses: Floats, tests: int) -> float | None:
    """The share of the target that the mask explains, where that is sure.

    Each output has its test of two means (for classes it is the chi-squared test of a two-by-two table); the smallest
    p counts, times the number of outputs.
    """
    n, gaps = len(mask), int(mask.sum())
    difference = responses[mask].mean(axis=0) - responses[~mask].mean(axis=0)
    between = gaps * (n - gaps) / n * difference**2
    spread = (responses**2).sum(axis=0)
    if not spread.all():
        return None
    p = float(chi2.sf((between / spread).max() * (n - 1), 1)) * len(spread) * tests
    value = float(between.sum() / spread.sum())
    return value if p < FALSE_ALARM and value >= LITTLE else None


def _trap(words: str, explained: float, columns: tuple[str, ...]) -> Trap:
    severity = ERROR if explained >= FULLY else WARNING if explained >= MUCH else INFO
    seen = f"{words} {100 * explained:.3g}% of the target."
    return Trap(code="H611", severity=severity, seen=seen, columns=columns, evidence={"explained": explained})
