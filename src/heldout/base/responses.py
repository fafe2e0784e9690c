"""What predictors answer on held-out rows, before any loss is taken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

METHODS = ("predict", "predict_proba", "decision_function")


@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """The responses of one predictor on one held-out set, a row a held-out row."""

    predict: NDArray[Any] | None = None
    predict_proba: NDArray[Any] | None = None
    decision_function: NDArray[Any] | None = None
    classes: NDArray[Any] | None = None  # of the predictor: the columns of predict_proba
    asked: dict[str, float] = field(default_factory=dict)  # losses that had to ask the predictor itself, by name


def own_copy(responses: Responses) -> Responses:
    """The same numbers in memory of their own, so that they keep no larger array alive."""
    return replace(
        responses,
        predict=None if responses.predict is None else responses.predict.copy(),
        predict_proba=None if responses.predict_proba is None else responses.predict_proba.copy(),
        decision_function=None if responses.decision_function is None else responses.decision_function.copy(),
    )


def cut_rows(responses: Responses, rows: slice) -> Responses:
    """The responses on some of the rows."""
    return replace(
        responses,
        predict=None if responses.predict is None else responses.predict[rows],
        predict_proba=None if responses.predict_proba is None else responses.predict_proba[rows],
        decision_function=None if responses.decision_function is None else responses.decision_function[rows],
    )
