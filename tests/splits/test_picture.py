"""The data of the picture of splits: every row is in one place, and twenty million rows are few numbers."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

from heldout.splits import Forward, KFold, LeaveOneOut, Recipe, Resample, Splits
from heldout.splits.summary import MOST_BINS, MOST_LANES, picture_of


def picture(task, strategy, **limits):
    return picture_of(task, strategy.draw(task, task.all_rows, seed=0), **limits)


def test_few_rows_are_shown_one_by_one_in_time_order(make_task):
    task = make_task(6, time=np.array([5, 4, 3, 2, 1, 0]))
    drawn = picture(task, Forward(2, buffer=1))
    assert drawn.in_time
    assert drawn.edges.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert drawn.held.tolist() == [[0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]]
    assert drawn.train.tolist() == [[1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0]]
    assert drawn.unused.tolist() == [[0, 1, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0]]
    assert drawn.marks == ((0, "0"), (1, "1"), (2, "2"), (3, "3"), (5, "5"))


@pytest.mark.parametrize("strategy", [KFold(5), Resample(3), KFold(4, shuffle=False, stratify=False)])
def test_every_row_is_counted_once_a_part(make_task, strategy):
    task = make_task(1_003)
    drawn = picture(task, strategy, most_bins=50)
    sizes = np.diff(drawn.edges)
    assert len(sizes) == 50
    assert sizes.sum() == 1_003
    assert (drawn.train + drawn.held + drawn.unused == sizes).all()
    assert (drawn.unused == 0).all()
    splits = strategy.draw(task, task.all_rows, seed=0)
    assert drawn.held.sum(axis=1).tolist() == splits.held_sizes.tolist()


def test_rows_that_train_twice_are_counted_once(make_task):
    task = make_task(4)
    splits = Splits.from_pairs(task.all_rows, [(np.array([2, 0, 2]), np.array([1]))], Recipe(kind="given", words=""))
    drawn = picture_of(task, splits)
    assert drawn.train.tolist() == [[1, 0, 1, 0]]
    assert drawn.unused.tolist() == [[0, 0, 0, 1]]


def test_of_many_parts_some_are_shown_from_the_first_to_the_last(make_task):
    drawn = picture(make_task(1_000), LeaveOneOut())
    assert (drawn.parts, len(drawn.lanes)) == (1_000, MOST_LANES)
    assert (drawn.lanes[0], drawn.lanes[-1]) == (0, 999)
    assert drawn.held.sum(axis=1).tolist() == [1] * MOST_LANES
    places = drawn.held.argmax(axis=1)
    assert (drawn.edges[places] <= drawn.lanes).all()
    assert (drawn.lanes < drawn.edges[places + 1]).all()


def test_dates_are_written_as_days_unless_all_is_within_few(make_task):
    day = np.datetime64("2024-03-01T00:00", "ns")
    days = make_task(50, time=day + np.arange(50).astype("timedelta64[D]"))
    assert picture(days, Forward(2)).marks[0] == (0, "2024-03-01")
    hours = make_task(50, time=(day + np.arange(50).astype("timedelta64[h]")).astype("datetime64[m]"))
    assert picture(hours, Forward(2)).marks[-1] == (49, "2024-03-03T01:00")


def test_a_million_rows_are_as_few_numbers(make_task):
    task = make_task(1_000_000)
    splits = KFold(5).draw(task, task.all_rows, seed=0)
    began = perf_counter()
    drawn = picture_of(task, splits)
    assert perf_counter() - began < 2
    assert drawn.train.shape == (5, MOST_BINS)
    assert drawn.train / np.diff(drawn.edges) == pytest.approx(0.8, abs=0.05)
