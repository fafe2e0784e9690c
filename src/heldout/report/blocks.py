"""The blocks that a report is made of. Every value is turned into blocks once; text, terminal, notebook and page
each show the same blocks their own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["", "strong", "good", "quiet", "badge", "info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text with a style; "info", "warning" and "error" are badges in a colour of their own."""

    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a table that is shown in other words, such as "closed form" for no fits."""

    value: float | str | None
    words: str


Text = str | Span | tuple["str | Span", ...]
Cell = Text | Number | float | None


@dataclass(frozen=True, slots=True)
class Headline:
    """What is read first."""

    text: Text


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence, or a list of them under a title."""

    text: Text = ""
    items: tuple[Text, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts by name; those that are None or empty are left out."""

    rows: Mapping[str, Text | None]
    title: str = ""

    @property
    def given(self) -> dict[str, Text]:
        """The facts that are not left out."""
        return {label: text for label, text in self.rows.items() if text is not None and text != ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a heading. Columns that hold no word are left out; what does not fit is counted."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    brief: int = 12  # rows that are shown in text, in a terminal and in a notebook
    most: int = 200  # rows that are shown in a page
    room: int = 60_000  # bytes that rows may take in a page
    left_out: int = 0  # rows that the summary itself leaves out
    key: str = ""  # the name of the table in a page
    titled: bool = True  # whether a page shows the title, or only reads it out
    sentences: bool = False  # whether the last column holds sentences: text and terminal set them below their row

    def columns(self) -> dict[int, bool]:
        """The places of the columns that hold something, and whether they hold numbers alone."""
        held = {place: [row[place] for row in self.rows] for place in range(len(self.head))}
        return {
            place: not any(isinstance(cell, str | Span | tuple) and not is_infinite(cell) for cell in cells)
            for place, cells in held.items()
            if any(cell != "" for cell in cells)
        }


def is_infinite(cell: Any) -> bool:
    """Whether a cell is an infinite number, which summaries hold as text, since JSON has none."""
    return cell in ("inf", "-inf")


Remark = tuple[str, str, str, Mapping[str, str]]  # code, severity, message, and facts that belong to it


@dataclass(frozen=True, slots=True)
class Findings:
    """Numbered remarks."""

    rows: tuple[Remark, ...]
    brief: int = 8  # shown in a notebook at once; the others are a click away
    most: int = 100  # shown in a page
    title: str = "Findings"


@dataclass(frozen=True, slots=True)
class Code:
    """Text that keeps its lines: a call, a command, a traceback."""

    text: str | None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by its name in the catalogue of figures, with its data. Pages draw it; elsewhere it is left out."""

    name: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks behind a title that is clicked. Where nothing can be clicked they are shown only if `always`."""

    title: str
    blocks: tuple[Block, ...]
    always: bool = False
    opened: bool = False


Block = Headline | Note | Facts | Table | Findings | Code | Figure | Details
