"""Remarks on two levels that do not go together, and on own splits that do not follow the time declared."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as sk
from sklearn.dummy import DummyRegressor

import heldout as ho
from heldout.splits import Forward, Given, Holdout, KFold, LeaveOneOut, SharedBlocks, as_strategy
from heldout.splits.remarks import mixed_time_note, near_validation_note

N = 40


@pytest.mark.parametrize(
    ("test", "validation", "fix"),
    [
        (Forward(3, buffer="7d"), KFold(5), "validation=KFold(5, buffer='7d')"),
        (Forward(3, buffer="7d"), Forward(3, buffer="24h"), "validation=Forward(3, buffer='7d')"),
        (Forward(3, buffer=4), Holdout(0.25, buffer=3), "validation=Holdout(0.25, buffer=4)"),
        (KFold(3, buffer="2.5"), Forward(2, buffer="2"), "validation=Forward(2, buffer='2.5')"),
        (KFold(3, embargo=4), KFold(4, buffer=1), "validation=KFold(4, buffer=1, embargo=4)"),
        (Forward(3, buffer=4), LeaveOneOut(), "validation=KFold(5, buffer=4)"),
        (Forward(3, buffer=4), KFold(5, buffer=0), "validation=KFold(5, buffer=4)"),
    ],
)
def test_a_validation_with_less_distance_names_the_fix(test, validation, fix):
    note = near_validation_note(test, validation)
    assert note is not None
    assert note.endswith(f"Use {fix}.")


@pytest.mark.parametrize(
    ("test", "validation"),
    [
        (Forward(3), KFold(5)),
        (Forward(3, buffer=0), KFold(5)),
        (Forward(3, buffer="7d"), Forward(3, buffer="1 week")),
        (Forward(3, buffer="24h"), Forward(3, buffer="2d")),
        (Forward(3, buffer=4), Forward(3, buffer="1d")),  # rows and time do not compare
        (Forward(3, buffer="4"), Forward(3, buffer="1d")),
        (KFold(3, embargo=4), Forward(3)),  # which has no rows after a block
        (Forward(3, buffer=4), as_strategy(sk.TimeSeriesSplit(3, gap=9))),
        (Forward(3, buffer=4), Given([1])),
        (Forward(3, buffer=4), SharedBlocks()),
        (Forward(3), LeaveOneOut()),
        (Forward(3, buffer=4), None),
        (as_strategy(sk.TimeSeriesSplit(3)), KFold(5)),
    ],
)
def test_nothing_is_said_where_all_is_well_or_unknown(test, validation):
    assert near_validation_note(test, validation) is None


def data():
    X = np.random.default_rng(0).normal(size=(N, 2))
    return {"X": X, "y": X[:, 0], "time": np.arange(N), "jobs": 1}


def codes(result):
    return [finding.code for finding in result.findings]


def test_an_evaluation_finds_it():
    space = {"strategy": ["mean", "median"]}
    near = ho.Tuned(DummyRegressor(), space, validation=ho.Forward(2))
    result = ho.evaluate(near, test=ho.Forward(3, buffer=3), **data())
    (found,) = [finding for finding in result.findings if finding.code == "H102"]
    assert (found.severity, found.message) == (
        "warning",
        "The test has a buffer of 3 rows, the validation has none. Candidates are then chosen on rows that lie near "
        "those they were trained on, which favours the ones that memorise; the test tells the risk of that choice all "
        "the same. Use validation=Forward(2, buffer=3).",
    )
    again = ho.evaluate(
        near, test=ho.draw(ho.Forward(3, buffer=3), data()["X"], data()["y"], time=np.arange(N)), **data()
    )
    assert [finding.message for finding in again.findings] == [finding.message for finding in result.findings]
    apart = ho.Tuned(DummyRegressor(), space, validation=ho.Holdout(0.25, buffer=3))
    assert "H102" not in codes(ho.evaluate(apart, test=ho.Forward(3, buffer=3), **data()))
    assert "H102" not in codes(ho.evaluate(DummyRegressor(), test=ho.Forward(3, buffer=3), **data()))


def test_own_splits_that_do_not_follow_time(make_task):
    task = make_task(N, time=np.arange(N))
    mixed = as_strategy(sk.KFold(4, shuffle=True, random_state=0)).draw(task, task.all_rows, seed=0)
    assert "part 0 trains on" in mixed_time_note(task, mixed)
    for strategy in (KFold(4), as_strategy(sk.KFold(4)), as_strategy(sk.TimeSeriesSplit(4)), Given(range(5, 10))):
        assert mixed_time_note(task, strategy.draw(task, task.all_rows, seed=0)) is None
    assert mixed_time_note(make_task(N), mixed) is None
    result = ho.evaluate(DummyRegressor(), test=ho.Given(folds=np.arange(N) % 4), checks="none", **data())
    assert codes(result) == ["H103"]
    assert "(4 folds given) do not follow it: part 0 trains on 27 rows" in result.findings[0].message
