"""Reads Parquet files as streams: batches of rows with the columns of X and the target alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from heldout.base.errors import ColumnError, InputError, first_line
from heldout.data.read_table import need_pyarrow, no_such_file
from heldout.data.stream_columns import feature_columns, refuse_missing
from heldout.task.stream import Chunk, Stream

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_NUMBERS = 1 << 21  # numbers in a chunk: 16 MB; a few chunks are in memory at a time
MOST_ROWS, FEWEST_ROWS = 1 << 16, 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParquetStream(Stream):
    """A stream over one Parquet file, or over a folder of files with one schema in the order of their names."""

    files: tuple[Path, ...]

    @property
    def chunk_rows(self) -> int:
        """Rows per chunk: given by the number of columns, so that sums have the same bits in every pass."""
        return max(FEWEST_ROWS, min(MOST_ROWS, CHUNK_NUMBERS // (len(self.columns) + 2)))

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks in one pass over the files."""
        start = 0
        for batch in self._batches([*self.columns, self.target]):
            values = [_values(batch.column(name), name, start) for name in self.columns]
            y = _values(batch.column(self.target), self.target, start, target=True)
            yield Chunk(start=start, columns=values, y=y)
            start += batch.num_rows

    def targets(self) -> Iterator[NDArray[Any]]:
        """Yield the target of each chunk in one pass that reads no other column."""
        start = 0
        for batch in self._batches([self.target]):
            yield _values(batch.column(0), self.target, start, target=True)
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
                raise InputError(f"{path.name!r} cannot be read to its end: {first_line(error)}.") from None


def open_parquet(path: str | Path, target: Any) -> ParquetStream:
    """Open a Parquet file or folder as a stream; raise ColumnError for columns that are not numbers."""
    path = Path(path)
    need_pyarrow(path)
    files = _files(path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    digest = blake2b(digest_size=16)
    rows, schema = 0, None
    for part in files:
        try:
            with pq.ParquetFile(part) as file:
                schema_here, meta = file.schema_arrow.remove_metadata(), file.metadata
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{part.name!r} is not a whole Parquet file: {first_line(error)}.") from None
        if schema is not None and schema_here != schema:
            raise ColumnError(f"{part.name!r} has other columns or types than {files[0].name!r}. Make them the same.")
        schema = schema_here
        rows += meta.num_rows
        digest.update(_footer_text(meta).encode())
    assert schema is not None
    if not rows:
        raise InputError(f"{path.name!r} has {len(schema.names)} columns but no rows.")
    other_types = {field.name: field.type for field in schema if not _is_number(field.type)}
    columns = feature_columns(repr(path.name), list(schema.names), target, other_types=other_types)
    digest.update("\x1f".join([str(schema), target]).encode())
    return ParquetStream(
        name=path.name,
        files=files,
        rows=rows,
        columns=columns,
        target=target,
        fingerprint=digest.hexdigest(),
    )


def _files(path: Path) -> tuple[Path, ...]:
    if path.is_dir():
        files = tuple(sorted(file for file in path.rglob("*.parquet") if file.is_file()))
        if not files:
            raise InputError(f"The folder {str(path)!r} holds no .parquet file.")
        return files
    if not path.exists():
        raise no_such_file(path)
    if path.stat().st_size == 0:
        raise InputError(f"{path.name!r} is empty.")
    return (path,)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as pt

    return bool(pt.is_boolean(kind) or pt.is_integer(kind) or pt.is_float32(kind) or pt.is_float64(kind))


def _footer_text(meta: Any) -> str:
    """Return the footer's row counts, sizes, and minima and maxima of every column chunk, as text."""
    words = [str(meta.num_rows)]
    for number in range(meta.num_row_groups):
        group = meta.row_group(number)
        words.append(str(group.num_rows))
        for position in range(group.num_columns):
            column = group.column(position)
            known = column.statistics
            ends = (known.min_raw, known.max_raw) if known is not None and known.has_min_max else ()
            words.append(f"{column.path_in_schema}:{column.total_uncompressed_size}:{ends!r}")
    return "\x1f".join(words)


def _values(column: Any, name: str, start: int, *, target: bool = False) -> NDArray[Any]:
    if column.null_count:
        refuse_missing(column.is_null().to_numpy(zero_copy_only=False), name, start, target=target)
    plain = column.dictionary_decode() if hasattr(column, "dictionary_decode") else column
    values: NDArray[Any] = plain.to_numpy(zero_copy_only=False)
    return values
