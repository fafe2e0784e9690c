"""The recipes of the texts as plain loops over scikit-learn: clone, fit, predict, and the mean of what comes out.

Nothing here knows heldout. Parts are (training rows, held-out rows); candidates are (estimator, parameters).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

Part = tuple[Any, Any]
Candidate = tuple[Any, dict[str, Any]]


def zero_one(y: Any, predicted: Any) -> Any:
    return (y != predicted).astype(float)


def squared(y: Any, predicted: Any) -> Any:
    return (y - predicted) ** 2


@dataclass
class Answer:
    """What a loop found: a loss, the held-out rows and their predictions for each test part, and the choices."""

    losses: list[float]
    rows: list[Any]
    predictions: list[Any]
    choices: list[int]
    validation: list[float]  # the mean validation loss of each choice

    @property
    def risk(self) -> float:
        """(ε₁ + … + ε_K) / K."""
        return float(np.mean(self.losses))


def fit(candidate: Candidate, X: Any, y: Any, rows: Any) -> Any:
    """A_θ(S) for the rows S."""
    estimator, params = candidate
    return clone(estimator).set_params(**params).fit(X[rows], y[rows])


def cross_validate(candidate: Candidate, X: Any, y: Any, parts: Sequence[Part], loss: Callable[..., Any]) -> Answer:
    """External cross-validation: train on the training part of each fold, take the mean loss on its testing part."""
    answer = Answer([], [], [], [], [])
    with threadpool_limits(1):
        for train, held in parts:
            predicted = fit(candidate, X, y, train).predict(X[held])
            answer.losses.append(float(np.mean(loss(y[held], predicted))))
            answer.rows.append(held)
            answer.predictions.append(predicted)
    return answer


def validate(
    candidates: Sequence[Candidate], X: Any, y: Any, parts: Sequence[Part], loss: Callable[..., Any]
) -> list[float]:
    """Val_i of each model: the mean over folds (or samples) of its validation error."""
    return [float(np.mean(cross_validate(one, X, y, parts, loss).losses)) for one in candidates]


def argmin(values: Sequence[float]) -> int:
    """The first of the smallest."""
    return min(range(len(values)), key=lambda i: (values[i], i))


def nested(
    candidates: Sequence[Candidate],
    X: Any,
    y: Any,
    outer: Sequence[Part],
    inner: Callable[[int], Sequence[Part]],
    loss: Callable[..., Any],
) -> Answer:
    """Algorithm 1 and its kin: on each outer training part choose by inner splits, re-train there, test on the rest."""
    answer = Answer([], [], [], [], [])
    for i, (train, held) in enumerate(outer):
        errors = validate(candidates, X, y, inner(i), loss)
        best = argmin(errors)
        tested = cross_validate(candidates[best], X, y, [(train, held)], loss)
        answer.losses += tested.losses
        answer.rows += tested.rows
        answer.predictions += tested.predictions
        answer.choices.append(best)
        answer.validation.append(errors[best])
    return answer
