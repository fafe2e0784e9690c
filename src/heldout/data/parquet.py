"""Reads Parquet files as streams: batches of rows, with the target and the columns of X alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import ColumnError, InputError, TargetError, did_you_mean
from heldout.task.stream import Chunk

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_NUMBERS = 1 << 21  # of one chunk: sixteen megabytes, of which a few are in memory at a time
MOST_ROWS, FEWEST_ROWS = 1 << 16, 1 << 10
_ROW_LABELS = re.compile(r"__index_level_\d+__")  # how pandas saves an index without a name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParquetStream:
    """One Parquet file, or a folder of them with one schema, taken in the order of their names."""

    name: str
    files: tuple[Path, ...]
    rows: int
    columns: tuple[str, ...]
    target: str
    fingerprint: str
    types: tuple[str, ...]  # of the columns of X, as numpy names them

    @property
    def chunk_rows(self) -> int:
        """Rows in a chunk: fixed by the number of columns, so that sums have the same bits in every pass."""
        return max(FEWEST_ROWS, min(MOST_ROWS, CHUNK_NUMBERS // (len(self.columns) + 2)))

    def chunks(self) -> Iterator[Chunk]:
        """One pass over the files."""
        start = 0
        for batch in self._batches([*self.columns, self.target]):
            values = [_plain(batch.column(name), name, start) for name in self.columns]
            y = _target_values(batch.column(self.target), self.target, start)
            yield Chunk(start=start, columns=values, y=y)
            start += batch.num_rows

    def targets(self) -> Iterator[NDArray[Any]]:
        """One pass over the target alone."""
        start = 0
        for batch in self._batches([self.target]):
            yield _target_values(batch.column(0), self.target, start)
            start += batch.num_rows

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for path in self.files:
            try:
                # Without pre-buffering pages are decoded as they are needed, whatever the size of a row group.
                with pq.ParquetFile(path, pre_buffer=False) as file:
                    yield from file.iter_batches(batch_size=self.chunk_rows, columns=names, use_threads=True)
            except (pa.ArrowInvalid, OSError) as error:
                raise InputError(f"{path.name!r} cannot be read to its end: {_line(error)}") from None


def open_parquet(path: str | Path, target: Any) -> ParquetStream:
    """Open a Parquet file or folder as a stream; columns that are no numbers are refused by name.

    Parameters
    ----------
    path : str or Path
    target : str
        The column that is learned; all others are X.
    """
    place = Path(path)
    if find_spec("pyarrow") is None:
        raise InputError(f"Reading {place.name!r} needs pyarrow. Install it: pip install pyarrow.")
    files = _files(place)
    import pyarrow as pa
    import pyarrow.parquet as pq

    digest = blake2b(digest_size=16)
    rows, schema = 0, None
    for part in files:
        try:
            with pq.ParquetFile(part) as file:
                schema_here, meta = file.schema_arrow.remove_metadata(), file.metadata
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{part.name!r} is not a whole Parquet file: {_line(error)}") from None
        if schema is not None and schema_here != schema:
            raise ColumnError(f"{part.name!r} has other columns or types than {files[0].name!r}. Make them the same.")
        schema = schema_here
        rows += meta.num_rows
        digest.update(_footer_text(meta).encode())
    assert schema is not None
    if not rows:
        raise InputError(f"{place.name!r} has {len(schema.names)} columns but no rows.")
    columns = _columns(schema, target, place.name)
    digest.update("\x1f".join([str(schema), target]).encode())
    return ParquetStream(
        name=place.name,
        files=files,
        rows=rows,
        columns=columns,
        target=target,
        fingerprint=digest.hexdigest(),
        types=tuple(_number_type(schema.field(name).type) or "" for name in columns),
    )


def _files(place: Path) -> tuple[Path, ...]:
    if place.is_dir():
        files = tuple(sorted(path for path in place.rglob("*.parquet") if path.is_file()))
        if not files:
            raise InputError(f"The folder {str(place)!r} holds no .parquet file.")
        return files
    if not place.exists():
        folder = place.parent
        names = [path.name for path in folder.iterdir() if path.suffix == ".parquet"] if folder.is_dir() else []
        hint = did_you_mean(place.name, names) if names else ""
        raise InputError(f"There is no file {str(place)!r}. {hint}".strip())
    if place.stat().st_size == 0:
        raise InputError(f"{place.name!r} is empty.")
    return (place,)


def _columns(schema: Any, target: Any, name: str) -> tuple[str, ...]:
    names = list(schema.names)
    if not isinstance(target, str):
        raise TargetError(
            f"The target of a stream is named: target='y', say; not {type(target).__name__}. "
            f"The columns of {name!r} are {_listed(names)}."
        )
    if target not in names:
        raise TargetError(f"y={target!r} is no column of {name!r}. {did_you_mean(target, names)}")
    twice = sorted({column for column in names if names.count(column) > 1})
    if twice:
        raise ColumnError(f"{name!r} has more than one column named {_listed(twice)}. Give every column its own name.")
    columns = tuple(column for column in names if column != target and not _ROW_LABELS.fullmatch(column))
    if not columns:
        raise ColumnError(f"{name!r} has no column beside the target {target!r} to learn from.")
    others = [column for column in columns if _number_type(schema.field(column).type) is None]
    if others:
        kinds = ", ".join(f"{column!r} ({schema.field(column).type})" for column in others[:5])
        kinds += ", …" if len(others) > 5 else ""
        raise ColumnError(
            f"These columns of {name!r} are no plain numbers: {kinds}. A stream takes numbers; turn them into numbers, "
            "leave them out of the file, or load the data."
        )
    return columns


def _number_type(kind: Any) -> str | None:
    import pyarrow.types as pt

    if pt.is_boolean(kind):
        return "bool"
    if pt.is_integer(kind) or pt.is_float32(kind) or pt.is_float64(kind):
        return str(np.dtype(kind.to_pandas_dtype()))
    return None


def _footer_text(meta: Any) -> str:
    """The footer's rows, sizes, and smallest and largest values of every column chunk, as text."""
    words = [str(meta.num_rows)]
    for number in range(meta.num_row_groups):
        group = meta.row_group(number)
        words.append(str(group.num_rows))
        for place in range(group.num_columns):
            column = group.column(place)
            known = column.statistics
            ends = (known.min_raw, known.max_raw) if known is not None and known.has_min_max else ()
            words.append(f"{column.path_in_schema}:{column.total_uncompressed_size}:{ends!r}")
    return "\x1f".join(words)


def _plain(column: Any, name: str, start: int) -> NDArray[Any]:
    if column.null_count:
        row = start + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise ColumnError(
            f"Column {name!r} is missing in row {row}. A stream takes no missing values: fill them in, drop these "
            "rows, or load the data."
        )
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def _target_values(column: Any, name: str, start: int) -> NDArray[Any]:
    if column.null_count:
        row = start + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise TargetError(f"The target {name!r} is missing in row {row}. Drop or fill such rows.")
    values = column.dictionary_decode() if hasattr(column, "dictionary_decode") else column
    found: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return found


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
