"""Content hashes: of each row, wherever it lies, and of a whole task.

A row's hash is a sum over its columns of coefficient × word modulo 2**64, scrambled at the end, in two lanes with
coefficients of their own. Sums do not mind the order in which they are taken, so tiles of any shape, any memory
layout and any selection of rows give the same bits, and a zero adds nothing, so a sparse row is its dense self.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Hashes, mix
from heldout.task.cells import cell_digests, digest_value
from heldout.task.containers import column, container_kind, is_frame, is_sparse
from heldout.task.series import Numbers, series_content
from heldout.task.words import NUMBER_KINDS, Words, number_words

if TYPE_CHECKING:
    from heldout.task.task import Task

Lanes = Words  # 2 × n: sums under way

_TILE = 1 << 15  # words: a tile and its scratch stay in the cache of one core
_TILE_COLUMNS = 256
_STREAM_X, _STREAM_Y = 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179
_LANE_MARKS = np.array([0x6A09E667F3BCC908, 0xBB67AE8584CAA73B], dtype=np.uint64)
_MISSING = np.uint64(0x7FF8DEAD5EED0BAD)
_VERSION = "heldout-task-1"


def row_hashes(X: Any, y: NDArray[Any]) -> Hashes:
    """A 128-bit hash of the content of each row of X and y.

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
    """A 128-bit hash of the target of each row: cheap, where a seed need not tell rows with the same target apart."""
    lanes = np.zeros((2, len(y)), dtype=np.uint64)
    _add_table(lanes, y if y.ndim == 2 else y[:, None], _STREAM_Y)
    return _scrambled(lanes)


def task_fingerprint(task: Task) -> str:
    """32 hex digits for all that a study can depend on: rows in order, names, types and roles."""
    digest = blake2b(digest_size=16)
    names = tuple(task.X.columns) if is_frame(task.X) else None
    target = (_dtype_name(task.y.dtype), task.y.shape[1:], task.classification)
    for value in (_VERSION, container_kind(task.X), names, _types(task.X), target):
        digest.update(digest_value(value))
    digest.update(cell_digests(task.group_names).tobytes())
    spans = () if task.time_end is None else (task.time_end,)  # a task without has the fingerprint it always had
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
    """Odd numbers, so that no column's difference is ever multiplied away: two lanes for each column."""
    counters = np.arange(2 * columns, dtype=np.uint64).reshape(columns, 2).T
    return mix(np.ascontiguousarray(counters) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(stream)) | np.uint64(1)


def _add_numbers(lanes: Lanes, table: NDArray[Any], coefficients: Lanes, missing: NDArray[Any] | None = None) -> None:
    """Add a 2-d array of numbers, tile by tile; `missing` marks cells whose number means nothing."""
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
                lanes[lane, top : top + height] += _weighted_sums(words, factors)


def _weighted_sums(words: Words, factors: Words) -> Words:
    """Σ factor × word over each row, in the way that is fastest for the width."""
    sums: Words
    if len(factors) == 1:
        sums = words[:, 0] * factors[0]
    elif len(factors) < 16:
        sums = words @ factors
    else:
        sums = np.einsum("ij,j->i", words, factors)
    return sums


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
    """Runs of rows with about a tile of entries each, and at least one row."""
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
    """What learners may treat apart although the values are the same: float32 and float64, the order of categories."""
    if not is_frame(X):
        return (_dtype_name(X.dtype),)
    categories = [getattr(dtype, "categories", None) for dtype in X.dtypes]
    return tuple(
        (str(dtype), bool(getattr(dtype, "ordered", False)), None if known is None else known.to_numpy())
        for dtype, known in zip(X.dtypes, categories, strict=True)
    )


def _dtype_name(dtype: np.dtype[Any]) -> str:
    return "text" if dtype.kind in "US" else dtype.name
