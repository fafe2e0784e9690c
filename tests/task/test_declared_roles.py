"""The groups, times, weights and strata that a task takes, and those it refuses with which words."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from six_rows import X6, Y6, classify, regress

import heldout as ho
from heldout.base.errors import RoleError, TargetError


def test_groups_of_any_hashable():
    assert classify(groups=[2, 2, 7, 7, 2, 7]).group_names == (2, 7)
    pairs = [("a", 1), ("a", 1), ("b", 2)] * 2
    task = classify(groups=pairs)
    assert task.group_names == (("a", 1), ("b", 2))
    assert task.groups.tolist() == [0, 0, 1, 0, 0, 1]
    assert classify(groups=[1, "1", 1, "1", 1, "1"]).group_names == (1, "1")
    assert classify(groups=pd.Series(["x", "y"] * 3, dtype="category")).group_names == ("x", "y")
    assert not task.groups.flags.writeable
    assert task.groups.dtype == np.intp


def test_group_codes_do_not_depend_on_the_order_of_rows():
    labels = np.array(["b", 3, "a", 1, "b", "a"], dtype=object)
    task, turned = classify(groups=labels), classify(groups=labels[::-1])
    assert task.groups.tolist() == turned.groups[::-1].tolist()


@pytest.mark.parametrize(
    "time",
    [
        [1, 2, 3, 4, 5, 6],
        pd.date_range("2024-01-01", periods=6),
        pd.Series(pd.date_range("2024-01-01", periods=6, tz="Europe/Paris")),
        pd.Series(pd.period_range("2024-01", periods=6, freq="M")),
        pl.Series([date(2024, 1, day) for day in range(1, 7)]),
        [date(2024, 1, day) for day in range(1, 7)],
        [datetime(2024, 1, day, tzinfo=UTC) for day in range(1, 7)],
        pd.timedelta_range("1D", periods=6),
        [timedelta(days=day) for day in range(6)],
        np.arange(6).astype("m8"),
    ],
)
def test_times_are_numbers_or_dates(time):
    task = regress(time=time)
    assert task.time.dtype.kind in "imM"
    assert (np.diff(task.time) > 0 * (task.time[1] - task.time[0])).all()


def test_a_zone_is_turned_to_utc():
    paris = pd.Series(pd.date_range("2024-01-01", periods=6, tz="Europe/Paris"))
    assert regress(time=paris).time[0] == np.datetime64("2023-12-31T23:00")


def test_some_rows_with_a_zone_and_some_without_have_no_order():
    mixed = [datetime(2024, 1, 1, tzinfo=UTC)] * 4 + [datetime(2024, 1, 1), date(2024, 1, 2)]
    with pytest.raises(RoleError, match=r"time has a time zone in some rows and none in rows 4, 5, .* Give all"):
        regress(time=mixed)


@pytest.mark.parametrize(
    ("unit", "kept"), [("Y", "D"), ("M", "D"), ("W", "W"), ("25s", "s"), ("ns", "ns"), ("ps", "ns")]
)
def test_dates_of_any_unit_can_be_split_shown_and_kept(unit, kept, tmp_path):
    time = (np.arange(6) * (10**6 if unit == "ps" else 40)).astype(f"M8[{unit}]")
    assert regress(time=time).time.dtype == f"M8[{kept}]"
    splits = ho.draw(ho.Forward(2), X6, X6[:, 0], time=time)
    assert len(splits.summary().frame) == 2
    splits.save(tmp_path / "kept")
    assert ho.load_splits(tmp_path / "kept") == splits


def test_numbers_that_no_whole_number_holds_are_no_time():
    with pytest.raises(RoleError, match=r"time is past 2\*\*63 in row 5"):
        regress(time=np.arange(6, dtype=np.uint64) + np.uint64(2**63 - 5))


def test_roles_by_name_leave_X():
    columns = {"a": X6[:, 0], "y": Y6, "who": list("aabbcc"), "when": range(6), "w": [1.0] * 6}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        task = classify(frame, "y", groups="who", time="when", sample_weight="w", strata="who")
        assert task.columns == ("a",)
        assert task.group_names == ("a", "b", "c")
        assert task.strata.tolist() == task.groups.tolist()
        assert task.time.tolist() == list(range(6))
        assert task.y.tolist() == Y6.tolist()
        assert list(frame.columns) == list(columns)


def test_names_that_are_not_there():
    frame = pd.DataFrame({"customer": range(6), "b": 1.0})
    with pytest.raises(RoleError, match=r"groups='custmer' is no column of X\. Did you mean 'customer'"):
        classify(frame, groups="custmer")
    with pytest.raises(TargetError, match="y='price' names a column, but X has no column names"):
        regress(X6, "price")


@pytest.mark.parametrize(
    ("role", "values", "words"),
    [
        ("groups", [1, 2, None, 3, None, 4], r"groups are missing in rows 2, 4"),
        ("groups", [1.0, np.nan, 1, 2, 3, 4], "groups are missing in row 1"),
        ("groups", pd.Series([1, None] * 3, dtype="Int64"), "groups are missing in rows 1, 3, 5"),
        ("groups", np.ones((6, 2)), "one value a row"),
        ("groups", [[1], [2, 3], [1], [1], [1], [1]], "can be hashed"),
        ("strata", ["a", None] * 3, "strata are missing in rows 1, 3, 5"),
        ("time", [1, 2, np.nan, 4, 5, 6], "time is missing in row 2"),
        ("time", pd.to_datetime(["2024-01-01", None] * 3), "time is missing in rows 1, 3, 5"),
        ("time", [1, 2, np.inf, 4, 5, 6], "time is infinite in row 2"),
        ("time", ["2024-01-01"] * 6, "pandas.to_datetime"),
        ("sample_weight", [1, 1, -1, 1, -2, 1], "negative in rows 2, 4"),
        ("sample_weight", [1, 1, np.nan, 1, np.inf, 1], "NaN or infinite in rows 2, 4"),
        ("sample_weight", np.zeros(6), "weights must contain at least one non-zero"),
        ("sample_weight", ["heavy"] * 6, "must be numbers"),
        ("sample_weight", np.ones((6, 2)), "one value a row"),
        ("sample_weight", np.ones(12), "X has 6 rows, but sample_weight has 12"),
        ("groups", [1, 2], "X has 6 rows, but groups has 2"),
    ],
)
def test_roles_that_are_refused(role, values, words):
    with pytest.raises(RoleError, match=words):
        regress(**{role: values})


def test_weights_that_leave_one_class():
    with pytest.raises(TargetError, match=r"one class of y has a positive sample_weight"):
        classify(sample_weight=Y6)
