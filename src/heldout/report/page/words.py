"""Values as words on a page: cleaned, short, and whole in a tooltip where they were cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from heldout.base.amounts import show_seconds
from heldout.base.words import SHORT, amount, clipped, line, safe, share, shortened

if TYPE_CHECKING:
    from markupsafe import Markup

WHOLE = 500  # characters of a name that its tooltip holds
PROSE, CODE = 1_500, 20_000  # characters of a sentence, and of a program
SHARES = ("zero_one", "accuracy")  # losses that count rows


def named(value: Any, most: int = SHORT) -> Markup:
    """A text from data as markup: escaped, and where it was cut the whole, up to a length, in a tooltip."""
    from markupsafe import Markup

    text = line(value)
    if len(text) <= most:
        return Markup("<bdi>{}</bdi>").format(text)
    cut = Markup('<bdi class="cut" data-tip="{}" tabindex="0">{}</bdi>')
    return cut.format(clipped(text, WHOLE), shortened(text, most))


def prose(text: Any) -> str:
    """A sentence, which may hold names of any length, on one line and with an end."""
    return clipped(line(text), PROSE)


def code(text: Any) -> str:
    """A program with its line breaks, and with an end."""
    return clipped(safe(text), CODE)


def percent(share: float) -> str:
    """A level as people write it.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.4g}%"


def between(estimate: Mapping[str, Any]) -> str:
    """An interval in words, or a dash.

    >>> between({"low": 0.1, "high": 0.2}), between({"low": None, "high": None})
    ('0.1 to 0.2', '–')
    """
    return "–" if estimate["low"] is None else f"{amount(estimate['low'])} to {amount(estimate['high'])}"


def told(estimate: Mapping[str, Any]) -> str:
    """The number of an estimate, or the answer that is told in its place.

    >>> told({"value": None, "answer": "pass: at most 60"}), told({"value": 50.9, "answer": "rounded to 0.1"})
    ('pass: at most 60', '50.9 (rounded to 0.1)')
    """
    value, answer = estimate["value"], estimate["answer"]
    if answer is None:
        return amount(value)
    return shortened(answer) if value is None else f"{amount(value)} ({shortened(answer)})"


def said(value: float | str | None, loss: str) -> str:
    """A value of this loss as the verdict says it: what counts rows in per cent.

    >>> said(0.0229, "zero_one"), said(0.0229, "log")
    ('2.3%', '0.0229')
    """
    return share(value) if loss in SHARES and isinstance(value, int | float) else amount(value)


def counted(count: int, thing: str) -> str:
    """So many things.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def rows(size: float | None) -> str:
    """A number of rows, which may be a mean over parts of unlike size.

    >>> rows(455.2), rows(120.0), rows(None)
    ('about 455', '120', '–')
    """
    if size is None:
        return "–"
    return f"{size:,.0f}" if size == round(size) else f"about {size:,.0f}"


def by(value: float | str | None) -> Markup:
    """The attribute that a cell sorts by, where its value is a number.

    >>> print(by(0.25), by("-inf"))
    data-value="0.25" data-value="-inf"
    """
    from markupsafe import Markup

    number = isinstance(value, int | float) or value in ("inf", "-inf")
    return Markup('data-value="{}"').format(f"{float(value):.10g}") if value is not None and number else Markup("")


FILTERS: dict[str, Callable[..., Any]] = {
    "amount": amount,
    "between": between,
    "by": by,
    "code": code,
    "counted": counted,
    "line": line,
    "named": named,
    "percent": percent,
    "prose": prose,
    "rows": rows,
    "said": said,
    "seconds": show_seconds,
    "shortened": shortened,
    "told": told,
}
