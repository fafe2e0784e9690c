"""The blocks that a report consists of.

Every value is first turned into blocks; plain text, terminal, notebook and page then each display the same blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["", "strong", "good", "quiet", "badge", "info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Span:
    """Holds a piece of text and its style; "info", "warning" and "error" are coloured badges."""

    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True)
class Number:
    """Holds a number of a table and the text that is displayed for it, such as "closed form" for 0 fits."""

    value: float | str | None
    words: str


Text = str | Span | tuple["str | Span", ...]
Cell = Text | Number | float | None


@dataclass(frozen=True, slots=True)
class Headline:
    """Holds the text that a report begins with."""

    text: Text


@dataclass(frozen=True, slots=True)
class Note:
    """Holds a sentence, a list of sentences, or both, under an optional title."""

    text: Text = ""
    items: tuple[Text, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Holds a line of a report. Its text wraps on a narrow terminal; the prefix `before` does not."""

    text: Cell
    before: str = ""
    indent: int = 0
    style: Style = ""  # of the prefix; of the text if there is no prefix
    wraps: bool = False  # whether plain text wraps it too, as a terminal does


@dataclass(frozen=True, slots=True)
class Lines:
    """Holds lines that belong together, with an empty line before and after them."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Holds facts by label; facts that are None or empty are left out."""

    rows: Mapping[str, Text | None]
    title: str = ""

    @property
    def given(self) -> dict[str, Text]:
        """The facts that are not None or empty, by label."""
        return {label: text for label, text in self.rows.items() if text is not None and text != ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Holds the rows of a table. Columns whose cells are all empty are left out; rows that do not fit are counted."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    brief: int = 12  # rows that are shown in text, in a terminal and in a notebook
    most: int = 200  # rows that are shown in a page
    room: int = 60_000  # bytes that rows may take in a page
    left_out: int = 0  # rows that the summary itself leaves out
    key: str = ""  # the name of the table in a page
    titled: bool = True  # whether a page shows the title, or only reads it out
    label: str = ""  # what a page reads out where there is no title
    sentences: bool = False  # whether the last column holds sentences: text and terminal set them below their row

    def columns(self) -> dict[int, bool]:
        """Return the index of each column that is not empty, with True where the column holds only numbers."""
        held = {place: [row[place] for row in self.rows] for place in range(len(self.head))}
        return {
            place: not any(isinstance(cell, str | Span | tuple) and not is_infinite(cell) for cell in cells)
            for place, cells in held.items()
            if any(cell != "" for cell in cells)
        }


def is_infinite(cell: Any) -> bool:
    """Check whether a cell is "inf" or "-inf": summaries hold infinite numbers as text, since JSON has none."""
    return cell in ("inf", "-inf")


Remark = tuple[str, str, str, Mapping[str, str]]  # code, severity, message, and facts that belong to it


@dataclass(frozen=True, slots=True)
class Findings:
    """Holds findings: a code, a severity, a message and further facts each."""

    rows: tuple[Remark, ...]
    brief: int = 8  # shown in a notebook at once; the others are a click away
    most: int = 100  # shown in a page
    title: str = "Findings"


@dataclass(frozen=True, slots=True)
class Code:
    """Holds text whose line breaks are kept: a call, a command, a traceback."""

    text: str | None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """Holds the name of a figure and its data. Pages draw it; text and terminal leave it out, notebooks all but one."""

    name: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Details:
    """Holds blocks behind a clickable title. Text and terminal display them only if `always` is true.

    They may be given as a function that makes them, which is called where they are displayed.
    """

    title: str
    within: tuple[Block, ...] | Callable[[], Sequence[Block]]
    always: bool = False
    opened: bool = False

    @property
    def blocks(self) -> Sequence[Block]:
        return self.within() if callable(self.within) else self.within


Block = Headline | Lines | Note | Facts | Table | Findings | Code | Figure | Details
