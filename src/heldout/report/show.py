"""Maps each kind of value to the function that turns it into blocks."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from heldout.base.words import clipped, safe
from heldout.report.blocks import (
    Block,
    Cell,
    Code,
    Details,
    Facts,
    Findings,
    Headline,
    Line,
    Lines,
    Note,
    Number,
    Span,
    Style,
    Table,
    is_infinite,
)
from heldout.report.comparison import across_blocks, chance_blocks, comparison_blocks
from heldout.report.first_screen import MESSAGE
from heldout.report.others import (
    advice_blocks,
    check_blocks,
    finding_blocks,
    ledger_blocks,
    sentence_blocks,
    splits_blocks,
    splits_summary_blocks,
)
from heldout.report.plan import account_blocks, short_plan_blocks
from heldout.report.result import estimate_blocks, result_blocks, tuned_blocks
from heldout.report.study_list import studies_blocks
from heldout.report.words import amount, one_line, spaced

if TYPE_CHECKING:
    from rich.console import Group


LABEL = 10  # characters of the names of facts
PLAIN = 80  # columns that facts and first screens are wrapped at in plain text


def lines_of(block: Block) -> list[Line | Table | Code]:
    """Return the lines and tables of a block where nothing can be clicked; empty if the block is empty."""
    lines: list[Line | Table | Code] = []
    match block:
        case Headline(text):
            lines = [Line(text, style="strong")]
        case Lines(several):
            lines = [replace(line, wraps=True) for line in several]
        case Note(text, items):
            lines = [Line(text)] if text else []
            lines += [Line(item, "- ", 2) for item in items]
        case Facts():
            given = {one_line(label): text for label, text in block.given.items()}
            width = max([LABEL, *map(len, given)])
            lines = [Line(text, f"{label:<{width}}  ", 2, "quiet", wraps=True) for label, text in given.items()]
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
    title = getattr(block, "title", "")
    return [Line(title, style="strong"), *lines] if lines and title else lines


def opened(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks that text shows: those of `Details` only where `always` is set, under its title."""
    for block in blocks:
        if not isinstance(block, Details):
            yield block
        elif block.always and (inside := [inner for inner in opened(block.blocks) if lines_of(inner)]):
            yield from (() if getattr(inside[0], "title", "") else (Headline(block.title),))
            yield from inside


def with_gaps(blocks: Iterable[Block], show: Callable[[Any], Any], *, gap: Any) -> list[Any]:
    """Return every rendered line, with gaps around blocks with a title or label, around lines, before headlines."""
    shown: list[Any] = []
    close = False  # whether the block before has no title
    for block in opened(blocks):
        untitled = not getattr(block, "title", "")
        if lines := lines_of(block):
            below = close and untitled and not isinstance(block, Headline | Lines)
            shown += [gap] * (not below and len(shown) > 0) + [show(line) for line in lines]
            close = untitled and not isinstance(block, Lines) and not getattr(block, "label", "")
    return shown


def render_text(blocks: Iterable[Block]) -> str:
    """Return all blocks as plain text; facts and the lines of first screens are wrapped at 80 columns."""
    return "\n".join(with_gaps(blocks, _plain, gap=""))


def _plain(line: Line | Table | Code) -> str:
    match line:
        case Table():
            return "\n".join(table_lines(line))
        case Code(text):
            return "\n".join(f"  {row}" for row in safe(text).splitlines())
    text, before = plain_text(line.text), f"{'':{line.indent}}{line.before}"
    if not line.wraps or len(before) + len(text) <= PLAIN:
        return before + text
    after = " " * len(before)
    wrapped = textwrap.wrap(text, PLAIN - len(before), break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"{after if place else before}{row}" for place, row in enumerate(wrapped))


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


BLOCKS: dict[str, Callable[[Mapping[str, Any]], Sequence[Block]]] = {
    "across": across_blocks,
    "advice": advice_blocks,
    "chance": chance_blocks,
    "check": check_blocks,
    "comparison": comparison_blocks,
    "comparison with pairs": partial(comparison_blocks, pairs_too=True),
    "whole comparison": partial(comparison_blocks, at_length=True),
    "covers": sentence_blocks,
    "estimate": estimate_blocks,
    "finding": finding_blocks,
    "head": lambda _: (),
    "ledger": ledger_blocks,
    "plan": account_blocks,
    "result": result_blocks,
    "whole result": partial(result_blocks, at_length=True),
    "plan alone": partial(account_blocks, refusals=False),
    "short plan": short_plan_blocks,
    "splits": splits_blocks,
    "splits summary": splits_summary_blocks,
    "studies": studies_blocks,
    "tuned": tuned_blocks,
}


def as_text(kind: str, values: Mapping[str, Any]) -> str:
    """Return a value as plain text, for `print`."""
    return render_text(BLOCKS[kind](values))


def as_html(kind: str, values: Mapping[str, Any]) -> str:
    """Return a value as HTML, for a notebook."""
    from heldout.report.html import notebook_fragment

    return notebook_fragment(BLOCKS[kind](values))


def as_view(kind: str, values: Mapping[str, Any]) -> Group:
    """Return a value for display in a terminal; `head`, which commands add, lists their input above a plan."""
    from heldout.report.terminal import terminal_view

    above = {} if "result" in kind or "comparison" in kind else values.get("head") or {}
    return terminal_view([Facts(above), *BLOCKS[kind](values)])
