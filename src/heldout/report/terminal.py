"""Blocks for a terminal, with rich.

Every text becomes a `rich.text.Text`, which reads no markup, after :func:`heldout.base.words.safe` has taken out what
a terminal would act on; so names in the data are shown as they are, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rich import table as rich_table
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from heldout.base.words import clipped, line, safe
from heldout.report.blocks import Block, Cell, Code, Details, Facts, Findings, Headline, Note, Span, Table
from heldout.report.text import LABEL, MESSAGE, plain_text, table_lines, with_gaps
from heldout.report.words import estimate_words, interval, spaced

_STYLES = {
    "strong": "bold",
    "good": "bold green",
    "quiet": "dim",
    "badge": "",
    "error": "bold red",
    "warning": "yellow",
    "info": "cyan",
}


def open_console() -> Console:
    """The console of a command: colours on a terminal, plain text anywhere else."""
    return Console(highlight=False, markup=False, emoji=False)


def show(view: RenderableType, console: Console) -> None:
    """Print a view; where no one looks at a terminal, without the blanks that fill its lines up."""
    if console.is_terminal:
        console.print(view)
        return
    with console.capture() as captured:
        console.print(view)
    console.file.write("\n".join(row.rstrip() for row in captured.get().split("\n")))


def one_line(summary: Mapping[str, Any]) -> str:
    """The risk, its interval, and what it estimates at which training size, on one line.

    >>> words = "expected squared risk of the learner trained on 80 rows"
    >>> risk = {"loss": "squared", "value": 2.0, "low": 1.5, "high": 2.5, "level": 0.95, "estimand": words}
    >>> one_line({"risk": risk})
    'squared 2 (95% interval 1.5 to 2.5); expected squared risk of the learner trained on 80 rows'
    """
    risk = summary["risk"]
    sure = interval(risk)
    return f"{line(risk['loss'])} {estimate_words(risk)}{f' ({sure})' if sure else ''}; {line(risk['estimand'])}"


def terminal_view(blocks: Iterable[Block]) -> Group:
    """All blocks, with an empty line before and after those that have a title."""
    return Group(*with_gaps(blocks, _view, gap=Text()))


def _text(text: Cell) -> Text:
    if isinstance(text, tuple):
        return Text.assemble(*(_text(span if isinstance(span, Span) else Span(span)) for span in text))
    if isinstance(text, Span):
        return Text(spaced(text.text), style=_STYLES.get(text.style, ""))
    return Text(plain_text(text))


def _view(block: Block) -> RenderableType | None:
    match block:
        case Headline(text):
            shown = _text(text)
            shown.stylize("bold")
            return shown
        case Note(text, items, title):
            listed = rich_table.Table.grid(padding=(0, 1, 0, 0))
            for item in items:
                listed.add_row(Text("-"), _text(item))
            sentence = [_text(text)] if text else []
            return _titled(title, [*sentence, *([listed] if items else [])])
        case Facts(rows, title):
            given = {label: text for label, text in rows.items() if text not in (None, "")}
            return _titled(title, [_facts(given)] if given else [])
        case Table():
            return _table(block)
        case Findings(rows, title=title):
            return _titled(title, [_findings(rows)] if rows else [])
        case Code(text, title):
            return _titled(title, [Padding(Text(safe(text)), (0, 0, 0, 2))] if text else [])
        case Details(title, blocks, always=True):
            inside = [view for view in map(_view, blocks) if view is not None]
            return _titled(title, [Padding(Group(*inside), (0, 0, 0, 2))] if inside else [])
    return None


def _titled(title: str, views: list[RenderableType]) -> RenderableType | None:
    if not views:
        return None
    return Group(*([Text(line(title), style="bold")] if title else []), *views)


def _facts(rows: Mapping[str, Any]) -> RenderableType:
    grid = rich_table.Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim", min_width=LABEL)
    grid.add_column(ratio=1, overflow="fold")
    for label, text in rows.items():
        grid.add_row(Text(line(label)), _text(text))
    return grid


def _findings(rows: Iterable[tuple[str, str, str, Mapping[str, str]]]) -> RenderableType:
    grid = rich_table.Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, min_width=7)
    grid.add_column(ratio=1, overflow="fold")
    for code, severity, message, facts in rows:
        style = _STYLES.get(severity, "")
        grid.add_row(
            Text(line(code), style=style), Text(line(severity), style=style), Text(clipped(line(message), MESSAGE))
        )
        for label, text in facts.items():
            grid.add_row(Text(), Text(line(label), style="dim"), Text(line(text), style="dim"))
    return Padding(grid, (0, 0, 0, 2))


def _table(table: Table) -> RenderableType | None:
    columns, rows = table.columns(), table.rows[: table.brief]
    if not rows or not columns:
        return None
    if table.sentences:
        lines = list(table_lines(replace(table, title="")))
        indents = [len(row) - len(row.lstrip()) - 2 for row in lines]  # text is two further in
        shown = [Padding(Text(row.lstrip()), (0, 0, 0, indent)) for row, indent in zip(lines, indents, strict=True)]
        return _titled(table.title, [*shown])
    made = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, numeric in columns.items():
        title = Text(line(table.head[place]))
        made.add_column(title, justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in rows:
        made.add_row(*(_text(row[place]) for place in columns))
    more = len(table.rows) - len(rows) + table.left_out
    return _titled(table.title, [made, *([Text(f"… {more:,} more", style="dim")] if more else [])])
