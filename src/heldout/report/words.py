"""Numbers, intervals and estimates in words: the only place that formats them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.words import line, number, share, shortened

SHARES = ("zero_one", "accuracy")  # losses that count rows
DASH = "–"


def one_line(text: Any) -> str:
    """A text on one line with nothing that a terminal would act on; most texts are so already.

    >>> one_line("one\\n  two")
    'one two'
    """
    text = str(text)
    return text if text.isprintable() and "  " not in text and text == text.strip() else line(text)


def amount(value: float | str | None) -> str:
    """A number with four digits, and all of those before the point; a dash for none.

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


def of_loss(value: float | str | None, loss: str) -> str:
    """A value of this loss as the verdict says it: shares of rows in per cent.

    >>> of_loss(0.0229, "zero_one"), of_loss(0.0229, "log")
    ('2.3%', '0.0229')
    """
    return share(value) if loss in SHARES and isinstance(value, int | float) else amount(value)


def p_words(p: float | None) -> str:
    """A p-value.

    >>> p_words(0.03456), p_words(1.2345e-9), p_words(None)
    ('0.0346', '1.2e-09', '–')
    """
    if p is None:
        return DASH
    return f"{p:.2g}" if p < 0.001 else f"{p:.3g}"


def spaced(text: str) -> str:
    """A text on one line that keeps the blanks at its ends, which keep it apart from its neighbours.

    >>> spaced("  a\\n b ")
    '  a b '
    """
    words = one_line(text)
    if not words:
        return text if text.isspace() and "\n" not in text else ""
    return " " * (len(text) - len(text.lstrip(" "))) + words + " " * (len(text) - len(text.rstrip(" ")))


def level_words(level: float) -> str:
    """The level of an interval.

    >>> level_words(0.95), level_words(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:.4g}%"


def between(estimate: Mapping[str, Any], *, loss: str = "") -> str:
    """The ends of an interval, or a dash; in per cent where the loss is a share of rows.

    >>> between({"low": 0.1, "high": 0.2}), between({"low": None, "high": None})
    ('0.1 to 0.2', '–')
    """
    if estimate["low"] is None:
        return DASH
    return f"{of_loss(estimate['low'], loss)} to {of_loss(estimate['high'], loss)}"


def interval(estimate: Mapping[str, Any], *, loss: str = "") -> str:
    """An interval with its level; empty where there is none.

    >>> interval({"low": 0.1, "high": 0.25, "level": 0.95})
    '95% interval 0.1 to 0.25'
    """
    return (
        "" if estimate["low"] is None else f"{level_words(estimate['level'])} interval {between(estimate, loss=loss)}"
    )


def estimate_words(estimate: Mapping[str, Any]) -> str:
    """The number of an estimate, or what is told in its place: "0.12 (rounded to 0.01)", "pass: at most 0.2".

    >>> estimate_words({"value": 0.12, "answer": "rounded to 0.01"})
    '0.12 (rounded to 0.01)'
    """
    value, answer = estimate["value"], estimate.get("answer")
    if answer is None:
        return amount(value)
    return shortened(answer) if value is None else f"{amount(value)} ({shortened(answer)})"


def parameter_value(value: Any) -> float | str:
    """The value of a parameter for a table, as words where a cell would take it for nothing or for a number.

    >>> parameter_value(0.5), parameter_value(None), parameter_value(True)
    (0.5, 'None', 'True')
    """
    return value if isinstance(value, int | float) and not isinstance(value, bool) else line(value)


def counted(count: int, thing: str) -> str:
    """So many things.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}{'es' if thing.endswith('s') else 's'}"


def row_count(size: float | None) -> str:
    """A number of rows, which may be a mean over parts of unequal size.

    >>> row_count(455.2), row_count(120.0), row_count(None)
    ('about 455', '120', '–')
    """
    if size is None:
        return DASH
    return f"{size:,.0f}" if size == round(size) else f"about {size:,.0f}"


def moment(text: str | None) -> str:
    """A moment to the minute, in universal time, or a dash.

    >>> moment("2026-11-16T12:32:07+00:00"), moment(None)
    ('2026-11-16 12:32', '–')
    """
    return DASH if text is None else one_line(text)[:16].replace("T", " ")
