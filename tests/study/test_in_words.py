"""What people call learners and procedures: catalogue names, Pipelines, searches, classes that nobody knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import heldout as ho
from heldout.api.learners import as_search
from heldout.catalogue.entries import CATALOGUE
from heldout.study.in_words import estimator_words, family_words, learner_words, procedure_words


class MyFancyRegressor(RegressorMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> MyFancyRegressor:
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


RIDGE = make_pipeline(StandardScaler(), Ridge())


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (Ridge(), "ridge"),
        (RidgeClassifier(), "ridge"),
        (LinearRegression(), "linear regression"),
        (LogisticRegression(), "logistic regression"),
        (HistGradientBoostingClassifier(), "gradient boosting"),
        (RandomForestRegressor(), "random forest"),
        (KNeighborsClassifier(), "nearest neighbours"),
        (SVC(), "support vector machine"),
        (LinearSVC(), "LinearSVC"),
        (DummyRegressor(), "dummy learner"),
        (MyFancyRegressor(), "MyFancyRegressor"),
        (RIDGE, "ridge on scaled columns"),
        (make_pipeline(StandardScaler(), PCA(2), Ridge()), "ridge on principal components"),
        (make_pipeline(SelectKBest(), MyFancyRegressor()), "MyFancyRegressor on selected columns"),
        (make_pipeline(SimpleImputer(), Ridge()), "ridge on prepared columns"),
        (make_pipeline("passthrough", Ridge()), "ridge"),
        (TransformedTargetRegressor(Lasso()), "lasso"),
        (TransformedTargetRegressor(), "TransformedTargetRegressor"),
        (FrozenEstimator(Ridge()), "ridge"),
        (BaggingRegressor(Ridge()), "bagged ridge"),
        (CalibratedClassifierCV(SVC()), "calibrated support vector machine"),
        (GridSearchCV(RIDGE, {"ridge__alpha": [1, 2]}), "tuned ridge on scaled columns"),
    ],
)
def test_an_estimator_is_called_what_people_call_it(estimator: Any, words: str):
    assert estimator_words(estimator) == words


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (Ridge(), "ridge"),
        (ho.Tuned(Ridge(), {"alpha": [1, 2]}), "tuned ridge"),
        (ho.Tuned(Ridge(), {"alpha": [1]}), "ridge"),
        (ho.Tuned(RIDGE, {"ridge__alpha": [1, 2]}), "tuned ridge on scaled columns"),
        (ho.Tuned({"logistic": (LogisticRegression(), {"C": [1, 2]})}), "tuned logistic regression"),
        (ho.Tuned({"mine": (Ridge(), {"alpha": [1, 2]})}), "tuned mine"),
        (
            ho.Tuned({"ridge": (Ridge(), {"alpha": [1, 2]}), "boosting": (MyFancyRegressor(), {})}),
            "choice between ridge and gradient boosting",
        ),
        (ho.Tuned({name: (Ridge(), {}) for name in "abc"}), "choice among a, b and c"),
        (ho.Tuned({name: (Ridge(), {}) for name in "abcdef"}), "choice among 6 learners"),
        (GridSearchCV(RIDGE, {"ridge__alpha": [1, 2]}), "tuned ridge on scaled columns"),
    ],
)
def test_a_learner_is_said_in_words_and_never_by_a_repr(learner: Any, words: str):
    assert learner_words(as_search(learner, seed=0)) == words


def test_every_learner_of_the_catalogue_has_words():
    assert [name for name in CATALOGUE if family_words(name) == name] == ["ridge", "lasso"]
    made = [(entry.name, make) for entry in CATALOGUE.values() for make in (entry.classifier, entry.regressor)]
    own = [(name, make) for name, make in made if make is not None and CATALOGUE[name].package is None]
    assert [name for name, make in own if estimator_words(make()) != family_words(name)] == []


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (ho.KFold(5), "5-fold cross-validation"),
        (ho.KFold(5, repeats=3), "5-fold cross-validation, repeated 3 times"),
        (ho.LeaveOneOut(), "leave-one-out"),
        (ho.Holdout(0.2), "one test set of 20 %"),
        (ho.Resample(10, 0.2), "10 random splits of 20 %"),
        (ho.Given(range(12)), "one given test set of 12 rows"),
        (ho.Given(folds=np.arange(60) % 3), "3 given folds"),
        (ShuffleSplit(4, test_size=0.5), "4 splits by ShuffleSplit"),
        ([(range(30), range(30, 60)), (range(30, 60), range(30))], "2 given folds"),
    ],
)
def test_a_procedure_is_said_as_a_textbook_does(asked: Any, test: Any, words: str):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)
    assert procedure_words(asked(Ridge(), X, y, test=test).study) == words
    tuned = procedure_words(asked(ho.Tuned(Ridge(), {"alpha": [1, 2]}, validation=3), X, y, test=test).study)
    nested = isinstance(test, ho.KFold | ho.LeaveOneOut | ho.Resample)
    assert tuned == ("nested " if nested else "") + words


def test_a_procedure_in_time_and_by_groups(asked: Any):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)
    time, groups = np.arange(60), np.arange(60) % 6
    assert procedure_words(asked(Ridge(), X, y, test=ho.Forward(5), time=time).study) == "tests on 5 later blocks"
    assert procedure_words(asked(Ridge(), X, y, test=ho.KFold(4), time=time).study) == (
        "4-fold cross-validation in blocks of time"
    )
    assert procedure_words(asked(Ridge(), X, y, test=ho.LeaveOneOut(), groups=groups).study) == "leave-one-group-out"
