"""What any fragment for a notebook must be: sound HTML without script, address or id, whatever the names in it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

HOSTILE = "</script></td><img src=x onerror=alert(1)> &amp; \"' [/red] $\\frac{$ \u202e\x1b[31m\nline " + "n" * 10_000
SHOWN = "</script></td><img src=x onerror=alert(1)> &amp; \"' [/red] $\\frac{$"  # how it begins, as text
SCALE = {"svg", "line", "rect", "circle", "text"}  # the small drawing of the leading number
BLOCKS = {"div", "p", "li", "summary", "tr", "th", "td", "pre", "dt", "dd"}
TAGS = BLOCKS | SCALE | {"style", "span", "strong", "ul", "details", "table", "thead", "tbody", "dl"}
ATTRIBUTES = {"class", "scope"}
IGNORED_BY_MATHJAX = {"tex2jax_ignore", "mathjax_ignore"}


class Fragment(HTMLParser):
    """A fragment read as a browser reads it; asserts that it is sound."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.classes: set[str] = set()
        self.pieces: list[str] = []
        self.text = ""  # as it is read: a block a line
        self.rows: list[list[str]] = []  # the cells of every row of every table, and every fact with its name
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        assert tag in SCALE or {name for name, _ in attrs} <= ATTRIBUTES, attrs
        assert not {"id", "href", "style"} & {name for name, _ in attrs}, attrs
        self.tags.append(tag)
        self._open.append(tag)
        self.classes.update((dict(attrs).get("class") or "").split())
        if tag in ("tr", "dt"):
            self.rows.append([])
        if tag in ("td", "th", "dt", "dd"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag in BLOCKS:
            self.text += "\n"

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            assert "url(" not in data
            assert "@import" not in data
            return
        self.pieces.append(data)
        self.text += data
        if {"td", "th", "dt", "dd"} & set(self._open):
            self.rows[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def read(html: str) -> Fragment:
    """The fragment, once it is sound and its own."""
    fragment = Fragment(html)
    assert fragment.classes >= IGNORED_BY_MATHJAX
    assert all(one.startswith("heldout-") for one in fragment.classes - IGNORED_BY_MATHJAX)
    html.encode()  # halves of characters would fit in no file
    return fragment


def poisoned(value: Any, keep: frozenset[str] = frozenset()) -> Any:
    """The same values with hostile text for every text; keys in `keep` keep theirs."""
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, dict):
        return {key: one if key in keep else poisoned(one, keep) for key, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, keep) for one in value]
    return value
