"""A figure in words: its title, what a sighted reader sees, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from heldout.report.figures.lettering import short
from heldout.report.figures.scales import is_finite
from heldout.report.words import amount

MOST_ROWS = 200
MOST_TIPS = 60  # marks that are worth a stop of the keyboard
LONGEST = 120  # letters of a name in a table or beside a mark
POINTS = "points"  # the marks of a figure, by the id that matplotlib gives the drawing

Cell = str | float | int | None
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What goes with a picture for those who do not see it, and the words of single marks."""

    title: str
    alt: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    tips: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def spread(values: Sequence[T], most: int = MOST_ROWS) -> list[T]:
    """At most so many of them, evenly over all, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[place * (len(values) - 1) // (most - 1)] for place in range(most)]


def some(shown: int, whole: int, what: str) -> str:
    """A sentence that says how many of them are in the table; nothing where all are."""
    return "" if shown >= whole else f" The table has {shown:,} of {whole:,} {what}."


def tell(title: str, alt: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], tips: Sequence[str] = ()) -> Told:
    """A figure in words: names from data clipped in all of them, and words for single points where those are few."""
    return Told(
        title=short(title, 120),
        alt=short(alt, 900),
        head=tuple(short(name, LONGEST) for name in head),
        rows=tuple(tuple(short(cell, LONGEST) if isinstance(cell, str) else cell for cell in row) for row in rows),
        tips={POINTS: tuple(short(tip, LONGEST) for tip in tips)} if 0 < len(tips) <= MOST_TIPS else {},
    )


def interval(low: Any, high: Any, level: Any = None) -> str:
    """ "0.1 to 0.2", with its level where that is known; nothing where there is no interval."""
    if low is None or high is None:
        return ""
    words = f"{amount(low)} to {amount(high)}"
    return words if level is None else f"{100 * level:.4g}% interval {words}"


def counted(count: int, what: str) -> str:
    """ "1 fold", "5 folds", "2 classes"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}{'es' if what.endswith('s') else 's'}"


def between(values: Sequence[Any]) -> str:
    """ "from 0.1 to 0.2", over those that are numbers."""
    told = [float(value) for value in values if is_finite(value)]
    if not told:
        return "without a number"
    return f"from {amount(min(told))} to {amount(max(told))}"
