"""The defaults that the texts advise, and that everyone takes them from one place."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor

import heldout as ho
from heldout.cli.options import Question
from heldout.splits import strategy as defaults
from heldout.splits.foreign import default_strategy


def field_default(strategy, name):
    return next(field.default for field in fields(strategy) if field.name == name)


def test_five_folds_of_which_one_is_held_out_and_classes_in_their_shares():
    assert defaults.FOLDS in (5, 10)  # "in practice K = 5 or K = 10"
    assert field_default(ho.KFold, "k") == field_default(ho.Forward, "k") == defaults.FOLDS
    assert ho.Holdout().share == field_default(ho.Resample, "held_out") == defaults.HELD_OUT == 1 / defaults.FOLDS
    for strategy in (ho.KFold, ho.Holdout, ho.Resample):
        assert field_default(strategy, "stratify") == defaults.STRATIFY == "auto"


def data(*, classes: bool):
    X = np.random.default_rng(1).normal(size=(40, 2))
    return X, np.repeat(["a", "b", "b", "b"], 10) if classes else X[:, 0]


def test_an_evaluation_stratifies_classes_and_tests_forward_with_time():
    X, y = data(classes=True)
    plain = ho.evaluate(DummyClassifier(), X, y, jobs=1).splits
    assert plain == ho.draw(ho.KFold(5), X, y)
    assert abs(plain.summary().totals["held_deviation"]["points"]) < 1e-9
    timed = ho.evaluate(DummyClassifier(), X, y, time=np.arange(40)[::-1], jobs=1).splits
    assert (
        timed == ho.draw(ho.Forward(5), X, y, time=np.arange(40)[::-1]) == ho.draw(None, X, y, time=np.arange(40)[::-1])
    )
    for train, held in timed:
        assert train.min() > held.max()  # the later the row, the smaller its number


@pytest.mark.parametrize("timed", [False, True])
def test_a_tuned_learner_chooses_by_the_same_default_alone_and_in_a_study(timed):
    X, y = data(classes=False)
    roles = {"time": np.arange(40)[::-1]} if timed else {}
    learner = ho.Tuned(DummyRegressor(), {"strategy": ["mean", "median"]}, jobs=1)
    said = clone(learner).set_params(validation=ho.Forward(5) if timed else ho.KFold(5))
    assert clone(learner).fit(X, y, **roles).cv_results_["mean_test_score"].tolist() == (
        said.fit(X, y, **roles).cv_results_["mean_test_score"].tolist()
    )
    plans = [ho.explain(one, X, y, test=ho.Holdout(0.25), **roles).inner for one in (learner, said)]
    assert plans[0] == plans[1]
    assert ("each after its training rows" in plans[0]) is timed


def test_a_number_of_folds_is_that_many_folds_with_time_too():
    X, y = data(classes=False)
    roles = {"time": np.arange(40)}
    assert ho.draw(4, X, y, **roles) == ho.draw(ho.KFold(4), X, y, **roles)
    learner = ho.Tuned(DummyRegressor(), {"strategy": ["mean", "median"]}, validation=4)
    assert "4-fold, blocks in time order" in ho.explain(learner, X, y, test=ho.Holdout(0.25), **roles).inner


def test_numbers_are_not_stratified_unless_asked_and_time_holds_out_the_most_recent():
    X, y = data(classes=False)
    assert ho.evaluate(DummyRegressor(), X, y, jobs=1).splits.words == "5-fold, shuffled"
    assert "strata" not in ho.draw(ho.KFold(5), X, y).summary().totals
    assert ho.draw(ho.Holdout(), X, y, time=np.arange(40)[::-1]).held_rows(0).tolist() == list(range(8))


def test_the_command_has_the_same_defaults(tmp_path):
    from heldout.cli.question import prepare

    X, y = data(classes=False)
    table = np.column_stack([X, y, np.arange(40)])
    np.savetxt(tmp_path / "data.csv", table, delimiter=",", header="a,b,y,day", comments="")
    for time in (None, "day"):
        asked = prepare(_question(tmp_path / "data.csv", time))
        assert asked.test == asked.learner.validation == default_strategy(timed=time is not None)


def _question(path, time):
    known = inspect.signature(Question).parameters
    given = {"data": str(path), "target": "y", "learner": ("ridge",), "time": time}
    empty = {name: () if name in ("drop", "loss") else None for name, p in known.items() if p.default is p.empty}
    return Question(**{**empty, "seed": 0, **given})


@pytest.mark.parametrize("timed", [False, True])
def test_what_is_asked_wins(timed):
    X, y = data(classes=False)
    roles = {"time": np.arange(40)} if timed else {}
    assert len(ho.draw(ho.KFold(10), X, y, **roles)) == 10
