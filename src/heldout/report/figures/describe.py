"""What a figure is: how its data are drawn, and how they are told to those who do not see the drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from heldout.base.errors import OptionError
from heldout.base.words import line, number, shortened
from heldout.report.figures.canvas import Shape, axes_of, widen_left
from heldout.report.figures.scales import is_finite
from heldout.report.words import amount

MOST_ROWS = 200
MOST_TIPS = 60  # marks that are worth a stop of the keyboard
LONGEST = 120  # letters of a name in a table or beside a mark

Cell = str | float | int | None
Data = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What goes with a picture for those who do not see it, and the words of single marks."""

    title: str
    alt: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    tips: tuple[str, ...] = ()


def _whole(data: Data) -> list[Data]:
    return [data]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One figure: ``panels`` cuts its data into what is drawn on one pair of axes each."""

    shape: Callable[[Data], Shape]
    draw: Callable[[Data, Any], None]
    describe: Callable[[Data], Description]
    panels: Callable[[Data], list[Any]] = _whole

    def plot(self, data: Data, ax: Any = None, *, shown: bool = True) -> Any:
        """Draw on the given axes, or on a figure of its own, and return the axes."""
        data = present(data)
        if ax is not None:
            self.draw(data, ax)
            return ax
        ax = axes_of(self.shape(data), shown=shown)
        self.draw(data, ax)
        widen_left(ax)
        return ax


def present(data: Data) -> Data:
    """The data of a figure; an error that says why where there are none."""
    if "none" in data:
        raise OptionError(str(data["none"]))
    return data


def one_each(name: str) -> Callable[[Data], list[Any]]:
    """The same data with one member of this list at a time."""
    return lambda data: [{**data, name: [member]} for member in data[name]]


def evenly(values: Sequence[T], most: int = MOST_ROWS) -> list[T]:
    """At most so many of them, evenly over all, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[place * (len(values) - 1) // (most - 1)] for place in range(most)]


def left_out(shown: int, whole: int, what: str) -> str:
    """A sentence that says how many of them are in the table; nothing where all are."""
    return "" if shown >= whole else f" The table has {shown:,} of {whole:,} {what}."


def listed(texts: Sequence[str], most: int) -> str:
    """The first of several texts as the end of a sentence."""
    return "; ".join(texts[:most]) + ("; …" if len(texts) > most else ".")


def describe(
    title: str, alt: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], tips: Sequence[str] = ()
) -> Description:
    """A figure in words: names from data clipped in all of them, and words for single points where those are few."""
    return Description(
        title=shortened(title, 120),
        alt=shortened(alt, 900),
        head=tuple(shortened(name, LONGEST) for name in head),
        rows=tuple(tuple(shortened(cell, LONGEST) if isinstance(cell, str) else cell for cell in row) for row in rows),
        tips=tuple(shortened(tip, LONGEST) for tip in tips) if len(tips) <= MOST_TIPS else (),
    )


def span(values: Sequence[Any]) -> str:
    """ "from 0.1 to 0.2", over those that are numbers."""
    numbers = [float(value) for value in values if is_finite(value)]
    return f"from {amount(min(numbers))} to {amount(max(numbers))}" if numbers else "without a number"


def ends_words(low: Any, high: Any) -> str:
    """An interval behind a number: " (0.1 to 0.2)"; nothing where there is none."""
    return "" if low is None or high is None else f" ({amount(low)} to {amount(high)})"


def value_words(value: Any) -> str:
    """The value of a parameter."""
    return number(value) if isinstance(value, float) else line(value)


def parameter_name(values: Data) -> str:
    """A parameter, and the family that it belongs to where there are several."""
    family = line(values["family"] or "")
    if not family:
        return shortened(values["param"], 56)
    return f"{shortened(values['param'], 36)} of {shortened(family, 18)}"
