"""A learner whose fit nothing can be known about, and takes as long as it is told."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class SlowRidge(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Ridge by plain gradient steps: `steps` of them, always, on one thread. Deterministic."""

    def __init__(self, alpha: float = 1.0, steps: int = 1000) -> None:
        self.alpha = alpha
        self.steps = steps

    def fit(self, X: Any, y: Any) -> Self:
        X, y = validate_data(self, X, y, y_numeric=True)
        rate = 1.0 / (np.square(X).sum() + self.alpha)  # the trace bounds the largest eigenvalue
        coef = np.zeros(X.shape[1])
        for _ in range(self.steps):
            coef -= rate * ((X @ coef - y) @ X + self.alpha * coef)
        self.coef_ = coef
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False) @ self.coef_


def steps_for(seconds: float, X: Any, y: Any) -> int:
    """How many steps make a fit on these rows last about so long, here and now."""
    trial, best = 2000, float("inf")
    for _ in range(7):
        started = perf_counter()
        SlowRidge(steps=trial).fit(X, y)
        best = min(best, perf_counter() - started)
    return max(1, round(trial * seconds / best))
