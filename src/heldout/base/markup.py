"""Pieces of HTML for notebooks: any text is escaped unless it was made here, and a view brings its own style.

There is no script, no address and no `id` in it, so a view can be shown twice, offline and in a page of strangers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from numbers import Integral
from typing import Any

from heldout.base.words import clipped, line, number

MOST_TEXT = 1_000  # characters of a sentence; a name in a sentence may be endless
MOST_CELL = 80  # characters of a cell of a table
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
.heldout-view table.heldout-facts tbody :is(th,td){border:0}
.heldout-view table.heldout-facts tbody th{opacity:.78;white-space:nowrap}
.heldout-view .heldout-badge{border:1px solid rgba(128,128,128,.8);border-radius:.8em;padding:0 .55em;
font-size:.86em;font-weight:400;white-space:nowrap}
.heldout-view .heldout-warning{border-color:#c77d00;box-shadow:inset .35em 0 0 -.05em #c77d00}
.heldout-view .heldout-error{border-color:#d6333f;box-shadow:inset .35em 0 0 -.05em #d6333f}
.heldout-view details{margin:.3em 0}
.heldout-view details>summary{cursor:pointer;opacity:.9}
.heldout-view details>:not(summary){margin-left:1.1em}
""".replace("\n", "")
_FRAME = "heldout-view tex2jax_ignore mathjax_ignore"  # a dollar sign in a name is no formula


class Html(str):
    """Markup that was made here. Any other text is taken for text."""

    __slots__ = ()


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


def facts(rows: Mapping[str, Any]) -> Html:
    """Facts by name; those that are None or empty are left out."""
    lines = [
        element("tr", element("th", label, scope="row"), element("td", value))
        for label, value in rows.items()
        if value not in (None, "")
    ]
    return element("table", element("tbody", *lines), css="table facts") if lines else Html("")


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, most: int = MOST_ROWS) -> Html:
    """Rows under a heading, the first of them if there are many; columns of numbers stand to the right.

    Whole numbers get commas, other numbers four digits, None is a dash, and words are clipped.
    """
    if not rows:
        return Html("")
    shown = rows[:most]
    numeric = [not any(isinstance(row[place], str) for row in shown) for place in range(len(head))]
    kinds = ["number" if one else "" for one in numeric]
    top = [element("th", html(name, MOST_CELL), css=kind, scope="col") for name, kind in zip(head, kinds, strict=True)]
    lines = [
        element("tr", *(element("td", _cell(value), css=kind) for value, kind in zip(row, kinds, strict=True)))
        for row in shown
    ]
    inside = element("table", element("thead", element("tr", *top)), element("tbody", *lines), css="table")
    more = element("p", f"… {len(rows) - most:,} more", css="quiet") if len(rows) > most else ""
    return together(element("div", inside, css="wide"), more)


def _cell(value: Any) -> Html:
    if isinstance(value, bool | str):
        return html(value, MOST_CELL)
    return html(f"{value:,}" if isinstance(value, Integral) else number(value))


def listed(items: Sequence[Any]) -> Html:
    """Items with a dot each; nothing where there are none."""
    return element("ul", *(element("li", item) for item in items)) if items else Html("")


def details(title: str, *inside: Any) -> Html:
    """What is shown when its title is clicked; nothing where there is nothing in it."""
    return element("details", element("summary", title), *inside) if any(inside) else Html("")


def view(*blocks: Any) -> str:
    """Blocks as one fragment with its style, for `_repr_html_`."""
    inside = "".join(html(block) for block in blocks)
    return f'<style>{_STYLE}</style><div class="{_FRAME}">{inside}</div>'
