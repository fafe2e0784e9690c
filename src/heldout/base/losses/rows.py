"""Losses of single rows: one number a held-out row, lower is better."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def log_rows(y: NDArray[Any], responses: Responses) -> Floats:
    """Minus the log of the probability given to the true class.

    Probabilities are clipped at the rounding unit of their type, as scikit-learn clips them. A class that the
    predictor never saw in training has probability zero, so it costs about 36 nats in double precision.
    """
    proba, classes = responses.predict_proba, responses.classes
    if proba is None or classes is None:
        raise LossError("The log loss needs predict_proba and the classes of its columns, but they were not recorded.")
    proba = np.asarray(proba)
    if proba.shape != (len(y), len(classes)):
        raise PredictionError(
            f"predict_proba answered an array of shape {proba.shape} for {len(y)} rows and {len(classes)} classes."
        )
    if not np.issubdtype(proba.dtype, np.floating):
        proba = proba.astype(np.float64)
    order = np.argsort(classes)  # an estimator of the user's own need not sort its classes
    place = np.searchsorted(classes, y, sorter=order).clip(max=len(classes) - 1)
    column = order[place]
    given = np.where(classes[column] == y, proba[np.arange(len(y)), column], 0)
    eps = np.finfo(proba.dtype).eps
    return np.asarray(-np.log(given.clip(eps, 1 - eps)), dtype=np.float64)


def _over_outputs(errors: NDArray[Any]) -> Floats:
    """The mean of each row; of a single output it is that output, with no pass over all rows."""
    return np.asarray(errors[:, 0] if errors.shape[1] == 1 else errors.mean(axis=1), dtype=np.float64)


def _side_by_side(y: NDArray[Any], predicted: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """True and predicted values as two arrays of the same two-dimensional shape.

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
