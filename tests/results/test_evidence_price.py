"""Predictors are asked for intervals only where their answers cost little, and the plan says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from asked_predictors import OFF, asked_of, labels, numbers
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho


class Stranger(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> Stranger:
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (KNeighborsClassifier(), "predictions of KNeighborsClassifier cost about as much as fits"),
        (make_pipeline(StandardScaler(), SVC()), "predictions of SVC cost about as much as fits"),
        (ho.Tuned(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression": [SVC()]}), "SVC"),
        (FixedThresholdClassifier(LogisticRegression(), threshold=0.2), "not the most probable ones"),
    ],
    ids=["neighbours", "machine", "machine as a value", "threshold"],
)
@pytest.mark.usefixtures("costs_nothing")
def test_dear_predictions_are_not_asked_for(learner: Any, reason: str) -> None:
    X, y = labels(60)
    result = ho.evaluate(learner, X, y, test=ho.KFold(3))
    assert not asked_of(result).parts
    assert not asked_of(result).tests_too
    assert reason in str(result.plan)


@pytest.mark.usefixtures("costs_nothing")
def test_learners_that_nobody_knows_are_not_asked() -> None:
    result = ho.evaluate(Stranger(), *numbers(40), test=ho.KFold(3))
    assert "nothing is known of what predictions of Stranger cost" in str(result.plan)
    assert not asked_of(result).parts


@pytest.mark.usefixtures("costs_nothing")
def test_where_fits_have_limits_predictors_are_asked_nothing_more() -> None:
    result = ho.evaluate(Ridge(), *numbers(40), test=ho.KFold(3), options=ho.Options(fit_timeout=100))
    assert not asked_of(result).parts


@pytest.mark.usefixtures("costs_nothing")
def test_a_single_test_set_has_none() -> None:
    result = ho.evaluate(Ridge(), *numbers(40), test=ho.Holdout(0.25))
    assert not asked_of(result).parts
    assert "interval:" not in str(result.plan)


def test_small_studies_of_dear_rows_are_asked_less() -> None:
    """A thousand rows of naive Bayes cost more than its sums; a search of forests can afford anything."""
    assert len(asked_of(ho.evaluate(GaussianNB(), *labels(1_000, 20), test=ho.KFold(10))).parts) < 10
    tuned = ho.Tuned(RandomForestClassifier(3, random_state=0), {"max_depth": [1, 2]}, validation=ho.KFold(3))
    assert len(asked_of(ho.evaluate(tuned, *labels(100), test=ho.KFold(3))).parts) == 3


def test_explain_says_it_in_one_line() -> None:
    X, y = numbers(500, 20)
    plan = ho.explain(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}), X, y, test=ho.KFold(5))
    lines = [line for line in str(plan).splitlines() if "interval" in line]
    assert lines == ["  - interval: the predictors of 5 test parts also answer 500 rows, at no further fits"]
    without = ho.explain(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}), X, y, test=ho.KFold(5), options=OFF)
    assert (plan.fits, plan.cells, plan.fits_before) == (without.fits, without.cells, without.fits_before)
