"""A trap that was found: what was seen, why it matters, and the way out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout.audit.traps.catalogue import EXPLAINED

INFO, WARNING, ERROR = "info", "warning", "error"
SEVERITIES = (INFO, WARNING, ERROR)  # from mild to grave


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A numbered finding about a table."""

    code: str  # a key of EXPLAINED
    severity: str  # "info", "warning" or "error"
    seen: str  # a sentence: what was seen, where, how sure
    columns: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)  # the numbers behind it, plain values
    instead: str = ""  # the way out, where this case has another than its number says

    @property
    def why(self) -> str:
        """Why it matters."""
        return EXPLAINED[self.code].why

    @property
    def way_out(self) -> str:
        """What to do about it."""
        return self.instead or EXPLAINED[self.code].way_out

    @property
    def message(self) -> str:
        """What was seen, why it matters, and the way out."""
        return f"{self.seen} {self.why} {self.way_out}"

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.message}"


def shown(names: tuple[str, ...] | list[str], most: int = 5) -> str:
    """Names of columns for a message: the first few and how many there are.

    >>> shown(["a", "b"]), shown(list("abcdefg"))
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    first = ", ".join(repr(name) for name in names[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most:,} more"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
