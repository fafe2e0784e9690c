"""What a predictor achieves on a sample, computed by hand, apart from heldout's own losses and scores.

Each score is a function of means (a confusion matrix, a mean squared error), which are averaged over many training
sets before the function is applied: the score that a study estimates from rows pooled over folds. The AUC is averaged
itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import rankdata

from benchmarks.coverage.populations import Floats, Sample

Parts = Floats  # the means that a score is a function of

CONFUSION = ("balanced_accuracy", "f1", "f1_macro", "matthews_corrcoef")


def measure(model: Any, sample: Sample, losses: list[str]) -> dict[str, Parts]:
    """By loss or score, the means that it is a function of."""
    said = Answers(model, sample)
    return {loss: np.atleast_1d(np.asarray(said.parts(loss), dtype=np.float64)) for loss in losses}


class Answers:
    """The answers of one predictor on one sample, each asked for once."""

    def __init__(self, model: Any, sample: Sample) -> None:
        self.model = getattr(model, "best_estimator_", model)
        self.sample = sample
        self.predicted = np.asarray(self.model.predict(sample.X)).reshape(len(sample.X))
        self._proba: Floats | None = None

    def parts(self, loss: str) -> Any:
        """The means that a loss or score is a function of."""
        y, predicted = self.sample.y, self.predicted
        if loss == "zero_one":
            return np.mean(predicted != y)
        if loss in CONFUSION:
            classes = len(self.model.classes_)
            return np.bincount(y * classes + predicted, minlength=classes**2) / len(y)
        if loss == "log":
            given = self.proba[np.arange(len(y)), y]
            return -np.mean(np.log(np.clip(given, np.finfo(np.float64).eps, 1)))
        if loss == "neg_brier_score":
            right = np.eye(self.proba.shape[1])[y]
            return np.mean(np.sum((self.proba - right) ** 2, axis=1)) / (2 if right.shape[1] == 2 else 1)
        if loss == "roc_auc":
            return area(self.margin, y)
        if loss == "absolute":
            return np.mean(np.abs(y - predicted))
        if loss in ("squared", "neg_root_mean_squared_error"):
            return self.squared
        if loss == "r2":
            return self.squared, self.variance
        if loss == "neg_mean_poisson_deviance":
            return 2 * np.mean(xlogy(y, y / predicted) - y + predicted)
        if loss == "neg_mean_gamma_deviance":
            return 2 * np.mean(np.log(predicted / y) + y / predicted - 1)
        raise KeyError(loss)

    @property
    def proba(self) -> Floats:
        if self._proba is None:
            self._proba = np.asarray(self.model.predict_proba(self.sample.X))
        return self._proba

    @property
    def margin(self) -> Floats:
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(self.sample.X))
        return self.proba[:, 1]

    @property
    def squared(self) -> float:
        """The mean squared error, with the noise averaged out where its variance is known."""
        sample = self.sample
        if sample.mean is None:
            return float(np.mean((sample.y - self.predicted) ** 2))
        return float(np.mean((sample.mean - self.predicted) ** 2) + sample.noise_variance)

    @property
    def variance(self) -> float:
        sample = self.sample
        return float(np.var(sample.y) if sample.mean is None else np.var(sample.mean) + sample.noise_variance)


def area(margin: Floats, y: NDArray[np.integer]) -> float:
    """The area under the ROC curve, ties counted by half.

    >>> area(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    0.75
    """
    positive = y == 1
    count = int(positive.sum())
    ranks = rankdata(margin)[positive].sum() - count * (count + 1) / 2
    return float(ranks / (count * (len(y) - count)))


def score(loss: str, parts: Parts) -> float:
    """A loss or score from its means, in the sign that heldout shows.

    >>> confusion = np.array([0.5, 0.1, 0.2, 0.2])  # true class by predicted class
    >>> round(score("balanced_accuracy", confusion), 4), round(score("f1", confusion), 4)
    (0.6667, 0.5714)
    """
    if loss in CONFUSION:
        return _of_confusion(loss, parts.reshape(int(np.sqrt(len(parts))), -1))
    if loss == "r2":
        return float(1 - parts[0] / parts[1])
    if loss == "neg_root_mean_squared_error":
        return float(-np.sqrt(parts[0]))
    return float(-parts[0] if loss.startswith("neg_") else parts[0])


def _of_confusion(loss: str, table: Floats) -> float:
    true, said, right = table.sum(axis=1), table.sum(axis=0), np.diag(table)
    if loss == "balanced_accuracy":
        return float(np.mean(right / true))
    if loss == "matthews_corrcoef":
        spread = np.sqrt((1 - said @ said) * (1 - true @ true))
        return float((right.sum() - said @ true) / spread) if spread > 0 else 0.0
    each = 2 * right / (true + said)
    return float(each[1] if loss == "f1" else np.mean(each))
