"""Words and numbers as people are shown them: nothing in a text that a terminal or a page would act on."""

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
    """Text from data or learners with nothing in it that a terminal would act on.

    >>> safe("a\\x1b[31mb")
    'a�[31mb'
    """
    return _ACTS.sub("�", str(text))


def line(text: Any) -> str:
    """The same on one line: a name with a line break in it must not look like a line of ours.

    >>> line("one\\n  two")
    'one two'
    """
    return " ".join(safe(text).split())


def clipped(text: str, most: int = 300) -> str:
    """A text no longer than that, with a mark where the rest is left out.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def shortened(value: Any, most: int = SHORT) -> str:
    """A text on one line, cut in its middle where it is longer than so many characters.

    >>> shortened("a" * 50 + "b" * 50, 11)
    'aaaaa…bbbbb'
    """
    text = line(value)
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def listed(names: Sequence[Any], most: int = 6) -> str:
    """The first of some names, with a mark where there are more.

    >>> listed(["a", "b", "c"], 2), listed(["a"])
    ('a, b, …', 'a')
    """
    return ", ".join(map(str, names[:most])) + (", …" if len(names) > most else "")


def fit_words(fits: int, instead_of: int | None = None) -> str:
    """How many fits work takes; none are taken where answers have a closed form.

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
    """A number with four significant digits, or a dash; infinity comes as text, since JSON has none.

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
    """A share in per cent: one digit after the point, or as many as it takes not to say none or all where it is not.

    >>> share(0.0421), share(0.9997), share(1.0), share(0.00004)
    ('4.2%', '99.97%', '100.0%', '0.004%')
    """
    cents, digits = 100 * value, 1
    while digits < 9 and 0 < cents < 100 and round(cents, digits) in (0, 100):
        digits += 1
    return f"{cents:.{digits}f}%"
