"""Time as the user gives it: one value a row, or a start and an end where an outcome takes a while to come in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import RoleError
from heldout.task.containers import column, is_frame, is_name, is_pyarrow
from heldout.task.roles import accept_time
from heldout.task.sequences import as_array, some_rows

END = "time[1]"  # how errors call the end of the pair that time= takes
_DATES = "mM"


def split_time(time: Any) -> tuple[Any, Any]:
    """What was given as `time`, as starts and ends; ends are None where each row has one time.

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
    if isinstance(time, tuple | list) and len(time) == 2 and all(map(is_name, time)):
        return time[0], time[1]
    if isinstance(time, tuple) and len(time) == 2 and all(map(_is_column, time)):
        return time
    if isinstance(time, np.ndarray | list):
        values = as_array(time)
        if values.ndim == 2 and values.shape[1] == 2:
            return values[:, 0], values[:, 1]
    return time, None


def accept_end(values: Any, start: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Starts and ends in one type, no row ending before it starts. `start` has been accepted."""
    end = accept_time(values, role=END)
    if len(end) != len(start):
        return start, end  # the check of all lengths says which one is wrong
    kinds = {_kind(start), _kind(end)}
    if len(kinds) > 1:
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
    """Whether this can be one side of a pair: a name, or values of rows."""
    return is_name(value) or (hasattr(value, "__len__") and not isinstance(value, bytes))


def _kind(times: NDArray[Any]) -> str:
    if times.dtype.kind in _DATES:
        return "dates" if times.dtype.kind == "M" else "lengths of time"
    return "numbers"
