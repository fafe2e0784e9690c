"""Axes to draw on: colours, text, scales and margins that all figures share."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from itertools import pairwise
from typing import Any

from heldout.base.errors import OptionError
from heldout.base.words import shortened

# Told apart by people who see few colours, and in grey (after Okabe and Ito): by name in the light and in the dark.
_COLOURS = {
    "ink": ("#1F2328", "#E6EAEE"),
    "soft": ("#57606A", "#A8B1BB"),
    "grid": ("#E3E6EA", "#333A42"),
    "paper": ("#FFFFFF", "#14181D"),
    "grey": ("#DDDDDD", "#444C55"),
    "blue": ("#0072B2", "#5AB0E8"),
    "orange": ("#E69F00", "#F2B544"),
    "green": ("#009E73", "#3CC79C"),
    "vermilion": ("#D55E00", "#FF8A4C"),
    "purple": ("#CC79A7", "#E3A0C5"),
    "sky": ("#56B4E9", "#8CCBF2"),
}
NAMES = {light: name for name, (light, _) in _COLOURS.items()}
DARK = {name: dark for name, (_, dark) in _COLOURS.items()}
INK, SOFT, GRID, PAPER, GREY, BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = NAMES
SEVERAL = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)  # where lines stand for different things


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--fig-{name}:{colour};" for name, colour in colours.items())


def _css() -> str:
    light = _variables({name: colour for colour, name in NAMES.items()})
    dark = _variables(DARK)
    turned = "".join(
        f".fig .f-{name}{{fill:var(--fig-{name})}}.fig .s-{name}{{stroke:var(--fig-{name})}}" for name in NAMES.values()
    )
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"
        f':root[data-theme="light"]{{{light}}}\n'
        f':root[data-theme="dark"]{{{dark}}}\n'
        f"@media print{{:root:root{{{light}}}}}\n"
        ".fig{display:block;width:100%;height:auto;font-family:inherit;overflow:visible}\n"
        f"{turned}\n"
        ".fig [data-tip]{cursor:help}\n"
        ".fig [data-tip]:focus-visible{outline:2px solid var(--fig-ink);outline-offset:1px}\n"
    )


PALETTE_CSS = _css()

TEXT = 10.0  # points; a figure as wide as a phone shows them about as large as they are
SMALL = 9.0
LETTERS = 58  # that fit side by side across a figure of ours
LETTER = 6.1  # points, of a usual one


def room(ax: Any) -> int:
    """How many letters fit side by side across these axes, which may be the user's own and narrow."""
    inches = ax.get_position().width * ax.figure.get_figwidth()
    return max(12, int(inches * 72 / LETTER))


def literal(texts: Iterable[Any]) -> None:
    """A dollar sign in a name is a dollar sign: matplotlib would take two of them for a formula."""
    for text in texts:
        text.set_parse_math(False)


def write(ax: Any, place: tuple[float, float], text: str, **how: Any) -> Any:
    """Put a text on the axes, at a place in data or whatever ``transform`` says."""
    how = {"fontsize": TEXT, "color": "#1F2328", **how}
    return ax.text(*place, text, parse_math=False, clip_on=False, **how)


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


LEFT, LARGEST_LEFT = 0.62, 1.4  # inches: room for numbers of five digits, and of as many as there may be
DIGIT, ASIDE = 6.4, 7.0  # points: the width of a digit, and what is free on both sides of a number
WIDTH = 5.2  # inches: on the page as wide as a phone, so that ten points are ten points


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The height of a figure and its margins, in inches. Fixed, since measuring every label takes most of the time."""

    height: float
    left: float = LEFT
    right: float = 0.14
    bottom: float = 0.52
    top: float = 0.36


def present(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The data of a figure; an error that says why where there are none."""
    if "none" in data:
        raise OptionError(str(data["none"]))
    return data


def matplotlib_figure() -> Any:
    """The figures of matplotlib, which is imported when the first one is drawn; an error that names the extra."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError(
            "A figure needs matplotlib. Install it with pip install 'heldout[plot]', or read the numbers from "
            "summary(figures=True) instead."
        ) from None
    return Figure


def axes_of(shape: Shape, *, shown: bool = True) -> Any:
    """Axes on a figure of their own. Where the user has pyplot and it is to be shown, pyplot shows it as any other."""
    make = matplotlib_figure()
    pyplot = sys.modules.get("matplotlib.pyplot")
    if shown and pyplot is not None:
        make = pyplot.figure
    figure = make(figsize=(WIDTH, shape.height), facecolor=PAPER)
    figure.subplots_adjust(
        left=shape.left / WIDTH,
        right=1 - shape.right / WIDTH,
        bottom=shape.bottom / shape.height,
        top=1 - shape.top / shape.height,
    )
    return figure.subplots()


def drawing(shape: Callable[[Any], Shape]) -> Callable[[Callable[[Any, Any], None]], Callable[..., Any]]:
    """Make a function that draws data on axes one that makes the axes too where none are given, and returns them."""

    def decorate(draw: Callable[[Any, Any], None]) -> Callable[..., Any]:
        @wraps(draw)
        def drawn(data: Mapping[str, Any], ax: Any = None) -> Any:
            data = present(data)
            ax = axes_of(shape(data)) if ax is None else ax
            draw(data, ax)
            return ax

        return drawn

    return decorate


def left_of_numbers(low: float, high: float, *, least: float = LEFT) -> float:
    """Inches at the left of an axis that runs from here to there: counted in digits, since measuring takes long."""
    matplotlib_figure()  # its error says what to install
    needed = (max(map(len, linear_words(low, high)), default=0) * DIGIT + ASIDE) / 72
    return min(max(least, needed), LARGEST_LEFT)


def quiet(ax: Any, *, grid: bool = False, floor: bool = False) -> None:
    """No frame and no ticks; faint lines where values are read off, or a floor where each has its number beside it."""
    ax.set_facecolor("none")
    ax.spines[:].set_visible(False)
    ax.spines["bottom"].set(visible=floor, color=GRID)
    ax.grid(False)
    if grid:
        ax.grid(True, axis="y", color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
    ax.tick_params(which="both", length=0, bottom=False, left=False, labelsize=TEXT, labelcolor=SOFT, pad=4)
    if floor:
        ax.tick_params(axis="x", bottom=True, length=4, width=0.8, color=GRID)


def name_axes(ax: Any, *, x: Any = None, y: Any = None, most: int = 54) -> None:
    """Words under the x axis, and words for the y axis lying flat above it, where a phone has room for them."""
    if x is not None:
        ax.set_xlabel(shortened(x, most), fontsize=TEXT, color=INK)
    if y is not None:
        label = ax.set_ylabel(shortened(y, most), fontsize=TEXT, color=INK)
        label.set(rotation=0, ha="left", va="bottom")
        ax.yaxis.set_label_coords(0, 1.03)
    literal((ax.xaxis.label, ax.yaxis.label))


def better(data: Mapping[str, Any], *, of: str = "") -> str:
    """The loss with its direction: "log loss (lower is better)"."""
    loss = shortened(data["loss"], 28)
    return f"{of}{loss} ({'higher' if data['greater_is_better'] else 'lower'} is better)"


def key(ax: Any, handles: list[Any], *, height: float = 1.0) -> None:
    """What colours and marks mean, in a line above the axes (``height`` of 1 is their upper edge)."""
    legend = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, height),
        ncols=len(handles),
        frameon=False,
        fontsize=SMALL,
        labelcolor=SOFT,
        borderaxespad=0.2,
        borderpad=0,
        handlelength=1.3,
        handletextpad=0.5,
        columnspacing=1.2,
    )
    literal(legend.get_texts())
