"""One column of a data frame as numbers or as digests, by its type and never by what its rows happen to hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Hashes
from heldout.task.cells import cell_digests, coded_digests
from heldout.task.containers import is_pandas
from heldout.task.words import NUMBER_KINDS

_NUMPY_TYPES: dict[str, Any] = {"b": np.bool_, "i": np.int64, "u": np.uint64}
_POLARS_INTEGERS = {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}  # wider ones have no array


class Numbers(NamedTuple):
    """A column of numbers, and where they mean nothing because the cell is missing."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None


def series_content(series: Any) -> Numbers | Hashes:
    """The numbers of a column, or the digests of its cells."""
    return _pandas_content(series) if is_pandas(series, "Series") else _polars_content(series)


def _pandas_content(series: Any) -> Numbers | Hashes:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return coded_digests(series.cat.codes.to_numpy(), dtype.categories.tolist())
    if isinstance(dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
        dtype = series.dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        return Numbers(pd.DatetimeIndex(series).asi8, None)
    kind = dtype.kind
    if isinstance(dtype, np.dtype):
        values = series.to_numpy()
        return Numbers(values, None) if kind in NUMBER_KINDS else cell_digests(values.tolist())
    if kind == "f":
        return Numbers(series.to_numpy(dtype=np.float64, na_value=np.nan), None)
    if kind in _NUMPY_TYPES:
        missing = series.isna().to_numpy()
        numbers = series.to_numpy(dtype=_NUMPY_TYPES[kind], na_value=_NUMPY_TYPES[kind](0))
        return Numbers(numbers, missing if missing.any() else None)
    if isinstance(dtype, pd.StringDtype):
        codes, values = pd.factorize(series)
        return coded_digests(codes, values.tolist())
    return cell_digests(series.astype(object).tolist())


def _polars_content(series: Any) -> Numbers | Hashes:
    dtype = series.dtype
    is_boolean = str(dtype) == "Boolean"
    if dtype.is_temporal():
        series = series.to_physical()
    elif not (is_boolean or dtype.is_float() or str(dtype) in _POLARS_INTEGERS):
        return cell_digests(series.to_list())
    missing = series.is_null().to_numpy() if series.null_count() else None
    filled = series if missing is None else series.fill_null(False if is_boolean else 0)
    return Numbers(filled.to_numpy(), missing)
