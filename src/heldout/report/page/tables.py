"""The tables of a page: cells that sort by their values, long texts cut, and an end to the room that rows take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heldout.base.words import amount, line, shortened
from heldout.report.page.words import named

if TYPE_CHECKING:
    from markupsafe import Markup

CELL = 40  # characters of a text in a cell
ROWS, ROOM = 200, 60_000  # rows of a table, and bytes of them, unless said otherwise
TIPPED = 0.25  # share of the room after which cut texts are no longer whole in a tooltip: rows matter more


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Words in a cell that sorts by a number."""

    words: str
    by: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as the templates take it."""

    caption: str
    head: tuple[tuple[str, bool], ...]  # titles, and whether their columns hold numbers
    body: Markup
    shown: int
    left_out: int


def make_table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numeric: Iterable[str] = (),
    most: int = ROWS,
    room: int = ROOM,
) -> Table:
    """Rows as a table: no more than so many, and no more than fill so many bytes. The first cell names its row."""
    from markupsafe import Markup

    made: list[str] = []
    numbers, used, left_out = set(numeric), 0, 0
    for place, row in enumerate(rows):
        if place >= most or left_out:
            left_out += 1
            continue
        text = "<tr>" + "".join(_cell(value, first=not at, tips=used < TIPPED * room) for at, value in enumerate(row))
        used += len(text.encode("utf-8"))
        if used > room and made:
            left_out += 1
            continue
        made.append(text)
    titles = tuple((shortened(title, CELL), title in numbers) for title in head)
    return Table(caption=caption, head=titles, body=Markup("\n".join(made)), shown=len(made), left_out=left_out)


def _cell(value: Any, *, first: bool, tips: bool) -> str:
    """The markup of a cell. Closing tags are left out, as HTML allows: in a thousand rows they weigh."""
    by, inside = _content(value, tips=tips)
    sort = "" if by is None else f' data-value="{by:.10g}"'
    number = ' class="n"' if sort or value is None else ""
    return f'<th scope="row"{number}{sort}>{inside}' if first else f"<td{number}{sort}>{inside}"


def _content(value: Any, *, tips: bool) -> tuple[float | None, str]:
    """What a cell sorts by, if that is a number, and its escaped inside."""
    from markupsafe import Markup, escape

    if isinstance(value, Shown):
        return value.by, str(escape(value.words))
    if isinstance(value, Markup):
        return None, str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _sortable(value), amount(value)
    if value is None or value in ("inf", "-inf"):
        return None if value is None else float(value), amount(value)
    if tips:
        return None, str(named(value, CELL))
    text = line(value)
    return None, f"<bdi>{escape(shortened(text, CELL))}</bdi>" if text else ""


def _sortable(value: float) -> float:
    """The value as a float; a whole number beyond the largest float sorts as that."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
