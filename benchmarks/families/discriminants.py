"""Discriminant analysis: grids of shrinkages nested, and leave-one-out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, LeaveOneOut

import heldout as ho
from benchmarks.table import JOBS, Row, classes, nested

SHRINKAGES = np.linspace(0.02, 0.98, 15).tolist()
SHARES = np.linspace(0.05, 0.95, 10).tolist()


def _linear() -> Row:
    learner = (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": SHRINKAGES})
    words = "LDA lsqr, 10,000 × 100, 15 shrinkages, nested 5×5"
    return nested(words, 28, learner, classes(10_000, 100), folds=(5, 5), score="accuracy")


def _quadratic() -> Row:
    learner = (QuadraticDiscriminantAnalysis(), {"reg_param": SHARES})
    words = "QDA, 5,000 × 30, 10 reg_param, nested 5×5"
    return nested(words, 8, learner, classes(5_000, 30), folds=(5, 5), score="accuracy")


def _one_out() -> Row:
    words = "LDA lsqr leave-one-out, 2,000 × 50, 15 shrinkages"
    learner = (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": SHRINKAGES})
    return _leave_one_out(words, 100, learner, classes(2_000, 50))


def _leave_one_out(
    words: str, floor: float, learner: tuple[Any, dict[str, Any]], data: tuple[Any, Any], *, parts: int = 50
) -> Row:
    """A grid chosen by the accuracy of leave-one-out; scikit-learn does so many of its parts."""
    estimator, space = learner
    X, y = data

    def ours() -> tuple[Any, int]:
        tuned = ho.Tuned(estimator, space, validation=ho.LeaveOneOut(), loss="accuracy", jobs=JOBS).fit(X, y)
        return np.stack([tuned.cv_results_[f"split{part}_test_score"] for part in range(parts)]), tuned.plan_.fits

    def theirs(jobs: int | None) -> Any:
        some = list(LeaveOneOut().split(X))[:parts]
        search = GridSearchCV(estimator, space, cv=some, scoring="accuracy", n_jobs=jobs, refit=False)
        results = search.fit(X, y).cv_results_
        return np.stack([results[f"split{part}_test_score"] for part in range(parts)])

    ways = {"two": partial(theirs, JOBS), "none": partial(theirs, None)}
    tuned = ho.Tuned(estimator, space, validation=ho.LeaveOneOut(), loss="accuracy", jobs=JOBS)
    return Row(words, floor, ours, ways, lambda: tuned.fit(X, y).plan_, share=parts / len(X))


ROWS: dict[str, Callable[[], Row]] = {"lda": _linear, "qda": _quadratic, "lda-loo": _one_out}
