"""Builds HTML safely: all text is escaped unless this file made it."""

from __future__ import annotations

from html import escape
from typing import Any

from heldout.base.words import clipped, line, safe

MOST_TEXT = 600  # characters of a text; a name in it may be endless


class Html(str):
    """Text that is already markup. Any other text is escaped."""

    __slots__ = ()

    def __html__(self) -> Html:
        """Return the markup itself: Jinja calls this and then does not escape it."""
        return self


def html(value: Any, most: int = MOST_TEXT) -> Html:
    """Turn a value into markup: text on one line, clipped and escaped.

    >>> html("<b>&\\n"), html(Html("<b>"))
    ('&lt;b&gt;&amp;', '<b>')
    """
    return value if isinstance(value, Html) else Html(escape(clipped(line(value), most)))


def lines_html(text: Any, most: int) -> Html:
    """Turn a text into markup and keep its line breaks."""
    return Html(escape(clipped(safe(text), most)))


def element(name: str, *inside: Any, **attributes: Any) -> Html:
    """Build an element with its content.

    An underscore in an attribute's name stands for "-", and is dropped at the end. An attribute that is None is left
    out.

    >>> element("p", "1 < 2", class_="head", data_tip="<", hidden=None)
    '<p class="head" data-tip="&lt;">1 &lt; 2</p>'
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{words}>{''.join(html(part) for part in inside)}</{name}>")


def together(*pieces: Any) -> Html:
    """Join pieces of markup."""
    return Html("".join(html(piece) for piece in pieces))
