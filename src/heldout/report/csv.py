"""Writes tables as CSV, with no cell that a spreadsheet or a terminal would execute."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.shown import plain
from heldout.base.words import safe

_ACTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # what a formula begins with


def table_text(columns: Mapping[str, Sequence[Any]], *, separator: str = ",") -> str:
    """Return columns of equal length as CSV with a header; numbers keep all digits, so that they read back exactly.

    >>> table_text({"name": ["=1+1", "Ann"], "paid": [0.1, None]})
    "name,paid\\n'=1+1,0.1\\nAnn,\\n"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerow([cell(name) for name in columns])
    writer.writerows([cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return buffer.getvalue()


def cell(value: Any) -> str:
    """Return a value as the text of a cell; text that a spreadsheet would read as a formula gets a leading apostrophe.

    >>> cell("@SUM(A1)"), cell("-1.5"), cell(-1.5), cell("a\\x1b[31mb")
    ("'@SUM(A1)", '-1.5', '-1.5', 'a�[31mb')
    """
    simple = plain(value)
    if simple is None:
        return ""
    if not isinstance(simple, str):
        return repr(simple)
    text = safe(simple)
    return f"'{text}" if text.lstrip(" ").startswith(_ACTS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and text == text.strip()
    except ValueError:
        return False
