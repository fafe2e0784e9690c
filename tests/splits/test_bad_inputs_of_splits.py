"""What cannot be split, and what the user is told: who, what and the way out, before anything is fitted."""

from __future__ import annotations

import re
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

import heldout as ho
from heldout.base.errors import RoleError, SplitError

N = 24
TIME = np.arange(N)
CLASSES = np.repeat(["a", "b"], N // 2)


def draw(test, *, y=None, **roles):
    X = np.random.default_rng(0).normal(size=(N, 2))
    return ho.draw(test, X, X[:, 0] if y is None else y, **roles)


class Own:
    """A splitter that answers as it was told."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def split(self, X, y=None, groups=None):
        yield from self.pairs

    def __repr__(self):
        return "Own()"


def said(*words):
    """A pattern for messages that have these words, in this order."""
    return ".*".join(map(re.escape, words))


def test_a_class_with_fewer_rows_than_folds_is_spread_and_is_a_finding():
    X = np.random.default_rng(0).normal(size=(N, 2))
    y = np.array(["a"] * 21 + ["b"] * 3)
    result = ho.evaluate(DummyClassifier(), X, y, test=ho.KFold(5), jobs=1)
    (found,) = [finding for finding in result.findings if finding.code == "H101"]
    assert found.message == (
        "Class 'b' has 3 rows, fewer than the 5 folds, so some folds hold out none of it. "
        "KFold(3) gives each fold at least one."
    )
    shares = result.splits.summary().shares
    rare = shares[(shares["class"] == "b") & (shares["side"] == "held")]["rows"]
    assert sorted(rare) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("role", ["classes", "strata"])
def test_a_class_of_one_row_is_an_error_only_where_it_must_be_on_both_sides(role):
    labels = np.array([0] * (N - 1) + [1])
    given = {"y": labels, "classification": True} if role == "classes" else {"strata": labels}
    word = "class 1" if role == "classes" else "stratum 1"
    assert len(draw(ho.KFold(4), **given)) == 4
    for test, plain in (
        (ho.Holdout(0.25), ho.Holdout(0.25, stratify=False)),
        (ho.Resample(3, 0.25), ho.Resample(3, 0.25, stratify=False)),
    ):
        with pytest.raises(SplitError, match=said(f"{test!r} cannot stratify: {word} has one row", "stratify=False")):
            draw(test, **given)
        assert draw(plain, **given).held_rows(0).tolist()
    with pytest.raises(
        SplitError, match=said("KFold(4) cannot stratify: no stratum has 4 rows", "the commonest has 1", "smaller k")
    ):
        draw(ho.KFold(4), strata=np.arange(N))


@pytest.mark.parametrize(
    ("k", "words"), [(1, "at least 2, but is 1"), (0, "at least 2"), (2.5, "whole number"), (True, "but is True")]
)
def test_a_number_of_folds_that_is_none(k, words):
    with pytest.raises(SplitError, match=said(words)):
        ho.KFold(k)
    with pytest.raises(SplitError):
        draw(k)


def test_more_folds_than_rows():
    with pytest.raises(
        SplitError, match=said(f"KFold({N + 1}) needs at least {N + 1} rows, but there are {N}", "smaller k")
    ):
        draw(ho.KFold(N + 1))
    with pytest.raises(SplitError, match=said(f"Forward({N}) needs at least {N + 1} rows", "smaller k")):
        draw(ho.Forward(N), time=TIME)


def test_too_few_groups_or_missing_ones():
    with pytest.raises(SplitError, match=said("KFold(5)", "needs at least 5 groups, but there are 4", "smaller k")):
        draw(ho.KFold(5), groups=TIME % 4)
    for test in (ho.Holdout(0.2), ho.Resample(3)):
        with pytest.raises(SplitError, match=said(repr(test), "at least two groups, but there is one")):
            draw(test, groups=np.zeros(N))
    with pytest.raises(RoleError, match=said("groups are missing in row 3", "drop these rows")):
        draw(ho.KFold(3), groups=["a" if i != 3 else None for i in range(N)])


def test_missing_times_and_what_is_no_time():
    for gap in (np.where(TIME == 3, np.nan, TIME), pd.Series(pd.date_range("2024", periods=N)).where(TIME != 3)):
        with pytest.raises(RoleError, match=said("time is missing in row 3", "drop them")):
            draw(ho.Forward(3), time=gap)
    with pytest.raises(RoleError, match=said("time must be numbers or dates", "pandas.to_datetime")):
        draw(ho.Forward(3), time=[f"day {day}" for day in TIME])
    with pytest.raises(RoleError, match=said("time ends before it starts in row 5", "time=(start, end)")):
        draw(ho.Forward(3), time=(TIME, TIME - (TIME == 5)))


@pytest.mark.parametrize("test", [ho.Forward(3, buffer=2), ho.KFold(3, buffer=1), ho.Holdout(0.25, buffer=3)])
def test_unsorted_rows_are_split_by_their_time_and_not_by_their_order(test):
    shuffled = np.random.default_rng(5).permutation(N)
    X = np.arange(2.0 * N).reshape(N, 2)
    in_order = ho.draw(test, X, X[:, 0], time=TIME)
    mixed = ho.draw(test, X[shuffled], X[shuffled, 0], time=TIME[shuffled])
    for (train, held), (train_mixed, held_mixed) in zip(in_order, mixed, strict=True):
        assert sorted(TIME[shuffled][held_mixed]) == held.tolist()
        assert sorted(TIME[shuffled][train_mixed]) == train.tolist()


@pytest.mark.parametrize("distance", [-1, "-2d", timedelta(days=-1), np.timedelta64(-3, "h"), pd.Timedelta(days=-1)])
def test_a_negative_buffer_or_embargo(distance):
    for make in (ho.KFold, ho.Forward):
        with pytest.raises(SplitError, match=said(f"buffer of {make.__name__} must not be negative", "'7d'")):
            make(3, buffer=distance)
    with pytest.raises(SplitError, match=said("buffer of Holdout must not be negative")):
        ho.Holdout(0.2, buffer=distance)
    with pytest.raises(SplitError, match=said("embargo of KFold must not be negative")):
        ho.KFold(3, embargo=distance)


@pytest.mark.parametrize("distance", [1.5, "soon", True, "3 months"])
def test_a_buffer_that_could_be_anything(distance):
    with pytest.raises(SplitError, match=said("buffer of KFold")):
        ho.KFold(3, buffer=distance)


def test_a_buffer_needs_time_and_shuffling_forbids_it():
    with pytest.raises(SplitError, match=said("KFold(3, buffer=2)", "the task has no time", "Pass time=")):
        draw(ho.KFold(3, buffer=2))
    with pytest.raises(SplitError, match=said("would mix past and future", "Forward(3)")):
        draw(ho.KFold(3, shuffle=True), time=TIME)


@pytest.mark.parametrize(
    "test", [ho.Forward(3, buffer=10), ho.KFold(3, buffer=20), ho.Holdout(0.5, buffer=20), ho.KFold(3, embargo=20)]
)
def test_a_buffer_that_leaves_no_training_rows(test):
    with pytest.raises(
        SplitError, match=said(f"{test!r}: part 0 has no training rows", "too near it", "Use a smaller buffer")
    ):
        draw(test, time=TIME)


def test_the_same_inside_a_test_fold_names_the_fold():
    learner = ho.Tuned(DummyClassifier(), {"strategy": ["prior", "stratified"]}, validation=ho.Forward(2, buffer=9))
    X = np.zeros((N, 1))
    with pytest.raises(
        SplitError,
        match=said("Validation splits inside test fold 0: Forward(2, buffer=9): part 0 has no training rows"),
    ):
        ho.evaluate(learner, X, np.tile(["a", "b"], N // 2), test=ho.Forward(3), time=TIME, jobs=1)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([([0, 1, 2], [2, 3])], ["part 0 has row 2 both in training and held out", "Take them out of one side"]),
        ([([0, 1], [2]), ([0, 1], [])], ["part 1 holds out no rows"]),
        ([([], [1])], ["part 0 has no training rows"]),
        ([([0], [1, 1])], ["part 0 holds out row 1 twice"]),
        ([([0], [N])], [f"row {N}"]),
    ],
)
def test_own_splits_that_overlap_or_are_empty(pairs, words):
    for test in (pairs, Own(*pairs)):
        with pytest.raises(SplitError, match=said(*words)):
            draw(test)


def test_own_splits_without_parts_or_that_cut_a_group():
    with pytest.raises(SplitError, match=said("The splits are empty")):
        draw([])
    with pytest.raises(SplitError, match=said("Own() gives no parts at all")):
        draw(Own())
    groups = np.repeat(np.arange(N // 2), 2)
    for test in (Own(([0, 2], [1])), [([0, 2], [1])], ho.Given([1]), ho.Given(folds=TIME % 2)):
        with pytest.raises(
            SplitError, match=said("in part 0 group 0 is both in training and held out", "Keep each group on one side")
        ):
            draw(test, groups=groups)
    assert len(draw(ho.Given(folds=groups % 3), groups=groups)) == 3


def test_groups_that_make_stratification_impossible():
    one_class_a_group = {"y": np.tile(list("abcdef"), 4), "groups": np.tile(np.arange(6), 4)}
    with pytest.raises(
        SplitError,
        match=said("KFold(6, stratify=True) cannot stratify: no class is in 6 groups", "in 1", "stratify=False"),
    ):
        draw(ho.KFold(6, stratify=True), **one_class_a_group)
    assert len(draw(ho.KFold(6), **one_class_a_group)) == 6
    for test in (ho.Holdout(0.5, stratify=True), ho.Resample(3, 0.5, stratify=True)):
        with pytest.raises(SplitError, match=said("cannot stratify: class 'a' is in one group only", "stratify=False")):
            draw(test, y=CLASSES, groups=np.repeat([0, 1], N // 2))


@pytest.mark.parametrize(
    "test", [ho.Holdout(0.5), ho.Resample(3, 0.5), ho.KFold(2), ho.KFold(2, repeats=2), ho.Forward(2)], ids=repr
)
def test_with_time_and_groups_a_class_of_one_group_is_spread_as_it_goes_and_is_a_finding(test):
    groups = np.arange(N) % 6
    y = np.where(groups == 2, "rare", np.where(np.arange(N) // 6 % 2, "b", "a"))
    result = ho.evaluate(DummyClassifier(), np.zeros((N, 1)), y, test=test, groups=groups, time=TIME, jobs=1)
    (found,) = [finding for finding in result.findings if finding.code == "H101"]
    shares = result.splits.summary().shares
    none = shares[(shares["class"] == "rare") & (shares["rows"] == 0)]["side"].value_counts()
    told = [f"{none[side]} of {len(result.splits)} parts {words} none of it" for side, words in SIDES if side in none]
    assert found.message.startswith(f"Class 'rare' is not in every part: {told[0]}")
    assert all(words in found.message for words in told)


SIDES = (("train", "train on"), ("held", "hold out"))


@pytest.mark.parametrize("test", [ho.Holdout(0.5, stratify=True), ho.Resample(3, 0.5, stratify=True)], ids=repr)
def test_asked_for_by_name_strata_are_kept_or_refused(test):
    groups = np.arange(N) % 6
    with pytest.raises(SplitError, match=said("cannot stratify: class 'rare' is in one group only at this level")):
        draw(test, y=np.where(groups == 2, "rare", "a"), groups=groups, time=TIME)


def test_classes_of_their_own_groups_can_be_tested_forward():
    """Forward has no stratify to turn off, so it deals such groups all the same."""
    groups = np.arange(N) % 6
    assert len(draw(ho.Forward(3), y=groups.astype(str), groups=groups, time=TIME)) > 3
    with pytest.raises(SplitError, match=said("KFold(3, stratify=True) cannot stratify: no class is in 3 groups")):
        draw(ho.KFold(3, stratify=True), y=groups.astype(str), groups=groups)


def test_with_time_nobody_is_sent_to_leave_one_out():
    with pytest.raises(
        SplitError, match=r"^KFold\(3, buffer=1\) keeps groups .* there are 2 at this level. Use a smaller k.$"
    ):
        draw(ho.KFold(3, buffer=1), groups=TIME % 2, time=TIME)
