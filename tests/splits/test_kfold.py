"""KFold: the partition of the texts, scikit-learn's folds where they coincide, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as sk

from heldout.base.errors import SplitError
from heldout.splits import Holdout, KFold, LeaveOneOut, Resample


def held(splits):
    return [splits.held_rows(i).tolist() for i in range(len(splits))]


def parts(splits):
    return [(splits.train_rows(i).tolist(), splits.held_rows(i).tolist()) for i in range(len(splits))]


def as_lists(pairs):
    return [(train.tolist(), test.tolist()) for train, test in pairs]


def test_the_partition_of_the_texts_into_four_contiguous_folds(make_task):
    task = make_task(20)
    splits = KFold(4, shuffle=False, stratify=False).draw(task, task.all_rows, seed=0)
    assert held(splits) == [list(range(5 * i, 5 * i + 5)) for i in range(4)]
    s1, _, s3, s4 = held(splits)
    assert splits.train_rows(1).tolist() == s1 + s3 + s4
    assert splits.recipe.words == "4-fold, contiguous"
    assert splits.recipe.partition
    assert not splits.recipe.drawn


def test_k_equal_to_the_number_of_rows_is_leave_one_out(make_task):
    task = make_task(20)
    kfold = KFold(20, shuffle=False, stratify=False).draw(task, task.all_rows, seed=0)
    assert kfold.fingerprint == LeaveOneOut().draw(task, task.all_rows, seed=5).fingerprint


def test_sizes_differ_by_at_most_one_when_k_does_not_divide_n(make_task):
    task = make_task(23)
    splits = KFold(5).draw(task, task.all_rows, seed=0)
    assert sorted(splits.held_sizes.tolist()) == [4, 4, 5, 5, 5]


@pytest.mark.parametrize("shuffle", [True, False])
def test_equals_sklearn_kfold(make_task, shuffle):
    task = make_task(23)
    splits = KFold(5, shuffle=shuffle).draw(task, task.all_rows, seed=7)
    assert parts(splits) == as_lists(sk.KFold(5, shuffle=shuffle, random_state=7 if shuffle else None).split(task.X))


@pytest.mark.parametrize("shuffle", [True, False])
def test_equals_sklearn_stratified_kfold_and_is_the_default_for_classes(iris_like, shuffle):
    splits = KFold(5, shuffle=shuffle).draw(iris_like, iris_like.all_rows, seed=7)
    theirs = sk.StratifiedKFold(5, shuffle=shuffle, random_state=7 if shuffle else None)
    assert parts(splits) == as_lists(theirs.split(iris_like.X, iris_like.y))
    assert splits.recipe.stratified


def test_classes_of_any_type_are_strata(make_task):
    words = np.array(["yes", "no", "perhaps"] * 10)
    splits = KFold(5).draw(make_task(30, y=words), np.arange(30), seed=1)
    for i in range(5):
        assert sorted(words[splits.held_rows(i)]) == ["no"] * 2 + ["perhaps"] * 2 + ["yes"] * 2


def test_strata_declared_go_before_classes_and_serve_regression(make_task):
    strata = np.repeat([0, 1], 10)
    for task in (make_task(20, strata=strata), make_task(20, y=np.tile([0, 1], 10), strata=strata)):
        splits = KFold(5).draw(task, task.all_rows, seed=0)
        assert all(strata[splits.held_rows(i)].tolist() == [0, 0, 1, 1] for i in range(5))


def test_several_outputs_are_not_stratified_by_default(make_task):
    task = make_task(12, y=np.zeros((12, 2), dtype=int))
    assert not KFold(3).draw(task, task.all_rows, seed=0).recipe.stratified


def test_stratify_false_ignores_classes(iris_like):
    splits = KFold(5, stratify=False).draw(iris_like, iris_like.all_rows, seed=7)
    assert parts(splits) == as_lists(sk.KFold(5, shuffle=True, random_state=7).split(iris_like.X))


@pytest.mark.parametrize("shuffle", [True, False])
def test_equals_sklearn_group_kfold(make_task, shuffle):
    groups = np.random.default_rng(0).integers(0, 9, 60)
    task = make_task(60, groups=groups)
    splits = KFold(4, shuffle=shuffle).draw(task, task.all_rows, seed=3)
    theirs = sk.GroupKFold(4, shuffle=shuffle, random_state=3 if shuffle else None)
    assert parts(splits) == as_lists(theirs.split(task.X, groups=groups))
    assert splits.recipe.grouped
    assert "groups kept whole" in splits.recipe.words


def test_groups_and_classes_together(make_task):
    rng = np.random.default_rng(0)
    groups, y = rng.integers(0, 30, 240), rng.integers(0, 3, 240)
    task = make_task(240, y=y, groups=groups)
    assert KFold(3).draw(task, task.all_rows, seed=3).recipe.words == "3-fold, groups kept whole, shuffled"
    splits = KFold(3, stratify=True).draw(task, task.all_rows, seed=3)
    for part in range(3):
        assert not set(groups[splits.held_rows(part)]) & set(groups[splits.train_rows(part)])
        np.testing.assert_allclose(np.bincount(y[splits.held_rows(part)]) / np.bincount(y), 1 / 3, atol=0.02)
    assert splits.recipe.stratified
    assert splits.recipe.grouped
    assert splits.recipe.words == "3-fold, stratified, groups kept whole, shuffled"


def test_groups_of_one_row_have_the_counts_of_stratified_kfold(iris_like, make_task):
    task = make_task(150, y=iris_like.y, groups=np.arange(150))
    splits = KFold(5, stratify=True).draw(task, task.all_rows, seed=0)
    assert all(np.bincount(task.y[h]).tolist() == [10, 10, 10] for h in held(splits))


def test_as_many_groups_as_folds_leave_one_group_out(make_task):
    groups = np.repeat([0, 1, 2, 3], [40, 3, 9, 1])
    task = make_task(53, y=np.tile([0, 1], 27)[:53], groups=groups)
    for strategy in (KFold(4, stratify=False), KFold(4, stratify=False, shuffle=False)):
        splits = strategy.draw(task, task.all_rows, seed=0)
        theirs = [h.tolist() for _, h in sk.LeaveOneGroupOut().split(task.X, task.y, groups)]
        assert sorted(held(splits)) == sorted(theirs)


def test_repeats_are_partitions_drawn_anew_and_begin_with_the_unrepeated_one(make_task):
    task = make_task(12)
    splits = KFold(3, repeats=2).draw(task, task.all_rows, seed=9)
    first, second = held(splits)[:3], held(splits)[3:]
    assert first == held(KFold(3).draw(task, task.all_rows, seed=9))
    assert first != second
    assert sorted(second[0] + second[1] + second[2]) == list(range(12))
    assert (splits.recipe.repeats, splits.recipe.words) == (2, "3-fold repeated 2 times, shuffled")


def test_an_inner_level_draws_from_its_rows_as_a_task_of_those_rows_would(make_task):
    rng = np.random.default_rng(1)
    y, groups = rng.integers(0, 2, 80), rng.integers(0, 20, 80)
    rows = np.flatnonzero(rng.random(80) < 0.7)
    whole, part = make_task(80, y=y, groups=groups), make_task(len(rows), y=y[rows], groups=groups[rows])
    inner = KFold(3).draw(whole, rows, seed=4)
    alone = KFold(3).draw(part, part.all_rows, seed=4)
    assert held(inner) == [rows[h].tolist() for h in held(alone)]


def test_a_class_rarer_than_k_is_spread_without_a_warning(make_task):
    task = make_task(22, y=[0] * 20 + [1] * 2)
    splits = KFold(5).draw(task, task.all_rows, seed=0)
    assert sum(bool(set(h) & {20, 21}) for h in held(splits)) == 2


def test_time_makes_blocks_in_time_order_and_keeps_ties_whole(make_task):
    time = np.array([3, 1, 2, 0, 5, 4])
    splits = KFold(3).draw(make_task(6, time=time), np.arange(6), seed=0)
    assert held(splits) == [[1, 3], [0, 2], [4, 5]]
    assert splits.recipe.timed
    assert not splits.recipe.drawn
    tied = KFold(2).draw(make_task(6, time=np.array([0, 1, 1, 1, 1, 2])), np.arange(6), seed=0)
    assert held(tied) in ([[0], [1, 2, 3, 4, 5]], [[0, 1, 2, 3, 4], [5]])


def test_time_blocks_equal_the_contiguous_partition_of_sorted_rows(make_task):
    task = make_task(23, time=np.arange(23), y=np.tile([0, 1], 12)[:23])
    assert parts(KFold(5).draw(task, task.all_rows, seed=0)) == as_lists(sk.KFold(5).split(task.X))


def test_a_large_k_takes_no_square_of_the_rows(make_task):
    task = make_task(20_000)
    assert len(KFold(20_000).draw(task, task.all_rows, seed=0)) == 20_000


def test_it_is_a_value():
    assert KFold(5) == KFold() == KFold(np.int64(5))
    assert len({KFold(5), KFold(5), KFold(5, repeats=2)}) == 2
    assert repr(KFold(5)) == "KFold(5)"
    assert repr(KFold(4, shuffle=False, stratify=False)) == "KFold(4, shuffle=False, stratify=False)"
    with pytest.raises(AttributeError):
        KFold(5).k = 6


@pytest.mark.parametrize("k", [1, 0, -3])
def test_fewer_than_two_folds_are_refused(k):
    with pytest.raises(SplitError, match=f"folds k of KFold must be at least 2, but is {k}"):
        KFold(k)


@pytest.mark.parametrize("k", [2.5, 5.0, True, "5", None])
def test_a_number_of_folds_that_is_not_whole_is_refused(k):
    with pytest.raises(SplitError, match="must be a whole number"):
        KFold(k)


def test_senseless_options_are_refused():
    with pytest.raises(SplitError, match=r"same folds 3 times. Use shuffle=True, or repeats=1"):
        KFold(5, repeats=3, shuffle=False)
    with pytest.raises(SplitError, match="repeats of KFold must be at least 1"):
        KFold(5, repeats=0)
    with pytest.raises(SplitError, match="stratify must be 'auto', True or False, but is 'yes'"):
        KFold(5, stratify="yes")
    with pytest.raises(SplitError, match="shuffle must be True or False, but is 1"):
        KFold(5, shuffle=1)


def test_more_folds_than_rows_are_refused(make_task):
    with pytest.raises(SplitError, match=r"KFold\(10\) needs at least 10 rows, but there are 6 at this level"):
        KFold(10).draw(make_task(6), np.arange(6), seed=0)


def test_fewer_groups_than_folds_are_refused(make_task):
    task = make_task(12, groups=np.tile(["a", "b", "c"], 4))
    with pytest.raises(SplitError, match=r"needs at least 5 groups, but there are 3 at this level. .*LeaveOneOut\(\)"):
        KFold(5).draw(task, task.all_rows, seed=0)


def test_stratifying_what_has_no_classes_is_refused(make_task):
    several = make_task(9, y=np.linspace(0, 1, 18).reshape(9, 2), classification=False)
    for strategy in (KFold(3, stratify=True), Holdout(0.3, stratify=True), Resample(2, stratify=True)):
        with pytest.raises(SplitError, match=r"2 outputs of numbers and the task has no strata. Pass strata=…"):
            strategy.draw(several, np.arange(9), seed=0)


def test_classes_all_rarer_than_k_are_refused(make_task):
    with pytest.raises(SplitError, match=r"no class has 4 rows at this level, the commonest has 3.*stratify=False"):
        KFold(4).draw(make_task(6, y=[0, 0, 0, 1, 1, 1]), np.arange(6), seed=0)


def test_groups_that_leave_no_class_in_every_fold_are_refused(make_task):
    """Eight patients of one diagnosis each, four of either: five folds cannot all have the same one."""
    task = make_task(80, y=np.repeat([0, 1], 40), groups=np.repeat(np.arange(8), 10))
    with pytest.raises(SplitError, match=r"no class is in 5 groups at this level, the most widespread is in 4\."):
        KFold(5, stratify=True).draw(task, task.all_rows, seed=0)
    assert len(KFold(4, stratify=True).draw(task, task.all_rows, seed=0)) == 4
    assert len(KFold(5).draw(task, task.all_rows, seed=0)) == 5


def test_a_class_of_one_row_or_group_is_in_one_fold(make_task):
    y = np.array([0, 1] * 10 + [2])
    for task in (make_task(21, y=y), make_task(21, y=y, groups=np.arange(21))):
        splits = KFold(5).draw(task, task.all_rows, seed=0)
        assert sum(20 in h for h in held(splits)) == 1


def test_time_refuses_shuffling_repeats_and_strata(make_task):
    task = make_task(12, time=np.arange(12), y=np.tile([0, 1], 6))
    for strategy in (KFold(3, shuffle=True), KFold(3, repeats=2)):
        with pytest.raises(SplitError, match=r"would mix past and future.*KFold\(3\).*Forward\(3\)"):
            strategy.draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="cannot stratify blocks of time"):
        KFold(3, stratify=True).draw(task, task.all_rows, seed=0)


def test_fewer_times_than_blocks_are_refused(make_task):
    task = make_task(12, time=np.repeat([0, 1], 6))
    with pytest.raises(SplitError, match=r"needs at least 3 distinct times, but there are 2"):
        KFold(3).draw(task, task.all_rows, seed=0)
