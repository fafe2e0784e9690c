"""Accepts the roles of rows: converts groups, time, weights and strata to arrays without missing values."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import RoleError
from heldout.task.arrays import as_array, column, is_frame, is_pyarrow, missing_rows
from heldout.task.source import some_rows

Codes = NDArray[np.intp]
_FINE = ("ps", "fs", "as")
END = "time[1]"  # how errors call the end of the pair that time= takes


def accept_labels(role: str, values: Any) -> tuple[Codes, tuple[Any, ...]]:
    """Convert groups or strata to codes 0, 1, …; also return the label of each code. Labels are any hashable values."""
    labels = _one_a_row(role, as_array(values, cells=True))
    rows = missing_rows(labels)
    if len(rows):
        raise RoleError(
            f"{role} are missing in {some_rows(rows)}. Fill them in (a label of its own for each such row), "
            "or drop these rows."
        )
    if labels.dtype.kind == "O":
        try:
            return label_codes(labels.tolist())
        except TypeError:
            raise RoleError(f"{role} must be labels that can be hashed, but holds {labels[0]!r}.") from None
    names, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.intp, copy=False), tuple(names if names.dtype.kind in "mM" else names.tolist())


def accept_time(values: Any, *, role: str = "time") -> NDArray[Any]:
    """Convert times to numbers, datetime64 (in UTC if they had a time zone) or timedelta64."""
    times = _one_a_row(role, as_array(values))
    rows = missing_rows(times)
    if len(rows):
        raise RoleError(f"{role} is missing in {some_rows(rows)}. Fill in when these rows were seen, or drop them.")
    if times.dtype.kind == "O":
        times = _dates_of_objects(times, role)
    if times.dtype.kind in "mM":
        return _in_plain_units(times)
    if times.dtype.kind not in "iuf":
        raise RoleError(
            f"{role} must be numbers or dates, but holds {type(times.flat[0]).__name__} ({times.flat[0]!r}). "
            "Convert it with pandas.to_datetime(…)."
        )
    if times.dtype.kind == "u" and len(times) and times.max() > np.iinfo(np.int64).max:
        raise RoleError(f"{role} is past 2**63 in {some_rows([int(times.argmax())])}. Count it from a later beginning.")
    if times.dtype.kind == "f" and not np.isfinite(times).all():
        raise RoleError(f"{role} is infinite in {some_rows(np.flatnonzero(~np.isfinite(times)))}. Correct these rows.")
    return times


def accept_weight(values: Any) -> NDArray[np.float64]:
    """Convert weights to floats; raise a RoleError unless they are finite, none is negative and not all are zero."""
    given = _one_a_row("sample_weight", as_array(values))
    try:
        weight = given.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise RoleError(f"sample_weight must be numbers, but holds {given.flat[0]!r}.") from None
    rows = np.flatnonzero(~np.isfinite(weight))
    if len(rows):
        raise RoleError(f"sample_weight is NaN or infinite in {some_rows(rows)}. Use 0 for rows that do not count.")
    rows = np.flatnonzero(weight < 0)
    if len(rows):
        raise RoleError(f"sample_weight is negative in {some_rows(rows)}. Weights must be 0 or more.")
    if len(weight) and not weight.any():
        raise RoleError(
            "Sample weights must contain at least one non-zero number, but every sample_weight is zero. "
            "Leave sample_weight out to weigh all rows alike."
        )
    return weight


def _dates_of_objects(times: NDArray[Any], role: str) -> NDArray[Any]:
    """Convert dates or time spans from objects to datetime64 or timedelta64. Return other values unchanged."""
    import pandas as pd

    if len(times) and all(isinstance(t, datetime.timedelta | np.timedelta64) for t in times):
        return np.asarray(pd.to_timedelta(times.tolist()))
    if not all(isinstance(t, datetime.date | np.datetime64) for t in times):
        return times
    zoned = np.array([getattr(t, "tzinfo", None) is not None for t in times], dtype=bool)
    if zoned.any() and not zoned.all():
        raise RoleError(
            f"{role} has a time zone in some rows and none in {some_rows(np.flatnonzero(~zoned))}, so their order is "
            "unclear. Give all of them a zone, or none."
        )
    return np.asarray(pd.to_datetime(times.tolist(), utc=True).tz_localize(None))


def _in_plain_units(times: NDArray[Any]) -> NDArray[Any]:
    """Convert times to a single unit between weeks and nanoseconds, which all later steps can handle."""
    unit, step = np.datetime_data(times.dtype)
    if unit == "generic":
        return times.astype(np.int64)
    plain = "D" if unit in ("Y", "M") else "ns" if unit in _FINE else unit  # the first day stands for a month
    return times if (plain, step) == (unit, 1) else times.astype(f"{times.dtype.kind}8[{plain}]")


def _one_a_row(role: str, values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim == 2 and values.shape[1] == 1:
        return values.ravel()
    if values.ndim != 1:
        raise RoleError(f"{role} must have one value a row (1-d), but has shape {values.shape}.")
    return values


def label_codes(labels: Sequence[Any]) -> tuple[Codes, tuple[Any, ...]]:
    """Return codes of labels of any type, and the sorted labels. Raise a TypeError if a label is not hashable."""
    names = list(dict.fromkeys(labels))
    try:
        names.sort()
    except TypeError:  # labels of several types have no order of their own; this one depends on no row
        names.sort(key=lambda name: (type(name).__name__, repr(name)))
    number = {name: code for code, name in enumerate(names)}
    return np.fromiter((number[label] for label in labels), dtype=np.intp, count=len(labels)), tuple(names)


def split_time(time: Any) -> tuple[Any, Any]:
    """Split what was given as `time` into starts and ends; ends are None if each row has one time.

    A tuple of two columns is a pair (start, end), and so is a frame or an array with two columns, and two names.

    >>> split_time(("from", "to")), split_time("when")
    (('from', 'to'), ('when', None))
    >>> split_time([[0, 3], [1, 4], [2, 5]])
    (array([0, 1, 2]), array([3, 4, 5]))
    """
    if is_pyarrow(time, "Table"):
        time = time.to_pandas()
    if is_frame(time):
        return (column(time, 0), column(time, 1)) if time.shape[1] == 2 else (time, None)
    if isinstance(time, tuple | list) and len(time) == 2 and all(isinstance(side, str) for side in time):
        return time[0], time[1]
    if isinstance(time, tuple) and len(time) == 2 and all(map(_is_column, time)):
        return time
    if isinstance(time, np.ndarray | list):
        values = as_array(time)
        if values.ndim == 2 and values.shape[1] == 2:
            return values[:, 0], values[:, 1]
    return time, None


def accept_end(values: Any, start: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Check the ends and convert starts and ends to one type. `start` must have been accepted before."""
    end = accept_time(values, role=END)
    if len(end) != len(start):
        return start, end  # the check of all lengths says which one is wrong
    if _kind(start) != _kind(end):
        raise RoleError(
            f"time is a pair of a start and an end, but one is {_kind(start)} and the other {_kind(end)}. "
            "Give both in the same kind."
        )
    rows = np.flatnonzero(end < start)
    if len(rows):
        raise RoleError(
            f"time ends before it starts in {some_rows(rows)}. Pass time=(start, end), and correct these rows."
        )
    common = np.result_type(start, end)
    return start.astype(common, copy=False), end.astype(common, copy=False)


def _is_column(value: Any) -> bool:
    """Return whether this can be one side of a pair: a column name, or one value per row."""
    return hasattr(value, "__len__") and not isinstance(value, bytes)


def _kind(times: NDArray[Any]) -> str:
    return {"M": "dates", "m": "lengths of time"}.get(times.dtype.kind, "numbers")
