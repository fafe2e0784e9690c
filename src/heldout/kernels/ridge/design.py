"""The data as the kernel reads them: a plain matrix, targets as columns, row weights; all of it free of candidates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.ridge.columns import Unreadable
from heldout.kernels.ridge.forms import Form
from heldout.task.containers import container_kind
from heldout.task.task import Task

Floats = NDArray[np.float64]
CHUNK_NUMBERS = 1 << 17  # of one chunk of rows: a megabyte, which stays in a core's cache
LOOKED_AT = 256  # rows that tell the spread of columns, and that most are not constant


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shift:
    """What is taken from columns and targets before products are formed, so that large offsets cancel nothing.

    It changes rounding alone. A constant column is shifted by its very value, so that exact zeros are left.
    """

    x: Floats
    y: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """A dense matrix in rows, its targets as columns, and the weights that rows have in the linear model."""

    X: NDArray[Any]  # rows × columns, C order, any numeric type
    Y: Floats  # rows × targets; of a classifier ±1 for each class
    shift: Shift
    weight: Floats | None  # fixed row weights
    strata: NDArray[np.intp] | None  # class codes, where each training part weighs its classes by their counts
    strata_count: int = 1

    @property
    def width(self) -> int:
        """Columns, targets and the constant side by side."""
        return int(self.X.shape[1] + self.Y.shape[1] + 1)

    @property
    def chunk(self) -> int:
        """Rows read at a time: fixed by the width, so that sums have the same bits whoever makes them."""
        return max(32, min(8192, CHUNK_NUMBERS // self.width))


def numeric_type(task: Task, form: Form) -> np.dtype[Any]:
    """float32 where scikit-learn computes and answers in float32, else float64; raises Unreadable."""
    kinds = _column_types(task)
    _refuse_types(kinds, task)
    picked = kinds if form.columns.places is None or len(kinds) == 1 else [kinds[j] for j in form.columns.places]
    found = np.result_type(*picked)
    # Of polars scikit-learn learns no types beforehand: what accepts both precisions then reads the first, float64.
    if container_kind(task.X) == "polars" and (
        form.model != "ols" or form.columns.any("centred") or form.columns.any("scaled")
    ):
        return np.dtype(np.float64)
    return np.dtype(np.float32) if found == np.float32 else np.dtype(np.float64)


def check_data(task: Task) -> None:
    """Raise Unreadable unless X is dense, numeric and finite."""
    _refuse_types(_column_types(task), task)
    total = matrix_of(task).sum(axis=0, dtype=np.float64)  # a single pass with no temporary as large as X
    if not np.isfinite(total).all():
        raise Unreadable("X has missing or infinite values")


def matrix_of(task: Task) -> NDArray[Any]:
    """X as a C-ordered matrix: the user's own memory where that is one."""
    kind = container_kind(task.X)
    if kind == "array":
        return np.ascontiguousarray(task.X)
    types = _column_types(task)
    single = np.result_type(*types) == np.float32
    wanted = np.float32 if single else np.float64
    values = task.X.to_numpy() if kind == "polars" else task.X.to_numpy(dtype=wanted)
    return np.ascontiguousarray(values, dtype=wanted)


def make_design(task: Task, form: Form, X: NDArray[Any]) -> Design:
    """The design of every candidate with this form's weighting."""
    Y = _targets(task, form)
    weight = task.weight
    strata: NDArray[np.intp] | None = None
    count = 1
    if form.classifies and form.class_weight is not None:
        codes = class_codes(task)
        if isinstance(form.class_weight, str):
            strata, count = codes, len(_classes(task))
        else:
            table = np.ones(len(_classes(task)))
            places = {label: place for place, label in enumerate(_classes(task).tolist())}
            for label, value in form.class_weight:
                table[places[label]] = value
            weight = table[codes] if weight is None else weight * table[codes]
    shift = Shift(x=column_shift(X, None), y=column_shift(Y, None))
    return Design(X=X, Y=Y, shift=shift, weight=weight, strata=strata, strata_count=count)


def column_shift(values: NDArray[Any], rows: Rows | None) -> Floats:
    """About the mean of each column; its value where constant on these rows; 0 where the mean is within its spread.

    A column about zero loses no digits as it is, and to shift none spares a pass over every chunk. For all rows
    the mean of a sample will do; for some, whose products lost digits about that one, it is their own.
    """
    count = len(values) if rows is None else len(rows)
    places = np.arange(0, count, max(1, count // LOOKED_AT))
    with np.errstate(over="ignore", invalid="ignore"):
        sample = values.take(places if rows is None else rows[places], axis=0).astype(np.float64)
        if rows is None:
            shift = sample.mean(axis=0)
        else:
            shift = np.sum([chunk.sum(axis=0, dtype=np.float64) for chunk in _chunks(values, rows)], axis=0) / count
        shift[np.abs(shift) <= sample.std(axis=0)] = 0.0
    first = sample[0]
    still = np.flatnonzero((sample == first).all(axis=0))
    for chunk in _chunks(values, rows) if len(still) else ():
        still = still[(chunk[:, still] == first[still]).all(axis=0)]
    shift[still] = first[still]
    return np.asarray(shift)


def _chunks(values: NDArray[Any], rows: Rows | None) -> Iterator[NDArray[Any]]:
    if rows is None:
        yield values
        return
    size = max(32, CHUNK_NUMBERS // values.shape[1])
    for start in range(0, len(rows), size):
        yield values.take(rows[start : start + size], axis=0)


def class_codes(task: Task) -> NDArray[np.intp]:
    """The place of each row's class among the sorted classes."""
    return np.searchsorted(_classes(task), task.y).astype(np.intp)


def _classes(task: Task) -> NDArray[Any]:
    assert task.classes is not None, "classifiers are claimed for single-output classification only"
    return task.classes


def _targets(task: Task, form: Form) -> Floats:
    if not form.classifies:
        return np.ascontiguousarray(task.y.reshape(len(task), -1), dtype=np.float64)
    codes, count = class_codes(task), len(_classes(task))
    if count == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    Y = np.full((len(task), count), -1.0)
    Y[np.arange(len(task)), codes] = 1.0
    return Y


def _column_types(task: Task) -> list[np.dtype[Any]]:
    kind = container_kind(task.X)
    if kind == "sparse":
        raise Unreadable("X is sparse; the statistics are made of dense columns")
    if kind == "objects":
        raise Unreadable("X is no table of numbers")
    if kind == "array":
        return [task.X.dtype]
    found: list[np.dtype[Any]] = []
    for name, dtype in zip(task.X.columns, task.X.dtypes, strict=True):
        plain = _plain_type(dtype)
        if plain is None:
            raise Unreadable(f"column {name!r} of X is of type {dtype}, not a plain number")
        # scikit-learn reads a frame that holds booleans as float64.
        found.append(np.dtype(np.float64) if plain.kind == "b" else plain)
    return found


def _plain_type(dtype: Any) -> np.dtype[Any] | None:
    if isinstance(dtype, np.dtype):
        return dtype if dtype.kind in "biuf" else None
    if hasattr(dtype, "is_numeric") and hasattr(dtype, "is_decimal"):  # polars
        name = str(dtype).lower()
        return np.dtype(name) if dtype.is_numeric() and not dtype.is_decimal() and name in np.sctypeDict else None
    return np.dtype(bool) if str(dtype) == "Boolean" else None


def _refuse_types(kinds: list[np.dtype[Any]], task: Task) -> None:
    for kind in kinds:
        if kind.kind not in "biuf" or kind == np.float16 or kind.itemsize > 8:
            raise Unreadable(f"X is of type {kind}; only float64, float32, whole numbers and booleans are read")
