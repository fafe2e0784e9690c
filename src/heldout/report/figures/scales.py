"""Numbers as places: ends of axes, ticks that can be read, and what is not a finite number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from heldout.report.figures.lettering import literal

LARGEST = 1e300  # farther out is drawn here, so that no difference of two places overflows
LAST_POWER = 305.0
MOST_TICKS = 5
PAD = 0.06  # of the range, left free at each end
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def real(value: Any) -> float:
    """A number of a summary as a float: what is missing is NaN, "inf" is infinite."""
    if value is None:
        return math.nan
    if isinstance(value, int):  # which may be too large for a float
        value = max(min(value, int(LARGEST)), -int(LARGEST))
    number = float(value)
    return math.copysign(min(abs(number), LARGEST), number) if math.isfinite(number) else number


def is_finite(*values: Any) -> bool:
    """Whether all of them can be drawn."""
    return all(math.isfinite(real(value)) for value in values)


def ends(values: Iterable[Any], *, pad: float = PAD) -> tuple[float, float]:
    """From where to where an axis runs that shows all of these; what is not finite has no say."""
    told = [number for number in map(real, values) if math.isfinite(number)]
    if not told:
        return 0.0, 1.0
    low, high = min(told), max(told)
    free = (high - low) * pad
    if free <= 0 or low - free == low:  # all equal, or as good as
        free = abs(high) * 0.05 or 0.5
    return low - free, high + free


def within(value: Any, low: float, high: float) -> float:
    """The number where it can be drawn: an end of the axis in place of what lies past it."""
    return min(max(real(value), low), high)


def log_ends(values: Sequence[float]) -> tuple[float, float]:
    """The same for an axis of powers of ten."""
    low, high = ends([math.log10(value) for value in values])
    return 10.0 ** max(low, -LAST_POWER), 10.0 ** min(high, LAST_POWER)


@cache
def _formatter() -> Any:
    from matplotlib.ticker import Formatter

    class Plain(Formatter):
        """Ticks in full, with as many digits as tell them apart; no offset in a corner, no formulas."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            return tick_words([x])[0]

        def format_ticks(self, values: Sequence[float]) -> list[str]:
            return tick_words(list(values))

    return Plain


def tick_words(values: Sequence[float]) -> list[str]:
    """Numbers of an axis as text, all with the same digits after the point.

    >>> tick_words([0.0, 0.25, 0.5]), tick_words([-1000.0, 0.0, 1000.0]), tick_words([1e-9, 2e-9])
    (['0.00', '0.25', '0.50'], ['−1,000', '0', '1,000'], ['1e−9', '2e−9'])
    """
    largest = max((abs(value) for value in values), default=0.0)
    gaps = [abs(b - a) for a, b in pairwise(values) if b != a]
    step = min(gaps, default=largest or 1.0)
    if largest >= 1e6 or 0 < largest < 1e-3:
        digits = next(d for d in range(1, 18) if d == 17 or _apart([f"{v:.{d}g}" for v in values], values))
        found = [f"{value:.{digits}g}" for value in values]
        return [text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e").replace("-", "−") for text in found]
    places = next(d for d in range(13) if d == 12 or abs(round(step, d) - step) < step * 1e-3)
    return [f"{value + 0.0:,.{places}f}".replace("-", "−") for value in values]


def _apart(texts: Sequence[str], values: Sequence[float]) -> bool:
    """Whether different numbers have different texts, each the number itself."""
    near = all(abs(float(text) - value) <= 1e-9 * abs(value) for text, value in zip(texts, values, strict=True))
    return near and len(set(texts)) == len(set(values))


def linear(axis: Any, *, most: int = MOST_TICKS, whole: bool = False) -> None:
    """Few ticks at round numbers."""
    axis.set_major_locator(_locator(most, whole=whole))
    axis.set_major_formatter(_formatter()())


def _locator(most: int, *, whole: bool) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=most, integer=whole, steps=[1, 2, 2.5, 5, 10])


def linear_words(low: float, high: float) -> list[str]:
    """What stands beside the ticks of such an axis."""
    ticks = _locator(MOST_TICKS, whole=False).tick_values(low, high)
    return tick_words([float(tick) for tick in ticks if low <= tick <= high])


def powers(axis: Any, low: float, high: float, *, most: int = 6) -> None:
    """Ticks at powers of ten, written small numbers in full and others as 10⁻⁶."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    chosen = list(range(first, last + 1, step))
    if len(chosen) < 3:  # few powers: 1, 2 and 5 of each
        places = [m * 10.0**p for p in range(first - 1, last + 2) for m in (1, 2, 5) if low <= m * 10.0**p <= high]
        labels = [f"{place:,g}" for place in places]
    else:
        places = [10.0**p for p in chosen]
        plain = first >= -3 and last <= 4
        labels = [
            f"{place:,g}" if plain else f"10{str(p).translate(RAISED)}" for place, p in zip(places, chosen, strict=True)
        ]
    axis.set_major_locator(FixedLocator(places))
    axis.set_major_formatter(FixedFormatter(labels))
    axis.set_minor_locator(NullLocator())


def named(axis: Any, places: Sequence[float], words: Sequence[str], **how: Any) -> None:
    """Ticks that are names from data."""
    axis.set_ticks(list(places), labels=list(words), **how)
    literal(tick.label1 for tick in axis.get_major_ticks())
