"""Turns blocks into lines and tables, and renders these as plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from heldout.base.words import clipped, safe
from heldout.report.blocks import (
    Block,
    Cell,
    Code,
    Details,
    Facts,
    Findings,
    Headline,
    Note,
    Number,
    Span,
    Style,
    Table,
    is_infinite,
)
from heldout.report.words import amount, one_line, spaced

LABEL = 10  # characters of the names of facts
MESSAGE = 500  # characters of a finding: its remedy comes last, and errors of fits can be long


@dataclass(frozen=True, slots=True)
class Line:
    """Holds a line of a report. Its text wraps on a narrow terminal; the prefix `before` does not."""

    text: Cell
    before: str = ""
    indent: int = 0
    style: Style = ""  # of the prefix; of the text if there is no prefix


def lines_of(block: Block) -> list[Line | Table | Code]:
    """Return the lines and tables of a block where nothing can be clicked; empty if the block is empty."""
    lines: list[Line | Table | Code] = []
    match block:
        case Headline(text):
            lines = [Line(text, style="strong")]
        case Note(text, items):
            lines = [Line(text)] if text else []
            lines += [Line(item, "- ", 2) for item in items]
        case Facts():
            given = {one_line(label): text for label, text in block.given.items()}
            width = max([LABEL, *map(len, given)])
            lines = [Line(text, f"{label:<{width}}  ", 2, "quiet") for label, text in given.items()]
        case Table():
            lines = [replace(block, title="")] if block.rows and block.columns() else []
        case Findings(rows):
            for code, severity, message, facts in rows:
                style: Style = severity if severity in ("info", "warning", "error") else ""  # type: ignore[assignment]
                before = f"{one_line(code)} {one_line(severity)}: "
                lines.append(Line(clipped(one_line(message), MESSAGE), before, 2, style))
                width = max(map(len, facts), default=0)
                lines += [Line(text, f"{label:<{width}}  ", 4, "quiet") for label, text in facts.items()]
        case Code(text):
            lines = [Code(text)] if text else []
        case Details(_, blocks, always=True):
            lines = [line for inner in blocks for line in lines_of(inner)]
    title = getattr(block, "title", "")
    return [Line(title, style="strong"), *lines] if lines and title else lines


def with_gaps(blocks: Iterable[Block], show: Callable[[Any], Any], *, gap: Any) -> list[Any]:
    """Return every rendered line, with a gap around blocks that have a title and before headlines."""
    shown: list[Any] = []
    close = False  # whether the block before has no title
    for block in blocks:
        untitled = not getattr(block, "title", "")
        if lines := lines_of(block):
            below = close and untitled and not isinstance(block, Headline)
            shown += [gap] * (not below and len(shown) > 0) + [show(line) for line in lines]
            close = untitled
    return shown


def render_text(blocks: Iterable[Block]) -> str:
    """Return all blocks as plain text, without wrapping."""
    return "\n".join(with_gaps(blocks, _plain, gap=""))


def _plain(line: Line | Table | Code) -> str:
    match line:
        case Table():
            return "\n".join(table_lines(line))
        case Code(text):
            return "\n".join(f"  {row}" for row in safe(text).splitlines())
    return f"{'':{line.indent}}{line.before}{plain_text(line.text)}" if line.indent else plain_text(line.text)


def plain_text(text: Cell) -> str:
    """Return a text or a cell on one line, without styles."""
    if isinstance(text, tuple):
        return "".join(spaced(span.text if isinstance(span, Span) else span) for span in text)
    if isinstance(text, Span | str):
        words = text.text if isinstance(text, Span) else text
        return amount(words) if is_infinite(words) else one_line(words)
    return text.words if isinstance(text, Number) else amount(text)


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table: columns are aligned, and `sentences` follow below their row."""
    cells = [tuple(map(plain_text, row)) for row in table.rows[: table.brief]]
    kept = {place: numeric for place, numeric in table.columns().items() if place < len(table.head) - table.sentences}
    rows = [tuple(map(one_line, table.head)), *cells]
    widths = {place: max(len(row[place]) for row in rows) for place in kept}
    for at, row in enumerate(rows):
        words = [row[p].rjust(widths[p]) if numeric else row[p].ljust(widths[p]) for p, numeric in kept.items()]
        yield ("  " + "  ".join(words)).rstrip()
        if table.sentences and at and row[-1]:
            yield f"    {row[-1]}"
    more = len(table.rows) - len(cells) + table.left_out
    if more:
        yield f"  … {more:,} more"
