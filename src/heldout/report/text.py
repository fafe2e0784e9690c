"""Blocks as plain text, no wider than its own words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    Table,
    is_infinite,
)
from heldout.report.words import amount, one_line, spaced

LABEL = 10  # characters of the names of facts
MESSAGE = 500  # characters of a finding: the way out comes last, and the texts of fits can be long


def render_text(blocks: Iterable[Block]) -> str:
    """All blocks, with an empty line before and after those that have a title."""
    return "\n".join(with_gaps(blocks, lambda block: "\n".join(_lines(block)), gap=""))


def with_gaps(blocks: Iterable[Block], show: Callable[[Block], Any], *, gap: Any) -> list[Any]:
    """What is shown of each block, with a gap before and after those that have a title, and before headlines."""
    shown: list[Any] = []
    close = False  # whether the block before has no title
    for block in blocks:
        made, untitled = show(block), not getattr(block, "title", "")
        if made:
            below = close and untitled and not isinstance(block, Headline)
            shown += [made] if below or not shown else [gap, made]
            close = untitled
    return shown


def plain_text(text: Cell) -> str:
    """A text or a cell on one line, without styles."""
    if isinstance(text, tuple):
        return "".join(spaced(span.text if isinstance(span, Span) else span) for span in text)
    if isinstance(text, Span | str):
        words = text.text if isinstance(text, Span) else text
        return amount(words) if is_infinite(words) else one_line(words)
    return text.words if isinstance(text, Number) else amount(text)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Headline(text):
            yield plain_text(text)
        case Note(text, items, title):
            yield from _under(
                title, [*([plain_text(text)] if text else []), *(f"  - {plain_text(item)}" for item in items)]
            )
        case Facts(rows, title):
            width = max([LABEL, *(len(one_line(label)) for label in rows)])
            given = [(one_line(label), text) for label, text in rows.items() if text not in (None, "")]
            yield from _under(title, [f"  {label:<{width}}  {plain_text(text)}" for label, text in given if text])
        case Table():
            yield from table_lines(block)
        case Findings(rows, title=title):
            shown = []
            for code, severity, message, facts in rows:
                shown.append(f"  {one_line(code)} {one_line(severity)}: {clipped(one_line(message), MESSAGE)}")
                shown += [f"    {one_line(text)}" for text in facts.values()]
            yield from _under(title, shown)
        case Code(text, title):
            yield from _under(title, [f"  {item}" for item in safe(text).splitlines()] if text else [])
        case Details(title, blocks, always=True):
            yield from _under(title, [item for inner in blocks for item in _lines(inner)])


def _under(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines under their title; nothing where there are none."""
    if lines and title:
        yield one_line(title)
    yield from lines


def table_lines(table: Table) -> Iterator[str]:
    """Each column as wide as its widest cell, numbers to the right, and sentences below their row."""
    cells = [tuple(map(plain_text, row)) for row in table.rows[: table.brief]]
    kept = {place: numeric for place, numeric in table.columns().items() if place < len(table.head) - table.sentences}
    if not cells or not kept:
        return
    rows = [tuple(map(one_line, table.head)), *cells]
    widths = {place: max(len(row[place]) for row in rows) for place in kept}
    if table.title:
        yield one_line(table.title)
    for at, row in enumerate(rows):
        words = [row[p].rjust(widths[p]) if numeric else row[p].ljust(widths[p]) for p, numeric in kept.items()]
        yield ("  " + "  ".join(words)).rstrip()
        if table.sentences and at and row[-1]:
            yield f"    {row[-1]}"
    more = len(table.rows) - len(cells) + table.left_out
    if more:
        yield f"  … {more:,} more"
