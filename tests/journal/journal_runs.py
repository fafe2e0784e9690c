"""Studies with a journal, of a learner that counts its fits."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

import heldout as ho

fits: list[float] = []  # an entry a fit of a learner that counts


class Counted(RegressorMixin, BaseEstimator):
    """Shrinks the mean, counts its fits, warns and fails where it is told to."""

    def __init__(self, shrink: float = 0.0, warns_at: float = -1.0, fails_at: float = -1.0) -> None:
        self.shrink = shrink
        self.warns_at = warns_at
        self.fails_at = fails_at

    def fit(self, X: Any, y: Any) -> Counted:
        fits.append(self.shrink)
        if self.shrink == self.warns_at:
            warnings.warn("it is told to warn", RuntimeWarning, stacklevel=2)
        if self.shrink == self.fails_at:
            raise ValueError("it is told to fail")
        self.mean_ = float(np.mean(y)) * (1 - self.shrink)
        return self

    def predict(self, X: Any) -> Any:
        return X[:, 0] + self.mean_


def run(learner: Any, data: tuple[Any, Any], journal: Path | None, **question: Any) -> ho.Result:
    asked = {"test": ho.KFold(3), "jobs": 1, "backend": "inline", "progress": False, "journal": journal} | question
    return ho.evaluate(learner, *data, **asked)


def tuned(**params: Any) -> ho.Tuned:
    shrinks = params.pop("shrinks", [0.0, 0.2, 0.4])
    loss = params.pop("loss", None)
    return ho.Tuned(Counted(**params), {"shrink": shrinks}, validation=ho.KFold(2), loss=loss)
