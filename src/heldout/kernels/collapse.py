"""Averages of linear predictors are linear: fold scalers into coefficients, and average those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import linear_model, preprocessing, svm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from heldout.base.errors import LearnerError

# Only exact types: a subclass may predict in another way.
_LINEAR_REGRESSORS = (
    linear_model.LinearRegression,
    linear_model.Ridge,
    linear_model.RidgeCV,
    linear_model.Lasso,
    linear_model.LassoCV,
    linear_model.ElasticNet,
    linear_model.ElasticNetCV,
    linear_model.HuberRegressor,
    linear_model.BayesianRidge,
    svm.LinearSVR,
)
_LINEAR_CLASSIFIERS = (
    linear_model.RidgeClassifier,
    linear_model.RidgeClassifierCV,
    linear_model.Perceptron,
    svm.LinearSVC,
)


class LinearPredictor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted linear function of the features."""

    def __init__(self, coef: Any = None, intercept: Any = 0.0) -> None:
        self.coef = coef
        self.intercept = intercept

    coef_ = property(lambda self: self.coef)
    intercept_ = property(lambda self: self.intercept)
    n_features_in_ = property(lambda self: np.shape(self.coef)[-1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> LinearPredictor:
        """Nothing to do: the coefficients are given."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        X = validate_data(self, X, reset=False, accept_sparse=True)
        return np.asarray(X @ np.asarray(self.coef).T + self.intercept)


class LinearDecider(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted linear classifier."""

    def __init__(self, coef: Any = None, intercept: Any = 0.0, classes: Any = None) -> None:
        self.coef = coef
        self.intercept = intercept
        self.classes = classes

    coef_ = property(lambda self: self.coef)
    intercept_ = property(lambda self: self.intercept)
    classes_ = property(lambda self: self.classes)
    n_features_in_ = property(lambda self: np.shape(self.coef)[-1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> LinearDecider:
        """Nothing to do: the coefficients are given."""
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        X = validate_data(self, X, reset=False, accept_sparse=True)
        decision = np.asarray(X @ np.asarray(self.coef).T + self.intercept)
        return decision[:, 0] if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> NDArray[Any]:
        decision = self.decision_function(X)
        places = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes[places])


def collapse_regressors(members: Sequence[Any]) -> LinearPredictor:
    """The average of linear regressors as one."""
    pairs = [_linear(member, _LINEAR_REGRESSORS) for member in members]
    coef, intercept = np.mean([c for c, _ in pairs], axis=0), np.mean([b for _, b in pairs], axis=0)
    one = LinearPredictor(coef, intercept)
    _give_names(one, members[0])
    return one


def collapse_classifiers(members: Sequence[Any], classes: NDArray[Any]) -> LinearDecider:
    """The average of linear decision functions as one."""
    pairs = [_linear(member, _LINEAR_CLASSIFIERS) for member in members]
    coef, intercept = np.mean([c for c, _ in pairs], axis=0), np.mean([b for _, b in pairs], axis=0)
    one = LinearDecider(np.atleast_2d(coef), intercept, classes)
    _give_names(one, members[0])
    return one


def _give_names(predictor: Any, member: Any) -> None:
    """The names of the features that the members were trained on, where they have any."""
    if hasattr(member, "feature_names_in_"):
        predictor.feature_names_in_ = member.feature_names_in_


def _linear(member: Any, kinds: tuple[type, ...]) -> tuple[NDArray[Any], Any]:
    """Coefficients and intercept on the raw features: x ↦ (x − centre) / scale is folded in, last step first."""
    steps = [step for _, step in member.steps] if isinstance(member, Pipeline) else [member]
    last = steps[-1]
    if type(last) not in kinds:
        raise LearnerError(f"{type(last).__name__} is not a linear predictor that heldout can collapse.")
    coef, intercept = np.asarray(last.coef_, dtype=float), np.asarray(last.intercept_, dtype=float)
    for step in reversed(steps[:-1]):
        if step is None or isinstance(step, str):
            continue
        centre, scale = _affine(step)
        coef = coef / scale
        intercept = intercept - coef @ np.broadcast_to(centre, (coef.shape[-1],))
    return coef, intercept[()]


def _affine(step: Any) -> tuple[Any, Any]:
    if type(step) is preprocessing.StandardScaler:
        centre = step.mean_ if step.with_mean else 0.0  # mean_ is there also when it is not subtracted
        return centre, (step.scale_ if step.with_std else 1.0)
    if type(step) is preprocessing.RobustScaler:
        centre = step.center_ if step.with_centering else 0.0
        return centre, (step.scale_ if step.with_scaling else 1.0)
    if type(step) is preprocessing.MaxAbsScaler and not getattr(step, "clip", False):
        return 0.0, step.scale_
    if type(step) is preprocessing.MinMaxScaler and not step.clip:
        return -step.min_ / step.scale_, 1.0 / step.scale_
    raise LearnerError(
        f"{type(step).__name__} cannot be folded into linear coefficients, so this ensemble cannot collapse."
    )
