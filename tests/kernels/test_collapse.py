"""One linear predictor that equals an average of them, scalers of the folds folded in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Perceptron, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC, LinearSVR

from heldout.base.errors import LearnerError
from heldout.kernels.ensemble import average

X, y = load_diabetes(return_X_y=True)
X = X * np.linspace(1, 50, 10) + np.linspace(-20, 30, 10)  # far from centred, of many scales
FLOWERS, KINDS = load_iris(return_X_y=True)


def averaged(learner, X=X, y=y):
    parts = [np.arange(len(y)) % 4 == part for part in range(4)]
    return average([clone(learner).fit(X[~rows], y[~rows]) for rows in parts])


SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    StandardScaler(with_mean=False, with_std=False),
    RobustScaler(),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
    RobustScaler(unit_variance=True),
    MinMaxScaler(),
    MinMaxScaler(feature_range=(-3, 7)),
    MaxAbsScaler(),
]


@pytest.mark.parametrize("scaler", SCALERS, ids=repr)
@pytest.mark.parametrize("outputs", [1, 2])
def test_scalers_are_folded_in(scaler, outputs):
    targets = y if outputs == 1 else np.c_[y, X[:, 0] ** 2]
    ensemble = averaged(make_pipeline(scaler, Ridge()), X, targets)
    ours = ensemble.collapse().predict(X)
    np.testing.assert_allclose(ours, ensemble.predict(X), rtol=1e-9, atol=1e-9 * np.abs(targets).max())


def test_several_scalers_and_steps_that_do_nothing():
    ensemble = averaged(make_pipeline(MinMaxScaler(), "passthrough", StandardScaler(), None, LinearRegression()))
    np.testing.assert_allclose(ensemble.collapse().predict(X), ensemble.predict(X), rtol=1e-9)


@pytest.mark.parametrize("learner", [Ridge(fit_intercept=False), Lasso(), LinearSVR(max_iter=10_000)], ids=repr)
def test_linear_regressors(learner):
    ensemble = averaged(make_pipeline(StandardScaler(), learner))
    np.testing.assert_allclose(ensemble.collapse().predict(X), ensemble.predict(X), rtol=1e-9)


@pytest.mark.parametrize("learner", [RidgeClassifier(), LinearSVC(), Perceptron()], ids=repr)
@pytest.mark.parametrize("classes", [3, 2])
def test_linear_classifiers(learner, classes):
    names = np.array(["a", "b", "c"])[KINDS % classes]
    ensemble = averaged(make_pipeline(StandardScaler(), learner), FLOWERS, names)
    one = ensemble.collapse()
    np.testing.assert_allclose(one.decision_function(FLOWERS), ensemble.decision_function(FLOWERS), atol=1e-9)
    np.testing.assert_array_equal(one.predict(FLOWERS), ensemble.predict(FLOWERS))


@pytest.mark.parametrize(
    "learner",
    [
        KNeighborsRegressor(),
        make_pipeline(PCA(2), Ridge()),
        make_pipeline(MinMaxScaler(clip=True), Ridge()),
        make_pipeline(Ridge(), memory=None).set_params(ridge=KNeighborsRegressor()),
    ],
    ids=repr,
)
def test_what_is_not_linear_is_refused(learner):
    with pytest.raises(LearnerError, match=r"not a linear predictor|cannot be folded"):
        averaged(learner).collapse()


def test_averaged_probabilities_never_collapse():
    with pytest.raises(LearnerError, match="not linear"):
        averaged(GaussianNB(), FLOWERS, KINDS).collapse()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", [LogisticRegression(C=0.3), LogisticRegression(fit_intercept=False)], ids=repr)
def test_logistic_regressions_average_their_parameters_on_request(learner, classes):
    names = np.array(["a", "b", "c"])[KINDS % classes]
    ensemble = averaged(make_pipeline(StandardScaler(), learner), FLOWERS, names)
    with pytest.raises(LearnerError, match=r"collapse\(parameters=True\) averages the parameters"):
        ensemble.collapse()
    one = ensemble.collapse(parameters=True)
    np.testing.assert_allclose(one.decision_function(FLOWERS), ensemble.decision_function(FLOWERS), atol=1e-9)
    plain = LogisticRegression()
    plain.coef_, plain.intercept_, plain.classes_ = one.coef_, one.intercept_, one.classes_
    np.testing.assert_allclose(one.predict_proba(FLOWERS), plain.predict_proba(FLOWERS), atol=1e-12)
    np.testing.assert_array_equal(one.predict(FLOWERS), plain.predict(FLOWERS))
    assert np.abs(one.predict_proba(FLOWERS) - ensemble.predict_proba(FLOWERS)).max() > 1e-6  # another predictor


def test_only_logistic_regressions_that_know_the_same_classes_average_their_parameters():
    with pytest.raises(LearnerError, match="GaussianNB is not a linear predictor"):
        averaged(GaussianNB(), FLOWERS, KINDS).collapse(parameters=True)
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    two, three = clone(learner).fit(FLOWERS[:100], KINDS[:100]), clone(learner).fit(FLOWERS, KINDS)
    with pytest.raises(LearnerError, match="different classes"):
        average([two, three]).collapse(parameters=True)


def test_fixed_feature_maps_stay_in_front():
    ensemble = averaged(make_pipeline(PolynomialFeatures(2), StandardScaler(), Ridge()))
    one = ensemble.collapse()
    np.testing.assert_allclose(one.predict(X), ensemble.predict(X), rtol=1e-9)
    assert one[-1].coef_.shape == (66,)
    names = np.array(["a", "b", "c"])[KINDS]
    deciders = averaged(
        make_pipeline(FunctionTransformer(np.log1p), PolynomialFeatures(2), LinearSVC()), FLOWERS, names
    )
    same = deciders.collapse()
    np.testing.assert_allclose(same.decision_function(FLOWERS), deciders.decision_function(FLOWERS), atol=1e-9)
    logistic = averaged(make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression()), FLOWERS, names)
    parameters = logistic.collapse(parameters=True)
    np.testing.assert_allclose(parameters.decision_function(FLOWERS), logistic.decision_function(FLOWERS), atol=1e-9)


def test_feature_names_go_through_a_feature_map():
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(10)])
    for form in ("default", "pandas"):
        learner = make_pipeline(PolynomialFeatures(2), StandardScaler(), Ridge()).set_output(transform=form)
        ensemble = averaged(learner, frame, y)
        np.testing.assert_allclose(ensemble.collapse().predict(frame), ensemble.predict(frame), rtol=1e-9)


def test_a_feature_map_that_learned_from_its_fold_does_not_stay():
    with pytest.raises(
        LearnerError, match="StandardScaler cannot be folded into linear coefficients and is not the same"
    ):
        averaged(make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge())).collapse()


def test_a_subclass_may_predict_in_its_own_way():
    class Clipped(Ridge):
        def predict(self, X):
            return np.clip(super().predict(X), 0, 200)

    with pytest.raises(LearnerError, match="Clipped is not a linear predictor"):
        averaged(Clipped()).collapse()


def test_feature_names_are_kept():
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(10)])
    ensemble = averaged(make_pipeline(StandardScaler(), Ridge()), frame, y)
    one = ensemble.collapse()
    np.testing.assert_allclose(one.predict(frame), ensemble.predict(frame), rtol=1e-9)
    assert one.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        one.predict(frame.rename(columns={"c0": "other"}))
