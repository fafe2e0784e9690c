"""Writes texts and numbers for people: nothing in a text can act on a terminal or a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

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
    """Do the same on one line: a name with a line break in it must not look like a line of ours.

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
    """Put a text on one line, and cut its middle if it is longer than that.

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
    """Say how many fits work takes; answers in closed form take none.

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
    """Write a number with four significant digits, or a dash; infinity comes as text, since JSON has none.

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
    """Write a share in per cent with one digit, or as many as it takes not to round it to 0% or 100%.

    >>> share(0.0421), share(0.9997), share(1.0), share(0.00004)
    ('4.2%', '99.97%', '100.0%', '0.004%')
    """
    cents, digits = 100 * value, 1
    while digits < 9 and 0 < cents < 100 and round(cents, digits) in (0, 100):
        digits += 1
    return f"{cents:.{digits}f}%"
