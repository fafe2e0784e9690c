"""Every stratified part has every class, or a finding says which lack one, at each level and in `draw`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as sk
from sklearn.dummy import DummyClassifier

import heldout as ho
from heldout.base.errors import RoleError
from heldout.splits import Holdout, KFold, Resample
from heldout.splits.remarks import class_note, class_notes

Y = np.array(["a"] * 50 + ["b"] * 2)
X = np.random.default_rng(0).normal(size=(52, 2))


@pytest.mark.parametrize("test", [Holdout(0.2), Resample(30, 0.2), Holdout(0.95), Resample(5, 3)], ids=repr)
def test_both_sides_of_a_stratified_draw_have_every_class(make_task, test):
    task = make_task(52, y=Y)
    splits = test.draw(task, task.all_rows, seed=3)
    for part in range(len(splits)):
        assert set(Y[splits.held_rows(part)]) == set(Y[splits.train_rows(part)]) == {"a", "b"}
        assert len(splits.train_rows(part)) + len(splits.held_rows(part)) == 52
    assert len(set(splits.held_sizes)) == 1
    assert splits.fingerprint == test.draw(task, task.all_rows, seed=3).fingerprint


def test_the_rare_row_that_is_held_out_is_chosen_by_chance(make_task):
    task = make_task(52, y=Y)
    splits = Resample(40, 0.2).draw(task, task.all_rows, seed=0)
    times = np.bincount(splits.held, minlength=52)
    assert times[50] + times[51] == 40
    assert times[50:].min() >= 10


def test_where_no_class_is_lacking_the_draw_is_scikit_learns(make_task):
    y = np.array([0] * 40 + [1] * 9 + [2] * 3)
    task = make_task(52, y=y)
    splits = Resample(4, 13).draw(task, task.all_rows, seed=5)
    theirs = sk.StratifiedShuffleSplit(4, test_size=13, random_state=5).split(y, y)
    for part, (_, held) in enumerate(theirs):
        np.testing.assert_array_equal(splits.held_rows(part), np.sort(held))


@pytest.mark.parametrize("test", [ho.Holdout(0.2), ho.Resample(4, 0.2)], ids=repr)
def test_a_class_that_counts_too_much_is_a_finding_in_draw_and_in_a_study(test, tmp_path):
    said = (
        "Class 'b' has 2 of 52 rows, too few for a share of 11: a part holds out one of them, 9.1 % of its rows for "
        "3.8 % of all, so its errors count more than they should. Hold out more rows, or use KFold, or stratify=False."
    )
    splits = ho.draw(test, X, Y)
    assert [(one.code, one.severity, one.message) for one in splits.findings] == [("H101", "warning", said)]
    assert f"H101 warning: {said}" in str(splits.summary())
    splits.save(tmp_path / "rare.splits")
    assert ho.load_splits(tmp_path / "rare.splits").findings == splits.findings
    result = ho.evaluate(DummyClassifier(), X, Y, test=test, jobs=1)
    assert [one.message for one in result.findings if one.code == "H101"] == [said]
    assert [trap.seen for trap in ho.check(X, Y, test=test).findings if trap.code == "H101"] == [
        said.partition(" Hold out more")[0]
    ]
    assert ho.draw(test, X, np.tile(["a", "b"], 26)).findings == ()


def test_validation_has_its_own_finding():
    learner = ho.Tuned(DummyClassifier(), {"strategy": ["prior", "uniform"]}, validation=ho.Holdout(0.2))
    y = np.array(["a"] * 56 + ["b"] * 4)
    found = ho.evaluate(learner, np.zeros((60, 1)), y, test=ho.KFold(2), jobs=1).findings
    (note,) = [one.message for one in found if one.code == "H101"]
    assert note.startswith("Validation inside test part 0: Class 'b' has 2 of 30 rows, too few for a share of 6")
    even = np.tile(["a", "b"], 30)
    assert not [one for one in ho.evaluate(learner, np.zeros((60, 1)), even, jobs=1).findings if one.code == "H101"]


def test_groups_that_take_a_class_away_are_a_finding(make_task):
    y, groups = np.repeat(["a", "b"], [16, 4]), np.repeat(np.arange(10), 2)
    task = make_task(20, y=y, groups=groups)
    plain = KFold(5).draw(task, task.all_rows, seed=0)
    assert not plain.recipe.stratified
    lacking = sum("b" not in y[plain.held_rows(part)] for part in range(5))
    assert lacking >= 3
    assert class_note(task, plain) == (
        f"Class 'b' is not in every part: {lacking} of 5 parts hold out none of it. Use fewer parts or a larger share, "
        "or stratify=True, which deals groups by their classes."
    )
    even = KFold(2, stratify=True).draw(task, task.all_rows, seed=0)
    assert class_note(task, even) is None
    for quiet in (ho.LeaveOneOut(), ho.Given([1, 2])):
        assert class_notes(make_task(20, y=y), quiet.draw(make_task(20, y=y), np.arange(20), seed=0)) == []


DAYS, KINDS = np.arange(52), np.tile([0, 1], 26)


@pytest.mark.parametrize(
    "ask",
    [
        lambda **roles: ho.draw(ho.Forward(3), X, Y, **roles),
        lambda **roles: ho.draw(ho.KFold(3), X, Y, **roles),
        lambda **roles: ho.draw(ho.Holdout(0.3), X, Y, **roles),
        lambda **roles: ho.draw(ho.Resample(3), X, Y, **roles),
        lambda **roles: ho.evaluate(DummyClassifier(), X, KINDS, jobs=1, **roles),
        lambda **roles: ho.explain(DummyClassifier(), X, KINDS, **roles),
        lambda **roles: ho.check(X, KINDS, **roles),
        lambda **roles: ho.Tuned(DummyClassifier(), {"strategy": ["prior", "uniform"]}).fit(X, KINDS, **roles),
    ],
)
def test_strata_that_time_would_drop_are_refused(ask):
    with pytest.raises(RoleError, match=r"strata= cannot be kept together with time=.*Leave strata out, or time;"):
        ask(time=DAYS, strata=KINDS)


def test_with_groups_strata_are_kept_in_time():
    groups = DAYS % 13
    splits = ho.draw(ho.Forward(2), X, Y, time=DAYS, groups=groups, strata=groups % 2)
    assert splits.saved.splits.recipe.stratified
