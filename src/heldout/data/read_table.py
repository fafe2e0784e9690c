"""Reads tables from CSV, TSV, Parquet, Arrow and JSON lines files, plain or compressed, as typed data frames."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.base.errors import ColumnError, InputError, did_you_mean, first_line
from heldout.data.column_types import as_types, blank_missing_texts, infer_types
from heldout.data.compressed import COMPRESSIONS, TableFile
from heldout.task.arrays import refuse_twice
from heldout.task.column_kinds import CATEGORIES, IDENTIFIERS, TEXTS, kind_named

if TYPE_CHECKING:
    import pandas as pd

_CELL = 8  # the fewest bytes that a value takes in memory
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)


def read_json_lines(file: TableFile) -> pd.DataFrame:
    """Read one row per line; a name that a line lacks is missing in its row."""
    import pandas as pd

    with file.open() as source, TextIOWrapper(source, encoding="utf-8-sig") as lines:
        rows = [_row(line, number, file) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise InputError(f"{file.name!r} is empty: it has no rows.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pd.DataFrame({name: [row.get(name) for row in rows] for name in names})


def _row(line: str, number: int, file: TableFile) -> dict[str, Any]:
    try:
        row = json.loads(line, object_pairs_hook=lambda pairs: _once(pairs, number, file))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ColumnError):
            raise
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value is too deep, or too long"
        raise InputError(f"Line {number} of {file.name!r} is not JSON: {reason}.") from None
    if not isinstance(row, dict):
        raise InputError(
            f'Line {number} of {file.name!r} is no object. Write each row as {{"name": value, …}} on a line of its own.'
        )
    for name, value in row.items():
        if isinstance(value, dict | list):
            raise ColumnError(
                f"Line {number} of {file.name!r}: {name!r} holds a list or an object. Columns hold single values."
            )
    return row


def _once(pairs: list[tuple[str, Any]], number: int, file: TableFile) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ColumnError(
            f"Line {number} of {file.name!r} has {twice!r} more than once. Give every column its own name."
        )
    return row


def read_text(file: TableFile, separator: str) -> pd.DataFrame:
    """Read a table whose columns are separated by commas or tabs."""
    import pandas as pd

    how: dict[str, Any] = {}
    if file.missing is not None:
        how = {"na_values": ["", *file.missing], "keep_default_na": False}
    try:
        names = _check_header(file, separator)
        # Values that are not amounts, such as codes, keep their leading zeros.
        words = [name for name, word in file.types.items() if kind_named(word) in (CATEGORIES, TEXTS, IDENTIFIERS)]
        how["dtype"] = {name: "str" for name in words if name in names}
        with file.open() as source:
            frame: pd.DataFrame = pd.read_csv(source, sep=separator, encoding="utf-8-sig", low_memory=False, **how)
            return frame
    except pd.errors.EmptyDataError:
        raise InputError(f"{file.name!r} is empty: it has no header and no rows.") from None
    except (pd.errors.ParserError, OverflowError) as error:
        reason = str(error).strip().removeprefix("Error tokenizing data. C error: ")
        raise InputError(
            f"{file.name!r} is not a regular table: {reason}. Correct that line; a text with {separator!r} "
            "or a line break in it needs quotes around it."
        ) from None


def _check_header(file: TableFile, separator: str) -> list[str]:
    """Return the column names; refuse a header that pandas would silently change or misread."""
    with file.open() as source, TextIOWrapper(source, encoding="utf-8-sig", newline="") as text:
        try:
            rows = (row for row in csv.reader(text, delimiter=separator) if row)
            names, first = next(rows, []), next(rows, [])
        except csv.Error as error:
            raise InputError(f"The header of {file.name!r} cannot be read: {error}.") from None
    refuse_twice(filter(None, names), repr(file.name))  # pandas names the columns without a name
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


def read_parquet(file: TableFile) -> pd.DataFrame:
    """Read a Parquet file; one that is too large is refused by its metadata, before any value is read."""
    with _pyarrow(file, "Parquet"), file.open() as source:
        import pyarrow.parquet as pq

        whole = pq.ParquetFile(source)
        about = whole.metadata
        groups = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        file.refuse_beyond(max(groups, about.num_rows * about.num_columns * _CELL))
        return _as_frame(whole.read(), file)


def read_arrow(file: TableFile) -> pd.DataFrame:
    """Read an Arrow file or stream; its size is checked batch by batch."""
    with _pyarrow(file, "Arrow"), file.open() as source:
        import pyarrow as pa

        try:
            opened = pa.ipc.open_file(source)
            batches = (opened.get_batch(i) for i in range(opened.num_record_batches))
        except pa.ArrowInvalid:
            source.seek(0)
            opened = batches = pa.ipc.open_stream(source)
        taken, size = [], 0
        for batch in batches:
            size += batch.nbytes
            file.refuse_beyond(size)
            taken.append(batch)
        return _as_frame(pa.Table.from_batches(taken, schema=opened.schema), file)


def _as_frame(table: Any, file: TableFile) -> pd.DataFrame:
    refuse_twice(table.column_names, repr(file.name))
    frame: pd.DataFrame = table.to_pandas()
    named = any(name is not None for name in frame.index.names)
    frame = frame.reset_index(drop=not named)  # an index with a name is a column that was put there
    frame.columns = frame.columns.map(str)
    return frame


@contextmanager
def _pyarrow(file: TableFile, word: str) -> Iterator[None]:
    """Raise an InputError in place of pyarrow's own errors; errors of the system stay as they are."""
    need_pyarrow(file.path, ", or save the table as .csv")
    try:
        yield
    except (ValueError, NotImplementedError, OSError) as error:  # what pyarrow's own errors derive from
        if isinstance(error, InputError) or (isinstance(error, OSError) and error.errno):
            raise
        raise InputError(f"{file.name!r} is not a whole {word} file: {first_line(error)}.") from None


def need_pyarrow(path: Path, otherwise: str = "") -> None:
    """Raise an InputError that says how to install pyarrow, if it is missing."""
    if find_spec("pyarrow") is None:
        raise InputError(
            f"Reading {path.name!r} needs pyarrow, which is not installed. Install it (pip install pyarrow){otherwise}."
        )


def read_table(
    path: str | Path,
    *,
    types: Mapping[str, str] | None = None,
    missing: tuple[str, ...] | None = None,
) -> pd.DataFrame:
    """Read the table in a file whose suffix names the format: ``.csv``, ``.parquet``, ``.feather``, ``.jsonl`` …

    A further suffix ``.gz`` or ``.zst`` means that the file is compressed. Text columns of ISO dates alone (2024-01-31,
    with or without a time) become dates. The frame has at least one row, and unique column names that are text.

    `types` says what some columns hold: "number", "category", "text", "date" or "identifier". `missing` are texts that
    stand for a missing value, besides an empty cell; None means NA, NaN, null, None and similar ones in text files, and
    no text in other formats.
    """
    if _ADDRESS.match(str(path)):
        raise InputError(
            f"{str(path)!r} is an address, and heldout reads files. Download it first, then name the file."
        )
    types = types or {}
    file = TableFile(path=Path(path), types=types, missing=missing)
    try:
        size = file.path.stat().st_size
        if file.path.is_dir():
            raise InputError(f"{str(path)!r} is a folder. Name a file in it.")
        read, compression = _reader(file.path)
        if size == 0:
            raise InputError(f"{file.name!r} is empty: it has no header and no rows.")
        frame = read(file.unpack(compression) if compression else file)
    except UnicodeDecodeError:
        raise InputError(f"{file.name!r} is not UTF-8 text. Save it again with UTF-8 encoding.") from None
    except FileNotFoundError:
        raise no_such_file(file.path) from None
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if not len(frame):
        columns = f"{frame.shape[1]} column" + ("" if frame.shape[1] == 1 else "s")
        raise InputError(f"{file.name!r} has a header ({columns}) but no rows.")
    for name in types:
        if name not in frame.columns:
            raise ColumnError(f"--type {name}: no such column in {file.name!r}. {did_you_mean(name, frame.columns)}")
    # The user's types are applied first: a date that is to be a category stays as it is written.
    whole = frame if missing is None else blank_missing_texts(frame, missing)
    return infer_types(as_types(whole, types, file=file.name), leave=frozenset(types))


def is_table_name(path: str | os.PathLike[str]) -> bool:
    """Check whether a file of this name would be read as a table.

    >>> is_table_name("a.csv.gz"), is_table_name("a.heldout")
    (True, False)
    """
    return _parts(Path(path))[0] in _READERS


def is_read_whole(path: str | os.PathLike[str]) -> bool:
    """Check whether a file of this name is a table that is read into memory whole, rather than streamed.

    >>> is_read_whole("a.csv.gz"), is_read_whole("a.jsonl"), is_read_whole("a.parquet"), is_read_whole("folder")
    (True, True, False, False)
    """
    form, compression = _parts(Path(path))
    return form in _READERS and (form != ".parquet" or bool(compression))


def _reader(path: Path) -> tuple[Callable[[TableFile], pd.DataFrame], str]:
    form, compression = _parts(path)
    if form not in _READERS:
        endings = ", ".join(_READERS)
        packed = " or ".join(COMPRESSIONS)
        ending = f"ends in {form + compression!r}" if form + compression else "has no ending"
        raise InputError(
            f"{path.name!r} {ending}, which heldout cannot read. It reads {endings}, each also packed as {packed}."
        )
    return _READERS[form], compression


def _parts(path: Path) -> tuple[str, str]:
    """Return the suffix of the format, and that of the compression, which is empty if there is none."""
    last = path.suffix.lower()
    return (Path(path.stem).suffix.lower(), last) if last in COMPRESSIONS else (last, "")


def no_such_file(path: Path) -> InputError:
    """Return the error for a missing file; it suggests a table with a similar name in the same folder."""
    folder = path.parent
    names = [file.name for file in folder.iterdir() if _parts(file)[0] in _READERS] if folder.is_dir() else []
    hint = did_you_mean(path.name, names) if names else ""
    return InputError(f"There is no file {str(path)!r}. {hint}".strip())


_READERS: Mapping[str, Callable[[TableFile], pd.DataFrame]] = {
    ".csv": partial(read_text, separator=","),
    ".tsv": partial(read_text, separator="\t"),
    ".parquet": read_parquet,
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
}
