"""Predictors that answer with plain lists are taken as those that answer with arrays, as scikit-learn's scorers do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.metaestimators import available_if

import heldout as ho

REGRESSION = tuple(part[:90] for part in load_diabetes(return_X_y=True))
FLOWERS = load_iris(return_X_y=True)
TUMOURS = load_breast_cancer(return_X_y=True)


class _Listing(BaseEstimator):
    """Answers as another estimator does, with lists."""

    def __init__(self, learner: Any = None) -> None:
        self.learner = learner

    def fit(self, X: Any, y: Any) -> Any:
        self.fitted_ = clone(self.learner).fit(X, y)
        return self

    def predict(self, X: Any) -> list[Any]:
        return self.fitted_.predict(X).tolist()


class ListingRegressor(RegressorMixin, _Listing):
    pass


class ListingClassifier(ClassifierMixin, _Listing):
    @property
    def classes_(self) -> Any:
        return self.fitted_.classes_

    @available_if(lambda self: hasattr(self.learner, "predict_proba"))
    def predict_proba(self, X: Any) -> list[Any]:
        return self.fitted_.predict_proba(X).tolist()

    @available_if(lambda self: hasattr(self.learner, "decision_function"))
    def decision_function(self, X: Any) -> list[Any]:
        return self.fitted_.decision_function(X).tolist()


def listing(learner: Any) -> Any:
    return ListingClassifier(learner) if is_classifier(learner) else ListingRegressor(learner)


FITTED = {"ridge": False, "bayes": False}  # kernels would round the arrays' numbers in another way

CASES = {
    "numbers": (DecisionTreeRegressor(random_state=0), REGRESSION, ["squared", "neg_mean_absolute_error"]),
    "several outputs": (Ridge(), (REGRESSION[0], np.column_stack([REGRESSION[1]] * 2)), "squared"),
    "labels": (RidgeClassifier(), (FLOWERS[0], np.array(["a", "b", "c"])[FLOWERS[1]]), ["zero_one", "f1_macro"]),
    "probabilities": (GaussianNB(), FLOWERS, ["log", "zero_one", "roc_auc_ovr"]),
    "decisions": (RidgeClassifier(), TUMOURS, "roc_auc"),
}


@pytest.mark.parametrize("case", CASES)
def test_lists_are_taken_as_arrays(case: str) -> None:
    learner, (X, y), loss = CASES[case]
    asked: dict[str, Any] = {"test": ho.KFold(3), "loss": loss, "jobs": 1, "options": ho.Options(rules=FITTED)}
    arrays = ho.evaluate(learner, X, y, **asked)
    lists = ho.evaluate(listing(learner), X, y, **asked)
    assert lists.risk.value == arrays.risk.value
    for name in arrays.estimates:
        assert lists.estimates[name].value == arrays.estimates[name].value
    assert lists.predictions.equals(arrays.predictions)


@pytest.mark.parametrize("case", ["numbers", "labels", "probabilities"])
def test_an_ensemble_of_predictors_that_answer_with_lists(case: str) -> None:
    learner, (X, y), loss = CASES[case]
    own = listing(learner)
    lists, arrays = (
        ho.Tuned(one, {}, validation=ho.KFold(3), loss=loss, final="ensemble", jobs=1).fit(X, y)
        for one in (own, learner)
    )
    np.testing.assert_array_equal(lists.predict(X), arrays.predict(X))
    assert lists.score(X, y) == arrays.score(X, y)


def test_an_array_for_each_of_several_outputs_is_still_understood() -> None:
    X, y = FLOWERS
    forest = RandomForestClassifier(5, random_state=0)
    both = np.column_stack([y, y[::-1]])
    answer = forest.fit(X, both).predict_proba(X)
    assert isinstance(answer, list)

    from heldout.kernels.scoring import checked_response

    array = checked_response(answer, "predict_proba", len(X))
    np.testing.assert_array_equal(array[:, 1], answer[1])
    with pytest.raises(ho.HeldoutError, match="predict_proba answered outputs of different lengths"):
        checked_response([answer[0], answer[1][:, :2]], "predict_proba", len(X))
