"""Renders blocks for a terminal with rich.

Every text becomes a `rich.text.Text`, which interprets no markup, after :func:`heldout.base.words.safe` has removed
control characters. So names from the data are displayed as they are and cannot control the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich import table as rich_table
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from heldout.base.words import safe
from heldout.report.blocks import Block, Cell, Code, Line, Span, Table
from heldout.report.show import plain_text, table_lines, with_gaps
from heldout.report.words import one_line, spaced

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
    """Return the console of a command: in colour on a terminal, plain text anywhere else."""
    return Console(highlight=False, markup=False, emoji=False)


def show(view: RenderableType) -> None:
    """Print a view; trailing blanks are removed if the output is not a terminal."""
    console = open_console()
    if console.is_terminal:
        console.print(view)
        return
    with console.capture() as captured:
        console.print(view)
    console.file.write("\n".join(row.rstrip() for row in captured.get().split("\n")))


def terminal_view(blocks: Iterable[Block]) -> Group:
    """Return all blocks, with an empty line before and after those that have a title."""
    return Group(*with_gaps(blocks, _view, gap=Text()))


def _text(text: Cell) -> Text:
    if isinstance(text, tuple):
        return Text.assemble(*(_text(span if isinstance(span, Span) else Span(span)) for span in text))
    if isinstance(text, Span):
        return Text(spaced(text.text), style=_STYLES.get(text.style, ""))
    return Text(plain_text(text))


def _view(line: Line | Table | Code) -> RenderableType:
    match line:
        case Table():
            return _table(line)
        case Code(text):
            return Padding(Text(safe(text)), (0, 0, 0, 2))
    shown, style = _text(line.text), _STYLES.get(line.style, "")
    if not line.before:
        shown.stylize(style)
        return Padding(shown, (0, 0, 0, line.indent))
    grid = rich_table.Table.grid()
    grid.add_column(no_wrap=True, style=style)
    grid.add_column(ratio=1, overflow="fold")
    grid.add_row(Text(line.before), shown)
    return Padding(grid, (0, 0, 0, line.indent))


def _table(table: Table) -> RenderableType:
    if table.sentences:
        lines = [(row.lstrip(), len(row) - len(row.lstrip())) for row in table_lines(table)]
        return Group(*(Padding(Text(row), (0, 0, 0, indent)) for row, indent in lines))
    columns, rows = table.columns(), table.rows[: table.brief]
    made = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, numeric in columns.items():
        title = Text(one_line(table.head[place]))
        made.add_column(title, justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in rows:
        made.add_row(*(_text(row[place]) for place in columns))
    more = len(table.rows) - len(rows) + table.left_out
    left_out = [Text(f"… {more:,} more", style="dim")] if more else []
    return Padding(Group(made, *left_out), (0, 0, 0, 2))
