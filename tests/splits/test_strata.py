"""What is stratified by: declared strata, classes, bins of a number, labels of several outputs."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.base.errors import SplitError
from heldout.splits import Holdout, KFold, Resample
from heldout.splits.learning_curve import smaller_training_sets
from heldout.splits.strata import quantile_bins, strata_of

NUMBERS = st.lists(st.one_of(st.integers(0, 5).map(float), st.floats(-10, 10)), min_size=6, max_size=60)


def labels_of(n, shares=(0.5, 0.2, 0.1), seed=0):
    return (np.random.default_rng(seed).random((n, len(shares))) < shares).astype(int)


def test_bins_are_deciles_as_pandas_cuts_them():
    numbers = np.random.default_rng(0).normal(size=200)
    np.testing.assert_array_equal(quantile_bins(numbers, at_least=2).codes, pd.qcut(numbers, 10).codes)
    np.testing.assert_array_equal(quantile_bins(numbers, at_least=50).codes, pd.qcut(numbers, 4).codes)


@settings(max_examples=200, deadline=None)
@given(NUMBERS, st.integers(2, 8))
def test_bins_have_enough_rows_keep_equal_numbers_together_and_follow_their_order(numbers, at_least):
    numbers = np.array(numbers)
    bins = quantile_bins(numbers, at_least=at_least)
    assert bins.counts.min() >= min(at_least, len(numbers))
    assert len(bins.values) <= 10
    order = np.argsort(numbers, kind="stable")
    assert (np.diff(bins.codes[order]) >= 0).all()
    assert all(len(set(bins.codes[numbers == number])) == 1 for number in set(numbers.tolist()))


def test_a_target_that_is_mostly_one_number_still_has_bins():
    bins = quantile_bins(np.append(np.zeros(90), np.arange(1.0, 11.0)), at_least=5)
    assert bins.counts.tolist() == [90, 10]
    assert bins.named(0) == "bin '0 to 0'"


def test_kfold_of_a_number_by_bins(make_task):
    task = make_task(100)  # y = 0, 1, …, 99
    splits = KFold(5, stratify=True).draw(task, task.all_rows, seed=0)
    for part in range(5):
        assert np.bincount(splits.held_rows(part) // 10).tolist() == [2] * 10
    assert splits.recipe.stratified
    assert splits.recipe.words == "5-fold, stratified by bins of the target, shuffled"
    assert not KFold(5).draw(task, task.all_rows, seed=0).recipe.stratified


@pytest.mark.parametrize("strategy", [Holdout(0.2, stratify=True), Resample(3, 0.2, stratify=True)])
def test_holdout_of_a_number_by_bins(make_task, strategy):
    task = make_task(100)
    splits = strategy.draw(task, task.all_rows, seed=0)
    for part in range(len(splits)):
        assert np.bincount(splits.held_rows(part) // 10).tolist() == [2] * 10
    assert "stratified by bins of the target" in splits.recipe.words


def test_few_rows_make_few_bins_and_no_error(make_task):
    task = make_task(7)
    for strategy in (KFold(7, stratify=True), KFold(3, stratify=True), Holdout(rows=1, stratify=True)):
        assert strategy.draw(task, task.all_rows, seed=0).held_sizes.min() >= 1


def test_bins_and_groups_together(make_task):
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(60), 5))
    task = make_task(300, groups=groups)
    splits = KFold(4, stratify=True).draw(task, task.all_rows, seed=0)
    codes = quantile_bins(task.y, at_least=4).codes
    for part in range(4):
        np.testing.assert_allclose(np.bincount(codes[splits.held_rows(part)]) / 30, 0.25, atol=0.1)
        assert not set(groups[splits.held_rows(part)]) & set(groups[splits.train_rows(part)])


def test_an_own_column_goes_before_the_target(make_task):
    strata = np.tile([0, 1], 50)
    task = make_task(100, strata=strata)
    splits = KFold(5, stratify=True).draw(task, task.all_rows, seed=0)
    assert all(np.bincount(strata[splits.held_rows(part)]).tolist() == [10, 10] for part in range(5))
    assert splits.recipe.words == "5-fold, stratified, shuffled"


@pytest.mark.parametrize("strategy", [KFold(5, stratify=True), KFold(5, repeats=2, stratify=True)])
def test_kfold_by_labels_is_iterative_stratification(make_task, strategy):
    iterstrat = pytest.importorskip("iterstrat.ml_stratifiers")
    y = labels_of(200)
    task = make_task(200, y=y)
    splits = strategy.draw(task, task.all_rows, seed=4)
    theirs = iterstrat.MultilabelStratifiedKFold(5, shuffle=True, random_state=4).split(y, y)
    for part, (_, held) in enumerate(theirs):
        np.testing.assert_array_equal(splits.held_rows(part), held)
    for part in range(len(splits)):
        np.testing.assert_allclose(y[splits.held_rows(part)].sum(axis=0), y.sum(axis=0) / 5, atol=1.5)
    assert splits.recipe.partition
    assert "stratified by labels" in splits.recipe.words


def test_holdouts_by_labels_are_iterative_stratification(make_task):
    iterstrat = pytest.importorskip("iterstrat.ml_stratifiers")
    y = labels_of(200)
    task = make_task(200, y=y)
    splits = Resample(3, 0.25, stratify=True).draw(task, task.all_rows, seed=4)
    theirs = iterstrat.MultilabelStratifiedShuffleSplit(3, test_size=50, random_state=4).split(y, y)
    for part, (_, held) in enumerate(theirs):
        np.testing.assert_array_equal(splits.held_rows(part), held)
        np.testing.assert_allclose(y[held].sum(axis=0), y.sum(axis=0) / 4, atol=1.5)
    one = Holdout(0.25, stratify=True).draw(task, task.all_rows, seed=4)
    np.testing.assert_array_equal(one.held_rows(0), splits.held_rows(0))


def test_outputs_of_several_classes_are_labels_too(make_task):
    pytest.importorskip("iterstrat.ml_stratifiers")
    rng = np.random.default_rng(0)
    y = np.column_stack([rng.choice(["a", "b", "c"], 120), rng.choice(["x", "y"], 120)]).astype(object)
    splits = KFold(4, stratify=True).draw(make_task(120, y=y), np.arange(120), seed=0)
    for part in range(4):
        for column, value in ((0, "a"), (0, "c"), (1, "x")):
            assert abs(np.sum(y[splits.held_rows(part), column] == value) - np.sum(y[:, column] == value) / 4) <= 2


@pytest.mark.parametrize("strategy", [KFold(4, stratify=True), Holdout(0.25, stratify=True)])
def test_labels_and_groups_need_no_package(make_task, monkeypatch, strategy):
    monkeypatch.setitem(sys.modules, "iterstrat", None)
    y, groups = labels_of(400), np.repeat(np.arange(100), 4)
    task = make_task(400, y=y, groups=groups)
    splits = strategy.draw(task, task.all_rows, seed=0)
    for part in range(len(splits)):
        held = splits.held_rows(part)
        assert len(held) == 100
        np.testing.assert_allclose(y[held].sum(axis=0) / y.sum(axis=0), 0.25, atol=0.03)
        assert not set(groups[held]) & set(groups[splits.train_rows(part)])


def test_without_the_package_the_error_names_the_extra(make_task, monkeypatch):
    monkeypatch.setitem(sys.modules, "iterstrat", None)
    task = make_task(40, y=labels_of(40))
    for strategy in (KFold(4, stratify=True), Resample(2, stratify=True)):
        with pytest.raises(SplitError, match=r"needs the package iterative-stratification.*heldout\[multilabel\]"):
            strategy.draw(task, task.all_rows, seed=0)


def test_labels_refuse_row_order_and_a_label_of_one_row(make_task):
    y = labels_of(40)
    with pytest.raises(SplitError, match="cannot stratify several labels in row order"):
        KFold(4, stratify=True, shuffle=False).draw(make_task(40, y=y), np.arange(40), seed=0)
    y[:, 1] = 0
    y[7, 1] = 1
    with pytest.raises(SplitError, match="label 1 has one row at this level, which cannot be on both sides"):
        Holdout(0.25, stratify=True).draw(make_task(40, y=y), np.arange(40), seed=0)


def test_a_single_label_in_use_is_enough(make_task):
    pytest.importorskip("iterstrat.ml_stratifiers")
    y = np.column_stack([np.zeros(40, dtype=int), np.tile([0, 1], 20)])
    splits = KFold(4, stratify=True).draw(make_task(40, y=y), np.arange(40), seed=0)
    assert all(y[splits.held_rows(part), 1].sum() == 5 for part in range(4))


def test_learning_curves_know_bins_and_labels(make_task):
    for task in (make_task(60), make_task(60, y=labels_of(60), groups=None)):
        outer = Holdout(0.2, stratify=task.y.ndim == 1).draw(task, task.all_rows, seed=0)
        small = smaller_training_sets(task, outer, [0.5], seed=0)
        assert small.train_sizes.tolist() == [24]
    y = labels_of(60)
    assert len(strata_of(make_task(60, y=y), np.arange(60)).values) == len(np.unique(y, axis=0))


def test_true_and_false_are_numbers_too():
    bins = quantile_bins(np.tile([True, False], 10), at_least=2)
    assert bins.counts.tolist() == [10, 10]
    assert bins.values == ["0 to 0", "1 to 1"]
