"""Collapses an ensemble of linear predictors into one: folds scalers into coefficients and averages these.

A feature map that is the same in all members, such as PolynomialFeatures, stays in front of the averaged predictor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self
from uuid import uuid4

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
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
_LOGISTIC = (linear_model.LogisticRegression, linear_model.LogisticRegressionCV)


class _Linear(BaseEstimator):  # type: ignore[misc]
    """A fitted linear function of the features."""

    def __init__(self, coef: Any = None, intercept: Any = 0.0) -> None:
        self.coef = coef
        self.intercept = intercept

    coef_ = property(lambda self: self.coef)
    intercept_ = property(lambda self: self.intercept)
    n_features_in_ = property(lambda self: np.shape(self.coef)[-1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return self, since the coefficients are given."""
        return self

    def _values(self, X: Any) -> NDArray[Any]:
        X = validate_data(self, X, reset=False, accept_sparse=True)
        return np.asarray(X @ np.asarray(self.coef).T + self.intercept)


class LinearPredictor(RegressorMixin, _Linear):  # type: ignore[misc]
    """A fitted linear regressor."""

    def predict(self, X: Any) -> NDArray[Any]:
        return self._values(X)


class LinearDecider(ClassifierMixin, _Linear):  # type: ignore[misc]
    """A fitted linear classifier."""

    def __init__(self, coef: Any = None, intercept: Any = 0.0, classes: Any = None) -> None:
        super().__init__(coef, intercept)
        self.classes = classes

    classes_ = property(lambda self: self.classes)

    def decision_function(self, X: Any) -> NDArray[Any]:
        decision = self._values(X)
        return decision[:, 0] if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> NDArray[Any]:
        decision = self.decision_function(X)
        places = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes[places])


class LogisticDecider(LinearDecider):
    """A logistic regression whose parameters are the averages of several.

    Its probabilities are not the averages of the members' probabilities: it averages decision functions, and computes
    probabilities from that average.
    """

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        decision = self.decision_function(X)
        if decision.ndim == 1:
            positive = expit(decision)
            return np.column_stack([1 - positive, positive])
        return np.asarray(softmax(decision, axis=1))


def collapse_regressors(members: Sequence[Any]) -> Any:
    """Return one linear regressor that equals the average of several, behind the feature map that they share."""
    line = _averaged(members, _LINEAR_REGRESSORS)
    return line.behind(LinearPredictor(line.coef, line.intercept))


def collapse_classifiers(members: Sequence[Any], classes: NDArray[Any]) -> Any:
    """Return one linear classifier with the averaged decision function, behind the shared feature map."""
    line = _averaged(members, _LINEAR_CLASSIFIERS)
    return line.behind(LinearDecider(np.atleast_2d(line.coef), line.intercept, classes))


def collapse_logistic(members: Sequence[Any], classes: NDArray[Any]) -> Any:
    """Return one logistic regression with averaged parameters, which does not average the probabilities."""
    line = _averaged(members, _LOGISTIC)
    if len(classes) > 2 and any(last_of(member).solver == "liblinear" for member in members):
        raise LearnerError(
            "LogisticRegression(solver='liblinear') fits a model a class, whose probabilities are not those of one "
            "logistic regression, so its parameters cannot be averaged. Use another solver."
        )
    return line.behind(LogisticDecider(np.atleast_2d(line.coef), line.intercept, classes))


def last_of(member: Any) -> Any:
    """Return the last step of a Pipeline, or the estimator itself."""
    return member.steps[-1][1] if isinstance(member, Pipeline) else member


class _Line(NamedTuple):
    """Holds a linear function: its parameters, the steps before it, and the first step that was folded into it."""

    coef: NDArray[Any]
    intercept: Any
    before: list[tuple[str, Any]]
    first: Any

    def behind(self, predictor: Any) -> Any:
        """Return the predictor behind the steps that make its features, with feature names where they are known."""
        if hasattr(self.first, "feature_names_in_"):
            predictor.feature_names_in_ = self.first.feature_names_in_
        return Pipeline([*self.before, ("linear", predictor)]) if self.before else predictor


def _averaged(members: Sequence[Any], kinds: tuple[type, ...]) -> _Line:
    lines = [_linear(member, kinds) for member in members]
    for place, (_, step) in enumerate(lines[0].before):
        if len({_state(line.before[place][1]) for line in lines}) > 1:
            raise LearnerError(
                f"{type(step).__name__} cannot be folded into linear coefficients and is not the same in all members, "
                "so this ensemble cannot collapse."
            )
    coef = np.mean([line.coef for line in lines], axis=0)
    return lines[0]._replace(coef=coef, intercept=np.mean([line.intercept for line in lines], axis=0))


def _state(step: Any) -> str:
    """Return a hash of a fitted step, equal for steps that learn nothing from the rows they are fitted on."""
    try:
        return str(joblib.hash(step))
    except Exception:  # the user's own objects raise what they like when they are pickled
        return uuid4().hex


def _linear(member: Any, kinds: tuple[type, ...]) -> _Line:
    """Return coefficients and intercept, with the scalers x ↦ (x − centre) / scale before the model folded in."""
    steps = list(member.steps) if isinstance(member, Pipeline) else [("", member)]
    _, last = steps.pop()
    if type(last) not in kinds:
        raise LearnerError(f"{type(last).__name__} is not a linear predictor that heldout can collapse.")
    coef, intercept, first = np.asarray(last.coef_, dtype=float), np.asarray(last.intercept_, dtype=float), last
    while steps:
        step = steps[-1][1]
        if step is not None and not isinstance(step, str):
            affine = _affine(step)
            if affine is None:
                break
            centre, scale = affine
            coef = coef / scale
            intercept = intercept - coef @ np.broadcast_to(centre, (coef.shape[-1],))
            first = step
        steps.pop()
    return _Line(coef, intercept[()], steps, first)


def _affine(step: Any) -> tuple[Any, Any] | None:
    """Return the centre and the scale of a fitted scaler, or None for any other step."""
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
    return None
