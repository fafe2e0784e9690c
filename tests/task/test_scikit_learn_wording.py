"""A learner that lets the task check its data passes scikit-learn's checks, which look for certain words in errors."""

from __future__ import annotations

import warnings

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from heldout.task import declare


class Checked(BaseEstimator):
    """Declares a task, then fits an inner learner on all its rows."""

    def fit(self, X, y, sample_weight=None):
        classification = isinstance(self, ClassifierMixin)
        task = declare(X, y, classification=classification, sample_weight=sample_weight)
        self.inner_ = LogisticRegression() if classification else Ridge()
        self.inner_.fit(task.take(task.all_rows), task.y, sample_weight=task.weight)
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.inner_, name):
                setattr(self, name, getattr(self.inner_, name))
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.inner_.predict(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class CheckedClassifier(ClassifierMixin, Checked):
    pass


class CheckedRegressor(RegressorMixin, Checked):
    pass


@pytest.mark.parametrize("learner", [CheckedClassifier(), CheckedRegressor()])
def test_the_checks_of_scikit_learn_pass(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(learner, on_skip=None, on_fail=None)
    assert {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"} == {}
    assert len(results) > 50
