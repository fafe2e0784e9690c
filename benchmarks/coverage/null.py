"""Null data: labels that owe nothing to the features, so that every predictor has the risk one half.

Nested cross-validation must find one half on average. The best cross-validation estimate does not, since the rows that
chose the candidate also judge it; its two corrections stand beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from benchmarks.coverage.run import spread

ROWS, COLUMNS, TRUTH = 60, 10, 0.5
SPACE = {"n_neighbors": list(range(1, 30, 2)), "metric": ["euclidean", "manhattan", "chebyshev"]}
NAMES = {
    "risk": "nested cross-validation, 5 × 5",
    "best_validation": "best 5-fold estimate of the 45 candidates",
    "best_validation_bbc": "the same, corrected by BBC-CV",
    "best_validation_tt": "the same, corrected by Tibshirani & Tibshirani",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """How far an estimate is off on average."""

    words: str
    bias: float
    error: float  # Monte-Carlo
    verdict: str


def replicate(number: int) -> dict[str, float]:
    """Every estimate of one null data set, by name."""
    rng = np.random.default_rng([47, number])
    X, y = rng.standard_normal((ROWS, COLUMNS)), rng.integers(0, 2, ROWS)
    learner = ho.Tuned(KNeighborsClassifier(), SPACE, validation=ho.KFold(5, stratify=False), jobs=1)
    test = ho.KFold(5, stratify=False)
    result = ho.evaluate(learner, X, y, test=test, jobs=1, backend="inline", progress=False)
    beside = learner.fit(X, y).estimates_
    return {"risk": result.risk.value, **{name: beside[name].value for name in NAMES if name != "risk"}}


def table(replications: int) -> list[Bias]:
    """The bias of each estimate, with its Monte-Carlo error."""
    found = list(spread(replicate, [(number,) for number in range(replications)], words="null data"))
    rows = []
    for name, words in NAMES.items():
        away = np.array([one[name] for one in found]) - TRUTH
        bias, error = float(np.mean(away)), float(np.std(away, ddof=1) / len(away) ** 0.5)
        rows.append(Bias(words=words, bias=bias, error=error, verdict=_verdict(name, bias, error)))
    return rows


def _verdict(name: str, bias: float, error: float) -> str:
    if name == "risk":
        return "no bias shown" if abs(bias) <= 3 * error else "FAILS: biased"
    return "optimistic" if bias < -3 * error else "pessimistic" if bias > 3 * error else "no bias shown"
