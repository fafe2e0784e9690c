"""Values as words on a page: cleaned, short, and whole in a tooltip where they were cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from heldout.base.sizes import show_seconds
from heldout.base.words import clipped, line, number

if TYPE_CHECKING:
    from markupsafe import Markup

SHORT, WHOLE = 60, 500  # characters of a name that are shown, and that its tooltip holds


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


def named(value: Any, most: int = SHORT) -> Markup:
    """A text from data as markup: escaped, and where it was cut the whole, up to a length, in a tooltip."""
    from markupsafe import Markup

    text = line(value)
    if len(text) <= most:
        return Markup("<bdi>{}</bdi>").format(text) if text else Markup("")
    return Markup('<bdi class="cut" data-tip="{}" tabindex="0">{}</bdi>').format(
        clipped(text, WHOLE), shortened(text, most)
    )


def amount(value: Any) -> str:
    """A number for people: four digits, more where they are whole thousands; a dash for none.

    >>> amount(0.123456), amount(12345.6), amount(None), amount(-0.00002), amount("inf")
    ('0.1235', '12,346', '–', '-2e-05', '∞')
    """
    if value in ("inf", "-inf"):
        return "∞" if value == "inf" else "-∞"
    if isinstance(value, int | float) and not isinstance(value, bool) and 1000 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return number(value)


def percent(share: float) -> str:
    """A level as people write it.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.4g}%"


FILTERS: dict[str, Callable[..., Any]] = {
    "line": line,
    "shortened": shortened,
    "named": named,
    "amount": amount,
    "percent": percent,
    "seconds": show_seconds,
}
