"""Pieces of HTML for notebooks: any text is escaped unless it was made here, and a view brings its own style.

There is no script, no address and no `id` in it, so a view can be shown twice, offline and in a page of strangers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from numbers import Integral
from typing import Any

from heldout.base.words import clipped, line, number, safe

MOST_TEXT = 600  # characters of a sentence; a name in it may be endless
MOST_MESSAGE = 300
MOST_CODE = 2_000
MOST_CELL = 80  # characters of a cell of a table
SHORT = 28  # characters: a column with nothing longer in it is not broken into lines
MOST_ROWS = 12  # of a table; more are counted

# A notebook's own rules for tables are many, so every rule here names the view first. Colours are the notebook's.
_STYLE = """
.heldout-view{line-height:1.45;max-width:62em;overflow-wrap:anywhere;contain:paint;padding:.2em .1em}
.heldout-view p{margin:.35em 0}
.heldout-view p.heldout-head{font-size:1.15em;font-weight:600;margin:.2em 0 .4em}
.heldout-view p.heldout-title{font-weight:600;margin:.8em 0 .1em}
.heldout-view .heldout-quiet{opacity:.78}
.heldout-view .heldout-wide{overflow-x:auto}
.heldout-view ul{margin:.3em 0;padding-left:1.4em}
.heldout-view table.heldout-table{border-collapse:collapse;border:0;margin:.25em 0;width:auto;
table-layout:auto;font-size:.95em}
.heldout-view table.heldout-table tr:nth-child(n){background:none}
.heldout-view table.heldout-table :is(th,td){text-align:left;vertical-align:top;border:0;background:none;
padding:.15em 1.3em .15em 0;max-width:36em;min-width:0;white-space:normal;font-weight:inherit}
.heldout-view table.heldout-table thead th{font-weight:600;vertical-align:bottom;
border-bottom:1px solid rgba(128,128,128,.5)}
.heldout-view table.heldout-table tbody td{border-bottom:1px solid rgba(128,128,128,.18)}
.heldout-view table.heldout-table .heldout-number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.heldout-view table.heldout-table .heldout-short{white-space:nowrap}
.heldout-view table.heldout-table .heldout-words{min-width:9em}
.heldout-view table.heldout-facts tbody :is(th,td){border:0;max-width:none}
.heldout-view table.heldout-facts tbody th{opacity:.78}
.heldout-view pre.heldout-code{white-space:pre-wrap;margin:.3em 0;padding:0;font-size:.92em;background:none;border:0;
color:inherit}
.heldout-view .heldout-badge{border:1px solid rgba(128,128,128,.8);border-radius:.8em;padding:0 .55em;
font-size:.86em;font-weight:400;white-space:nowrap}
.heldout-view .heldout-warning{border-color:#c77d00;box-shadow:inset .35em 0 0 -.05em #c77d00}
.heldout-view .heldout-error{border-color:#d6333f;box-shadow:inset .35em 0 0 -.05em #d6333f}
.heldout-view details{margin:.3em 0}
.heldout-view details>summary{cursor:pointer;opacity:.9}
.heldout-view .heldout-inside{padding-left:1.1em}
""".replace("\n", "")
_FRAME = "heldout-view tex2jax_ignore mathjax_ignore"  # a dollar sign in a name is no formula


class Html(str):
    """Markup that was made here. Any other text is taken for text."""

    __slots__ = ()


SPACE = Html(" ")


def html(value: Any, most: int = MOST_TEXT) -> Html:
    """A value as markup: text on one line, with nothing that acts on a reader, clipped and escaped.

    >>> html("<b>&\\n"), html(Html("<b>"))
    ('&lt;b&gt;&amp;', '<b>')
    """
    return value if isinstance(value, Html) else Html(escape(clipped(line(value), most)))


def element(name: str, *inside: Any, css: str = "", **attributes: Any) -> Html:
    """An element with what is in it; `css` names classes of ours, without their prefix.

    >>> element("p", "1 < 2", css="head")
    '<p class="heldout-head">1 &lt; 2</p>'
    """
    classes = " ".join(f"heldout-{one}" for one in css.split())
    given = {"class": classes, **attributes} if classes else attributes
    words = "".join(f' {key}="{html(value)}"' for key, value in given.items())
    return Html(f"<{name}{words}>{''.join(html(one) for one in inside)}</{name}>")


def together(*pieces: Any) -> Html:
    """Pieces one after the other."""
    return Html("".join(html(piece) for piece in pieces))


def badge(text: str, kind: str = "") -> Html:
    """A word in a frame; `kind` is "warning" or "error", or anything else for neither."""
    return element("span", text, css=f"badge {kind}" if kind in ("warning", "error") else "badge")


def finding_markup(code: str, severity: str, message: Any) -> Html:
    """A finding: its number and severity in a frame, then the message, clipped."""
    return element("p", badge(f"{code} {severity}", severity), SPACE, html(message, MOST_MESSAGE))


def facts(rows: Mapping[str, Any]) -> Html:
    """Facts by name; those that are None or empty are left out."""
    lines = [
        element(
            "tr",
            element("th", html(label, MOST_CELL), css="short" if len(label) <= SHORT else "", scope="row"),
            element("td", value),
        )
        for label, value in rows.items()
        if value not in (None, "")
    ]
    return element("table", element("tbody", *lines), css="table facts") if lines else Html("")


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, most: int = MOST_ROWS) -> Html:
    """Rows under a heading, the first of them if there are many; columns of numbers stand to the right.

    Whole numbers get commas, other numbers four digits, None is a dash, words are clipped, and columns without a
    heading that hold nothing are left out.
    """
    shown = [[_cell(value) for value in row] for row in rows[:most]]
    named = [html(name, MOST_CELL) for name in head]
    places = [place for place in range(len(head)) if named[place] or any(row[place] for row in shown)]
    if not rows or not places:
        return Html("")
    kinds = {
        place: _kind([row[place] for row in rows[:most]], [named[place], *(row[place] for row in shown)])
        for place in places
    }
    top = [element("th", named[place], css=kinds[place], scope="col") for place in places]
    lines = [element("tr", *(element("td", row[place], css=kinds[place]) for place in places)) for row in shown]
    inside = element("table", element("thead", element("tr", *top)), element("tbody", *lines), css="table")
    more = element("p", f"… {len(rows) - most:,} more", css="quiet") if len(rows) > most else ""
    return together(element("div", inside, css="wide"), more)


def _kind(values: Sequence[Any], cells: Sequence[Html]) -> str:
    """How a column is set: numbers to the right, short words on one line."""
    if not any(isinstance(value, str) for value in values):
        return "number"
    return "short" if all(len(cell) <= SHORT for cell in cells) else "words"


def _cell(value: Any) -> Html:
    if isinstance(value, bool | str):
        return html(value, MOST_CELL)
    return html(f"{value:,}" if isinstance(value, Integral) else number(value))


def titled(title: str, *blocks: Any) -> Html:
    """Blocks under a title; nothing where they are empty."""
    return together(element("p", title, css="title"), *blocks) if any(blocks) else Html("")


def code(text: Any, most: int = MOST_CODE) -> Html:
    """Text that keeps its lines, such as a call; nothing where there is none."""
    kept = Html(escape(clipped(safe(text), most))) if text else ""
    return element("pre", kept, css="code") if kept else Html("")


def listed(items: Sequence[Any]) -> Html:
    """Items with a dot each; nothing where there are none."""
    return element("ul", *(element("li", item) for item in items)) if items else Html("")


def details(title: str, *inside: Any) -> Html:
    """What is shown when its title is clicked; nothing where there is nothing in it."""
    if not any(inside):
        return Html("")
    return element("details", element("summary", title), element("div", *inside, css="inside"))


def view(*blocks: Any) -> str:
    """Blocks as one fragment with its style, for `_repr_html_`."""
    inside = "".join(html(block) for block in blocks)
    return f'<style>{_STYLE}</style><div class="{_FRAME}">{inside}</div>'
