"""Converts numbers of a summary to positions on an axis, and sets axis limits and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

LARGEST = 1e300  # larger numbers are clipped to this, so that no difference of two positions overflows
LAST_POWER = 305.0
MOST_TICKS = 5
PAD = 0.06  # margin at each end, as a share of the range
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Points = Sequence[Mapping[str, Any]]


def real(value: Any) -> float:
    """Return a number of a summary as a float: None becomes NaN, "inf" infinity; finite numbers are clipped."""
    if value is None:
        return math.nan
    if isinstance(value, int):  # which may be too large for a float
        value = max(min(value, int(LARGEST)), -int(LARGEST))
    number = float(value)
    return math.copysign(min(abs(number), LARGEST), number) if math.isfinite(number) else number


def is_finite(*values: Any) -> bool:
    """Check whether all values are finite numbers."""
    return all(math.isfinite(real(value)) for value in values)


def column(points: Points, name: str) -> list[float]:
    """Return the value `name` of each point as a float."""
    return [real(point[name]) for point in points]


def finite(points: Points, *names: str) -> list[Mapping[str, Any]]:
    """Return the points whose values `names` are all finite."""
    return [point for point in points if is_finite(*(point[name] for name in names))]


def ends(values: Iterable[Any], *, pad: float = PAD) -> tuple[float, float]:
    """Return axis limits that contain all finite values, with a margin of `pad` times their range at each end."""
    numbers = [number for number in map(real, values) if math.isfinite(number)]
    if not numbers:
        return 0.0, 1.0
    low, high = min(numbers), max(numbers)
    free = (high - low) * pad
    if free <= 0 or low - free == low:  # all equal, or nearly so
        free = abs(high) * 0.05 or 0.5
    return low - free, high + free


def within(value: Any, low: float, high: float) -> float:
    """Return the number clipped to the limits of the axis."""
    return min(max(real(value), low), high)


def log_ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the limits of a logarithmic axis that contains all values."""
    low, high = ends([math.log10(value) for value in values])
    return 10.0 ** max(low, -LAST_POWER), 10.0 ** min(high, LAST_POWER)


@cache
def _formatter() -> Any:
    from matplotlib.ticker import Formatter

    class Plain(Formatter):
        """Formats ticks with as many digits as distinguish them, without an offset or formulas."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            return tick_words([x])[0]

        def format_ticks(self, values: Sequence[float]) -> list[str]:
            return tick_words(list(values))

    return Plain


def tick_words(values: Sequence[float]) -> list[str]:
    """Return the numbers of an axis as text, all with the same number of decimals.

    >>> tick_words([0.0, 0.25, 0.5]), tick_words([-1000.0, 0.0, 1000.0]), tick_words([1e-9, 2e-9])
    (['0.00', '0.25', '0.50'], ['−1,000', '0', '1,000'], ['1e−9', '2e−9'])
    """
    largest = max((abs(value) for value in values), default=0.0)
    if largest >= 1e6 or 0 < largest < 1e-3:
        digits = next(d for d in range(1, 18) if d == 17 or _tell_apart([f"{v:.{d}g}" for v in values], values))
        texts = [f"{value:.{digits}g}" for value in values]
        return [text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e").replace("-", "−") for text in texts]
    step = min((abs(b - a) for a, b in pairwise(values) if b != a), default=largest or 1.0)
    decimals = next(d for d in range(13) if d == 12 or abs(round(step, d) - step) < step * 1e-3)
    return [f"{value + 0.0:,.{decimals}f}".replace("-", "−") for value in values]


def _tell_apart(texts: Sequence[str], values: Sequence[float]) -> bool:
    """Check whether each text gives its number, and different numbers have different texts."""
    near = all(abs(float(text) - value) <= 1e-9 * abs(value) for text, value in zip(texts, values, strict=True))
    return near and len(set(texts)) == len(set(values))


def linear(axis: Any, *, most: int = MOST_TICKS, whole: bool = False) -> None:
    """Set at most `most` ticks at round numbers; only at integers if `whole`."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=most, integer=whole, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(_formatter()())


def logarithmic(ax: Any, values: Sequence[float]) -> None:
    """Make the x axis logarithmic and contain all values."""
    low, high = log_ends(values)
    ax.set_xlim(low, high)  # before the scale, which otherwise chooses limits of its own
    ax.set_xscale("log")
    powers(ax.xaxis, low, high)


def powers(axis: Any, low: float, high: float, *, most: int = 6) -> None:
    """Set ticks at powers of ten, written in full if short, otherwise as 10⁻⁶."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    chosen = range(first, last + 1, max(1, math.ceil((last - first + 1) / most)))
    ticks = [10.0**power for power in chosen]
    if len(chosen) < 3:  # few powers: 1, 2 and 5 of each
        ticks = [m * 10.0**p for p in range(first - 1, last + 2) for m in (1, 2, 5) if low <= m * 10.0**p <= high]
    if len(chosen) < 3 or (first >= -3 and last <= 4):
        labels = [f"{tick:,g}" for tick in ticks]
    else:
        labels = [f"10{str(power).translate(RAISED)}" for power in chosen]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter(labels))
    axis.set_minor_locator(NullLocator())
