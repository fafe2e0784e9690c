"""Every recipe of a learner that is not tuned: heldout's numbers are those of a plain loop on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import plain_loop
import pytest
from drawn_rows import outer_parts, task_of
from problems import PROBLEMS, Problem
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

import heldout as ho

pytestmark = pytest.mark.usefixtures("identical_rules")

every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=str)


def assert_fixed(problem: Problem, test: Any) -> ho.Result:
    task = task_of(problem.X, problem.y, problem.classification)
    parts = outer_parts(task, test)
    expected = plain_loop.cross_validate((problem.estimator, {}), problem.X, problem.y, parts, problem.loss)
    result = ho.evaluate(problem.estimator, problem.X, problem.y, test=test, jobs=1)
    assert result.folds[problem.loss_name].tolist() == expected.losses
    assert result.risk.value == expected.risk
    assert result.predictions["row"].tolist() == np.concatenate(expected.rows).tolist()
    assert result.predictions["predict"].tolist() == np.concatenate(expected.predictions).tolist()
    assert len(result.choices) == 0
    return result


@every_problem
def test_plain_k_fold(problem: Problem) -> None:
    result = assert_fixed(problem, ho.KFold(4))
    assert sorted(result.predictions["row"]) == list(range(72))  # every row is tested once
    assert result.risk.train_size == 54


@every_problem
def test_repeated_k_fold(problem: Problem) -> None:
    result = assert_fixed(problem, ho.KFold(3, repeats=2))
    assert result.folds["repeat"].tolist() == [0, 0, 0, 1, 1, 1]
    first, second = (result.predictions[result.predictions["fold"] // 3 == r]["row"] for r in (0, 1))
    assert sorted(first) == sorted(second) == list(range(72))
    assert first.tolist() != second.tolist()


@every_problem
def test_leave_one_out(problem: Problem) -> None:
    result = assert_fixed(problem.first(16), ho.LeaveOneOut())
    assert len(result.folds) == 16
    assert result.risk.train_size == 15
    assert result.risk.low < result.risk.value < result.risk.high
    assert result.risk.guarantee == "heuristic"


@every_problem
def test_holdout(problem: Problem) -> None:
    result = assert_fixed(problem, ho.Holdout(0.25))
    assert result.folds["held_rows"].tolist() == [18]


@every_problem
def test_random_resampling(problem: Problem) -> None:
    result = assert_fixed(problem, ho.Resample(4, held_out=0.25))
    assert result.folds["held_rows"].tolist() == [18] * 4


@every_problem
def test_a_given_test_set(problem: Problem) -> None:
    assert_fixed(problem, ho.Given(np.arange(0, 72, 3)))


def test_log_loss_of_a_fixed_learner() -> None:
    """A loss of probabilities, on the same rows: the mean of the fold means."""
    problem = next(p for p in PROBLEMS if p.name == "multiclass-logistic")
    task = task_of(problem.X, problem.y, True)
    losses = []
    with plain_loop.threadpool_limits(1):
        for train, held in outer_parts(task, ho.KFold(3)):
            proba = plain_loop.fit((problem.estimator, {}), problem.X, problem.y, train).predict_proba(problem.X[held])
            losses.append(float(np.mean(-np.log(proba[np.arange(len(held)), problem.y[held]]))))
    result = ho.evaluate(problem.estimator, problem.X, problem.y, test=ho.KFold(3), loss="log", jobs=1)
    assert result.folds["log"].tolist() == losses
    assert result.risk.value == float(np.mean(losses))


@every_problem
def test_a_predictor_already_fitted(problem: Problem) -> None:
    """The test error of h on rows it never saw; nothing is trained."""
    test = np.arange(48, 72)
    with plain_loop.threadpool_limits(1):
        model = clone(problem.estimator).fit(problem.X[:48], problem.y[:48])
        predicted = model.predict(problem.X[test])
    result = ho.evaluate(FrozenEstimator(model), problem.X, problem.y, test=ho.Given(test), jobs=1)
    assert result.risk.value == float(np.mean(problem.loss(problem.y[test], predicted)))
    assert result.predictions["predict"].tolist() == predicted.tolist()
    assert result.risk.train_size is None
    assert "fitted beforehand" in result.risk.estimand
    assert (result.predictor.predict(problem.X) == model.predict(problem.X)).all()


def test_a_fitted_predictor_with_an_unset_seed_is_left_alone() -> None:
    problem = next(p for p in PROBLEMS if p.name == "binary-tree")
    forest = RandomForestClassifier(5).fit(problem.X[:48], problem.y[:48])
    for model in (forest, make_pipeline(FrozenEstimator(forest)).fit(problem.X[:48], problem.y[:48])):
        before = model.predict_proba(problem.X)
        result = ho.evaluate(FrozenEstimator(model), problem.X, problem.y, test=ho.Given(range(48, 72)), jobs=1)
        assert result.risk.value == float(np.mean(model.predict(problem.X[48:]) != problem.y[48:]))
        assert (model.predict_proba(problem.X) == before).all()
    assert forest.random_state is None


@pytest.mark.parametrize("test", [ho.KFold(3), ho.Holdout(0.2), None], ids=str)
def test_a_predictor_already_fitted_needs_rows_it_never_saw(test: Any) -> None:
    problem = PROBLEMS[0]
    model = FrozenEstimator(clone(problem.estimator).fit(problem.X, problem.y))
    with pytest.raises(ho.HeldoutError, match=r"only rows it never saw can test it. Name them: test=Given\(rows\)"):
        ho.evaluate(model, problem.X, problem.y, test=test)
