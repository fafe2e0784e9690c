"""Invariant 8: fitting a clone on an outer training part gives the choice and the predictions of that fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import heldout as ho

pytestmark = pytest.mark.usefixtures("identical_rules")


def outer_pairs(result: ho.Result) -> list[tuple[Any, Any]]:
    return list(result.splits)


def diabetes() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:110], y[:110]


def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:100, :6], y[:100]


def flowers() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X[::2], np.array(["setosa", "versicolor", "virginica"], dtype=object)[y[::2]]


RIDGE = make_pipeline(StandardScaler(), Ridge())
ALPHAS = {"ridge__alpha": [0.1, 10.0, 1000.0]}
CASES: dict[str, tuple[Any, Any]] = {
    "kfold": (ho.Tuned(RIDGE, ALPHAS, validation=ho.KFold(3)), diabetes),
    "holdout": (ho.Tuned(RIDGE, ALPHAS, validation=ho.Holdout(0.3)), diabetes),
    "resample": (ho.Tuned(RIDGE, ALPHAS, validation=ho.Resample(3), loss="absolute"), diabetes),
    "one_se": (ho.Tuned(RIDGE, ALPHAS, validation=ho.KFold(4), choose="one_se"), diabetes),
    "ensemble": (ho.Tuned(RIDGE, ALPHAS, validation=ho.KFold(3), final="ensemble"), diabetes),
    "keep": (
        ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 5]}, validation=ho.Holdout(0.3), final="keep"),
        diabetes,
    ),
    "drawn space": (ho.Tuned(Ridge(), ho.Sample(4, {"alpha": [0.1, 1.0, 5.0, 10.0, 50.0, 100.0]})), diabetes),
    "unset seeds": (ho.Tuned(RandomForestClassifier(3), {"max_depth": [1, 4]}, validation=2), cancer),
    "state": (
        ho.Tuned(RandomForestClassifier(3), {"max_depth": [1, 4]}, validation=2, random_state=np.random.RandomState(1)),
        cancer,
    ),
    "log loss": (ho.Tuned(LogisticRegression(max_iter=5000), {"C": [0.01, 1.0]}, validation=2, loss="log"), cancer),
    "auc": (ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, validation=2, loss="roc_auc"), cancer),
    "texts": (
        ho.Tuned({"knn": (KNeighborsClassifier(), {"n_neighbors": [1, 9]}), "lr": LogisticRegression()}, validation=2),
        flowers,
    ),
    "foreign": (ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, validation=3), flowers),
}
TESTS = {"ascending": ho.KFold(3), "in an order of their own": ShuffleSplit(3, test_size=0.3, random_state=0)}


@pytest.mark.parametrize("rows", TESTS)
@pytest.mark.parametrize("case", CASES)
def test_a_clone_fitted_on_an_outer_part_repeats_that_fold(case: str, rows: str, asked: Any) -> None:
    learner, data = CASES[case]
    X, y = data()
    result = ho.evaluate(learner, X, y, test=TESTS[rows], jobs=1)
    for fold, (train, held) in enumerate(outer_pairs(result)):
        again = clone(learner).set_params(jobs=1).fit(X[train], y[train])
        assert again.best_index_ == result.choices["candidate"][fold]
        inner = asked(learner, X, y, test=TESTS[rows]).study.splits[f"inner/{fold}"]
        assert (train[again.splits_.held] == inner.held).all()  # the same rows were held out inside
        shown = result.choices[f"validation_{result.risk.loss}"][fold]
        assert again.best_score_ == (shown if result.risk.greater_is_better else -shown)
        with threadpool_limits(1):
            predicted = again.predict(X[held])
        recorded = result.predictions[result.predictions["fold"] == fold]["predict"]
        assert predicted.tolist() == recorded.tolist()


@pytest.mark.parametrize("rows", TESTS)
@pytest.mark.parametrize("case", CASES)
def test_cross_val_score_gives_minus_the_fold_losses(case: str, rows: str) -> None:
    learner, data = CASES[case]
    X, y = data()
    result = ho.evaluate(learner, X, y, test=TESTS[rows], jobs=1)
    with threadpool_limits(1):
        scores = cross_val_score(clone(learner).set_params(jobs=1), X, y, cv=outer_pairs(result))
    shown = result.folds[result.risk.loss].to_numpy()
    assert scores.tolist() == (shown if result.risk.greater_is_better else -shown + 0.0).tolist()


def test_groups_reach_the_inner_level_of_both() -> None:
    X, y = diabetes()
    groups = np.array([f"g{i // 5}" for i in range(len(y))])
    learner = ho.Tuned(RIDGE, ALPHAS, validation=ho.KFold(3))
    result = ho.evaluate(learner, X, y, groups=groups, test=ho.KFold(3), jobs=1)
    for fold, (train, held) in enumerate(outer_pairs(result)):
        assert not set(groups[train]) & set(groups[held])
        again = clone(learner).set_params(jobs=1).fit(X[train], y[train], groups=groups[train])
        assert again.best_index_ == result.choices["candidate"][fold]
        inner = again.splits_
        for part in range(len(inner)):
            own = groups[train]
            assert not set(own[inner.train_rows(part)]) & set(own[inner.held_rows(part)])


def test_time_reaches_the_inner_level_of_both() -> None:
    X, y = diabetes()
    time = np.random.default_rng(0).permutation(len(y))
    learner = ho.Tuned(RIDGE, ALPHAS, validation=ho.Forward(3))
    result = ho.evaluate(learner, X, y, time=time, test=ho.Forward(3), jobs=1)
    for fold, (train, held) in enumerate(outer_pairs(result)):
        assert time[train].max() < time[held].min()
        again = clone(learner).set_params(jobs=1).fit(X[train], y[train], time=time[train])
        assert again.best_index_ == result.choices["candidate"][fold]
        for part in range(len(again.splits_)):
            own = time[train]
            assert own[again.splits_.train_rows(part)].max() < own[again.splits_.held_rows(part)].min()


def test_weights_reach_both() -> None:
    X, y = diabetes()
    weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, validation=ho.KFold(3))
    result = ho.evaluate(learner, X, y, sample_weight=weight, test=ho.KFold(3), jobs=1)
    for fold, (train, held) in enumerate(outer_pairs(result)):
        again = clone(learner).set_params(jobs=1).fit(X[train], y[train], sample_weight=weight[train])
        assert again.best_index_ == result.choices["candidate"][fold]
        with threadpool_limits(1):
            assert -again.score(X[held], y[held], sample_weight=weight[held]) == result.folds["squared"][fold]
