"""Holdout and Resample: exact counts, strata, whole groups, the most recent rows, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as sk

from heldout.base.errors import SplitError
from heldout.splits import Holdout, Resample
from heldout.splits.random_rows import first_groups


def one(strategy, task, seed=0, rows=None):
    splits = strategy.draw(task, task.all_rows if rows is None else rows, seed=seed)
    assert len(splits) == 1
    return splits.held_rows(0)


@pytest.mark.parametrize(("share", "n", "count"), [(0.25, 120, 30), (0.2, 11, 3), (0.07, 100, 7), (0.001, 10, 1)])
def test_a_share_is_of_the_rows_at_this_level_rounded_up(make_task, share, n, count):
    assert len(one(Holdout(share), make_task(n))) == count


def test_sixty_twenty_twenty(make_task):
    task = make_task(100, y=np.tile([0, 1], 50))
    outer = Holdout(0.2).draw(task, task.all_rows, seed=0)
    inner = Holdout(0.25).draw(task, outer.train_rows(0), seed=1)
    assert (outer.held_sizes[0], inner.held_sizes[0], inner.train_sizes[0]) == (20, 20, 60)
    assert not set(inner.held_rows(0)) & set(outer.held_rows(0))


def test_rows_is_an_exact_count(make_task):
    task = make_task(97, y=np.random.default_rng(0).integers(0, 3, 97))
    assert len(one(Holdout(rows=20), task)) == 20


def test_equals_sklearn_shuffle_split_as_a_set(make_task):
    task = make_task(50)
    (_, theirs), *_ = sk.ShuffleSplit(1, test_size=0.3, random_state=5).split(task.X)
    np.testing.assert_array_equal(one(Holdout(0.3), task, seed=5), np.sort(theirs))


def test_stratified_by_default_for_classes_and_equals_sklearn(iris_like):
    (_, theirs), *_ = sk.StratifiedShuffleSplit(1, test_size=30, random_state=5).split(iris_like.X, iris_like.y)
    held = one(Holdout(0.2), iris_like, seed=5)
    np.testing.assert_array_equal(held, np.sort(theirs))
    assert np.bincount(iris_like.y[held]).tolist() == [10, 10, 10]
    assert Holdout(0.2).draw(iris_like, iris_like.all_rows, seed=5).recipe.stratified


def test_without_shuffling_the_last_rows_are_held_out(iris_like):
    splits = Holdout(rows=7, shuffle=False).draw(iris_like, np.arange(0, 150, 2), seed=0)
    assert splits.held_rows(0).tolist() == list(range(136, 150, 2))
    assert not splits.recipe.drawn
    assert not splits.recipe.stratified


def test_time_holds_out_the_most_recent_and_keeps_ties_whole(make_task):
    task = make_task(10, time=np.array([9, 0, 1, 2, 8, 3, 4, 5, 6, 7]))
    splits = Holdout(0.2).draw(task, task.all_rows, seed=0)
    assert splits.held_rows(0).tolist() == [0, 4]
    assert splits.recipe.timed
    tied = make_task(10, time=np.array([0, 0, 0, 0, 0, 1, 2, 2, 2, 2]))
    assert one(Holdout(0.3), tied).tolist() == [6, 7, 8, 9]
    assert one(Holdout(0.1), tied).tolist() == [6, 7, 8, 9]


def test_groups_are_held_out_whole_and_near_the_share(make_task):
    groups = np.repeat(np.arange(40), 5)
    task = make_task(200, groups=groups)
    held = one(Holdout(0.2), task)
    assert len(held) == 40
    assert not set(groups[held]) & set(np.delete(groups, held))


def test_groups_and_classes_together(make_task):
    rng = np.random.default_rng(0)
    groups, y = rng.integers(0, 60, 600), (rng.random(600) < 0.1).astype(int)
    task = make_task(600, y=y, groups=groups)
    assert not Holdout(0.25).draw(task, task.all_rows, seed=0).recipe.stratified
    splits = Holdout(0.25, stratify=True).draw(task, task.all_rows, seed=0)
    held = splits.held_rows(0)
    assert abs(len(held) / 600 - 0.25) < 0.03
    assert abs(y[held].sum() / y.sum() - 0.25) < 0.05
    assert not set(groups[held]) & set(np.delete(groups, held))
    assert splits.recipe.words.endswith("rows, stratified, groups kept whole")


def test_the_last_groups_without_shuffling(make_task):
    task = make_task(6, groups=["b", "b", "c", "c", "a", "a"])
    assert one(Holdout(rows=3, shuffle=False), task).tolist() in ([4, 5], [2, 3, 4, 5])
    assert one(Holdout(rows=2, shuffle=False), task).tolist() == [4, 5]


def test_first_groups_come_nearest_and_never_take_all():
    sizes, order = np.array([4, 4, 2]), np.array([2, 0, 1])
    assert first_groups(sizes, order, 5).tolist() == [2, 0]
    assert first_groups(sizes, order, 3).tolist() == [2]
    assert first_groups(sizes, order, 9).tolist() == [2, 0]


def test_two_groups_are_one_on_either_side_whatever_the_share(make_task):
    task = make_task(180, y=np.tile([0, 1], 90), groups=np.repeat([0, 1], [100, 80]))
    assert len(one(Holdout(0.1, stratify=True), task)) == 80
    assert len(one(Holdout(0.95, stratify=True), task)) == 100


def test_resample_equals_sklearn_and_draws_anew_each_time(make_task):
    task = make_task(30)
    splits = Resample(4, held_out=0.2).draw(task, task.all_rows, seed=2)
    for i, (_, held) in enumerate(sk.ShuffleSplit(4, test_size=6, random_state=2).split(task.X)):
        np.testing.assert_array_equal(splits.held_rows(i), np.sort(held))
        np.testing.assert_array_equal(splits.train_rows(i), np.setdiff1d(np.arange(30), held))
    assert len({splits.held_rows(i).tobytes() for i in range(4)}) == 4
    assert (splits.recipe.kind, splits.recipe.drawn, splits.recipe.partition) == ("resample", True, False)
    assert splits.recipe.words == "4 random hold-outs of 6 of 30 rows"


def test_resample_keeps_classes_and_groups(iris_like, make_task):
    splits = Resample(3, 30).draw(iris_like, iris_like.all_rows, seed=0)
    assert all(np.bincount(iris_like.y[splits.held_rows(i)]).tolist() == [10, 10, 10] for i in range(3))
    groups = np.repeat(np.arange(10), 3)
    grouped = make_task(30, groups=groups)
    splits = Resample(5, 0.3).draw(grouped, grouped.all_rows, seed=0)
    assert splits.held_sizes.tolist() == [9] * 5
    assert len({splits.held_rows(i).tobytes() for i in range(5)}) > 1


def test_one_resample_is_a_holdout(iris_like):
    a = Holdout(0.2).draw(iris_like, iris_like.all_rows, seed=8)
    b = Resample(1, 0.2).draw(iris_like, iris_like.all_rows, seed=8)
    assert a.fingerprint == b.fingerprint


def test_they_are_values():
    assert Holdout() == Holdout(0.2) != Holdout(rows=20)
    assert hash(Resample(20)) == hash(Resample(20, held_out=0.2))
    assert Resample(20, 1) != Resample(20, 0.5)
    assert repr(Holdout(rows=20, shuffle=False)) == "Holdout(rows=20, shuffle=False)"
    assert repr(Holdout()) == "Holdout(0.2)"
    assert repr(Resample(20, held_out=50)) == "Resample(20, held_out=50)"


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.2, True, "0.2", float("nan")])
def test_a_share_outside_zero_and_one_is_refused(share):
    with pytest.raises(SplitError, match="must be a share between 0 and 1"):
        Holdout(share)
    if share not in (0, 1):
        with pytest.raises(SplitError, match="held_out of Resample"):
            Resample(3, share)


def test_senseless_arguments_are_refused():
    with pytest.raises(SplitError, match=r"For 20 rows pass Holdout\(rows=20\)"):
        Holdout(20)
    with pytest.raises(SplitError, match="a share or rows=, not both"):
        Holdout(0.2, rows=20)
    with pytest.raises(SplitError, match="rows of Holdout must be at least 1"):
        Holdout(rows=0)
    with pytest.raises(SplitError, match="rows of Holdout must be a whole number"):
        Holdout(rows=2.5)
    with pytest.raises(SplitError, match="cannot stratify rows taken in their order"):
        Holdout(0.2, shuffle=False, stratify=True)
    with pytest.raises(SplitError, match="times of Resample must be at least 1"):
        Resample(0)
    with pytest.raises(SplitError, match="stratify must be"):
        Resample(2, stratify=None)


def test_holding_out_every_row_is_refused(make_task):
    with pytest.raises(SplitError, match="would hold out 8 rows and leave none for training, of 5 rows"):
        one(Holdout(rows=8), make_task(5))


def test_a_class_of_one_row_is_refused_by_name(make_task):
    task = make_task(10, y=["a"] * 5 + ["b"] * 4 + ["rare"])
    for strategy in (Holdout(0.4), Resample(3, 0.4)):
        with pytest.raises(SplitError, match=r"cannot stratify: class 'rare' has one row.*stratify=False"):
            strategy.draw(task, task.all_rows, seed=0)
    assert len(one(Holdout(0.4, stratify=False), task)) == 4


def test_a_class_of_one_group_is_refused_by_name(make_task):
    y = np.array(["a", "b"] * 10 + ["rare"] * 5)
    task = make_task(25, y=y, groups=np.append(np.arange(20) // 2, [7] * 5))
    for strategy in (Holdout(0.4, stratify=True), Resample(3, 0.4, stratify=True)):
        with pytest.raises(SplitError, match=r"class 'rare' is in one group only at this level, which.*stratify=False"):
            strategy.draw(task, task.all_rows, seed=0)
    assert len(one(Holdout(0.4), task)) >= 4
    both = make_task(40, y=np.append(y, ["new"] * 15), groups=np.append(task.groups, [3] * 15))
    with pytest.raises(SplitError, match=r"class 'new' is in one group only at this level \(as is one more\)"):
        one(Holdout(0.4, stratify=True), both)


def test_fewer_held_rows_than_classes_are_refused(make_task):
    task = make_task(12, y=np.tile([0, 1, 2], 4))
    with pytest.raises(SplitError, match="2 rows held out and 10 for training cannot each have all 3 classes"):
        one(Holdout(rows=2), task)


def test_one_group_is_refused(make_task):
    task = make_task(6, groups=["a"] * 6)
    for strategy in (Holdout(0.5), Holdout(0.5, shuffle=False), Resample(2)):
        with pytest.raises(SplitError, match="needs at least two groups, but there is one"):
            strategy.draw(task, task.all_rows, seed=0)


def test_time_refuses_what_would_mix_it(make_task):
    task = make_task(10, time=np.arange(10), y=np.tile([0, 1], 5))
    with pytest.raises(SplitError, match=r"would mix past and future.*most recent rows"):
        one(Holdout(0.2, shuffle=True), task)
    with pytest.raises(SplitError, match="cannot stratify the most recent rows"):
        one(Holdout(0.2, stratify=True), task)
    with pytest.raises(SplitError, match="at least 2 distinct times, but there are 1"):
        one(Holdout(0.2), make_task(5, time=np.zeros(5)))
