"""Reads tables of text with pandas, in the dialect that their first lines show; errors name the line."""

from __future__ import annotations

import csv
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import InputError
from heldout.data.amounts import read_amounts
from heldout.data.compressed import Read, TableFile
from heldout.data.dialect import Dialect, recognise, rows_in
from heldout.task.arrays import refuse_twice
from heldout.task.column_kinds import CATEGORIES, IDENTIFIERS, TEXTS, kind_named
from heldout.task.source import Source


def read_text(file: TableFile, usual: str) -> Read:
    """Read a table of text, whose columns are separated by `usual` unless its first lines show another separator."""
    import pandas as pd

    dialect = recognise(file, usual)
    names = _header(file, dialect)
    # Values that are not amounts, such as codes, keep their leading zeros.
    words = [name for name, word in file.types.items() if kind_named(word) in (CATEGORIES, TEXTS, IDENTIFIERS)]
    how: dict[str, Any] = {"dtype": {name: "str" for name in words if name in names}, **file.missing_options}
    try:
        with file.text(dialect.encoding, dialect.newline) as text:
            for _ in range(dialect.skipped):
                text.readline()
            frame: pd.DataFrame = pd.read_csv(
                text, sep=dialect.separator, decimal=dialect.decimal, low_memory=False, **how
            )
    except pd.errors.EmptyDataError:
        raise InputError(f"{file.name!r} is empty: it has no header and no rows.") from None
    except (pd.errors.ParserError, OverflowError) as error:
        last = _refuse_ragged(file, dialect)
        reason = str(error).strip().removeprefix("Error tokenizing data. C error: ")
        quote = f"a quote that opens in the row of line {last} is never closed" if "EOF inside" in reason else reason
        raise InputError(f"{file.name!r} is not a regular table: {quote}. Correct that line.") from None
    if len(frame) and frame.iloc[:, -1].isna().any():  # pandas fills rows up that are too short
        _refuse_ragged(file, dialect)
    frame, amounts = read_amounts(frame, file.types, decimal=file.decimal, usual=dialect.decimal)
    return frame, Source(
        read_as="; ".join(filter(None, [dialect.words, amounts])),
        unit="line",
        number=partial(_line_numbers, file, dialect, rows=len(frame)),
    )


def _header(file: TableFile, dialect: Dialect) -> list[str]:
    """Return the column names; refuse a header that pandas would silently change or misread."""
    try:
        with file.text(dialect.encoding, dialect.newline) as text:
            rows = rows_in(text, dialect)
            _, names = next(rows, (0, []))
            line, first = next(rows, (0, []))
    except csv.Error as error:
        raise InputError(f"The header of {file.name!r} cannot be read: {error}.") from None
    refuse_twice(filter(None, names), repr(file.name))  # pandas names the columns without a name
    if len(first) > len(names):  # pandas would make an index of the first field
        raise InputError(
            f"Line {line} of {file.name!r} has more fields than its header has names ({len(names)}). Name every column "
            "in the header, and leave out lines above it that are no part of the table."
        )
    return names


def _refuse_ragged(file: TableFile, dialect: Dialect) -> int:
    """Raise an InputError for the first row that has not as many fields as the header; return the last row's line."""
    with file.text(dialect.encoding, dialect.newline) as text, suppress(csv.Error):  # of a cell too long for it
        rows = rows_in(text, dialect)
        line, names = next(rows, (1, []))
        for line, row in rows:
            if len(row) != len(names):
                fields = f"{len(row)} field" + "s" * (len(row) != 1)
                raise InputError(
                    f"Line {line} of {file.name!r} has {fields}, and the header names {len(names)}. Correct that line; "
                    f"a text with {dialect.separator!r} or a line break in it needs quotes around it."
                )
    return line


def _line_numbers(file: TableFile, dialect: Dialect, *, rows: int) -> NDArray[np.intp] | None:
    """Return the line that each row begins in; None if the file can no longer be read as it was."""
    try:
        with file.text(dialect.encoding, dialect.newline) as text:
            numbers = np.array([line for line, _ in rows_in(text, dialect)][1:], dtype=np.intp)
    except (OSError, ValueError, csv.Error):
        return None
    return numbers if len(numbers) == rows else None
