"""The task as kernels read it: a plain matrix, numeric types, class codes; all of it independent of candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.sums.rounding import Refuse
from heldout.task.task import Task

Value = TypeVar("Value")


def remember(task: Task, key: Any, make: Callable[[Task], Value]) -> Value:
    """The value of `make(task)`, computed once a task."""
    if key not in task.memo:
        task.memo[key] = make(task)
    value: Value = task.memo[key]
    return value


def matrix_of(task: Task) -> NDArray[Any]:
    """X as a C-ordered matrix: the user's own memory where that is one."""
    kind = task.container
    if kind == "array":
        return np.ascontiguousarray(task.X)
    wanted = np.float32 if np.result_type(*column_types(task)) == np.float32 else np.float64
    values = task.X.to_numpy() if kind == "polars" else task.X.to_numpy(dtype=wanted)
    return np.ascontiguousarray(values, dtype=wanted)


def data_problem(task: Task) -> str:
    """Why X is not a dense, finite matrix of numbers, in words; "" if it is. The first call takes a pass over X."""
    return remember(task, "data problem", _data_problem)


def check_data(task: Task) -> None:
    """Raise Refuse unless X is a dense, finite matrix of numbers."""
    if problem := data_problem(task):
        raise Refuse(problem)


def _data_problem(task: Task) -> str:
    try:
        for kind in column_types(task):
            if kind.kind not in "biuf" or kind == np.float16 or kind.itemsize > 8:
                return f"X is of type {kind}; only float64, float32, whole numbers and booleans are read"
    except Refuse as reason:
        return str(reason)
    total = matrix_of(task).sum(axis=0, dtype=np.float64)  # a single pass with no temporary as large as X
    return "" if np.isfinite(total).all() else "X has missing or infinite values"


def class_codes(task: Task) -> NDArray[np.intp]:
    """The position of each row's class among the sorted classes."""
    return remember(task, "class codes", _class_codes)


def _class_codes(task: Task) -> NDArray[np.intp]:
    assert task.classes is not None, "only tasks of one class a row have class codes"
    return np.searchsorted(task.classes, task.y).astype(np.intp)


def smallest_class(task: Task) -> int:
    """How many rows the smallest class has."""
    return remember(task, "smallest class", lambda task: int(np.bincount(class_codes(task)).min()))


def labels_of(task: Task) -> NDArray[Any]:
    """The classes as scikit-learn keeps them: text in the narrowest type that holds it."""
    assert task.classes is not None, "only tasks of one class a row have labels"
    return np.asarray(task.classes.tolist()) if task.classes.dtype.kind in "UO" else task.classes


def numeric_type(task: Task, places: tuple[int, ...] | None, *, first_of_polars: bool) -> np.dtype[Any]:
    """float32 where scikit-learn computes and answers in float32, else float64.

    `places` are the columns that the model sees, None for all. Of polars scikit-learn learns no types beforehand:
    a step that accepts both precisions (`first_of_polars`) then reads the first it accepts, which is float64.
    """
    if task.container == "polars" and first_of_polars:
        return np.dtype(np.float64)
    kinds = column_types(task)
    seen = np.result_type(*(kinds if places is None or len(kinds) == 1 else [kinds[j] for j in places]))
    return np.dtype(np.float32) if seen == np.float32 else np.dtype(np.float64)


def column_types(task: Task) -> list[np.dtype[Any]]:
    """The numeric type of each column, or of the whole array. Raises Refuse where X is no dense table of numbers."""
    kind = task.container
    if kind == "sparse":
        raise Refuse("X is sparse; the statistics are made of dense columns")
    if kind == "objects":
        raise Refuse("X is no table of numbers")
    if kind == "array":
        return [task.X.dtype]
    types: list[np.dtype[Any]] = []
    for name, dtype in zip(task.X.columns, task.X.dtypes, strict=True):
        plain = _plain_type(dtype)
        if plain is None:
            raise Refuse(f"column {name!r} of X is of type {dtype}, not a plain number")
        types.append(np.dtype(np.float64) if plain.kind == "b" else plain)  # frames with booleans are read as float64
    return types


def _plain_type(dtype: Any) -> np.dtype[Any] | None:
    if isinstance(dtype, np.dtype):
        return dtype if dtype.kind in "biuf" else None
    if hasattr(dtype, "is_numeric") and hasattr(dtype, "is_decimal"):  # polars
        name = str(dtype).lower()
        return np.dtype(name) if dtype.is_numeric() and not dtype.is_decimal() and name in np.sctypeDict else None
    return np.dtype(bool) if str(dtype) == "Boolean" else None
