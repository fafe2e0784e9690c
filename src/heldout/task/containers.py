"""Tells the containers of X apart (numpy, sparse, pandas, polars, pyarrow), without importing their libraries."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from heldout.base.rowkeys import Rows

Kind = Literal["array", "objects", "sparse", "pandas", "polars"]


def container_kind(X: Any) -> Kind:
    """Which of the five containers of a task this is.

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


def is_pandas(value: Any, *names: str) -> bool:
    """Whether this is one of these pandas classes. An object of pandas exists only once pandas is imported."""
    return _is_from("pandas", value, names)


def is_polars(value: Any, *names: str) -> bool:
    """Whether this is one of these polars classes."""
    return _is_from("polars", value, names)


def is_pyarrow(value: Any, *names: str) -> bool:
    """Whether this is one of these pyarrow classes."""
    return _is_from("pyarrow", value, names)


def is_sparse(value: Any) -> bool:
    """Whether this is a scipy sparse matrix or array."""
    return bool(issparse(value))


def is_frame(value: Any) -> bool:
    """Whether this is a pandas or polars data frame."""
    return is_pandas(value, "DataFrame") or is_polars(value, "DataFrame")


def is_name(value: Any) -> TypeGuard[str]:
    """Whether a role was given as the name of a column, not as values."""
    return isinstance(value, str)


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns, where X has names; as scikit-learn does, names that are not text are no names."""
    if not is_frame(X):
        return None
    names = tuple(X.columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def column(X: Any, position: int) -> Any:
    """One column of a data frame, as the series of its library."""
    return X.iloc[:, position] if is_pandas(X, "DataFrame") else X.to_series(position)


def without_columns(X: Any, names: set[str]) -> Any:
    """The data frame without these columns."""
    return X.drop(columns=list(names)) if is_pandas(X, "DataFrame") else X.drop(list(names))


def take_rows(X: Any, rows: Rows) -> Any:
    """A private copy of these rows, in the same container and with the same index labels.

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
    """X with its single precision columns in double precision.

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
    """X minus one of its rows, which centres the columns; None where X is no table of double precision.

    >>> less_row(np.array([[1e9, 1.0], [1e9 + 2, 4.0]]), 0)
    array([[0., 0.],
           [2., 3.]])
    """
    if is_pandas(X, "DataFrame"):
        return X - X.iloc[row] if (X.dtypes == np.float64).all() else None
    return X - X[row] if isinstance(X, np.ndarray) and X.dtype == np.float64 else None


def _is_from(library: str, value: Any, names: tuple[str, ...]) -> bool:
    module = sys.modules.get(library)
    # getattr with a default: a library half imported by another thread has no classes yet.
    return module is not None and any(isinstance(value, getattr(module, name, ())) for name in names)
