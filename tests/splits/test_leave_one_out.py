"""LeaveOneOut: a row, a group or a time at a time, in memory linear in the rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as sk

from heldout.base.errors import SplitError
from heldout.splits import LeaveOneOut


def test_each_row_is_held_out_alone(make_task):
    task = make_task(5)
    splits = LeaveOneOut().draw(task, task.all_rows, seed=0)
    assert [splits.held_rows(i).tolist() for i in range(5)] == [[0], [1], [2], [3], [4]]
    assert splits.train_rows(2).tolist() == [0, 1, 3, 4]
    assert (splits.recipe.kind, splits.recipe.words, splits.recipe.partition) == ("loo", "leave-one-out", True)


def test_of_a_hundred_thousand_rows_train_sides_are_not_kept(make_task):
    task = make_task(100_000)
    splits = LeaveOneOut().draw(task, task.all_rows, seed=0)
    assert splits.train is None
    assert len(splits) == 100_000


def test_groups_make_it_leave_one_group_out_as_sklearn_has_it(make_task):
    groups = np.random.default_rng(0).integers(0, 6, 40)
    task = make_task(40, groups=groups)
    splits = LeaveOneOut().draw(task, task.all_rows, seed=0)
    for i, (train, held) in enumerate(sk.LeaveOneGroupOut().split(task.X, groups=groups)):
        np.testing.assert_array_equal(splits.train_rows(i), train)
        np.testing.assert_array_equal(splits.held_rows(i), held)
    assert splits.recipe.words == "leave-one-group-out (6 groups)"
    assert splits.recipe.grouped


def test_time_makes_it_leave_one_time_out(make_task):
    splits = LeaveOneOut().draw(make_task(4, time=np.array([2, 1, 2, 0])), np.arange(4), seed=0)
    assert [splits.held_rows(i).tolist() for i in range(3)] == [[3], [1], [0, 2]]
    assert splits.recipe.words == "leave-one-time-out (3 times)"
    assert splits.recipe.timed


def test_it_is_a_value():
    assert LeaveOneOut() == LeaveOneOut()
    assert hash(LeaveOneOut()) == hash(LeaveOneOut())
    assert repr(LeaveOneOut()) == "LeaveOneOut()"


def test_a_single_row_group_or_time_is_refused(make_task):
    with pytest.raises(SplitError, match="at least two rows, but there is 1 at this level"):
        LeaveOneOut().draw(make_task(3), np.array([1]), seed=0)
    with pytest.raises(SplitError, match="at least two groups, but there is 1"):
        LeaveOneOut().draw(make_task(3, groups=["a"] * 3), np.arange(3), seed=0)
    with pytest.raises(SplitError, match="at least two times, but there is 1"):
        LeaveOneOut().draw(make_task(3, time=np.zeros(3)), np.arange(3), seed=0)
    both = make_task(3, time=np.arange(3), groups=["a", "b", "c"])
    with pytest.raises(
        SplitError, match=r"holds out a group or a time at a time, and the task has both.*KFold or Forward"
    ):
        LeaveOneOut().draw(both, np.arange(3), seed=0)
