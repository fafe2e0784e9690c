"""Reads a sheet of an Excel workbook as a table."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np

from heldout.base.errors import HeldoutError, InputError, OptionError, did_you_mean, first_line
from heldout.data.amounts import read_amounts
from heldout.data.compressed import Read, TableFile
from heldout.task.arrays import refuse_twice
from heldout.task.source import Source

if TYPE_CHECKING:
    import pandas as pd


def read_excel(file: TableFile) -> Read:
    """Read the sheet that the user names, else the first. Its first row names the columns; empty rows are left out."""
    import pandas as pd

    if find_spec("python_calamine") is None:
        raise InputError(
            f"Reading {file.name!r} needs python-calamine, which is not installed. Install it (pip install "
            "'heldout[excel]'), or save the sheet as .csv."
        )
    try:
        with file.open() as source, ZipFile(source) as parts:
            file.refuse_beyond(sum(part.file_size for part in parts.infolist()))
        with file.open() as source, pd.ExcelFile(source, engine="calamine") as book:
            return _read_sheet(book, file)
    except Exception as error:  # each library has errors of its own
        if isinstance(error, HeldoutError) or (isinstance(error, OSError) and error.errno):
            raise
        raise InputError(f"{file.name!r} is not a whole Excel workbook: {first_line(error)}.") from None


def _read_sheet(book: pd.ExcelFile, file: TableFile) -> Read:
    import pandas as pd

    sheets = list(map(str, book.sheet_names))
    sheet = sheets[0] if file.sheet is None else file.sheet
    if sheet not in sheets:
        raise OptionError(f"--sheet {sheet}: no such sheet in {file.name!r}. {did_you_mean(sheet, sheets)}")
    first = pd.read_excel(book, sheet_name=sheet, header=None, nrows=1, dtype=str, keep_default_na=False)
    names = [name for name in first.iloc[0].tolist() if name] if len(first) else []
    refuse_twice(names, repr(file.name))
    if 2 * len(names) < first.shape[1]:
        raise InputError(
            f"Row 1 of the sheet {sheet!r} of {file.name!r} names {len(names)} of {first.shape[1]} columns. Write the "
            "names there, and remove what stands above them."
        )
    frame = pd.read_excel(book, sheet_name=sheet, **file.missing_options)
    frame.columns = frame.columns.map(str)
    kept = frame.notna().any(axis=1).to_numpy()
    words = f"the sheet {sheet!r}, the first of {len(sheets)} (--sheet names another)"
    frame, amounts = read_amounts(frame[kept].reset_index(drop=True), file.types, decimal=file.decimal)
    return frame, Source(
        read_as="; ".join(filter(None, [words * (len(sheets) > 1 and file.sheet is None), amounts])),
        unit="sheet row",
        number=lambda: np.flatnonzero(kept) + 2,
    )
