"""The kernel `glm`: what it claims and refuses, hard cases, the same bits whatever the jobs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, SelectPercentile, f_classif
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

import heldout as ho
from heldout.kernels.driver.prepared import PreparedRows, take_apart
from heldout.kernels.glm import lockstep
from heldout.kernels.glm.kernel import KERNEL, follow
from heldout.kernels.glm.models import make_problem
from heldout.kernels.glm.objectives import Objective

SCALED = make_pipeline(StandardScaler(), LogisticRegression())
CS = [0.01, 1.0, 100.0]


def labelled(kinds: int = 2, n: int = 60, p: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * [1, 5, 0.2][:p]
    return X, np.argsort(np.argsort(X[:, 0] + rng.normal(size=n))) * kinds // n


def counted(n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, rng.poisson(np.exp(0.5 * X[:, 0] + 0.3)).astype(float)


def both(learner: Any, X: Any, y: Any, **more: Any) -> Any:
    """The study with the rule on and off."""
    question = {"test": ho.KFold(3), "jobs": 1, "progress": False} | more
    on, off = (
        ho.evaluate(learner, X, y, options=ho.Options(rules={"glm": rule}), **question) for rule in (True, False)
    )
    assert next(one for one in on.plan.passes if one.name == "glm").used
    assert all(check["passed"] for check in on.summary()["plan"]["checks"])
    return on, off


def record(learner: Any, X: Any, y: Any, **more: Any) -> Any:
    plan = ho.explain(learner, X, y, test=ho.KFold(3), **more)
    return next(p for p in plan.passes if p.name == "glm")


def test_it_runs_by_default():
    X, y = labelled()
    tuned = ho.Tuned(SCALED, {"logisticregression__C": CS}, validation=ho.KFold(3))
    plan = ho.explain(tuned, X, y, test=ho.KFold(3))
    assert {(line.rule, line.tier) for line in plan.lines} == {("glm", "rounding")}


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (LogisticRegression(solver="liblinear"), "only lbfgs is followed"),
        (LogisticRegression(solver="newton-cholesky"), "only lbfgs is followed"),
        (LogisticRegression(l1_ratio=0.5), "only l1_ratio=0.0 is followed"),
        (LogisticRegression(penalty="l2"), "only penalty='deprecated' is followed"),
        (LogisticRegression(n_jobs=2), "only n_jobs=None is followed"),
        (LogisticRegression(max_iter=5), "stops a fit early"),
        (LogisticRegression(verbose=1), "prints"),
    ],
)
def test_what_is_refused_of_classifiers(learner, words):
    assert any(words in reason for reason in record(learner, *labelled()).refusals)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (TweedieRegressor(power=0), "only powers from 1 to 2"),
        (TweedieRegressor(power=3), "only powers from 1 to 2"),
        (TweedieRegressor(power=1.5, link="identity"), "only powers from 1 to 2"),
        (GammaRegressor(), "y has values that the loss does not take"),
        (PoissonRegressor(max_iter=7), "stops a fit early"),
    ],
)
def test_what_is_refused_of_regressors(learner, words):
    assert any(words in reason for reason in record(learner, *counted()).refusals)


def test_what_is_refused_of_data():
    X, y = labelled()
    assert any("float32" in reason for reason in record(LogisticRegression(), X.astype(np.float32), y).refusals)
    assert any("differ so much" in reason for reason in record(LogisticRegression(), X + 1e6, y).refusals)
    assert record(SCALED, X + 1e6, y).used
    assert record(LogisticRegression(), sparse.csr_matrix(X), y).used


def test_several_chains_of_steps_are_left_to_shared_pipelines():
    X, y = labelled()
    pipe = make_pipeline(StandardScaler(), PCA(random_state=0), LogisticRegression())
    space = {"logisticregression__C": CS}
    assert record(ho.Tuned(pipe, space, validation=3), X, y).used
    found = record(ho.Tuned(pipe, {**space, "pca__n_components": [1, 2]}, validation=3), X, y)
    assert any("several steps before the model" in reason for reason in found.refusals)


@pytest.mark.parametrize("kinds", [2, 3])
@pytest.mark.parametrize("before", [StandardScaler(), MinMaxScaler(), OneHotEncoder(handle_unknown="ignore")])
def test_probabilities_and_decisions_are_those_of_the_fit_itself(kinds, before):
    X, y = labelled(kinds)
    X = np.round(X) if isinstance(before, OneHotEncoder) else X
    learner = make_pipeline(before, LogisticRegression())
    losses = ["log", "roc_auc"] if kinds == 2 else ["log"]
    on, off = both(learner, X, y, loss=losses)
    for name in losses:
        np.testing.assert_allclose(on.folds[name], off.folds[name], rtol=1e-10)


@pytest.mark.parametrize("learner", [PoissonRegressor(), make_pipeline(StandardScaler(), TweedieRegressor(power=1.5))])
def test_numbers_are_those_of_the_fit_itself(learner):
    X, y = counted()
    on, off = both(learner, X, y)
    np.testing.assert_allclose(on.predictions["predict"], off.predictions["predict"], rtol=1e-10)


def test_jobs_change_no_bit():
    X, y = labelled(3, 1200)
    tuned = ho.Tuned(SCALED, {"logisticregression__C": CS}, validation=ho.KFold(5), loss="log")
    one, two = (ho.evaluate(tuned, X, y, test=ho.KFold(5), progress=False, jobs=jobs) for jobs in (1, 2))
    assert one.plan.fits < one.plan.fits_before
    np.testing.assert_array_equal(one.predictions["predict"], two.predictions["predict"])
    for name in ("log", "train_rows"):
        np.testing.assert_array_equal(one.folds[name], two.folds[name])
    np.testing.assert_array_equal(one.candidates["validation_log"], two.candidates["validation_log"])


def test_rows_are_left_to_scikit_learn_where_a_fit_takes_many_iterations():
    X, _ = labelled()
    y = (X[:, 0] > 0).astype(int)
    learner = ho.Tuned(LogisticRegression(max_iter=5000), {"C": [0.01, 1.0, np.inf]}, validation=3, loss="log")
    on, off = both(learner, X, y, loss="log")
    np.testing.assert_allclose(on.folds["log"], off.folds["log"], rtol=1e-9)
    np.testing.assert_allclose(on.candidates["validation_log"], off.candidates["validation_log"], rtol=1e-9)


def test_labels_that_rounding_decides_are_scikit_learns():
    X, y = labelled()
    X = X - X.mean(axis=0)
    X[::7] = 0.0
    learner = LogisticRegression(fit_intercept=False)  # rows of zeros lie on the border
    on, off = both(learner, X, y)
    np.testing.assert_array_equal(on.predictions["predict"], off.predictions["predict"])


def test_preparations_that_warn_or_fail_are_scikit_learns():
    def warn(X):
        warnings.warn("seen", UserWarning, stacklevel=1)
        return X

    learner = make_pipeline(FunctionTransformer(warn), LogisticRegression())
    on, off = both(learner, *labelled())
    assert on.warnings.equals(off.warnings)
    assert len(on.warnings)


def test_a_class_that_is_absent_is_absent_from_probabilities():
    X, y = labelled()
    y[:2] = 2
    on, off = both(LogisticRegression(), X, y, test=[(np.arange(10, 60), np.arange(2, 10))], loss="log")
    np.testing.assert_allclose(on.folds["log"], off.folds["log"], rtol=1e-10)


def problem(kinds: int, *, n: int = 200, C: Any = (0.01, 1.0, 100.0), weighed: bool = False) -> Any:
    X, y = labelled(kinds, n)
    weight = np.random.default_rng(1).uniform(0.5, 2, n) if weighed else None
    models = [LogisticRegression(C=value) for value in C]
    return (
        X,
        y,
        weight,
        models,
        make_problem(
            [KERNEL.read(take_apart(0, model)) for model in models], PreparedRows(train=X, held=[], y=y, weight=weight)
        ),
    )


@pytest.mark.parametrize("kinds", [2, 3])
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("reverse_communication", [False, True])
def test_iterates_are_those_of_scikit_learn(kinds, weighed, reverse_communication, monkeypatch):
    monkeypatch.setattr(lockstep, "has_reverse_communication", lambda: reverse_communication)
    X, y, weight, models, made = problem(kinds, weighed=weighed)
    ends = lockstep.minimise_together(made.objective, np.tile(made.start, (3, 1)), tol=1e-4, max_iter=60)
    for model, point, iterations in zip(models, ends.points, ends.iterations, strict=True):
        model.fit(X, y, sample_weight=weight)
        assert model.n_iter_[0] == iterations
        ours = point.reshape(made.objective.predictors, -1)
        np.testing.assert_allclose(ours[:, :-1], model.coef_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ours[:, -1], model.intercept_, rtol=1e-9, atol=1e-11)


def test_this_scipy_is_driven_step_by_step():
    assert lockstep.has_reverse_communication()


@pytest.mark.parametrize("kinds", [2, 3])
def test_gradients_are_slopes_of_values(kinds):
    objective: Objective = problem(kinds, weighed=True)[-1].objective
    at = 0.3 * np.random.default_rng(2).normal(size=(3, objective.size))
    _, gradients = objective([0, 1, 2], at)
    for place in range(objective.size):
        move = np.zeros(objective.size)
        move[place] = 1e-5
        above, below = (objective([0, 1, 2], at + sign * move)[0] for sign in (1, -1))
        np.testing.assert_allclose((above - below) / 2e-5, gradients[:, place], rtol=1e-5, atol=1e-8)


def test_fits_that_rounding_moves_are_not_vouched_for():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    models = [LogisticRegression(C=C) for C in (0.1, 10.0, 1e3)]
    rows = PreparedRows(train=X, held=[], y=y, weight=None)
    made = make_problem([KERNEL.read(take_apart(0, model)) for model in models], rows)
    points, sure = follow(made.objective, made.start, tol=1e-4, max_iter=100)
    assert sure.tolist() == [True, True, False]  # 11, 34 and 93 iterations
    for model, point in zip(models[:2], points, strict=False):
        np.testing.assert_allclose(point[:-1], model.fit(X, y).coef_[0], rtol=1e-9)


@pytest.mark.parametrize(("selector", "sizes"), [(SelectKBest, [1, 2, 3]), (SelectPercentile, [30, 70, 100])])
def test_columns_are_scored_once_a_training_set_for_all_sizes(selector, sizes):
    calls = []

    def score(X: Any, y: Any) -> Any:
        calls.append(len(y))
        return f_classif(X, y)

    X, y = labelled(n=90)
    name = f"{selector.__name__.lower()}__{'k' if selector is SelectKBest else 'percentile'}"
    learner = make_pipeline(selector(score), LogisticRegression())
    tuned = ho.Tuned(learner, {name: sizes, "logisticregression__C": CS}, validation=ho.KFold(3), loss="log")
    ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1, progress=False, options=ho.Options(rules={"glm": False}))
    alone = len(calls)
    calls.clear()
    on, off = both(tuned, X, y)
    assert len(calls) - alone <= 9 + 3 + 8  # training sets of both levels, and cells that are checked
    np.testing.assert_allclose(on.folds["log"], off.folds["log"], rtol=1e-9)
    assert list(on.choices[f"param_{name}"]) == list(off.choices[f"param_{name}"])


def test_more_columns_than_there_are_warn_as_scikit_learn_does():
    X, y = labelled(n=90)
    tuned = ho.Tuned(
        make_pipeline(SelectKBest(f_classif), LogisticRegression()), {"selectkbest__k": [2, 3, 9]}, loss="log"
    )
    result = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1, progress=False)
    assert any("k=9 is greater than" in one.message for one in result.findings)
