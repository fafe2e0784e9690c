"""What each test set of a ledger has told, and how wide the interval of the next look at it would be."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

from heldout.audit.ledger import Ledger, Look
from heldout.risk.transcript import half_width


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestSet:
    """One test set: who looked at any of its rows, and what that leaves for the next.

    `next_width` is the whole width that the interval of the next look may take, at most, for a loss of range 1. None
    where nothing bounds it any more: results of single rows were shown, or numbers that could have been any.
    """

    __test__: ClassVar[bool] = False  # no test class, for pytest

    key: str
    rows: int
    looks: tuple[Look, ...]
    next_width: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for a table or JSON."""
        return {
            "rows_key": self.key,
            "rows": self.rows,
            "next_width": self.next_width,
            "looks": [look.as_dict() for look in self.looks],
        }


def told_sets(ledger: Ledger, *, level: float = 0.95) -> tuple[TestSet, ...]:
    """The test sets of a ledger in the order they were first looked at; looks at sets that share rows count for each.

    Examples
    --------
    >>> from heldout.audit.ledger import MemoryLedger
    >>> told_sets(MemoryLedger())
    ()
    """
    found = {look.rows.key: look.rows for look in ledger.looks()}
    sets = []
    for key, rows in found.items():
        looks = ledger.looks_at(rows)
        prices = [look.price for look in looks]
        width = min(1.0, 2 * half_width(len(rows), level=level, alphabets=prices)) if _bounded(prices) else None
        sets.append(TestSet(key=key, rows=len(rows), looks=looks, next_width=width))
    return tuple(sets)


def _bounded(prices: list[float]) -> bool:
    return all(map(isfinite, prices))
