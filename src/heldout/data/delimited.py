"""Tables as text: CSV and TSV."""

from __future__ import annotations

import csv
from collections import Counter
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from heldout.base.errors import ColumnError, InputError
from heldout.data.compressed import TableFile
from heldout.task.column_kinds import CATEGORIES, IDENTIFIERS, TEXTS, kind_named

if TYPE_CHECKING:
    import pandas as pd


def read_csv(file: TableFile) -> pd.DataFrame:
    """Columns separated by commas."""
    return _read_text(file, ",")


def read_tsv(file: TableFile) -> pd.DataFrame:
    """Columns separated by tabs."""
    return _read_text(file, "\t")


def _read_text(file: TableFile, separator: str) -> pd.DataFrame:
    import pandas as pd

    reading = file.reading
    how: dict[str, Any] = {}
    if reading.missing is not None:
        how = {"na_values": ["", *reading.missing], "keep_default_na": False}
    try:
        names = _check_header(file, separator)
        # What is no amount keeps the zeros in front of it.
        words = [name for name, word in reading.types.items() if kind_named(word) in (CATEGORIES, TEXTS, IDENTIFIERS)]
        how["dtype"] = {name: "str" for name in words if name in names}
        with file.open() as source:
            frame: pd.DataFrame = pd.read_csv(source, sep=separator, encoding="utf-8-sig", low_memory=False, **how)
            return frame
    except UnicodeDecodeError:
        raise InputError(f"{file.name!r} is not UTF-8 text. Save it again with UTF-8 encoding.") from None
    except pd.errors.EmptyDataError:
        raise InputError(f"{file.name!r} is empty: it has no header and no rows.") from None
    except (pd.errors.ParserError, OverflowError) as error:
        reason = str(error).strip().removeprefix("Error tokenizing data. C error: ")
        raise InputError(
            f"{file.name!r} is not a regular table: {reason}. Correct that line; a text with {separator!r} "
            "or a line break in it needs quotes around it."
        ) from None


def _check_header(file: TableFile, separator: str) -> list[str]:
    """The names of the columns; refuses a header that pandas would quietly mend or misread."""
    with file.open() as source, TextIOWrapper(source, encoding="utf-8-sig", newline="") as text:
        try:
            rows = (row for row in csv.reader(text, delimiter=separator) if row)
            names, first = next(rows, []), next(rows, [])
        except csv.Error as error:
            raise InputError(f"The header of {file.name!r} cannot be read: {error}.") from None
    refuse_twice(names, file.name)
    if len(names) == 1:
        for other, word in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
            if other != separator and other in names[0]:
                raise InputError(
                    f"The columns of {file.name!r} seem to be separated by {word}. Save it with commas and decimal "
                    "points as .csv, or with tabs as .tsv."
                )
    if len(first) > len(names):  # pandas would make an index of the first field
        raise InputError(
            f"The rows of {file.name!r} have more fields than its header has names ({len(names)}). "
            "Name every column in the first line."
        )
    return names


def refuse_twice(names: list[str], file: str) -> None:
    """Refuse columns of the same name."""
    twice = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if twice:
        shown = ", ".join(map(repr, twice[:5]))
        raise ColumnError(f"{file!r} has more than one column named {shown}. Give every column its own name.")
