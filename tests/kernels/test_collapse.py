"""One linear predictor that equals an average of them, scalers of the folds folded in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import Lasso, LinearRegression, Perceptron, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
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
