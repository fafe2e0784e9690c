"""Prefixes of scikit-learn's boosters against separate fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import path_checks as checks
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.kernels.paths.ensembles import ADABOOST, GRADIENT_BOOSTING, HIST_BOOSTING

SIZES = [9, 1, 12, 3]


@pytest.mark.parametrize(
    ("estimator", "make"),
    [
        (GradientBoostingRegressor(random_state=0), checks.regression),
        (GradientBoostingRegressor(random_state=1, subsample=0.6, max_features=2), checks.weighted_regression),
        (GradientBoostingRegressor(random_state=2, loss="quantile", alpha=0.8), checks.tied_regression),
        (GradientBoostingRegressor(random_state=3, loss="huber", init="zero"), checks.regression),
        (GradientBoostingRegressor(random_state=4, init=LinearRegression()), checks.regression),
        (GradientBoostingClassifier(random_state=5), checks.binary),
        (GradientBoostingClassifier(random_state=6, subsample=0.5), checks.weighted_multiclass),
        (GradientBoostingClassifier(random_state=7, loss="exponential", max_features="sqrt"), checks.ties),
        (GradientBoostingClassifier(random_state=8), checks.frame),
        (GradientBoostingClassifier(random_state=9), checks.sparse_rows),
        (GradientBoostingClassifier(random_state=10), checks.one_held_row),
        (GradientBoostingClassifier(random_state=11), checks.few_rows),
        (GradientBoostingClassifier(random_state=12, init=DummyClassifier(strategy="prior")), checks.multiclass),
    ],
)
def test_the_first_stages_are_the_shorter_fit(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(GRADIENT_BOOSTING, estimator, SIZES, make())


@pytest.mark.parametrize("make", [checks.binary, checks.multiclass])
def test_stages_after_an_early_stop(make: checks.Make) -> None:
    estimator = GradientBoostingClassifier(random_state=0, learning_rate=0.8, n_iter_no_change=3, subsample=0.8)
    alone = checks.assert_path_equals_fits(GRADIENT_BOOSTING, estimator, [60, 40, 5, 2], make())
    assert alone[0].n_estimators_ < 40  # it did stop


@pytest.mark.parametrize(
    ("estimator", "make"),
    [
        (HistGradientBoostingRegressor(random_state=0), checks.regression),
        (HistGradientBoostingRegressor(random_state=1, max_features=0.4, loss="poisson"), checks.counts),
        (HistGradientBoostingRegressor(random_state=2, loss="absolute_error"), checks.weighted_regression),
        (HistGradientBoostingClassifier(random_state=3), checks.binary),
        (HistGradientBoostingClassifier(random_state=4, class_weight="balanced"), checks.weighted_multiclass),
        (HistGradientBoostingClassifier(random_state=5, min_samples_leaf=3), checks.ties),
        (HistGradientBoostingClassifier(random_state=6), checks.missing),
        (HistGradientBoostingClassifier(random_state=7), checks.frame),
        (HistGradientBoostingClassifier(random_state=8), checks.one_held_row),
        (HistGradientBoostingClassifier(random_state=9, min_samples_leaf=2), checks.few_rows),
        (HistGradientBoostingClassifier(random_state=10, max_bins=8, l2_regularization=1.0), checks.multiclass),
    ],
)
def test_the_first_iterations_are_the_shorter_fit(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(HIST_BOOSTING, estimator, SIZES, make())


@pytest.mark.parametrize("scoring", ["loss", "accuracy"])
@pytest.mark.parametrize("fraction", [0.2, None])
def test_iterations_after_an_early_stop(scoring: str, fraction: float | None) -> None:
    estimator = HistGradientBoostingClassifier(
        random_state=0,
        early_stopping=True,
        validation_fraction=fraction,
        scoring=scoring,
        n_iter_no_change=2,
        tol=1e-2,
        learning_rate=0.5,
    )
    alone = checks.assert_path_equals_fits(HIST_BOOSTING, estimator, [80, 50, 3, 1], checks.binary(n=300))
    assert alone[0].n_iter_ < 50  # it did stop


def test_categorical_columns() -> None:
    plain = checks.binary()
    rng = np.random.default_rng(0)
    frames = [
        pd.DataFrame({"kind": pd.Categorical(rng.choice(list("abc"), len(X)), categories=list("abc")), "x": X[:, 0]})
        for X in (plain.X, plain.held)
    ]
    problem = checks.Problem(X=frames[0], y=plain.y, held=frames[1])
    checks.assert_path_equals_fits(HIST_BOOSTING, HistGradientBoostingClassifier(random_state=0), SIZES, problem)


@pytest.mark.parametrize(
    ("estimator", "make"),
    [
        (AdaBoostRegressor(random_state=0), checks.regression),
        (AdaBoostRegressor(random_state=1, loss="exponential", learning_rate=0.4), checks.weighted_regression),
        (AdaBoostRegressor(DecisionTreeRegressor(max_features=1, max_depth=2), random_state=2), checks.tied_regression),
        (AdaBoostRegressor(LinearRegression(), random_state=3, loss="square"), checks.frame),
        (AdaBoostClassifier(random_state=4), checks.binary),
        (AdaBoostClassifier(random_state=5), checks.multiclass),
        (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), random_state=6), checks.weighted_multiclass),
        (AdaBoostClassifier(random_state=7, learning_rate=0.3), checks.ties),
        (AdaBoostClassifier(LogisticRegression(), random_state=8), checks.multiclass),
        (AdaBoostClassifier(random_state=9), checks.few_rows),
        (AdaBoostClassifier(random_state=10), checks.frame),
        (AdaBoostClassifier(random_state=11), checks.sparse_rows),
        (AdaBoostClassifier(random_state=12), checks.one_held_row),
        (AdaBoostClassifier(DecisionTreeClassifier(), random_state=13), checks.binary),  # perfect at once
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # scikit-learn's, of rows without weight
def test_the_first_members_are_the_shorter_fit(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(ADABOOST, estimator, SIZES, make())


def test_one_class() -> None:
    plain = checks.binary()
    problem = checks.Problem(X=plain.X, y=np.zeros(len(plain.y), dtype=int), held=plain.held)
    checks.assert_path_equals_fits(ADABOOST, AdaBoostClassifier(random_state=0), [3, 1], problem)


def test_refusals_have_reasons() -> None:
    assert "warm_start" in checks.refusal_of(GRADIENT_BOOSTING, GradientBoostingClassifier(warm_start=True), [1, 2])
    assert "warm_start" in checks.refusal_of(HIST_BOOSTING, HistGradientBoostingRegressor(warm_start=True), [1, 2])
    assert "no count" in checks.refusal_of(ADABOOST, AdaBoostClassifier(), [1, 2.5])
