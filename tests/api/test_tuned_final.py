"""The final predictor of a `Tuned`: retrained, an average of the fold predictors, or the one the dev rows judged."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import heldout as ho

pytestmark = pytest.mark.usefixtures("identical_rules")


def numbers() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:120] * np.arange(1, 11) + np.arange(10), y[:120]


def flowers() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


def binary() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:140, :6], y[:140]


def members(tuned: Any, X: Any, y: Any) -> list[Any]:
    """The chosen candidate fitted on each training part by hand."""
    with threadpool_limits(1):
        return [
            clone(tuned.estimator).set_params(**tuned.best_params_).fit(X[rows], y[rows])
            for rows in (tuned.splits_.train_rows(part) for part in range(len(tuned.splits_)))
        ]


def test_an_ensemble_of_regressors_is_the_mean_of_the_fold_predictors() -> None:
    X, y = numbers()
    tuned = ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [3, 9]}, validation=3, final="ensemble", jobs=1).fit(X, y)
    by_hand = np.mean([member.predict(X) for member in members(tuned, X, y)], axis=0)
    assert (tuned.predict(X) == by_hand).all()
    assert tuned.n_features_in_ == 10


@pytest.mark.parametrize("data", [flowers, binary])
def test_an_ensemble_of_classifiers_averages_probabilities(data: Any) -> None:
    X, y = data()
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [3, 9]}, validation=3, final="ensemble", jobs=1).fit(X, y)
    by_hand = np.mean([member.predict_proba(X) for member in members(tuned, X, y)], axis=0)
    assert (tuned.predict_proba(X) == by_hand).all()
    assert (tuned.predict(X) == by_hand.argmax(axis=1)).all()


@pytest.mark.parametrize("data", [flowers, binary])
def test_an_ensemble_without_probabilities_averages_decisions(data: Any) -> None:
    X, y = data()
    tuned = ho.Tuned(RidgeClassifier(), {"alpha": [0.1, 10.0]}, validation=3, final="ensemble", jobs=1).fit(X, y)
    by_hand = np.mean([member.decision_function(X) for member in members(tuned, X, y)], axis=0)
    assert not hasattr(tuned, "predict_proba")
    assert tuned.decision_function(X) == pytest.approx(by_hand, rel=1e-13, abs=1e-13)
    places = (by_hand > 0).astype(int) if by_hand.ndim == 1 else by_hand.argmax(axis=1)
    assert (tuned.predict(X) == places).all()


class Rule(ClassifierMixin, BaseEstimator):
    """A classifier that has predict and nothing else: the class of the nearest class mean in one column."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> Rule:
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == c, self.column].mean() for c in self.classes_])
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.abs(X[:, [self.column]] - self.means_).argmin(axis=1)]


def test_an_ensemble_of_bare_rules_votes() -> None:
    X, y = flowers()
    names = np.array(["c", "a", "b"], dtype=object)[y]
    tuned = ho.Tuned(Rule(), {"column": [0, 1]}, validation=ho.Resample(4, 0.9), final="ensemble", jobs=1).fit(X, names)
    votes = np.stack([member.predict(X) for member in members(tuned, X, names)])
    expected = [max(["a", "b", "c"], key=lambda c, v=column: (v == c).sum()) for column in votes.T]
    assert tuned.predict(X).tolist() == expected
    assert len({tuple(row) for row in votes}) > 1  # they disagree somewhere, else this test shows nothing


def test_a_class_that_a_member_never_saw_has_probability_zero() -> None:
    X, y = flowers()
    keep = np.r_[0:50, 50:100, 100:103]  # three rows of the last class
    X, y = X[keep], y[keep]
    parts = [(np.r_[0:100], np.r_[100:103]), (np.r_[0:50, 100:103], np.r_[50:100])]
    tuned = ho.Tuned(KNeighborsClassifier(1), validation=parts, final="ensemble", jobs=1).fit(X, y)
    assert tuned.classes_.tolist() == [0, 1, 2]
    proba = tuned.predict_proba(X)
    assert proba.shape == (103, 3)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert proba[:50, 0].tolist() == [1.0] * 50
    assert proba[100:, 2].max() <= 0.5


SCALERS = {
    "none": [],
    "standard": [StandardScaler()],
    "no mean": [StandardScaler(with_mean=False)],
    "no scale": [StandardScaler(with_std=False)],
    "min-max": [MinMaxScaler((-1, 2))],
    "max-abs": [MaxAbsScaler()],
    "robust": [RobustScaler()],
    "two": [MinMaxScaler(), StandardScaler()],
    "passthrough": ["passthrough", StandardScaler()],
}


@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("last", [Ridge(), Lasso(alpha=0.5), LinearRegression()], ids=["ridge", "lasso", "ols"])
def test_linear_regressors_collapse_into_one(scaler: str, last: Any) -> None:
    X, y = numbers()
    tuned = ho.Tuned(make_pipeline(*SCALERS[scaler], last), validation=4, final="ensemble", jobs=1).fit(X, y)
    collapsed = tuned.best_estimator_.collapse()
    average = tuned.predict(X)
    assert np.abs(collapsed.predict(X) - average).max() <= 1e-12 * np.abs(average).max()
    assert collapsed.coef_.shape == (10,)


def test_several_outputs_collapse_too() -> None:
    X, y = numbers()
    two = np.column_stack([y, np.sqrt(y)])
    tuned = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), validation=4, final="ensemble", jobs=1).fit(X, two)
    assert tuned.predict(X).shape == (120, 2)
    assert tuned.best_estimator_.collapse().predict(X) == pytest.approx(tuned.predict(X), rel=1e-12)


@pytest.mark.parametrize("data", [flowers, binary])
@pytest.mark.parametrize("last", [RidgeClassifier(), LinearSVC(random_state=0, tol=1e-3)], ids=["ridge", "svc"])
def test_averaged_decision_functions_collapse(data: Any, last: Any) -> None:
    X, y = data()
    tuned = ho.Tuned(make_pipeline(StandardScaler(), last), validation=3, final="ensemble", jobs=1).fit(X, y)
    collapsed = tuned.best_estimator_.collapse()
    assert collapsed.decision_function(X) == pytest.approx(tuned.decision_function(X), rel=1e-11, abs=1e-11)
    assert (collapsed.predict(X) == tuned.predict(X)).all()
    assert (collapsed.classes_ == tuned.classes_).all()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KNeighborsRegressor(), "KNeighborsRegressor is not a linear predictor"),
        (
            make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()),
            "StandardScaler cannot be folded into linear",
        ),
        (make_pipeline(MinMaxScaler(clip=True), Ridge()), "MinMaxScaler cannot be folded"),
    ],
    ids=["knn", "polynomial", "clip"],
)
def test_what_is_not_linear_does_not_collapse(estimator: Any, message: str) -> None:
    X, y = numbers()
    tuned = ho.Tuned(estimator, validation=3, final="ensemble", jobs=1).fit(X, y)
    with pytest.raises(ho.HeldoutError, match=message):
        tuned.best_estimator_.collapse()


def test_probabilities_and_votes_never_collapse() -> None:
    X, y = flowers()
    for estimator in (LogisticRegression(max_iter=500), Rule()):
        tuned = ho.Tuned(estimator, validation=3, final="ensemble", jobs=1).fit(X, y)
        with pytest.raises(ho.HeldoutError, match="Averaged probabilities and votes are not linear"):
            tuned.best_estimator_.collapse()


def test_column_names_go_through_an_ensemble_and_its_collapse() -> None:
    X, y = numbers()
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(10)])
    tuned = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), validation=3, final="ensemble", jobs=1).fit(frame, y)
    assert tuned.feature_names_in_.tolist() == list(frame.columns)
    average = tuned.predict(frame)  # and no warning about names
    collapsed = tuned.best_estimator_.collapse()
    assert collapsed.predict(frame) == pytest.approx(average, rel=1e-12)


def test_an_ensemble_is_refused_a_new_fit_and_can_be_pickled() -> None:
    X, y = numbers()
    tuned = ho.Tuned(Ridge(), validation=3, final="ensemble", jobs=1).fit(X, y)
    with pytest.raises(ho.HeldoutError, match="averages predictors that a study fitted; it cannot be fitted anew"):
        tuned.best_estimator_.fit(X, y)
    for one in (tuned.best_estimator_, tuned.best_estimator_.collapse()):
        assert (pickle.loads(pickle.dumps(one)).predict(X) == one.predict(X)).all()


def test_the_risk_of_an_ensemble_is_that_of_the_average() -> None:
    """evaluate tests the averages, and says what the learner was given and what each member was trained on."""
    X, y = numbers()
    learner = ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [3, 9]}, validation=4, final="ensemble")
    result = ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=1)
    assert (result.risk.train_size, result.risk.fit_size) == (80, 60)
    assert "averages fold predictors" in str(result.covers)
    assert len(result.predictor.members) == 4


def test_keep_is_the_predictor_that_the_dev_rows_judged() -> None:
    X, y = numbers()
    tuned = ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [3, 9]}, validation=ho.Holdout(0.25), final="keep", jobs=1)
    tuned.fit(X, y)
    (kept,) = members(tuned, X, y)
    assert (tuned.predict(X) == kept.predict(X)).all()
    dev = tuned.splits_.held_rows(0)
    assert -tuned.best_score_ == np.mean((y[dev] - tuned.predict(X[dev])) ** 2)
    again = clone(tuned).set_params(final="retrain").fit(X, y)
    assert (again.predict(X) != tuned.predict(X)).any()


def test_keep_under_a_test_set() -> None:
    X, y = numbers()
    learner = ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [3, 9]}, validation=ho.Holdout(rows=24), final="keep")
    result = ho.evaluate(learner, X, y, test=ho.Holdout(rows=24), jobs=1)
    assert (result.risk.train_size, result.risk.fit_size) == (96, 72)
    assert "trained without the development rows" in str(result.covers)
    recorded = result.predictions
    assert (result.predictor.predict(X[recorded["row"]]) == recorded["predict"]).all()
    assert not {finding.code for finding in result.findings} - {"H302", "H704"}  # 24 losses lean, and are few


@pytest.mark.parametrize("validation", [ho.KFold(3), ho.Resample(2)], ids=str)
def test_keep_needs_one_development_set(validation: Any) -> None:
    X, y = numbers()
    learner = ho.Tuned(Ridge(), {"alpha": [1.0]}, validation=validation, final="keep")
    with pytest.raises(ho.HeldoutError, match=r'final="keep" keeps the predictor trained without .* has \d parts'):
        learner.fit(X, y)
    with pytest.raises(ho.HeldoutError, match=r'final="keep"'):
        ho.evaluate(learner, X, y, test=ho.KFold(3))
