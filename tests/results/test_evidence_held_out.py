"""What is known of held-out rows and of the learner without asking anything more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from asked_predictors import answers_of, held_out, labels, numbers
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho
from heldout.results.evidence import class_weights_of, is_least_squares


class TestHeldOut:
    @pytest.mark.usefixtures("costs_nothing")
    @pytest.mark.parametrize("n", [90, 1_200])
    @pytest.mark.parametrize("learner", [LogisticRegression(), GaussianNB()], ids=repr)
    def test_classifiers_of_two_classes_have_probabilities(self, learner: Any, n: int) -> None:
        X, y = labels(n)
        result = ho.evaluate(learner, X, y, test=ho.KFold(3))
        found = held_out(result)
        assert len(found) == 3
        for part, one in enumerate(found):
            rows = result.predictions.loc[result.predictions["fold"] == part, "row"].to_numpy()
            train = np.setdiff1d(np.arange(n), rows)
            assert one is not None
            expected = clone(learner).fit(X[train], y[train])
            np.testing.assert_array_equal(one.predict, expected.predict(X[rows]))
            np.testing.assert_allclose(one.predict_proba, expected.predict_proba(X[rows]), atol=1e-9)
            shown = result.predictions.loc[result.predictions["fold"] == part, ["proba_0", "proba_1"]].to_numpy()
            np.testing.assert_array_equal(shown, one.predict_proba)

    @pytest.mark.usefixtures("costs_nothing")
    def test_what_has_none_is_asked_for_labels(self) -> None:
        result = ho.evaluate(RidgeClassifier(), *labels(90), test=ho.KFold(3))
        found = held_out(result)
        assert all(one is not None and one.predict_proba is None for one in found)

    @pytest.mark.usefixtures("costs_nothing")
    def test_three_classes_are_asked_for_labels(self) -> None:
        X, y = numbers(90)
        result = ho.evaluate(GaussianNB(), X, np.digitize(y, [-1, 1]), test=ho.KFold(3))
        assert all(one.responses.predict_proba is None for one in answers_of(result))

    def test_a_loss_that_needs_probabilities_shows_them_as_before(self) -> None:
        result = ho.evaluate(LogisticRegression(), *labels(90), test=ho.KFold(3), loss=["zero_one", "log"])
        assert "proba_1" in result.predictions.columns

    @pytest.mark.usefixtures("costs_nothing")
    def test_a_part_that_failed_has_none(self) -> None:
        result = ho.evaluate(FailsOnce(), *labels(30), test=ho.KFold(3, shuffle=False, stratify=False))
        found = held_out(result)
        assert [one is None for one in found] == [True, False, False]


class FailsOnce(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> FailsOnce:
        if X[0, 0] == labels(30)[0][10, 0]:
            raise ValueError("the first part")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        (LinearRegression(), True),
        (make_pipeline(StandardScaler(), RidgeCV()), True),
        (ho.Tuned(make_pipeline(StandardScaler(), Lasso()), {"lasso__alpha": [1.0]}), True),
        (GridSearchCV(PLSRegression(), {"n_components": [1]}), True),
        (ho.Tuned({"a": (Ridge(), None), "b": (RandomForestRegressor(), None)}), False),
        (TransformedTargetRegressor(LinearRegression()), False),
        (HuberRegressor(), True),  # weighted squares
        (RidgeClassifier(), False),
    ],
    ids=lambda one: str(one)[:40],
)
def test_which_learners_are_least_squares(learner: Any, expected: bool) -> None:
    assert is_least_squares(learner) is expected


def test_weights_of_classes() -> None:
    y = np.array(["a", "a", "a", "b"])
    balanced = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    np.testing.assert_allclose(class_weights_of(balanced, y), [2 / 3, 2])
    np.testing.assert_allclose(class_weights_of(SVC(class_weight={"a": 3.0}), y), [3, 1])
    assert class_weights_of(LogisticRegression(), y) is None
    assert class_weights_of(GaussianNB(), y) is None
