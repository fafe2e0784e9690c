"""Hashes content: each value, each row (whatever its position), and a whole task.

The hash of a row is a sum over its columns of coefficient × word modulo 2**64, scrambled at the end, in two lanes with
different coefficients. A sum does not depend on its order, so tiles of any shape, any memory layout and any selection
of rows give the same bits. A zero adds nothing, so a sparse row has the hash of the same dense row.
"""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import InputError
from heldout.base.rowkeys import Hashes, mix
from heldout.task.arrays import column, container_kind, is_frame, is_missing, is_pandas, is_sparse

if TYPE_CHECKING:
    from heldout.task.task import Task

Words = NDArray[np.uint64]

NUMBER_KINDS = "biufmM"  # dtype kinds that have words; datetimes count as the integers they are kept as
_HALF = np.uint64(32)
_TELLING = (datetime.date, datetime.time, datetime.timedelta, Decimal, Fraction)  # their repr gives the full content
# Types whose equal values are the same content, so that one digest serves all of them. Not so decimals (1.0 and
# 1.00), times in two zones, or tuples (of 1 and of 1.0).
_INTERCHANGEABLE = {str, int, float, bool, bytes, type(None), datetime.date}
_NUMPY_TYPES: dict[str, Any] = {"b": np.bool_, "i": np.int64, "u": np.uint64}
_POLARS_INTEGERS = {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}  # numpy has no wider ones
Lanes = Words  # 2 × n: sums under way

_TILE = 1 << 15  # words: a tile and its scratch stay in the cache of one core
_TILE_COLUMNS = 256
_STREAM_X, _STREAM_Y = 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179
_LANE_MARKS = np.array([0x6A09E667F3BCC908, 0xBB67AE8584CAA73B], dtype=np.uint64)
_MISSING = np.uint64(0x7FF8DEAD5EED0BAD)
_VERSION = "heldout-task-1"


def number_words(tile: NDArray[Any], scratch: Words) -> Words:
    """Write one 64-bit word for each number into `scratch` (2 × at least the size of the tile) and return the words.

    A float counts as its float64 value, with a single NaN and a single zero; an integer, boolean or datetime as its
    int64 value. The high half of each word is folded into its low half: signs and exponents lie in the high bits, where
    a multiplication modulo 2**64 would lose them (two sign bits, 2**63 each, would even cancel).
    """
    words = scratch[0, : tile.size].reshape(tile.shape)
    shifted = scratch[1, : tile.size].reshape(tile.shape)
    kind = tile.dtype.kind
    if kind == "f":
        _write_floats(words.view(np.float64), tile)
    elif kind == "u":
        words[...] = tile
    else:
        words.view(np.int64)[...] = tile.astype(np.int64) if kind in "mM" else tile
    np.right_shift(words, _HALF, out=shifted)
    return np.bitwise_xor(words, shifted, out=words)


def _write_floats(floats: NDArray[np.float64], tile: NDArray[Any]) -> None:
    with np.errstate(all="ignore"):  # numbers wider than float64 may overflow; they are learned from as float64 too
        if tile.dtype == np.float64:
            np.add(tile, 0.0, out=floats)  # -0.0 + 0.0 is 0.0
        else:
            floats[...] = tile
            floats += 0.0
        # A minimum is NaN when any number is: cheaper than a mask that is seldom needed.
        if np.isnan(np.minimum.reduce(floats, axis=None, initial=np.inf)):
            floats[np.isnan(floats)] = np.nan


def cell_digests(cells: Sequence[Any]) -> Hashes:
    """Return two 64-bit hashes of each cell, from its type and value."""
    types = set(map(type, cells))
    if types <= _INTERCHANGEABLE:
        # The type is part of the key because 1, 1.0 and True are one key of a dict but three contents.
        keys = cells if len(types) == 1 else list(zip(map(type, cells), cells, strict=True))
        known = {key: digest_value(key if len(types) == 1 else key[1]) for key in dict.fromkeys(keys)}
        joined = b"".join([known[key] for key in keys])
    else:
        joined = b"".join(map(digest_value, cells))
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64, copy=False).reshape(-1, 2)


def coded_digests(codes: NDArray[np.integer[Any]], values: Sequence[Any]) -> Hashes:
    """Return the digests of cells that are given as codes into a few values. A code of -1 is a missing cell."""
    digests: Hashes = cell_digests([*values, None])[codes]
    return digests


def digest_value(value: Any) -> bytes:
    """Return a 16-byte hash of one value."""
    return blake2b(_content(value), digest_size=16).digest()


def _content(value: Any) -> bytes:
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if is_missing(value):
        return b"-"
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind not in "mM" else (str(value.dtype), int(value.astype(np.int64)))
    if isinstance(value, bool | int):
        return (b"b" if isinstance(value, bool) else b"i") + str(int(value)).encode()
    if isinstance(value, float):
        return b"f" + (value + 0.0).hex().encode()
    if isinstance(value, bytes):
        return b"y" + value
    if isinstance(value, _TELLING):
        return f"r{type(value).__name__}{value!r}".encode()
    if isinstance(value, np.ndarray):
        return f"a{value.dtype}{value.shape}".encode() + _joined(value.ravel().tolist())
    if isinstance(value, list | tuple):
        return type(value).__name__.encode() + _joined(value)
    if isinstance(value, Mapping):
        return b"m" + b"".join(sorted(digest_value(key) + digest_value(item) for key, item in value.items()))
    if isinstance(value, set | frozenset):
        return b"e" + b"".join(sorted(map(digest_value, value)))
    return _pickled(value)


def _joined(values: Iterable[Any]) -> bytes:
    return b"".join(map(digest_value, values))


def _pickled(value: Any) -> bytes:
    # repr would not do: for many classes it is an address, or is truncated.
    try:
        return b"p" + pickle.dumps(value, protocol=5)
    except Exception as reason:
        raise InputError(
            f"A value of type {type(value).__name__} in the data has no content to be told by: it cannot be pickled "
            f"({reason}). Use plain values (numbers, texts, arrays, lists, dicts)."
        ) from reason


class Numbers(NamedTuple):
    """A column of numbers, and a mask of its missing cells. None means that none is missing."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None


def series_content(series: Any) -> Numbers | Hashes:
    """Return the numbers of a column, or the digests of its cells if it is not numeric."""
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


def row_hashes(X: Any, y: NDArray[Any]) -> Hashes:
    """Return a 128-bit hash of the content of each row of X and y.

    The same row has the same hash in any selection of rows that keeps the container and the types of columns.
    All NaN are one value, and so are 0.0 and -0.0; every other difference of a value counts.

    >>> X, y = np.eye(3), np.zeros(3)
    >>> (row_hashes(X, y)[1:] == row_hashes(X[1:], y[1:])).all()
    np.True_
    """
    lanes = np.zeros((2, len(y)), dtype=np.uint64)
    outputs = y if y.ndim == 2 else y[:, None]
    _add_table(lanes, X[:, None] if container_kind(X) == "objects" else X, _STREAM_X)
    _add_table(lanes, outputs, _STREAM_Y)
    return _scrambled(lanes)


def target_hashes(y: NDArray[Any]) -> Hashes:
    """Return a 128-bit hash of each row's target. It costs little, and rows with equal targets share it."""
    lanes = np.zeros((2, len(y)), dtype=np.uint64)
    _add_table(lanes, y if y.ndim == 2 else y[:, None], _STREAM_Y)
    return _scrambled(lanes)


def task_fingerprint(task: Task) -> str:
    """Return a hash, in 32 hex digits, of all that a study depends on: rows in order, names, types and roles."""
    digest = blake2b(digest_size=16)
    names = tuple(task.X.columns) if is_frame(task.X) else None
    target = (_dtype_name(task.y.dtype), task.y.shape[1:], task.classification)
    for value in (_VERSION, task.container, names, _types(task.X), target):
        digest.update(digest_value(value))
    digest.update(cell_digests(task.group_names).tobytes())
    spans = () if task.time_end is None else (task.time_end,)  # without spans it is that of earlier versions
    for values in (task.row_hashes, task.groups, task.time, task.weight, task.strata, *spans):
        digest.update(digest_value(None if values is None else (_dtype_name(values.dtype), values.shape)))
        if values is not None:
            digest.update(np.ascontiguousarray(values).view(np.uint8).data)
    return digest.hexdigest()


def _scrambled(lanes: Lanes) -> Hashes:
    hashes = np.empty((lanes.shape[1], 2), dtype=np.uint64)
    for top in range(0, len(hashes), _TILE):
        part = slice(top, top + _TILE)
        hashes[part, 0] = mix(lanes[0, part] ^ _LANE_MARKS[0])
        hashes[part, 1] = mix(lanes[1, part] ^ _LANE_MARKS[1])
    return hashes


def _add_table(lanes: Lanes, table: Any, stream: int) -> None:
    coefficients = _coefficients(table.shape[1], stream)
    if is_sparse(table):
        _add_sparse(lanes, table, coefficients)
    elif is_frame(table):
        for position in range(table.shape[1]):
            _add_series(lanes, column(table, position), coefficients[:, position, None])
    elif table.dtype.kind in NUMBER_KINDS:
        _add_numbers(lanes, table, coefficients)
    else:
        for position in range(table.shape[1]):
            _add_digests(lanes, cell_digests(table[:, position].tolist()), coefficients[:, position, None])


def _coefficients(columns: int, stream: int) -> Lanes:
    """Return odd coefficients (2 × columns). Odd factors are invertible modulo 2**64, so no difference is lost."""
    counters = np.arange(2 * columns, dtype=np.uint64).reshape(columns, 2).T
    return mix(np.ascontiguousarray(counters) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(stream)) | np.uint64(1)


def _add_numbers(lanes: Lanes, table: NDArray[Any], coefficients: Lanes, missing: NDArray[Any] | None = None) -> None:
    """Add a 2-d array of numbers to the sums, tile by tile. `missing` marks invalid cells; None: all are valid."""
    rows, columns = table.shape
    width = min(columns, _TILE_COLUMNS)
    height = max(1, _TILE // width)
    scratch = np.empty((2, min(height, rows) * width), dtype=np.uint64)
    for top in range(0, rows, height):
        for left in range(0, columns, width):
            tile = table[top : top + height, left : left + width]
            words = number_words(tile, scratch)
            if missing is not None:
                words[missing[top : top + height, left : left + width]] = _MISSING
            for lane in (0, 1):
                factors = coefficients[lane, left : left + width]
                lanes[lane, top : top + height] += np.einsum("ij,j->i", words, factors)


def _add_digests(lanes: Lanes, digests: Hashes, coefficients: Lanes) -> None:
    lanes += digests.T * coefficients


def _add_sparse(lanes: Lanes, table: Any, coefficients: Lanes) -> None:
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    for top, bottom in _row_runs(table.indptr):
        inside = slice(table.indptr[top], table.indptr[bottom])
        words = number_words(table.data[inside, None], np.empty((2, inside.stop - inside.start), np.uint64))[:, 0]
        ends = table.indptr[top : bottom + 1] - table.indptr[top]
        for lane in (0, 1):
            running = np.zeros(len(words) + 1, dtype=np.uint64)
            np.cumsum(words * coefficients[lane, table.indices[inside]], out=running[1:])
            lanes[lane, top:bottom] += np.diff(running[ends])


def _row_runs(indptr: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield runs of rows with about _TILE entries each, but at least one row."""
    top, rows = 0, len(indptr) - 1
    while top < rows:
        bottom = max(top + 1, int(np.searchsorted(indptr, indptr[top] + _TILE, side="right")) - 1)
        yield top, min(bottom, rows)
        top = min(bottom, rows)


def _add_series(lanes: Lanes, series: Any, coefficients: Lanes) -> None:
    content = series_content(series)
    if isinstance(content, Numbers):
        missing = None if content.missing is None else content.missing[:, None]
        _add_numbers(lanes, content.values[:, None], coefficients, missing)
    else:
        _add_digests(lanes, content, coefficients)


def _types(X: Any) -> tuple[Any, ...]:
    """Return what may matter to learners besides values, such as float32 or float64 and the order of categories."""
    if not is_frame(X):
        return (_dtype_name(X.dtype),)
    categories = [getattr(dtype, "categories", None) for dtype in X.dtypes]
    return tuple(
        # Those of a polars Categorical have no order, and no to_numpy.
        (str(dtype), bool(getattr(dtype, "ordered", False)), getattr(known, "to_numpy", lambda: None)())
        for dtype, known in zip(X.dtypes, categories, strict=True)
    )


def _dtype_name(dtype: np.dtype[Any]) -> str:
    return "text" if dtype.kind in "US" else dtype.name
