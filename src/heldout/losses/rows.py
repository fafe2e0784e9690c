"""Losses of single rows: one number a held-out row, lower is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from heldout.base.errors import LossError, PredictionError
from heldout.base.responses import Responses

Floats = NDArray[np.float64]


def zero_one_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """1 where the predicted class is wrong; with several labels a row, where any of them is wrong."""
    true, predicted = _side_by_side(y, responses.predict)
    return np.asarray(np.any(true != predicted, axis=1), dtype=np.float64)


def accuracy_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """−1 where the predicted class is right: the zero-one loss less one, so that its mean is minus the accuracy."""
    return zero_one_rows(y, responses) - 1.0


def squared_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """The squared error, its mean over outputs where there are several."""
    true, predicted = _side_by_side(y, responses.predict)
    return _over_outputs((true - predicted) ** 2)


def absolute_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """The absolute error, its mean over outputs where there are several."""
    true, predicted = _side_by_side(y, responses.predict)
    return _over_outputs(np.abs(true - predicted))


def hamming_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """The share of labels that are wrong: 0 or 1 where each row has one label."""
    true, predicted = _side_by_side(y, responses.predict)
    return _over_outputs((true != predicted).astype(np.float64))


def log_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """Minus the log of the probability given to the true class.

    Probabilities are clipped at the rounding unit of their type, as scikit-learn clips them. A class that the
    predictor never saw in training has probability zero, so it costs about 36 nats in double precision.
    """
    proba, classes = _probabilities(y, responses, "log loss")
    probability = np.take_along_axis(proba, _columns(y, classes)[:, None], axis=1)[:, 0]
    probability = np.where(_known(y, classes), probability, 0)
    eps = np.finfo(proba.dtype).eps
    return np.asarray(-np.log(probability.clip(eps, 1 - eps)), dtype=np.float64)


def hinge_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """What the decision for the true class lacks of being 1 above that for any other class, at least 0."""
    decision, classes = responses.decision_function, responses.classes
    if decision is None or classes is None:
        raise LossError("The hinge loss needs decision_function and the classes, but they were not recorded.")
    if not _known(y, classes).all():
        raise PredictionError("The hinge loss has no decision for a class that the predictor never saw in training.")
    if decision.ndim == 1:
        margin = np.where(y == classes[-1], decision, -decision)
    else:
        true = _columns(y, classes)[:, None] == np.arange(len(classes))
        margin = decision[true] - np.where(true, -np.inf, decision).max(axis=1)
    return np.asarray(np.maximum(1 - margin, 0), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRows:
    """A loss of numbers: an error of each output, and their mean over outputs, weighted where `outputs` are given."""

    error: Callable[..., Floats]  # of true and predicted values, and of the option where there is one
    option: float | None = None  # the quantile of the pinball loss, the power of a deviance
    outputs: tuple[float, ...] | None = None  # the weights of the outputs

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        true, predicted = _as_floats(*_side_by_side(y, responses.predict))
        options = () if self.option is None else (self.option,)
        return _over_outputs(self.error(true, predicted, *options), self.outputs)


def squared_error(true: Floats, predicted: Floats) -> Floats:
    return (true - predicted) ** 2


def absolute_error(true: Floats, predicted: Floats) -> Floats:
    return np.abs(true - predicted)


def percentage_error(true: Floats, predicted: Floats) -> Floats:
    """The absolute error as a share of the true value; of a true value of 0 it is huge, as in scikit-learn."""
    return np.abs(predicted - true) / np.maximum(np.abs(true), np.finfo(np.float64).eps)


def squared_log_error(true: Floats, predicted: Floats) -> Floats:
    """The squared difference of log(1 + value)."""
    _refuse_outside("The squared log error", (true > -1, "above -1"), (predicted > -1, "above -1"))
    return (np.log1p(true) - np.log1p(predicted)) ** 2


def pinball_error(true: Floats, predicted: Floats, alpha: float) -> Floats:
    """`alpha` times what the prediction is too low by, 1 − `alpha` times what it is too high by."""
    difference = true - predicted
    low = (difference >= 0).astype(difference.dtype)
    return alpha * low * difference - (1 - alpha) * (1 - low) * difference


def deviance(true: Floats, predicted: Floats, power: float) -> Floats:
    """The unit deviance of the Tweedie family: 0 normal, 1 Poisson, 2 gamma, 3 inverse Gaussian.

    Powers are written with `np.power`, so that each is the number that scikit-learn computes, bit for bit.
    """
    if power == 0:
        return (true - predicted) ** 2
    fits = np.isfinite(true) if power < 0 else true >= 0 if power < 2 else true > 0
    least = "0 or more" if power < 2 else "above 0"
    _refuse_outside(f"The deviance of power {power:g}", (fits, least), (predicted > 0, "above 0"))
    if power == 1:
        return np.asarray(2 * (xlogy(true, true / predicted) - true + predicted))
    if power == 2:
        return np.asarray(2 * (np.log(predicted / true) + true / predicted - 1))
    base = np.where(true > 0, true, 0.0) if power < 0 else true
    return np.asarray(
        2
        * (
            np.power(base, 2 - power) / ((1 - power) * (2 - power))
            - true * np.power(predicted, 1 - power) / (1 - power)
            + np.power(predicted, 2 - power) / (2 - power)
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BrierRows:
    """Squared differences between the probabilities and what came, summed over classes, as scikit-learn scales them.

    For two classes the sum is halved, so that it is (1{y is positive} − p)², unless `half` says otherwise. A class that
    the predictor never saw in training has probability 0. `classes` is how many the target has; where it is not known
    the predictor's classes are counted.
    """

    positive: Any = None  # which of two classes; None: the last one
    half: bool | None = None
    classes: int | None = None

    @property
    def high(self) -> float:
        """The largest loss that a row can have."""
        return 1.0 if self._halves(self.classes or 3) else 2.0

    def _halves(self, classes: int) -> bool:
        return classes < 3 if self.half is None else self.half

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        proba, classes = _probabilities(y, responses, "Brier score")
        if proba.size and not (proba.min() >= 0 and proba.max() <= 1):
            raise PredictionError("The Brier score needs probabilities between 0 and 1, but some are outside.")
        known = _known(y, classes)
        if len(classes) == 2 and known.all():
            positive = classes[-1] if self.positive is None else self.positive
            came = (y == positive).astype(proba.dtype)
            probability = proba[:, int(np.flatnonzero(classes == positive)[0])]
            # scikit-learn's sum, term by term, so that rounding is the same
            losses = ((1 - came) - (1 - probability)) ** 2 + (came - probability) ** 2
        else:
            came = ((_columns(y, classes)[:, None] == np.arange(len(classes))) & known[:, None]).astype(proba.dtype)
            losses = np.sum((came - proba) ** 2, axis=1) + ~known
        count = self.classes or len(classes) + len(np.unique(y[~known]))
        return np.asarray(0.5 * losses if self._halves(count) else losses, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRows:
    """−1 where the true class is among the k that are scored highest, else 0: its mean is minus the top-k accuracy.

    The scores are those of the first of `methods` that was recorded. With two classes and k = 1 a decision counts from
    0 and a probability from ½. scikit-learn guesses which of the two it has from the held-out scores: where all
    decisions happen to lie between 0 and 1 it counts them from ½.
    """

    k: int = 2
    methods: tuple[str, ...] = ("decision_function", "predict_proba")

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        method = next((labels for labels in self.methods if getattr(responses, labels) is not None), None)
        classes = responses.classes
        if method is None or classes is None:
            raise LossError(f"The top-k accuracy needs {' or '.join(self.methods)}, but it was not recorded.")
        scores = np.asarray(getattr(responses, method))
        known, column = _known(y, classes), _columns(y, classes)
        if len(classes) == 2:
            score = scores if scores.ndim == 1 else scores[:, 1]
            hits = (score > (0.5 if method == "predict_proba" else 0)) == column if self.k == 1 else known
        else:
            ranked = np.argsort(scores, axis=1, kind="mergesort")[:, ::-1]
            hits = (ranked[:, : self.k] == column[:, None]).any(axis=1)
        return 0.0 - (hits & known).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRows:
    """Minus the precision, recall, F or Jaccard score of each row's labels: scikit-learn's average="samples"."""

    score: str  # "precision", "recall", "f" or "jaccard"
    beta: float = 1.0
    empty: float = 0.0  # the score where it divides by zero

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        true, predicted = (labels != 0 for labels in _side_by_side(y, responses.predict))
        both, named, there = ((labels.sum(axis=1)) for labels in (true & predicted, predicted, true))
        square = self.beta**2
        above, below = {
            "precision": (both, named),
            "recall": (both, there),
            "jaccard": (both, named + there - both),
            "f": ((1 + square) * both, square * there + named),
        }[self.score]
        scores = np.where(below > 0, above / np.where(below > 0, below, 1), self.empty)
        return np.asarray(0.0 - scores, dtype=np.float64)


def _probabilities(y: NDArray[Any], responses: Responses, what: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return probabilities as floats, with a column a class of the predictor, and those classes."""
    proba, classes = responses.predict_proba, responses.classes
    if proba is None or classes is None:
        raise LossError(f"The {what} needs predict_proba and the classes of its columns, but they were not recorded.")
    proba = np.asarray(proba)
    if proba.shape != (len(y), len(classes)):
        raise PredictionError(
            f"predict_proba answered an array of shape {proba.shape} for {len(y)} rows and {len(classes)} classes."
        )
    return proba if np.issubdtype(proba.dtype, np.floating) else proba.astype(np.float64), classes


def _columns(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Find the column of each label; any column if it has none. A user's estimator need not sort its classes."""
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, y, sorter=order).clip(max=len(classes) - 1)])


def _known(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which labels the predictor saw in training."""
    return np.asarray(classes[_columns(y, classes)] == y)


def _as_floats(true: NDArray[Any], predicted: NDArray[Any]) -> tuple[Floats, Floats]:
    """Convert both to the widest of their floating types, to double precision if neither has one."""
    kinds = [values.dtype for values in (true, predicted) if np.issubdtype(values.dtype, np.floating)]
    kind = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    return true.astype(kind, copy=False), predicted.astype(kind, copy=False)


def _refuse_outside(who: str, true: tuple[NDArray[Any], str], predicted: tuple[NDArray[Any], str]) -> None:
    """Refuse a target or predictions that the loss is not defined on; each comes as which rows fit, and the need."""
    fits, need = true
    if not fits.all():
        raise LossError(
            f"{who} needs targets that are {need}, but {int((~fits).sum())} of {fits.size} are not. "
            "Use 'squared' or 'absolute'."
        )
    fits, need = predicted
    if not fits.all():
        raise PredictionError(
            f"{who} needs predictions that are {need}, but {int((~fits).sum())} of {fits.size} are not. Take a learner "
            "that predicts such numbers alone, such as PoissonRegressor, or the loss 'squared'."
        )


def _over_outputs(errors: NDArray[Any], weights: tuple[float, ...] | None = None) -> Floats:
    """Take the mean of each row; of a single output it is that output, with no pass over all rows."""
    if weights is not None:
        return np.asarray(np.average(errors, axis=1, weights=weights), dtype=np.float64)
    return np.asarray(errors[:, 0] if errors.shape[1] == 1 else errors.mean(axis=1), dtype=np.float64)


def _side_by_side(y: NDArray[Any], predicted: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Bring true and predicted values to the same two-dimensional shape.

    Without this, a target of shape (n, 1) less predictions of shape (n,) would broadcast to n × n in silence.
    """
    if predicted is None:
        raise LossError("This loss needs predictions, but only other responses were recorded.")
    true, predicted = np.asarray(y), np.asarray(predicted)
    if len(true) != len(predicted) or true.size != predicted.size:
        raise PredictionError(
            f"predict answered an array of shape {predicted.shape} for a target of shape {true.shape}."
        )
    return true.reshape(len(true), -1), predicted.reshape(len(true), -1)
