"""Time as a pair of a start and an end: every way to give it, and what is refused."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from heldout.base.errors import InputError, RoleError
from heldout.task import declare

X = np.arange(8.0).reshape(4, 2)
Y = [1.0, 2.0, 3.0, 4.0]
START, END = [3, 0, 1, 2], [5, 0, 4, 2]
DAYS = pd.to_datetime(["2024-01-03", "2024-01-01", "2024-01-02", "2024-01-04"])


def regress(X=X, **roles):
    return declare(X, Y, classification=False, **roles)


@pytest.mark.parametrize(
    "time",
    [
        (START, END),
        (np.array(START), pd.Series(END)),
        np.column_stack([START, END]),
        list(zip(START, END, strict=True)),
        pd.DataFrame({"a": START, "b": END}),
        pl.DataFrame({"a": START, "b": END}),
        pa.table({"a": START, "b": END}),
    ],
    ids=["lists", "array and series", "array", "rows", "pandas", "polars", "pyarrow"],
)
def test_a_pair_in_any_container(time):
    task = regress(time=time)
    assert task.time.tolist() == START
    assert task.time_end.tolist() == END
    assert not task.time_end.flags.writeable


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("pair", [("from", "to"), ["from", "to"]])
def test_named_columns_leave_x(library, pair):
    frame = library({"a": X[:, 0], "from": START, "to": END})
    task = regress(frame, time=pair)
    assert task.columns == ("a",)
    assert (task.time.tolist(), task.time_end.tolist()) == (START, END)


def test_both_sides_have_one_type():
    task = regress(time=(np.array(START, dtype=np.int32), np.array(END) + 0.5))
    assert task.time.dtype == task.time_end.dtype == np.float64
    task = regress(time=(DAYS.to_numpy().astype("datetime64[D]"), DAYS + pd.Timedelta("6h")))
    assert task.time.dtype == task.time_end.dtype
    assert (task.time_end - task.time == np.timedelta64(6, "h")).all()
    task = regress(time=([date(2024, 1, day) for day in (1, 2, 3, 4)], DAYS.max() + pd.to_timedelta([0, 1, 2, 3], "D")))
    assert task.time_end[0] == np.datetime64("2024-01-04")


def test_one_time_a_row_is_no_span():
    for time in (START, np.array(START)[:, None], pd.DataFrame({"when": START}), tuple(START)):
        task = regress(time=time)
        assert task.time.tolist() == START
        assert task.time_end is None
    two = declare(X[:2], Y[:2], classification=False, time=(5, 3))
    assert two.time.tolist() == [5, 3]


def test_the_fingerprint_knows_ends_and_is_the_old_one_without():
    alone, spans, other = (regress(time=time) for time in (START, (START, END), (START, [5, 1, 4, 2])))
    assert len({alone.fingerprint, spans.fingerprint, other.fingerprint}) == 3
    assert alone.fingerprint == "4cf3af372a0b3971ab05e0d13610ca1a"  # as it was before a task could have ends


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ((START, [5, 0, 0, 2]), r"time ends before it starts in row 2. Pass time=\(start, end\)"),
        ((START, [5, 0, None, 2]), r"time\[1\] is missing in row 2"),
        ((START, [5, 0, np.inf, 2]), r"time\[1\] is infinite in row 2"),
        (([5, np.nan, 0, 2], END), "time is missing in row 1"),
        ((START, DAYS), "one is numbers and the other dates. Give both in the same kind"),
        ((START, END[:3]), r"X has 4 rows, but time\[1\] has 3"),
        ((START[:3], END), "X has 4 rows, but time has 3"),
        ((START, "to"), r"time\[1\]='to' names a column, but X has no column names"),
        (np.zeros((4, 3)), r"time must have one value a row \(1-d\), but has shape \(4, 3\)"),
    ],
)
def test_refusals(time, message):
    with pytest.raises(RoleError, match=message):
        regress(time=time)


def test_no_such_column_and_other_indexes_are_refused():
    frame = pd.DataFrame({"a": X[:, 0], "from": START, "to": END})
    with pytest.raises(RoleError, match=r"time\[1\]='till' is no column of X. Known: a, from, to"):
        regress(frame, time=("from", "till"))
    with pytest.raises(InputError, match=r"X and time\[1\] have different indexes"):
        regress(frame, time=("from", pd.Series(END, index=[9, 8, 7, 6])))
