"""Converts sequences of one value per row, from any library, to numpy arrays with the same meaning."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from heldout.base.errors import ColumnError
from heldout.base.rowkeys import Rows
from heldout.base.words import listed

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["array", "objects", "sparse", "pandas", "polars"]


def container_kind(X: Any) -> Kind:
    """Return which of the five kinds of container X is.

    >>> container_kind(np.zeros((2, 3)))
    'array'
    >>> container_kind(np.array(["a text", "another"], dtype=object))
    'objects'
    """
    if isinstance(X, np.ndarray):
        return "objects" if X.ndim == 1 else "array"
    if is_pandas(X, "DataFrame"):
        return "pandas"
    if is_polars(X, "DataFrame"):
        return "polars"
    if is_sparse(X):
        return "sparse"
    raise TypeError(f"A task does not keep X as {type(X).__name__}; declare() converts it.")


def _is_from(library: str, value: Any, *names: str) -> bool:
    """Return whether a value is of one of these classes of a library, without importing the library."""
    module = sys.modules.get(library)
    # getattr with a default: a library half imported by another thread has no classes yet.
    return module is not None and any(isinstance(value, getattr(module, name, ())) for name in names)


is_pandas, is_polars, is_pyarrow = (partial(_is_from, library) for library in ("pandas", "polars", "pyarrow"))


def is_sparse(value: Any) -> bool:
    """Return whether this is a scipy sparse matrix or array."""
    return bool(issparse(value))


def is_frame(value: Any) -> bool:
    """Return whether this is a pandas or polars data frame."""
    return is_pandas(value, "DataFrame") or is_polars(value, "DataFrame")


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of X; None if it has none or, as in scikit-learn, if some are not text."""
    if not is_frame(X):
        return None
    names = tuple(X.columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def column(X: Any, position: int) -> Any:
    """Return one column of a data frame, as a series of its library."""
    return X.iloc[:, position] if is_pandas(X, "DataFrame") else X.to_series(position)


def refuse_twice(names: Iterable[Any], where: str) -> None:
    """Raise a ColumnError if columns have the same name."""
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ColumnError(f"{where} has more than one column named {listed(twice, 5)}. Give every column its own name.")


def without_columns(X: Any, names: set[Any]) -> Any:
    """Return a data frame without these columns, or an array without those of these numbers."""
    if isinstance(X, np.ndarray):
        return np.delete(X, list(names), axis=1)
    return X.drop(columns=list(names)) if is_pandas(X, "DataFrame") else X.drop(list(names))


def as_pandas(X: Any) -> pd.DataFrame:
    """Return a table in any container as a pandas frame; columns whose names are no text are numbered.

    >>> as_pandas(np.array([["a", 1], ["b", None]], dtype=object)).dtypes.tolist()
    [<StringDtype(na_value=nan)>, dtype('float64')]
    """
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X if column_names(X) is not None else X.set_axis(range(X.shape[1]), axis=1)
    if not is_polars(X, "DataFrame"):
        return pd.DataFrame(np.asarray(X)).infer_objects()
    columns: dict[str, Any] = {name: as_array(column(X, place)) for place, name in enumerate(X.columns)}
    for name, dtype in X.schema.items():
        if type(dtype).__name__ in ("Categorical", "Enum"):
            columns[name] = pd.Categorical(columns[name])
    return pd.DataFrame(columns)


def take_rows(X: Any, rows: Rows) -> Any:
    """Return a private copy of these rows, in the same container and with the same index labels.

    An array comes back writable and in the memory layout that ``X[rows]`` has, so that a fit gives the bits
    it gives in a plain loop. Objects inside an object array are the user's own; only their row is copied.

    >>> take_rows(np.arange(6.0).reshape(3, 2), np.array([2, 0]))
    array([[4., 5.],
           [0., 1.]])
    """
    if isinstance(X, np.ndarray):
        # take() is the fastest on C-order and copies the whole of anything else first.
        taken: NDArray[Any] = X.take(rows, axis=0) if X.flags.c_contiguous else X[rows]
        return taken
    if is_pandas(X, "DataFrame"):
        return X.take(rows, axis=0)
    return X[rows]  # CSR and polars make new rows


def in_double(X: Any) -> Any:
    """Convert the single-precision columns of X to double precision.

    >>> in_double(np.zeros((2, 3), dtype=np.float32)).dtype
    dtype('float64')
    """
    if is_pandas(X, "DataFrame"):
        return X.astype(dict.fromkeys(X.columns[X.dtypes == np.float32], np.float64))
    if is_polars(X, "DataFrame"):
        import polars as pl

        return X.cast({pl.Float32: pl.Float64})
    return X.astype(np.float64) if X.dtype == np.float32 else X


def less_row(X: Any, row: int) -> Any:
    """Subtract one row from all rows of X, which centres the columns; None unless X is a table of float64.

    >>> less_row(np.array([[1e9, 1.0], [1e9 + 2, 4.0]]), 0)
    array([[0., 0.],
           [2., 3.]])
    """
    if is_pandas(X, "DataFrame"):
        return X - X.iloc[row] if (X.dtypes == np.float64).all() else None
    return X - X[row] if isinstance(X, np.ndarray) and X.dtype == np.float64 else None


# A list of one of these alone becomes the array numpy makes of it; any mixture is kept as objects,
# because numpy would turn [1, "1"] into two equal texts.
_PLAIN = ({int}, {float}, {int, float}, {bool}, {str})


def as_array(values: Any, *, cells: bool = False) -> NDArray[Any]:
    """Convert to an array of one value per row: 1-d, or 2-d for several columns. Missing values are None, NaN or NaT.

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
    """Return a 1-d object array whose cells are these values, even if they are sequences."""
    return np.fromiter(values, dtype=object, count=len(values))


def missing_rows(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the row numbers where a 1-d or 2-d array holds NaN, NaT, None or NA."""
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
    """Return whether one value is None, NaN, NaT or NA."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    # NA and NaT are recognised by name, so that pandas need not be imported.
    return type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))
    )


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
    import pandas as pd

    if getattr(dtype, "tz", None) is not None:
        return np.asarray(pd.DatetimeIndex(values).tz_convert("UTC").tz_localize(None))
    if isinstance(dtype, pd.PeriodDtype):
        return np.asarray(pd.PeriodIndex(values).to_timestamp())
    return np.asarray(values.to_numpy())
