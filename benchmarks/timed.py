"""A learner whose fit lasts as long as it is told."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin


class Timed(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts a shrunken mean, after it was busy for so many seconds."""

    def __init__(self, seconds: float = 0.0, shrink: float = 0.0) -> None:
        self.seconds = seconds
        self.shrink = shrink

    def fit(self, X: Any, y: Any) -> Self:
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            pass
        self.mean_ = float(np.mean(y)) * (1.0 - self.shrink)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)
