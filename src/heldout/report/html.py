"""Renders blocks as HTML, for notebooks and for pages. All text is escaped by :mod:`heldout.base.markup`.

A fragment for a notebook has no script, no address and no `id`, so it can be displayed twice and offline. A page has
its own style and script: its tables can be sorted, long names have tooltips, and figures are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from heldout.base.markup import Html, element, html, lines_html, together
from heldout.base.words import SHORT, clipped, line, shortened
from heldout.report.blocks import (
    Block,
    Cell,
    Code,
    Details,
    Facts,
    Figure,
    Findings,
    Headline,
    Line,
    Lines,
    Note,
    Number,
    Span,
    Table,
    Text,
    is_infinite,
)
from heldout.report.interval_strip import scale_of
from heldout.report.svg import Drawn, draw_all
from heldout.report.words import amount

_FRAME = "heldout-view tex2jax_ignore mathjax_ignore"  # a dollar sign in a name is no formula
STRIP = "strip"  # the name of the small scale of the leading number, which notebooks show too
_BADGES = ("info", "warning", "error")
_FLAT = 28  # characters: the cells of a column are not wrapped if none is longer
_WHOLE = 500  # characters of a name that its tooltip holds
_TIPPED = 0.25  # share of a table's room after which cut names have no tooltip: rows matter more


def notebook_fragment(blocks: Iterable[Block]) -> str:
    """Return blocks as one HTML fragment with its style, for `_repr_html_`."""
    style = asset("notebook.css").replace("\n", "")
    return f'<style>{style}</style><div class="{_FRAME}">{NOTEBOOK.blocks(blocks)}</div>'


@cache
def asset(name: str) -> str:
    """Return the text of a style sheet or script of this package."""
    return files("heldout.report").joinpath("assets", name).read_text(encoding="utf-8").strip()


def named(value: Any, most: int = SHORT) -> Html:
    """Return a text from the data as HTML; if it is cut, a tooltip holds up to 500 characters of it."""
    text = line(value)
    if len(text) <= most:
        return element("bdi", text)
    return element("bdi", shortened(text, most), class_="cut", data_tip=clipped(text, _WHOLE), tabindex=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Renders blocks as HTML; `text`, `cell` and `code` are the most characters displayed of each."""

    prefix: str  # of CSS class names
    page: bool
    text: int
    cell: int
    code: int

    def blocks(self, blocks: Iterable[Block]) -> Html:
        """Return the HTML of several blocks."""
        return Html("".join(self.block(block) for block in blocks))

    def block(self, block: Block) -> Html:
        """Return the HTML of one block, empty if the block is empty."""
        match block:
            case Headline(text):
                return self._element("p", self._text(text), css="head")
            case Lines(lines):
                return self._element("div", *map(self._line, lines), css="lines") if lines else Html("")
            case Note():
                return self._note(block)
            case Facts():
                return self._facts(block)
            case Table():
                return self._table(block)
            case Findings():
                return self._findings(block)
            case Code():
                return self._code(block)
            case Figure(name, data):
                return self._strip(data) if name == STRIP else self._figures(name, data) if self.page else Html("")
            case Details(title, opened=opened):
                inside = self.blocks(block.blocks)
                return self._details(title, inside, opened=opened)

    def _element(self, name: str, *inside: Any, css: str = "", **attributes: Any) -> Html:
        classes = " ".join(self.prefix + part for part in css.split()) or None
        return element(name, *inside, class_=classes, **attributes)

    def _text(self, text: Text, most: int | None = None) -> Html:
        most = self.text if most is None else most
        if isinstance(text, tuple):
            return together(*(self._text(span if isinstance(span, Span) else Span(span), most) for span in text))
        if not isinstance(text, Span):
            return html(text, most)
        blank = Html(" ")
        if text.text.isspace():
            return blank
        # Blanks at its ends keep a span apart from its neighbours.
        before, after = (blank if end == " " else "" for end in (text.text[:1], text.text[-1:]))
        return together(before, self._styled(html(text.text, most), text.style), after)

    def _styled(self, shown: Html, style: str) -> Html:
        if style in ("strong", "good"):
            return element("strong", shown)
        if not style:
            return shown
        known = style if style in _BADGES else ""
        return self._element("span", shown, css="quiet" if style == "quiet" else f"badge {known}")

    def _titled(self, title: str, inside: Html) -> Html:
        if not inside or not title:
            return inside
        return together(element("h3", title) if self.page else self._element("p", title, css="title"), inside)

    def _details(self, title: Any, inside: Html, *, opened: bool = False) -> Html:
        if not inside:
            return inside
        shown = {"open": ""} if opened else {}
        return self._element("details", element("summary", title), self._element("div", inside, css="inside"), **shown)

    def _line(self, line: Line) -> Html:
        """Return a line; its colour is at its side, and not in its text, if it has a prefix."""
        if isinstance(line.text, Span) and line.before:
            return self._element("p", self._text(line.text.text), css=f"line {line.style}")
        return self._element("p", self._inside(line.text, tips=False), css="line")

    def _note(self, note: Note) -> Html:
        items = element("ul", *(element("li", self._text(item)) for item in note.items)) if note.items else Html("")
        sentence = element("p", self._text(note.text)) if note.text else Html("")
        return self._titled(note.title, together(sentence, items))

    def _facts(self, facts: Facts) -> Html:
        rows = [
            element("div", element("dt", html(label, self.cell)), element("dd", self._text(text)))
            for label, text in facts.given.items()
        ]
        return self._titled(facts.title, self._element("dl", *rows, css="facts")) if rows else Html("")

    def _findings(self, findings: Findings) -> Html:
        shown = findings.most if self.page else findings.brief
        rows = [self._finding(*row) for row in findings.rows[: findings.most]]
        hidden = len(findings.rows) - findings.most
        more = self._element("p", f"{hidden:,} more findings left out here.", css="quiet") if hidden > 0 else Html("")
        if not rows:
            return Html("")
        listed = self._element("ul", *rows[:shown], css="findings")
        rest = rows[shown:]
        folded = self._element("ul", *rest, css="findings") if rest else Html("")
        inside = together(listed, self._details(f"{len(rest):,} more", folded), more)
        return inside if self.page else self._titled(findings.title, inside)

    def _finding(self, code: str, severity: str, message: str, facts: Any) -> Html:
        mark = self._text(Span(f"{code} {severity}", severity if severity in _BADGES else "badge"))  # type: ignore[arg-type]
        return element(
            "li",
            element("p", mark, Html(" "), html(message, 300 if not self.page else self.text)),
            self._facts(Facts(facts)),
        )

    def _code(self, code: Code) -> Html:
        if not code.text:
            return Html("")
        text = lines_html(code.text, self.code)
        if not self.page:
            return self._titled(code.title, self._element("pre", text, css="code"))
        title = code.title or "Program"
        copy = Html('<button type="button" class="quiet" data-copy hidden>Copy</button>')
        program = element("pre", element("code", text), tabindex=0, role="group", aria_label=title)
        return element("div", element("h3", title), copy, program, class_="program")

    def _table(self, table: Table) -> Html:
        columns = table.columns()
        if not table.rows or not columns:
            return Html("")
        kinds = {place: self._kind(table, place, numeric=numeric) for place, numeric in columns.items()}
        rows = [[row[place] for place in columns] for row in table.rows[: table.most if self.page else table.brief]]
        lines = self._rows(rows, [*kinds.values()], table.room)
        sort = {"data_sort": ""} if self.page else {}
        head = [
            self._element("th", html(shortened(table.head[place], self.cell)), css=kind, scope="col", **sort)
            for place, kind in kinds.items()
        ]
        inside = together(
            element("thead", element("tr", *head)), Html("<tbody>"), Html("".join(lines)), Html("</tbody>")
        )
        return self._boxed(table, inside, len(table.rows) - len(lines) + table.left_out, shown=len(lines))

    def _boxed(self, table: Table, inside: Html, left_out: int, *, shown: int) -> Html:
        """Return a table in a box that scrolls sideways, and a line that counts the rows left out."""
        if not self.page:
            box = self._element("div", self._element("table", inside, css="table"), css="wide")
            more = self._element("p", f"… {left_out:,} more", css="quiet") if left_out else ""
            return self._titled(table.title, together(box, more))
        name, seen = table.title or table.label, table.titled and bool(table.title)
        caption = element("caption", name, class_=None if seen else "unseen")
        made = element("table", caption, inside, id=f"{table.key}-table" if table.key else None)
        long = " long" if shown > 20 else ""
        box = element("div", made, class_=f"scroll{long}", role="group", aria_label=name, tabindex=0)
        words = (
            f"{left_out:,} more row{'s' * (left_out > 1)} left out here, to keep this file small; the result itself "
        )
        return together(box, element("p", f"{words}holds all.", class_="quiet") if left_out else "")

    def _rows(self, rows: Sequence[Sequence[Cell]], kinds: Sequence[str], room: int) -> list[str]:
        """Return the rows. A page skips those that would exceed `room` bytes, since later ones may be smaller."""
        lines: list[str] = []
        used = 0
        for row in rows:
            tips = self.page and used < _TIPPED * room
            cells = [
                self._cell(cell, kind, tips=tips, first=not at)
                for at, (cell, kind) in enumerate(zip(row, kinds, strict=True))
            ]
            text = f"<tr>{''.join(cells)}</tr>"
            size = len(text.encode("utf-8"))
            if self.page and used + size > room and lines:
                continue
            used += size
            lines.append(text)
        return lines

    def _kind(self, table: Table, place: int, *, numeric: bool) -> str:
        """Return the CSS class of a column: "n" aligns numbers to the right, "short" forbids line breaks."""
        if numeric or self.page:
            return "n" if numeric else ""
        texts = [table.head[place], *(str(self._inside(row[place], tips=False)) for row in table.rows[: table.brief])]
        return "short" if all(len(text) <= _FLAT for text in texts) else "words"

    def _cell(self, cell: Cell, kind: str, *, tips: bool, first: bool) -> str:
        name, scope = ("th", "row") if first and self.page else ("td", None)
        return self._element(
            name,
            self._inside(cell, tips=tips),
            css=kind,
            scope=scope,
            data_value=sort_key(cell) if self.page else None,
        )

    def _inside(self, cell: Cell, *, tips: bool) -> Html:
        if isinstance(cell, Number):
            return html(cell.words, self.cell)
        if cell is None or isinstance(cell, int | float) or is_infinite(cell):
            return html(amount(cell))  # type: ignore[arg-type]
        if not isinstance(cell, str):
            return self._text(cell)
        if not self.page:
            return html(cell, self.cell)
        if tips:
            return named(cell, self.cell)
        return element("bdi", shortened(cell, self.cell)) if cell else Html("")

    def _strip(self, summary: Any) -> Html:
        """Return the small scale of the leading number: its interval, the folds and no model, with a legend."""
        scale = scale_of(summary)
        if scale is None:
            return Html("")
        ends = (scale.ticks[0][0], scale.ticks[-1][0])
        marks = [self._element("line", css="axis", x1=ends[0], x2=ends[1], y1=40, y2=40)]
        for place, words in scale.ticks:
            marks += [self._element("line", css="axis", x1=place, x2=place, y1=40, y2=45)]
            marks += [element("text", words, x=place, y=59, text_anchor="middle")]
        legend = {"dot": "the number"}
        if scale.low is not None and scale.high is not None:
            width = round(scale.high - scale.low, 1)
            marks += [self._element("rect", css="band", x=scale.low, y=22, width=width, height=12, rx=6)]
            legend["band"] = "its interval"
        for place in scale.folds:
            marks += [self._element("line", css="fold", x1=place, x2=place, y1=36, y2=43)]
            legend["fold"] = "folds"
        if scale.no_model is not None:
            marks += [self._element("circle", css="hollow", cx=scale.no_model, cy=28, r=4.5)]
            legend["hollow"] = "no model"
        marks += [self._element("circle", css="dot", cx=scale.value, cy=28, r=6)]
        drawn = self._element("svg", *marks, css="scale", viewBox="0 0 320 64", role="img", aria_label=scale.words)
        keys = (element("li", self._element("span", css=f"key {css}"), words) for css, words in legend.items())
        return together(drawn, self._element("ul", *keys, css="legend"))

    def _figures(self, name: str, data: Any) -> Html:
        """Return the HTML of every panel of a figure, empty if nothing is drawn."""
        drawn = [self._figure(drawing) for drawing in draw_all(name, data, prefix=f"{name.replace('_', '-')}-")]
        return Html(drawn[0]) if len(drawn) == 1 else element("div", *drawn, class_="several") if drawn else Html("")

    def _figure(self, drawn: Drawn) -> Html:
        numbers = Table(title=f"The numbers: {drawn.title}", head=drawn.head, rows=drawn.rows, titled=False)
        unseen = element("span", f" of {drawn.title}", class_="unseen")
        return element(
            "figure",
            element("figcaption", drawn.title, element("p", html(drawn.caption, self.text)) if drawn.caption else ""),
            Html(drawn.svg),  # svg.py escapes what it draws
            self._details(together("The numbers", unseen), self._table(numbers)),
        )


NOTEBOOK = Writer(prefix="heldout-", page=False, text=600, cell=80, code=2_000)
PAGE = Writer(prefix="", page=True, text=1_500, cell=40, code=20_000)


def sort_key(cell: Any) -> str | None:
    """Return the number that a cell sorts by, as text, or None; integers too large for a float sort as infinite."""
    value = cell.value if isinstance(cell, Number) else cell
    if is_infinite(value):
        return str(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return f"{float(value):.10g}"
    except OverflowError:
        return "inf" if value > 0 else "-inf"
