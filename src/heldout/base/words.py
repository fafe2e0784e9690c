"""Formats texts, numbers and amounts for people, and parses amounts. No text can affect a terminal or a page."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from math import floor, isfinite, log10
from typing import Any

from heldout.base.errors import Argument, OptionError, Sentence

# Control characters, marks that turn the direction of writing, and what no file can hold: halves of characters, and
# two that XML forbids.
_ACTS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

SHORT = 60  # characters of a name that are shown among others


def safe(text: Any) -> str:
    """Replace the characters of a text from data or learners that a terminal would act on.

    >>> safe("a\\x1b[31mb")
    'a�[31mb'
    """
    return _ACTS.sub("�", str(text))


def line(text: Any) -> str:
    """Replace such characters and join all lines, so that a name with a line break cannot look like our own line.

    >>> line("one\\n  two")
    'one two'
    """
    return " ".join(safe(text).split())


def clipped(text: str, most: int = 300) -> str:
    """Cut a text to that length, with a mark where the rest is left out.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def shortened(value: Any, most: int = SHORT) -> str:
    """Put a text on one line, and shorten it in the middle if it is longer than `most` characters.

    >>> shortened("a" * 50 + "b" * 50, 11)
    'aaaaa…bbbbb'
    """
    text = line(value)
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def listed(names: Sequence[Any], most: int = 6) -> str:
    """List the first of some names, with a mark if there are more.

    >>> listed(["a", "b", "c"], 2), listed(["a"])
    ('a, b, …', 'a')
    """
    return ", ".join(map(str, names[:most])) + (", …" if len(names) > most else "")


def fit_words(fits: int, instead_of: int | None = None) -> str:
    """Say how many fits some work takes. Answers in closed form take none.

    >>> fit_words(25, 75), fit_words(0, 300), fit_words(5, 5)
    ('25 fits instead of 75', 'closed form instead of 300 fits', '5 fits')
    >>> fit_words(1)
    '1 fit'
    """
    words = f"{fits:,} fit{'s' * (fits != 1)}" if fits else "closed form"
    if instead_of is None or instead_of <= fits:
        return words
    return f"{words} instead of {instead_of:,}{'' if fits else ' fits'}"


def number(value: float | str | None) -> str:
    """Format a number with four significant digits; None gives a dash. Infinity comes as text, since JSON has none.

    >>> number(0.123456), number("inf"), number(None)
    ('0.1235', 'inf', '–')
    """
    if value is None or isinstance(value, str):
        return "–" if value is None else value
    try:
        return f"{value:.4g}"
    except OverflowError:  # a whole number that no float can hold
        return clipped(str(value), 20)


def share(value: float) -> str:
    """Format a share in per cent with one decimal, or with more if it would be rounded to 0 % or 100 %.

    >>> share(0.0421), share(0.9997), share(1.0), share(0.00004)
    ('4.2 %', '99.97 %', '100.0 %', '0.004 %')
    """
    cents, digits = 100 * value, 1
    while digits < 9 and 0 < cents < 100 and round(cents, digits) in (0, 100):
        digits += 1
    return f"{cents:.{digits}f} %"


def digits_of(low: Any, high: Any) -> int | None:
    """Return the decimals that show two digits of the width of an interval; negative for hundreds and more.

    >>> digits_of(0.964, 0.988), digits_of(27_900, 31_200), digits_of(None, None)
    (3, -2, None)
    """
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    width = abs(high - low)
    return 1 - floor(log10(width) + 1e-9) if width > 0 and isfinite(width) else None


def rounded(value: float, digits: int | None, *, sign: bool = False) -> str:
    """Return a number to these decimals, with commas; `sign` adds a plus. Without decimals: four significant digits.

    >>> rounded(29_437.2, -2), rounded(0.97934, 3), rounded(451.2, -2, sign=True), rounded(-0.0001, 2)
    ('29,400', '0.979', '+500', '0.00')
    >>> rounded(29_437.2, None), rounded(1e-12, None)
    ('29,437', '1e-12')
    """
    if digits is None or digits > 6 or abs(value) >= 1e15:
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
    near = round(float(value), digits) + 0.0
    return f"{near:{'+' * (sign and near != 0)},.{max(digits, 0)}f}"


def percent(value: float, digits: int | None = None) -> str:
    """Return a share in per cent, by default rounded to whole ones, near 0 % and 100 % to two digits of what is left.

    >>> percent(0.97934, 3), percent(0.6274), percent(0.0042), percent(0.9991)
    ('97.9 %', '63 %', '0.42 %', '99.910 %')
    """
    if digits is None:
        rest = min(abs(value), abs(1 - value))
        digits = 1 - floor(log10(rest) + 1e-9) if 1e-9 < rest < 0.01 else 2
    return f"{rounded(100 * round(value, max(digits, 2)), max(digits - 2, 0))} %"  # as the share itself is rounded


_UNITS = {"": 1, "b": 1} | {
    name: base**power
    for power, letter in enumerate("kmgt", 1)
    for name, base in ((letter, 1000), (f"{letter}b", 1000), (f"{letter}ib", 1024))
}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_bytes(amount: Any, option: str) -> int | None:
    """Parse a number of bytes, or a text with a unit. None stays None.

    >>> parse_bytes("2GB", "fit_memory"), parse_bytes("512 MiB", "fit_memory"), parse_bytes(1e6, "fit_memory")
    (2000000000, 536870912, 1000000)
    """
    if amount is None:
        return None
    count = math.nan
    if isinstance(amount, str):
        match = _AMOUNT.fullmatch(amount)
        if match and match[2].lower() in _UNITS:
            count = float(match[1]) * _UNITS[match[2].lower()]
    elif isinstance(amount, int | float) and not isinstance(amount, bool):
        count = float(amount)
    if not 1 <= count < math.inf:
        raise OptionError(
            Sentence('{} is not a number of bytes, nor a text such as "2GB" or "512MiB".', Argument(option, amount))
        )
    return int(count)


def parse_seconds(amount: Any, option: str) -> float | None:
    """Check a number of seconds above 0; None stays None.

    >>> parse_seconds(90, "timeout")
    90.0
    """
    if amount is None:
        return None
    number = isinstance(amount, int | float) and not isinstance(amount, bool)
    if not number or not 0 < amount < math.inf:
        raise OptionError(Sentence("{} is not a number of seconds above 0.", Argument(option, amount)))
    return float(amount)


def show_bytes(count: float) -> str:
    """Show a number of bytes for people.

    >>> show_bytes(1_234_567_890), show_bytes(45_600), show_bytes(12)
    ('1.23 GB', '45.6 kB', '12 B')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def show_seconds(seconds: float) -> str:
    """Show a span of time for people.

    >>> show_seconds(0.25), show_seconds(75), show_seconds(8000)
    ('0.25 s', '1 min 15 s', '2 h 13 min')
    """
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


NOTHING = "nothing: every candidate failed"


def choice_words(family: Any, params: Mapping[str, Any]) -> str:
    """Write a family and its parameters on one line, with short parameter names where these are unique.

    >>> choice_words("Pipeline", {"ridge__alpha": 0.1, "select__k": 5})
    'Pipeline alpha=0.1, k=5'
    """
    words = ", ".join(
        f"{name}={number(value) if isinstance(value, float) else value}"
        for name, value in zip(short_names(params), params.values(), strict=True)
    )
    return line(f"{family} {words}")


def short_names(params: Collection[str]) -> list[str]:
    """Shorten names such as `step__param` to their last part; return them unchanged if these are not unique."""
    short = [name.rpartition("__")[2] for name in params]
    return short if len(set(short)) == len(short) else list(params)


def words_of_choice(choice: Mapping[str, Any]) -> str:
    """Describe one entry of a summary's choices in words."""
    if choice["candidate"] < 0:
        return NOTHING
    return choice_words(choice["family"], choice["params"])
