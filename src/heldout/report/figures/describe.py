"""Defines a kind of figure: how its data are drawn, and how they are described to readers who cannot see it."""

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
MOST_TIPS = 60  # figures with more marks have no tooltips, which the keyboard would stop at one by one
LONGEST = 120  # characters of a name in a table or a tooltip

Cell = str | float | int | None
Data = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Holds the title, text alternative and data table of a figure, and the tooltips of its marks.

    The caption says what is not seen at a glance; the text alternative tells the figure to those who cannot see it.
    """

    title: str
    alt: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    tips: tuple[str, ...] = ()
    caption: str = ""


def _whole(data: Data) -> list[Data]:
    return [data]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Defines how a figure is drawn and described; ``panels`` splits its data into one part per pair of axes."""

    shape: Callable[[Data], Shape]
    draw: Callable[[Data, Any], None]
    describe: Callable[[Data], Description]
    panels: Callable[[Data], list[Any]] = _whole

    def plot(self, data: Data, ax: Any = None, *, shown: bool = True) -> Any:
        """Draw on the given axes, or on a new figure, and return the axes."""
        data = present(data)
        if ax is not None:
            self.draw(data, ax)
            return ax
        ax = axes_of(self.shape(data), shown=shown)
        self.draw(data, ax)
        widen_left(ax)
        return ax


def present(data: Data) -> Data:
    """Return the data of a figure; raise an OptionError with the reason where there are none."""
    if "none" in data:
        raise OptionError(str(data["none"]))
    return data


def one_each(name: str) -> Callable[[Data], list[Any]]:
    """Return a function that splits a figure's data into one panel per member of the list `name`."""
    return lambda data: [{**data, name: [member]} for member in data[name]]


def evenly(values: Sequence[T], most: int = MOST_ROWS) -> list[T]:
    """Return at most `most` of the values, evenly spaced, with the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[place * (len(values) - 1) // (most - 1)] for place in range(most)]


def left_out(shown: int, whole: int, what: str) -> str:
    """Return a sentence that says how many items the table has; empty if it has all of them."""
    return "" if shown >= whole else f" The table has {shown:,} of {whole:,} {what}."


def listed(texts: Sequence[str], most: int) -> str:
    """Return the first `most` texts joined with semicolons, as the end of a sentence."""
    return "; ".join(texts[:most]) + ("; …" if len(texts) > most else ".")


def describe(
    title: str,
    alt: str,
    head: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    tips: Sequence[str] = (),
    *,
    caption: str = "",
) -> Description:
    """Return a Description whose texts are cut to length; tooltips are left out if there are more than MOST_TIPS.

    The caption is a part of the text alternative.
    """
    return Description(
        title=shortened(title, 120),
        alt=shortened(f"{alt} {caption}".strip(), 900),
        caption=shortened(caption, 300),
        head=tuple(shortened(name, LONGEST) for name in head),
        rows=tuple(tuple(shortened(cell, LONGEST) if isinstance(cell, str) else cell for cell in row) for row in rows),
        tips=tuple(shortened(tip, LONGEST) for tip in tips) if len(tips) <= MOST_TIPS else (),
    )


def span(values: Sequence[Any]) -> str:
    """Return the range of the finite values as "from 0.1 to 0.2"."""
    numbers = [float(value) for value in values if is_finite(value)]
    return f"from {amount(min(numbers))} to {amount(max(numbers))}" if numbers else "without a number"


def ends_words(low: Any, high: Any) -> str:
    """Return an interval as " (0.1 to 0.2)" to follow a number; empty if there is none."""
    return "" if low is None or high is None else f" ({amount(low)} to {amount(high)})"


def value_words(value: Any) -> str:
    """Return the value of a parameter as text."""
    return number(value) if isinstance(value, float) else line(value)


def parameter_name(values: Data) -> str:
    """Return the name of a parameter, followed by its family if there are several families."""
    family = line(values["family"] or "")
    if not family:
        return shortened(values["param"], 56)
    return f"{shortened(values['param'], 36)} of {shortened(family, 18)}"
