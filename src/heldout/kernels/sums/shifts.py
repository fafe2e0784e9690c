"""What is subtracted from columns before products are formed, so that large offsets cancel no digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.sums.rounding import Floats

CHUNK_NUMBERS = 1 << 17  # of one chunk of rows: a megabyte, which stays in a core's cache
SAMPLED_ROWS = 256  # rows that show the spread of columns, and that most columns are not constant


class Shift(NamedTuple):
    """What is subtracted from columns and targets. It changes rounding alone.

    A constant column is shifted by its very value, so that exact zeros are left.
    """

    x: Floats  # columns, or classes × columns
    y: Floats


def column_shift(values: NDArray[Any], rows: Rows | None) -> Floats:
    """About the mean of each column; its value where it is constant; 0 where the mean is within its spread.

    A column about zero loses no digits as it is, and to shift no column spares a pass over every chunk. For all rows
    the mean of a sample will do; for given rows, whose products lost digits about that one, it is their own mean.
    """
    count = len(values) if rows is None else len(rows)
    places = np.arange(0, count, max(1, count // SAMPLED_ROWS))
    with np.errstate(over="ignore", invalid="ignore"):
        sample = values.take(places if rows is None else rows[places], axis=0).astype(np.float64)
        if rows is None:
            shift = sample.mean(axis=0)
        else:
            shift = np.sum([chunk.sum(axis=0, dtype=np.float64) for chunk in _chunks(values, rows)], axis=0) / count
        shift[np.abs(shift) <= sample.std(axis=0)] = 0.0
    first = sample[0]
    constant = np.flatnonzero((sample == first).all(axis=0))
    for chunk in _chunks(values, rows) if len(constant) else ():
        constant = constant[(chunk[:, constant] == first[constant]).all(axis=0)]
    shift[constant] = first[constant]
    return np.asarray(shift)


def class_shifts(X: NDArray[Any], codes: NDArray[Any], rows: Rows | None, count: int) -> Floats:
    """The mean of each column in each class; the very value of a column that is constant there."""
    shifts = np.zeros((count, X.shape[1]))
    codes = codes if rows is None else codes[rows]
    for code in range(count):
        members = np.flatnonzero(codes == code)
        if not len(members):
            continue
        members = members if rows is None else rows[members]
        first = X[members[0]].astype(np.float64)
        offset, constant = np.zeros(X.shape[1]), np.ones(X.shape[1], dtype=bool)
        for chunk in _chunks(X, members):
            away = chunk - first  # nothing but zeros where a column is constant
            constant &= ~away.any(axis=0)
            offset += away.sum(axis=0, dtype=np.float64)
        shifts[code] = np.where(constant, first, first + offset / len(members))
    return shifts


def _chunks(values: NDArray[Any], rows: Rows | None) -> Iterator[NDArray[Any]]:
    if rows is None:
        yield values
        return
    size = max(32, CHUNK_NUMBERS // max(1, values.shape[1]))
    for start in range(0, len(rows), size):
        yield values.take(rows[start : start + size], axis=0)
