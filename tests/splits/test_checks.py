"""The checks themselves, on splits made by hand, and what they cost."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from heldout.base.errors import SplitError
from heldout.splits import LeaveOneOut, Recipe, Splits
from heldout.splits.checks import checked, partition_repeats

RECIPE = Recipe(kind="given", words="by hand")


def by_hand(rows, *pairs):
    pairs = [(None if t is None else np.array(t, dtype=np.intp), np.array(h, dtype=np.intp)) for t, h in pairs]
    return Splits.from_pairs(np.array(rows), pairs, RECIPE)


def test_good_splits_come_back_as_they_are(make_task):
    splits = by_hand([0, 2, 4], (None, [4, 0]), ([2], [0]))
    assert checked(make_task(6), splits, who="by hand") is splits


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "gives no parts at all"),
        ([(None, [])], "part 0 holds out no rows, of 3 rows at this level"),
        ([(None, [0]), (None, [0, 2, 4])], "part 1 has no training rows"),
        ([(None, [4]), (None, [0, 1])], "part 1 names row 1, which is not among the 3 rows"),
        ([(None, [0]), ([2], [9])], "part 1 names row 9"),
        ([([2], [0]), ([2, 3], [0])], "part 1 names row 3"),
        ([(None, [4, 4])], "part 0 holds out row 4 twice"),
        ([(None, [4]), (None, [2, 0]), ([2], [4, 0, 4])], "part 2 holds out row 4 twice"),
        ([([0, 2], [4]), ([2, 4, 2], [0, 2])], r"part 1 has row 2 both in training and held out \(1 such rows\)"),
    ],
)
def test_bad_splits_are_refused(make_task, pairs, message):
    with pytest.raises(SplitError, match=f"by hand:? {message}"):
        checked(make_task(6), by_hand([0, 2, 4], *pairs), who="by hand")


def test_groups_outside_the_level_do_not_count(make_task):
    task = make_task(4, groups=["a", "a", "b", "b"])
    splits = by_hand([0, 2, 3], (None, [0]))
    assert checked(task, splits, who="by hand") is splits


@pytest.mark.parametrize("train", [None, [2, 1]])
def test_a_straddling_group_is_named_with_its_part(make_task, train):
    task = make_task(4, groups=["a", "b", "c", "b"])
    with pytest.raises(SplitError, match="in part 1 group 'b' is both"):
        checked(task, by_hand([0, 1, 2, 3], (None, [1, 3]), (train, [0, 3])), who="by hand")


def test_partition_repeats():
    rows = np.array([1, 3, 5])
    assert partition_repeats(rows, np.array([5, 1, 3]), np.array([0, 1, 3])) == 1
    assert partition_repeats(rows, np.array([5, 1, 3, 1, 3, 5]), np.array([0, 1, 3, 5, 6])) == 2
    assert partition_repeats(rows, np.array([5, 1, 3, 1, 3, 5]), np.array([0, 2, 4, 6])) == 0
    assert partition_repeats(rows, np.array([5, 1, 1]), np.array([0, 1, 3])) == 0
    assert partition_repeats(rows, np.array([5, 1]), np.array([0, 1, 2])) == 0


def test_leave_one_out_of_twenty_thousand_rows_is_checked_in_linear_memory(make_task):
    task = make_task(20_000)
    splits = LeaveOneOut().draw(task, task.all_rows, seed=0)
    tracemalloc.start()
    checked(task, splits, who="LeaveOneOut()")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200 * len(task)
