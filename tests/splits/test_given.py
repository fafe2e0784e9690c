"""Given: rows and fold labels someone else decided on, in row numbers of the whole task."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from heldout.base.errors import SplitError
from heldout.splits import Given, KFold


def held(splits):
    return [splits.held_rows(i).tolist() for i in range(len(splits))]


@pytest.mark.parametrize("rows", [[5, 2], (2, 5), np.array([2, 5], dtype=np.int8), np.isin(np.arange(6), [2, 5])])
def test_rows_or_a_mask_are_one_part(make_task, rows):
    task = make_task(6)
    splits = Given(rows).draw(task, task.all_rows, seed=0)
    assert held(splits) == [[2, 5]]
    assert splits.train_rows(0).tolist() == [0, 1, 3, 4]
    assert (splits.recipe.kind, splits.recipe.words, splits.recipe.drawn) == ("given", "2 rows given", False)
    assert not splits.recipe.partition


@pytest.mark.parametrize(
    "labels",
    [[1, 0, -1, 1, 0], ["b", "a", None, "b", "a"], np.array([7.0, 3, np.nan, 7, 3]), pd.Series([2, 1, pd.NA, 2, 1])],
)
def test_each_label_is_a_part_in_sorted_order_and_some_rows_are_never_held_out(make_task, labels):
    task = make_task(5)
    splits = Given(folds=labels).draw(task, task.all_rows, seed=0)
    assert held(splits) == [[1, 4], [0, 3]]
    assert splits.train_rows(0).tolist() == [0, 2, 3]
    assert not splits.recipe.partition


def test_labels_of_every_row_are_a_partition_whatever_their_types(make_task):
    task = make_task(4)
    splits = Given(folds=[1, "one", 1, 2]).draw(task, task.all_rows, seed=0)
    assert held(splits) == [[0, 2], [3], [1]]
    assert splits.recipe.partition
    assert splits.recipe.words == "3 folds given"


def test_three_chunks_train_dev_test(make_task):
    task = make_task(10)
    outer = Given([8, 9]).draw(task, task.all_rows, seed=0)
    inner = Given([6, 7]).draw(task, outer.train_rows(0), seed=0)
    assert inner.train_rows(0).tolist() == [0, 1, 2, 3, 4, 5]
    folds = Given(folds=[0, 0, 1, 1, 1, 2, 2, 2, -1, -1]).draw(task, outer.train_rows(0), seed=0)
    assert held(folds) == [[0, 1], [2, 3, 4], [5, 6, 7]]
    assert folds.recipe.partition


def test_it_is_a_value_that_survives_copies():
    given = Given([3, 1])
    assert given == Given(np.array([3, 1])) != Given([1])
    assert Given(folds=[0, 1]) == Given(folds=np.array([0, 1])) != Given(folds=[1, 0])
    assert len({given, Given([3, 1]), Given(folds=[0, 1])}) == 2
    assert given == copy.deepcopy(given) == pickle.loads(pickle.dumps(given)) == clone(given, safe=False)
    assert (repr(given), repr(Given(folds=["a", "b", "a"]))) == ("Given(<2 rows>)", "Given(folds=<2 folds of 3 rows>)")


def test_it_cannot_follow_an_outer_partition():
    assert not Given([1]).inner_ok_under_partition
    assert KFold(5).inner_ok_under_partition


def test_senseless_arguments_are_refused():
    for arguments in ({}, {"rows": [1], "folds": [0, 1]}):
        with pytest.raises(SplitError, match="one of them, and not both"):
            Given(**arguments)
    for arguments in ({"rows": []}, {"rows": np.zeros(4, dtype=bool)}, {"folds": [-1, None]}):
        with pytest.raises(SplitError, match="Given has no rows to hold out"):
            Given(**arguments)
    with pytest.raises(SplitError, match="must be whole numbers or a boolean mask, but are float64"):
        Given([0.5, 1.0])
    with pytest.raises(SplitError, match=r"must be a flat sequence, but have the shape \(1, 2\)"):
        Given([[1, 2]])
    with pytest.raises(SplitError, match="a label for each row, but is 'abc'"):
        Given(folds="abc")
    with pytest.raises(SplitError, match="flat sequence, one label for each row"):
        Given(folds=np.zeros((2, 2)))


def test_rows_the_task_does_not_have_are_refused(make_task):
    task = make_task(5)
    with pytest.raises(SplitError, match=r"there is no row 5\. The task has 5 rows, counted from 0"):
        Given([1, 5]).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="there is no row -1"):
        Given([-1]).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="the boolean mask has 3 entries, but the task has 5 rows"):
        Given(np.array([True, False, True])).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="there are 3 fold labels, but the task has 5 rows"):
        Given(folds=[0, 1, 0]).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="holds out row 2 twice"):
        Given([2, 2]).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="part 0 has no training rows"):
        Given(range(5)).draw(task, task.all_rows, seed=0)


@pytest.mark.parametrize("given", [Given([1, 4]), Given(folds=[0, 0, 1, 1, 1, -1])])
def test_at_an_inner_level_all_rows_must_be_inside(make_task, given):
    task = make_task(6)
    with pytest.raises(SplitError, match=r"row 4 is held out by the level above.*those of the whole task"):
        given.draw(task, np.array([0, 1, 2, 3, 5]), seed=0)


def test_a_group_on_both_sides_is_refused_by_name(make_task):
    task = make_task(4, groups=["ann", "bob", "bob", "cy"])
    with pytest.raises(SplitError, match="in part 0 group 'bob' is both in training and held out"):
        Given([0, 1]).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="in part 1 group 'bob'"):
        Given(folds=[0, 1, -1, 1]).draw(task, task.all_rows, seed=0)
    assert Given([1, 2]).draw(task, task.all_rows, seed=0).recipe.grouped
