"""Tables by columns: Parquet, and Arrow (Feather)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from heldout.base.errors import InputError
from heldout.data.compressed import TableFile
from heldout.data.delimited import refuse_twice

if TYPE_CHECKING:
    import pandas as pd

_CELL = 8  # bytes that a value takes at least, once it is in memory


def read_parquet(file: TableFile) -> pd.DataFrame:
    """A Parquet file, refused from its own account of its size before a value is read."""
    _need_pyarrow(file)
    import pyarrow.parquet as pq

    try:
        with file.open() as source:
            whole = pq.ParquetFile(source)
            about = whole.metadata
            groups = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            file.refuse_beyond(max(groups, about.num_rows * about.num_columns * _CELL))
            return _as_frame(whole.read(), file)
    except (ValueError, NotImplementedError, OSError) as error:  # what pyarrow's own errors derive from
        raise _broken(file, "Parquet", error) from None


def read_arrow(file: TableFile) -> pd.DataFrame:
    """An Arrow file or stream, counted batch by batch as it unpacks."""
    _need_pyarrow(file)
    import pyarrow as pa

    try:
        with file.open() as source:
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
    except (ValueError, NotImplementedError, OSError) as error:
        raise _broken(file, "Arrow", error) from None


def _as_frame(table: Any, file: TableFile) -> pd.DataFrame:
    refuse_twice([str(name) for name in table.column_names], file.name)
    frame: pd.DataFrame = table.to_pandas()
    named = any(name is not None for name in frame.index.names)
    frame = frame.reset_index(drop=not named)  # an index with a name is a column that was put there
    frame.columns = frame.columns.map(str)
    return frame


def _broken(file: TableFile, word: str, error: Exception) -> Exception:
    """A named error in place of pyarrow's own; what the system refuses, and what is named already, stays as it is."""
    if isinstance(error, InputError) or (isinstance(error, OSError) and error.errno):
        return error
    lines = str(error).splitlines() or [type(error).__name__]
    return InputError(f"{file.name!r} is not a whole {word} file: {lines[0]}")


def _need_pyarrow(file: TableFile) -> None:
    if find_spec("pyarrow") is None:
        raise InputError(
            f"Reading {file.name!r} needs pyarrow, which is not installed. "
            "Install it (pip install pyarrow), or save the table as .csv."
        )
