"""Accepts X: puts it into a container of the task, checks it, and makes it read-only."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import ColumnError, InputError, MixedColumnError
from heldout.base.words import listed
from heldout.task.arrays import (
    as_array,
    column,
    container_kind,
    is_frame,
    is_missing,
    is_pandas,
    is_polars,
    is_pyarrow,
    is_sparse,
    refuse_twice,
)
from heldout.task.source import some_rows

_NUMBER = (Number, np.bool_)


def accept_features(X: Any) -> Any:
    """Convert X to a container of the task: an array, a CSR matrix, a data frame, or a 1-d array of objects."""
    if X is None:
        raise InputError("X is None. Pass a table, an array or a sequence with one entry a row.")
    if is_sparse(X):
        return X if X.format == "csr" else X.tocsr()
    if is_frame(X):
        return X
    if is_polars(X, "LazyFrame"):
        raise InputError("X is a polars LazyFrame, which has no rows yet. Pass X.collect().")
    if is_pyarrow(X, "RecordBatch"):
        return X.to_pandas()
    if isinstance(X, np.ma.MaskedArray):
        raise InputError("X is a masked array, whose mask learners would ignore. Pass X.filled(numpy.nan).")
    if isinstance(X, np.ndarray | list | tuple) or (hasattr(X, "__array__") and not hasattr(X, "columns")):
        return _dense(X)
    return _other_frame(X)


def check_features(X: Any) -> None:
    """Raise an InputError for shapes, types or column names that no learner can use."""
    shape = X.shape
    if not 1 <= len(shape) <= 2:
        raise InputError(f"Found array with dim {len(shape)}, while dim <= 2 is required. Pass one row a sample.")
    if shape[0] == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required. X has no rows."
        )
    if len(shape) == 2 and shape[1] == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required. X has no columns."
        )
    if is_pandas(X, "DataFrame"):
        _check_names(X)
    _refuse_complex(X)
    for name, cells in _object_columns(X):
        _refuse_mixture(name, cells)


def freeze_features(X: Any) -> Any:
    """Return a read-only view of X. The user's own object keeps its flags."""
    kind = container_kind(X)
    if kind in ("array", "objects"):
        return read_only(X)
    if kind == "pandas":
        return X.copy(deep=False)  # copy on write: later changes of the user's frame do not reach this one
    if kind == "sparse":
        X = copy.copy(X)
        X.data, X.indices, X.indptr = read_only(X.data), read_only(X.indices), read_only(X.indptr)
    return X


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of these values."""
    view = values.view(np.ndarray)
    view.setflags(write=False)
    return view


def _dense(X: Any) -> NDArray[Any]:
    array = as_array(X)
    if array.dtype.names is not None:
        raise ColumnError("X is a structured array, which learners cannot read. Pass pandas.DataFrame(X).")
    if array.ndim != 1 or not len(array):
        return array
    first = array[0]
    if array.dtype.kind in "biufcmM" or isinstance(first, _NUMBER):
        raise InputError(
            f"Expected 2D array, got 1D array instead: X has shape {array.shape}. Reshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a "
            "single sample."
        )
    rows = isinstance(first, list | tuple | np.ndarray) and len(first) > 0
    if rows and all(isinstance(cell, _NUMBER) for cell in first):
        raise ColumnError("The rows of X have different lengths. Give every row the same columns.")
    return array.astype(object, copy=False)


def _other_frame(X: Any) -> Any:
    """Convert a pyarrow table, or a frame of another library that narwhals knows, to a pandas frame."""
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        return frame.to_pandas()
    raise InputError(
        f"X is of type {type(X).__name__}, which is no table. Pass a numpy array, a scipy sparse matrix, "
        "a pandas or polars data frame, a pyarrow table, or a list with one entry a row."
    )


def _check_names(X: Any) -> None:
    refuse_twice(X.columns, "X")
    others = [name for name in X.columns if not isinstance(name, str)]
    if 0 < len(others) < len(X.columns):
        raise ColumnError(
            f"X mixes column names that are text with others: {_quoted(others)}. "
            "Make them all text: X.columns = X.columns.astype(str)."
        )


def _refuse_complex(X: Any) -> None:
    types = zip(X.columns, X.dtypes, strict=True) if is_frame(X) else [("X", X.dtype)]
    guilty = [name for name, dtype in types if getattr(dtype, "kind", "O") == "c"]
    if guilty:
        raise ColumnError(
            f"Complex data not supported: {_quoted(guilty)}. Pass the real and the imaginary parts as two columns."
        )


def _object_columns(X: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the name and values of each object column. Only these can mix types."""
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.dtype.kind == "O":
            yield from ((position, X[:, position]) for position in range(X.shape[1]))
    elif is_frame(X):
        for position, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            if str(dtype).lower() == "object":
                yield name, column(X, position).to_numpy()


def _refuse_mixture(name: Any, cells: NDArray[Any]) -> None:
    types = set(map(type, cells))
    if len(types) == 1 or not any(issubclass(kind, _NUMBER) for kind in types):
        return
    if all(issubclass(kind, _NUMBER) or kind is type(None) for kind in types):
        return
    # Here a float may still be a NaN that stands for a missing text, so values must be looked at.
    first: dict[bool, int] = {}
    for row, cell in enumerate(cells):
        if not is_missing(cell):
            first.setdefault(isinstance(cell, _NUMBER), row)
        if len(first) == 2:
            number, other = first[True], first[False]
            things = "strings" if isinstance(cells[other], str) else f"{type(cells[other]).__name__} objects"
            raise MixedColumnError(
                f"Column {name!r} of X mixes numbers ({cells[number]!r} in {some_rows([number])}) and "
                f"{things} ({cells[other]!r} in {some_rows([other])}), but each column given as an argument "
                "must be all strings or all numbers. Convert it with pandas.to_numeric(…, errors='coerce') or "
                "astype(str)."
            )


def _quoted(names: list[Any]) -> str:
    return listed(list(map(repr, names)), 5)
