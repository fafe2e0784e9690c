"""Turns sequences of one value a row, from any library, into numpy arrays that mean the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.task.containers import column, is_frame, is_polars, is_pyarrow

# A list of one of these alone becomes the array numpy makes of it; any mixture is kept as objects,
# because numpy would turn [1, "1"] into two equal texts.
_PLAIN = ({int}, {float}, {int, float}, {bool}, {str})


def as_array(values: Any, *, cells: bool = False) -> NDArray[Any]:
    """One value a row as a numpy array: 1-d, or 2-d for several columns. Missing values are None, NaN or NaT.

    With `cells`, a list or tuple inside a list is one value (a group named by a pair), not a row of columns.

    >>> as_array([1, "1"])
    array([1, '1'], dtype=object)
    >>> as_array([("a", 1), ("a", 2)], cells=True).shape
    (2,)
    """
    if isinstance(values, np.ndarray):
        plain = np.asarray(values)
        return plain.astype(object) if plain.dtype.kind == "T" else plain
    if is_pyarrow(values, "ChunkedArray", "Array", "Table"):
        values = values.to_pandas()
    if is_frame(values):
        return _stack([as_array(column(values, position)) for position in range(values.shape[1])])
    if is_polars(values, "Series"):
        return np.asarray((values.cast(float) if values.dtype.is_decimal() else values).to_numpy())
    if hasattr(values, "to_numpy") and hasattr(values, "dtype"):
        return _from_pandas(values)
    if isinstance(values, list | tuple | range):
        return _from_list(values, cells)
    array = np.asarray(values)
    return array if array.ndim or not isinstance(values, Iterable) else _from_list(list(values), cells)


def as_objects(values: Sequence[Any]) -> NDArray[Any]:
    """A 1-d object array whose cells are these values, even where they are sequences themselves."""
    return np.fromiter(values, dtype=object, count=len(values))


def missing_rows(values: NDArray[Any]) -> NDArray[np.intp]:
    """The row numbers where a 1-d or 2-d array holds NaN, NaT, None or NA."""
    if values.dtype.kind in "fc":
        missing = np.isnan(values)
    elif values.dtype.kind in "mM":
        missing = np.isnat(values)
    elif values.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, values.flat), dtype=bool, count=values.size).reshape(values.shape)
    else:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(missing if missing.ndim == 1 else missing.any(axis=1))


def is_missing(value: Any) -> bool:
    """Whether one cell is None, NaN, NaT or NA."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    # NA and NaT by name: pandas need not be imported to know that a value is none of its own.
    return type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))
    )


def some_rows(rows: NDArray[np.intp], *, shown: int = 5) -> str:
    """Row numbers for a message: the first few and how many there are.

    >>> some_rows(np.array([3]))
    'row 3'
    >>> some_rows(np.arange(9))
    'rows 0, 1, 2, 3, 4, … (9 in all)'
    """
    first = ", ".join(str(int(row)) for row in rows[:shown])
    if len(rows) == 1:
        return f"row {first}"
    return f"rows {first}" if len(rows) <= shown else f"rows {first}, … ({len(rows)} in all)"


def _stack(columns: list[NDArray[Any]]) -> NDArray[Any]:
    if len(columns) == 1:
        return columns[0]
    if len({part.dtype.kind in "biuf" for part in columns}) > 1 or not columns:
        columns = [part.astype(object) for part in columns]
    return np.column_stack(columns) if columns else np.empty((0, 0))


def _from_list(values: Sequence[Any], cells: bool) -> NDArray[Any]:
    types = set(map(type, values))
    if not types or types in _PLAIN or all(issubclass(kind, np.number | np.bool_) for kind in types):
        return np.asarray(values)
    if cells or not all(issubclass(kind, list | tuple | np.ndarray) for kind in types):
        return as_objects(values)
    try:
        rows = np.asarray(values)
    except ValueError:  # rows of several lengths: each is one value of its own
        return as_objects(values)
    return np.array(values, dtype=object) if rows.dtype.kind in "US" else rows


def _from_pandas(values: Any) -> NDArray[Any]:
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        return np.asarray(values)
    if getattr(dtype, "tz", None) is not None:
        import pandas as pd

        return np.asarray(pd.DatetimeIndex(values).tz_convert("UTC").tz_localize(None))
    if type(dtype).__name__ == "PeriodDtype":
        import pandas as pd

        return np.asarray(pd.PeriodIndex(values).to_timestamp())
    return np.asarray(values.to_numpy())
