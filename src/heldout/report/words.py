"""Formats numbers, intervals and estimates as text; no other module of the reports does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.words import line, number, shortened

DASH = "–"


def one_line(text: Any) -> str:
    """Return a text on one line without control characters.

    >>> one_line("one\\n  two")
    'one two'
    """
    text = str(text)
    return text if text.isprintable() and "  " not in text and text == text.strip() else line(text)


def amount(value: float | str | None) -> str:
    """Return a number with four significant digits, all digits of integers included; a dash for None.

    >>> amount(0.123456), amount(12345.6), amount(None), amount(-0.00002), amount("inf")
    ('0.1235', '12,346', '–', '-2e-05', '∞')
    """
    if value is None:
        return DASH
    if value in ("inf", "-inf"):
        return "∞" if value == "inf" else "-∞"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and abs(value) < 10**15 else number(value)


def p_words(p: float | None) -> str:
    """Return a p-value as text, or a dash for None.

    >>> p_words(0.03456), p_words(1.2345e-9), p_words(None)
    ('0.0346', '1.2e-09', '–')
    """
    if p is None:
        return DASH
    return f"{p:.2g}" if p < 0.001 else f"{p:.3g}"


def spaced(text: str) -> str:
    """Return a text on one line that keeps the blanks at its ends, which separate it from its neighbours.

    >>> spaced("  a\\n b ")
    '  a b '
    """
    words = one_line(text)
    if not words:
        return text if text.isspace() and "\n" not in text else ""
    return " " * (len(text) - len(text.lstrip(" "))) + words + " " * (len(text) - len(text.rstrip(" ")))


def level_words(level: float) -> str:
    """Return the level of an interval as per cent.

    >>> level_words(0.95), level_words(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.4g} %"


def between(estimate: Mapping[str, Any]) -> str:
    """Return the ends of an interval, or a dash if there is none.

    >>> between({"low": 0.1, "high": 0.2}), between({"low": None, "high": None})
    ('0.1 to 0.2', '–')
    """
    return DASH if estimate["low"] is None else f"{amount(estimate['low'])} to {amount(estimate['high'])}"


def interval(estimate: Mapping[str, Any]) -> str:
    """Return an interval with its level; empty if there is none.

    >>> interval({"low": 0.1, "high": 0.25, "level": 0.95})
    '95 % interval 0.1 to 0.25'
    """
    return "" if estimate["low"] is None else f"{level_words(estimate['level'])} interval {between(estimate)}"


def estimate_words(estimate: Mapping[str, Any]) -> str:
    """Return the value of an estimate, or the answer displayed in its place: "pass: at most 0.2".

    >>> estimate_words({"value": 0.12, "answer": "rounded to 0.01"})
    '0.12 (rounded to 0.01)'
    """
    value, answer = estimate["value"], estimate.get("answer")
    if answer is None:
        return amount(value)
    return shortened(answer) if value is None else f"{amount(value)} ({shortened(answer)})"


def parameter_value(value: Any) -> float | str:
    """Return the value of a parameter for a table; None and booleans become text, since a cell would show a number.

    >>> parameter_value(0.5), parameter_value(None), parameter_value(True)
    (0.5, 'None', 'True')
    """
    return value if isinstance(value, int | float) and not isinstance(value, bool) else line(value)


def counted(count: int, thing: str) -> str:
    """Return a count with its noun in the singular or plural.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}{'es' if thing.endswith('s') else 's'}"


def row_count(size: float | None) -> str:
    """Return a number of rows as text; "about" marks a mean over parts of unequal size.

    >>> row_count(455.2), row_count(120.0), row_count(None)
    ('about 455', '120', '–')
    """
    if size is None:
        return DASH
    return f"{size:,.0f}" if size == round(size) else f"about {size:,.0f}"


def moment(text: str | None) -> str:
    """Return a time in UTC to the minute, or a dash for None.

    >>> moment("2026-11-16T12:32:07+00:00"), moment(None)
    ('2026-11-16 12:32', '–')
    """
    return DASH if text is None else one_line(text)[:16].replace("T", " ")
