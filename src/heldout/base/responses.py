"""Responses of predictors on held-out rows, before any loss is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import PredictionError

METHODS = ("predict", "predict_proba", "decision_function")


@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """The responses of one predictor on one held-out set, one row per held-out row; None if a method was not called."""

    predict: NDArray[Any] | None = None
    predict_proba: NDArray[Any] | None = None
    decision_function: NDArray[Any] | None = None
    classes: NDArray[Any] | None = None  # of the predictor: the columns of predict_proba
    asked: dict[str, float] = field(default_factory=dict)  # losses that had to ask the predictor itself, by name


def as_response(answer: Any, method: str) -> NDArray[Any]:
    """Convert a predictor's answer to an array. It may be a list, or a list of arrays for several outputs.

    >>> as_response([0.5, 1.5], "predict")
    array([0.5, 1.5])
    >>> as_response([np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 2))], "predict_proba").shape
    (4, 3, 2)
    """
    try:
        if _is_by_output(answer):
            return np.stack(answer, axis=1)
        return np.asarray(answer)
    except ValueError as error:  # numpy's words are of shapes and dimensions, and name no method
        parts = "outputs" if _is_by_output(answer) else "rows"
        raise PredictionError(f"{method} answered {parts} of different lengths, which make no array.") from error


def _is_by_output(answer: Any) -> bool:
    """Return whether this is a list of arrays (rows × classes), one per output, as scikit-learn's forests return."""
    if not isinstance(answer, list) or not answer:
        return False
    return all(isinstance(part, np.ndarray) and part.ndim == 2 for part in answer)


def own_copy(responses: Responses) -> Responses:
    """Copy the arrays, so that they do not keep larger arrays alive."""
    return _each(responses, np.copy)


def cut_rows(responses: Responses, rows: slice | NDArray[np.intp]) -> Responses:
    """Take the responses on some of the rows."""
    return _each(responses, lambda answer: answer[rows])


def _each(responses: Responses, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Responses:
    answers: dict[str, Any] = {method: getattr(responses, method) for method in METHODS}
    changed: dict[str, Any] = {name: change(answer) for name, answer in answers.items() if answer is not None}
    return replace(responses, **changed)


def join_rows(parts: Sequence[Responses]) -> Responses:
    """Concatenate the responses of one predictor on several sets of rows."""
    answers = {method: [getattr(part, method) for part in parts] for method in METHODS}
    joined: dict[str, Any] = {name: np.concatenate(pieces) for name, pieces in answers.items() if pieces[0] is not None}
    return replace(parts[0], **joined)
