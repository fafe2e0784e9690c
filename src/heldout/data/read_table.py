"""Reads tables from text, Excel, Parquet, Arrow and JSON lines files, plain or compressed, as typed data frames."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.base.errors import ColumnError, InputError, OptionError, did_you_mean, first_line
from heldout.data.column_types import as_types, blank_missing_texts, infer_types
from heldout.data.compressed import COMPRESSIONS, STANDARD_INPUT, Read, TableFile
from heldout.data.dialect import SEPARATOR_NAMES, check_encoding, encoding_of, encoding_words
from heldout.data.excel import read_excel
from heldout.data.text_table import read_text
from heldout.task.arrays import refuse_twice
from heldout.task.source import Source, rows_from

if TYPE_CHECKING:
    import pandas as pd

EXCEL = ".xlsx"
_CELL = 8  # the fewest bytes that a value takes in memory
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)


def read_json_lines(file: TableFile) -> Read:
    """Read one row per line; a name that a line lacks is missing in its row."""
    import pandas as pd

    encoding = encoding_of(file)
    with file.text(encoding) as lines:
        rows = {number: _row(line, number, file) for number, line in enumerate(lines, 1) if line.strip()}
    if not rows:
        raise InputError(f"{file.name!r} is empty: it has no rows.")
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    frame = pd.DataFrame({name: [row.get(name) for row in rows.values()] for name in names})
    return frame, Source(read_as=encoding_words(encoding), unit="line", number=lambda: np.array(list(rows)))


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


def read_parquet(file: TableFile) -> Read:
    """Read a Parquet file; one that is too large is refused by its metadata, before any value is read."""
    with _pyarrow(file, "Parquet"), file.open() as source:
        import pyarrow.parquet as pq

        whole = pq.ParquetFile(source)
        about = whole.metadata
        groups = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        file.refuse_beyond(max(groups, about.num_rows * about.num_columns * _CELL))
        return _as_frame(whole.read(), file)


def read_arrow(file: TableFile) -> Read:
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


def _as_frame(table: Any, file: TableFile) -> Read:
    refuse_twice(table.column_names, repr(file.name))
    frame: pd.DataFrame = table.to_pandas()
    named = any(name is not None for name in frame.index.names)
    frame = frame.reset_index(drop=not named)  # an index with a name is a column that was put there
    frame.columns = frame.columns.map(str)
    return frame, Source()


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


def read_table(path: str | Path, **how: Any) -> pd.DataFrame:
    """Read the table in a file whose suffix names the format; `how` are fields of `TableFile`.

    A further suffix ``.gz`` or ``.zst`` means that the file is compressed. Text columns of ISO dates alone (2024-01-31,
    with or without a time) become dates. The frame has at least one row, and unique column names that are text.

    `types` says what some columns hold: "number", "category", "text", "date" or "identifier". `missing` are texts that
    stand for a missing value, besides an empty cell; None means NA, NaN, null, None and similar ones in text files, and
    no text in other formats.
    """
    return read_source(open_table(path, **how))[0]


def open_table(path: str | Path, **how: Any) -> TableFile:
    """Open a table to be read, once or again; "-" takes standard input. `how` are fields of `TableFile`."""
    if _ADDRESS.match(str(path)):
        raise InputError(
            f"{str(path)!r} is an address, and heldout reads files. Download it first, then name the file."
        )
    file = TableFile(path=Path(path), **how)
    if file.encoding is not None:
        check_encoding(file.encoding)
    if file.sep is not None:
        file = replace(file, sep=SEPARATOR_NAMES.get(file.sep, file.sep))
        if len(str(file.sep)) != 1 or str(file.sep) in '"\r\n':
            raise OptionError(f"--sep {file.sep}: name one character, or {', '.join(SEPARATOR_NAMES)}.")
    with _of_files(file):
        if str(path) == STANDARD_INPUT:
            if sys.stdin.isatty():
                raise InputError("- reads a table from standard input, and nothing is piped in. Name a file.")
            content = sys.stdin.buffer.read()
            file = replace(file, content=content, size=len(content))
        else:
            file = replace(file, size=file.path.stat().st_size)
        if file.path.is_dir():
            raise InputError(f"{str(path)!r} is a folder. Name a file in it.")
        form, compression = _form(file)
        if not file.size:
            raise InputError(f"{file.name!r} is empty: it has no header and no rows.")
        _refuse_unused(file, form)
        file = file.unpack(compression) if compression else file
        return replace(file, form=form if form or not compression else _form(file)[0])


def read_source(file: TableFile, *, types: Mapping[str, str] | None = None) -> Read:
    """Read an open table, as `read_table` does; `types` replace those of the file."""
    file = file if types is None else replace(file, types=types)
    with _of_files(file):
        frame, source = _READERS[file.form](file)
    void = [name for name in frame.columns if name.startswith("Unnamed: ") and frame[name].isna().all()]
    if 0 < len(void) < frame.shape[1]:  # a separator at the end of each line, or an empty column of a sheet
        words = f"{len(void)} empty column{'s' * (len(void) > 1)} without a name left out"
        source = replace(source, read_as="; ".join(filter(None, [source.read_as, words])))
        frame = frame.drop(columns=void)
    if not len(frame):
        columns = f"{frame.shape[1]} column" + ("" if frame.shape[1] == 1 else "s")
        raise InputError(f"{file.name!r} has a header ({columns}) but no rows.")
    for name in file.types:
        if name not in frame.columns:
            raise ColumnError(f"--type {name}: no such column in {file.name!r}. {did_you_mean(name, frame.columns)}")
    # The user's types are applied first: a date that is to be a category stays as it is written.
    whole = frame if file.missing is None else blank_missing_texts(frame, file.missing)
    with rows_from(source):
        frame = infer_types(as_types(whole, file.types, file=file.name), leave=frozenset(file.types))
    return frame, replace(source, name=file.name)


@contextmanager
def _of_files(file: TableFile) -> Iterator[None]:
    """Raise an InputError in place of errors of the system and of encodings."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file.name!r} is not {encoding_words(file.encoding or error.encoding) or 'UTF-8'} text (byte "
            f"{error.start:,}). Name its encoding by --encoding, or leave that out to have it recognised."
        ) from None
    except FileNotFoundError:
        raise no_such_file(file.path) from None
    except OSError as error:
        raise InputError(f"{str(file.path)!r} cannot be read: {error.strerror or error}.") from error


def _refuse_unused(file: TableFile, form: str) -> None:
    """Refuse an option that a file of this format does not have."""
    text, excel = form in _TEXTS, form == EXCEL
    for name, has in {
        "sep": text,
        "decimal": text or excel,
        "encoding": text or "json" in form,
        "sheet": excel,
    }.items():
        if getattr(file, name) is not None and not has:
            raise OptionError(f"--{name} is not for {file.name!r}, a {form} file. Leave it out.")


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


def _form(file: TableFile) -> tuple[str, str]:
    """Return the suffixes of format and compression: those of the name, or for standard input what its bytes show."""
    if file.content is not None:
        first = file.content[:16].lstrip()
        return next((form for mark, form in _BEGINNINGS.items() if first.startswith(mark)), (".csv", ""))
    path = file.path
    form, compression = _parts(path)
    if form not in _READERS:
        endings = ", ".join(_READERS)
        packed = " or ".join(COMPRESSIONS)
        ending = f"ends in {form + compression!r}" if form + compression else "has no ending"
        raise InputError(
            f"{path.name!r} {ending}, which heldout cannot read. It reads {endings}, each also packed as {packed}."
        )
    return form, compression


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


_TEXTS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}  # with the usual separator
_BEGINNINGS = {
    b"\x1f\x8b": ("", ".gz"),
    b"\x28\xb5\x2f\xfd": ("", ".zst"),
    b"PK\x03\x04": (EXCEL, ""),
    b"PAR1": (".parquet", ""),
    b"ARROW1": (".arrow", ""),
    b"{": (".jsonl", ""),
}
_READERS: Mapping[str, Callable[[TableFile], Read]] = {
    **{form: partial(read_text, usual=usual) for form, usual in _TEXTS.items()},
    EXCEL: read_excel,
    ".parquet": read_parquet,
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
}
