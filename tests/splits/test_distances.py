"""Distances: rows as whole numbers, time in every way it is written, and what could mean two things refused."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from heldout.base.errors import SplitError
from heldout.splits import Forward, Holdout, KFold, Resample
from heldout.splits.strategy import as_distance, nanoseconds


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        (0, 0),
        (7, 7),
        (np.int64(7), 7),
        ("7d", "7d"),
        ("7 days", "7d"),
        ("168h", "7d"),
        ("1w", "7d"),
        ("1d 12h", "36h"),
        ("1.5d", "36h"),
        ("90 min", "90min"),
        ("2s", "2s"),
        ("5ms", "5ms"),
        ("3us", "3us"),
        ("1ns", "1ns"),
        (timedelta(days=7), "7d"),
        (timedelta(hours=36), "36h"),
        (timedelta(microseconds=3), "3us"),
        (np.timedelta64(7, "D"), "7d"),
        (np.timedelta64(2, "W"), "14d"),
        (np.timedelta64(90, "m"), "90min"),
        (np.timedelta64(1, "ns"), "1ns"),
        (pd.Timedelta("1ns"), "1ns"),
        (pd.Timedelta("7D"), "7d"),
        ("3", "3"),
        ("2.5", "2.5"),
        ("3.0", "3"),
    ],
)
def test_one_form_for_each_distance(given, kept):
    assert as_distance(given, what="buffer") == kept
    assert as_distance(kept, what="buffer") == kept


def test_a_length_is_as_long_as_it_says():
    assert nanoseconds("36h") == 36 * 3600 * 10**9
    assert nanoseconds("5ms") == 5 * 10**6


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (-1, "must not be negative, but is -1"),
        ("-7d", "must not be negative, but is '-7d'"),
        ("-3", "must not be negative"),
        (timedelta(days=-1), "must not be negative"),
        (np.timedelta64(-1, "D"), "must not be negative"),
        (7.0, "is 7.0, which could be rows or time. Write 7 for rows, '7d' for days, or '7' in the units of a time"),
        (np.float64(0.5), "which could be rows or time"),
        (float("nan"), "cannot be nan. Write rows as"),
        (True, "cannot be True"),
        ([7], r"cannot be \[7\]. Write rows as a whole number \(7\), and time as '7d'"),
        ("", "cannot be read: ''"),
        ("soon", "cannot be read: 'soon'"),
        ("7d and a bit", "cannot be read"),
        ("1m", "months and years have no fixed length, and minutes are written 'min'"),
        ("2 months", "no fixed length"),
        ("1y", "no fixed length"),
        ("7 moons", "unknown unit in '7 moons'"),
        ("0.5ns", "finer than a nanosecond"),
        (np.timedelta64(1, "M"), "no fixed length"),
        (np.timedelta64(3), "has no unit"),
        (np.timedelta64("NaT", "D"), "is missing"),
    ],
)
def test_refusals_name_the_way_out(given, message):
    with pytest.raises(SplitError, match=f"^buffer {message}|^buffer.*{message}"):
        as_distance(given, what="buffer")


@pytest.mark.parametrize(
    ("strategy", "shown"),
    [
        (KFold(5, buffer=timedelta(days=7), embargo="24h"), "KFold(5, buffer='7d', embargo='1d')"),
        (Holdout(0.2, buffer=3), "Holdout(0.2, buffer=3)"),
        (Resample(9, buffer="7d", embargo=2), "Resample(9, buffer='7d', embargo=2)"),
        (Forward(3, window="1w", buffer="12h"), "Forward(3, window='7d', buffer='12h')"),
    ],
)
def test_strategies_stay_values(strategy, shown):
    assert repr(strategy) == shown
    assert hash(strategy) == hash(eval(shown))
    assert strategy == eval(shown)


@pytest.mark.parametrize("make", [KFold, Forward, lambda **d: Holdout(0.2, **d), lambda **d: Resample(3, **d)])
def test_every_strategy_refuses_a_negative_buffer(make):
    with pytest.raises(SplitError, match=r"buffer of \w+ must not be negative"):
        make(buffer=-1)


def test_a_window_of_nothing_is_refused():
    for nothing in (0, "0d", "0"):
        with pytest.raises(SplitError, match="window of Forward must not be nothing"):
            Forward(3, window=nothing)
