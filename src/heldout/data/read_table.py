"""Readers of data files: CSV, TSV, Parquet, Arrow and JSON lines, plain or packed, each as a typed data frame."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.base.errors import ColumnError, InputError, did_you_mean
from heldout.data.column_types import as_types, see_types, without_texts
from heldout.data.columnar import read_arrow, read_parquet
from heldout.data.compressed import COMPRESSIONS, Reading, TableFile, open_table_file
from heldout.data.delimited import read_csv, read_tsv
from heldout.data.json_lines import read_json_lines

if TYPE_CHECKING:
    import pandas as pd

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)


def read_table(
    path: str | Path,
    *,
    types: Mapping[str, str] | None = None,
    missing: tuple[str, ...] | None = None,
    most_bytes: int | None = None,
) -> pd.DataFrame:
    """The table in a file, by the file's name: ``.csv``, ``.tsv``, ``.parquet``, ``.feather``, ``.arrow``, ``.jsonl``.

    Each of them may be packed, with ``.gz`` or ``.zst`` after it. Texts that are all ISO dates (2024-01-31, with or
    without a time) become dates.

    Parameters
    ----------
    path : str or Path
    types : mapping, optional
        What some columns hold: "number", "category", "text", "date" or "identifier".
    missing : tuple of str, optional
        Texts that stand for a missing value, besides an empty cell. None: NA, NaN, null, None and their like in text
        files, and no text elsewhere.
    most_bytes : int, optional
        What a packed file may unpack to. None: 100 times its size, at least 1 GiB, at most half the memory.

    Returns
    -------
    pandas.DataFrame
        With at least one row, and column names that are text and differ from one another.

    Raises
    ------
    InputError
        What is wrong with the file, and the way out.
    """
    place = Path(path)
    if _ADDRESS.match(str(path)):
        raise InputError(
            f"{str(path)!r} is an address, and heldout reads files. Download it first, then name the file."
        )
    reading = Reading(types=types or {}, missing=missing, most_bytes=most_bytes)
    try:
        size = place.stat().st_size
        if place.is_dir():
            raise InputError(f"{str(path)!r} is a folder. Name a file in it.")
        read, compression = _reader(place)
        if size == 0:
            raise InputError(f"{place.name!r} is empty: it has no header and no rows.")
        frame = read(open_table_file(place, compression, reading))
    except FileNotFoundError:
        raise InputError(_no_such_file(place)) from None
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if not len(frame):
        columns = f"{frame.shape[1]} column" + ("" if frame.shape[1] == 1 else "s")
        raise InputError(f"{place.name!r} has a header ({columns}) but no rows.")
    for name in reading.types:
        if name not in frame.columns:
            raise ColumnError(f"--type {name}: no such column in {place.name!r}. {did_you_mean(name, frame.columns)}")
    # The user's word comes first: a date that is to be a category stays as it is written.
    whole = frame if missing is None else without_texts(frame, missing)
    said = as_types(whole, reading.types, file=place.name)
    return see_types(said, leave=frozenset(reading.types))


def is_table_name(path: str | os.PathLike[str]) -> bool:
    """Whether a file of this name would be read as a table.

    >>> is_table_name("a.csv.gz"), is_table_name("a.heldout")
    (True, False)
    """
    return _parts(Path(path))[0] in _READERS


def is_read_whole(path: str | os.PathLike[str]) -> bool:
    """Whether a file of this name is a table that is read into memory, not one that may be streamed.

    >>> is_read_whole("a.csv.gz"), is_read_whole("a.jsonl"), is_read_whole("a.parquet"), is_read_whole("folder")
    (True, True, False, False)
    """
    form, compression = _parts(Path(path))
    return form in _READERS and (form != ".parquet" or bool(compression))


def _reader(place: Path) -> tuple[Callable[[TableFile], pd.DataFrame], str]:
    form, compression = _parts(place)
    if form not in _READERS:
        known = ", ".join(_READERS)
        packed = " or ".join(COMPRESSIONS)
        ending = f"ends in {form + compression!r}" if form + compression else "has no ending"
        raise InputError(
            f"{place.name!r} {ending}, which heldout cannot read. It reads {known}, each also packed as {packed}."
        )
    return _READERS[form], compression


def _parts(place: Path) -> tuple[str, str]:
    """The suffix of the format, and that of the packing or nothing."""
    last = place.suffix.lower()
    return (Path(place.stem).suffix.lower(), last) if last in COMPRESSIONS else (last, "")


def _no_such_file(place: Path) -> str:
    folder = place.parent
    names = [one.name for one in folder.iterdir() if _parts(one)[0] in _READERS] if folder.is_dir() else []
    hint = did_you_mean(place.name, names) if names else ""
    return f"There is no file {str(place)!r}. {hint}".strip()


_READERS: Mapping[str, Callable[[TableFile], pd.DataFrame]] = {
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".parquet": read_parquet,
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
}
