"""A figure in words: its title, what a sighted reader sees, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from heldout.base.words import shortened
from heldout.report.figures.canvas import is_finite
from heldout.report.words import amount

MOST_ROWS = 200
MOST_TIPS = 60  # marks that are worth a stop of the keyboard
LONGEST = 120  # letters of a name in a table or beside a mark
POINTS = "points"  # the marks of a figure, by the id that matplotlib gives the drawing

Cell = str | float | int | None
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What goes with a picture for those who do not see it, and the words of single marks."""

    title: str
    alt: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    tips: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def evenly(values: Sequence[T], most: int = MOST_ROWS) -> list[T]:
    """At most so many of them, evenly over all, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[place * (len(values) - 1) // (most - 1)] for place in range(most)]


def left_out(shown: int, whole: int, what: str) -> str:
    """A sentence that says how many of them are in the table; nothing where all are."""
    return "" if shown >= whole else f" The table has {shown:,} of {whole:,} {what}."


def describe(
    title: str, alt: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], tips: Sequence[str] = ()
) -> Description:
    """A figure in words: names from data clipped in all of them, and words for single points where those are few."""
    return Description(
        title=shortened(title, 120),
        alt=shortened(alt, 900),
        head=tuple(shortened(name, LONGEST) for name in head),
        rows=tuple(tuple(shortened(cell, LONGEST) if isinstance(cell, str) else cell for cell in row) for row in rows),
        tips={POINTS: tuple(shortened(tip, LONGEST) for tip in tips)} if 0 < len(tips) <= MOST_TIPS else {},
    )


def span(values: Sequence[Any]) -> str:
    """ "from 0.1 to 0.2", over those that are numbers."""
    told = [float(value) for value in values if is_finite(value)]
    if not told:
        return "without a number"
    return f"from {amount(min(told))} to {amount(max(told))}"
