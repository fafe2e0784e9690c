"""Row losses: one number for each held-out row, lower is better."""

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
    """Return 1 for each row whose predicted class (or any of its labels) is wrong, else 0."""
    true, predicted = _side_by_side(y, responses.predict)
    return np.asarray(np.any(true != predicted, axis=1), dtype=np.float64)


def accuracy_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """Return −1 for each row whose predicted class is right, else 0, so that the mean is minus the accuracy."""
    return zero_one_rows(y, responses) - 1.0


def squared_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """Return the squared error of each row, averaged over outputs if there are several."""
    true, predicted = _side_by_side(y, responses.predict)
    return _over_outputs((true - predicted) ** 2)


def absolute_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """Return the absolute error of each row, averaged over outputs if there are several."""
    true, predicted = _side_by_side(y, responses.predict)
    return _over_outputs(np.abs(true - predicted))


def hamming_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """Return the share of wrong labels of each row; with one label a row it is 0 or 1."""
    true, predicted = _side_by_side(y, responses.predict)
    return _over_outputs((true != predicted).astype(np.float64))


def log_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """Return minus the log of the predicted probability of the true class, for each row.

    Probabilities are clipped at the machine epsilon of their type, as scikit-learn clips them. A class that was not in
    the training rows has probability 0, so its loss is about 36 nats in double precision.
    """
    proba, classes = _probabilities(y, responses, "log loss")
    probability = np.take_along_axis(proba, _columns(y, classes)[:, None], axis=1)[:, 0]
    probability = np.where(_known(y, classes), probability, 0)
    eps = np.finfo(proba.dtype).eps
    return np.asarray(-np.log(probability.clip(eps, 1 - eps)), dtype=np.float64)


def hinge_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """Return the hinge loss max(0, 1 − margin) of each row.

    The margin is the decision for the true class minus the largest other one; with two classes, ± the decision.
    """
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
    """Row losses of numbers: an error for each output, averaged over outputs with the weights `outputs` if given."""

    error: Callable[..., Floats]  # function of true and predicted values, and of the option if there is one
    option: float | None = None  # the quantile of the pinball loss, the power of a deviance
    outputs: tuple[float, ...] | None = None  # the weights of the outputs; None: equal

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        true, predicted = _as_floats(*_side_by_side(y, responses.predict))
        options = () if self.option is None else (self.option,)
        return _over_outputs(self.error(true, predicted, *options), self.outputs)


def squared_error(true: Floats, predicted: Floats) -> Floats:
    return (true - predicted) ** 2


def absolute_error(true: Floats, predicted: Floats) -> Floats:
    return np.abs(true - predicted)


def percentage_error(true: Floats, predicted: Floats) -> Floats:
    """Return the absolute error divided by the absolute true value; it is huge if that is 0, as in scikit-learn."""
    return np.abs(predicted - true) / np.maximum(np.abs(true), np.finfo(np.float64).eps)


def squared_log_error(true: Floats, predicted: Floats) -> Floats:
    """Return the squared difference of log(1 + value)."""
    _refuse_outside("The squared log error", (true > -1, "above -1"), (predicted > -1, "above -1"))
    return (np.log1p(true) - np.log1p(predicted)) ** 2


def pinball_error(true: Floats, predicted: Floats, alpha: float) -> Floats:
    """Return `alpha` times the error of predictions that are too low, (1 − `alpha`) times that of too high ones."""
    difference = true - predicted
    low = (difference >= 0).astype(difference.dtype)
    return alpha * low * difference - (1 - alpha) * (1 - low) * difference


def deviance(true: Floats, predicted: Floats, power: float) -> Floats:
    """Return the unit deviance of the Tweedie family: 0 normal, 1 Poisson, 2 gamma, 3 inverse Gaussian.

    `np.power` gives the same numbers as scikit-learn, bit for bit.
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
    """Row losses of the Brier score: squared differences of probabilities and one-hot truth, summed over classes.

    They are scaled as in scikit-learn: for two classes the sum is halved to (1{y is positive} − p)², unless `half` says
    otherwise. A class that was not in the training rows has probability 0. `classes` is the number of classes of the
    target; with None the classes of the predictor, and labels unknown to it, are counted.
    """

    positive: Any = None  # the positive one of two classes; None: the last one
    half: bool | None = None
    classes: int | None = None

    @property
    def high(self) -> float:
        """The largest possible loss of a row."""
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
    """Row losses of the top-k accuracy: −1 if the true class is among the k with the highest scores, else 0.

    The scores come from the first of `methods` that was recorded. With two classes and k = 1 the threshold is 0 for a
    decision and ½ for a probability. scikit-learn guesses from the held-out scores which of the two they are: if all
    decisions happen to lie between 0 and 1, it uses ½.
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
    """Row losses of several labels: minus each row's precision, recall, F or Jaccard score (average="samples")."""

    score: str  # "precision", "recall", "f" or "jaccard"
    beta: float = 1.0
    empty: float = 0.0  # the score of a row whose denominator is zero

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
    """Return the probabilities as floats (rows × classes of the predictor), and these classes."""
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
    """Return the column of each label, or any column for an unknown label; the classes need not be sorted."""
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, y, sorter=order).clip(max=len(classes) - 1)])


def _known(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are among the classes of the predictor."""
    return np.asarray(classes[_columns(y, classes)] == y)


def _as_floats(true: NDArray[Any], predicted: NDArray[Any]) -> tuple[Floats, Floats]:
    """Convert both arrays to their common floating type, or to double precision if neither is floating."""
    kinds = [values.dtype for values in (true, predicted) if np.issubdtype(values.dtype, np.floating)]
    kind = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    return true.astype(kind, copy=False), predicted.astype(kind, copy=False)


def _refuse_outside(who: str, true: tuple[NDArray[Any], str], predicted: tuple[NDArray[Any], str]) -> None:
    """Raise an error if the loss is not defined on targets or predictions, given as (valid rows, requirement)."""
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
    """Return the mean over outputs of each row, weighted if `weights` are given; a single output is returned as is."""
    if weights is not None:
        return np.asarray(np.average(errors, axis=1, weights=weights), dtype=np.float64)
    return np.asarray(errors[:, 0] if errors.shape[1] == 1 else errors.mean(axis=1), dtype=np.float64)


def _side_by_side(y: NDArray[Any], predicted: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Reshape true and predicted values to the same shape (rows, outputs).

    Otherwise a target of shape (n, 1) minus predictions of shape (n,) would silently broadcast to n × n.
    """
    if predicted is None:
        raise LossError("This loss needs predictions, but only other responses were recorded.")
    true, predicted = np.asarray(y), np.asarray(predicted)
    if len(true) != len(predicted) or true.size != predicted.size:
        raise PredictionError(
            f"predict answered an array of shape {predicted.shape} for a target of shape {true.shape}."
        )
    return true.reshape(len(true), -1), predicted.reshape(len(true), -1)


def no_loss(y: NDArray[Any], responses: Responses) -> NDArray[np.float64]:
    """Return zeros, because this level records responses and needs no loss."""
    return np.zeros(len(y))
