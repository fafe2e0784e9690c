"""The nested studies that heldout and scikit-learn are timed on: the same rows, fits and scores on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from benchmarks.opaque import SlowRidge, steps_for
from heldout.planner.passes import PASSES

JOBS = 2
FOLDS = 5
BRUTE_FORCE = dict.fromkeys([name for name, _ in PASSES], False)  # no rule saves a fit: the same fits on both sides


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedStudy:
    """A grid chosen by K-fold inside K-fold: both sides get these very outer rows and this very inner splitter."""

    words: str
    estimator: Any
    space: dict[str, list[Any]]
    X: Any
    y: Any
    outer: Any
    inner: Any
    scoring: str

    @property
    def fits(self) -> int:
        """Choosing takes candidates × inner folds, and one fit more on the whole training part, in each outer fold."""
        candidates = int(np.prod([len(values) for values in self.space.values()]))
        return int(FOLDS * (candidates * FOLDS + 1))

    @property
    def pairs(self) -> list[Any]:
        return list(self.outer.split(self.X, self.y))

    def by_heldout(self) -> Any:
        """The score of each outer fold. The study's choices, predictions and interval come with it."""
        learner = ho.Tuned(self.estimator, self.space, validation=self.inner, loss=self.scoring)
        options = ho.Options(rules=BRUTE_FORCE)
        result = ho.evaluate(learner, self.X, self.y, test=self.pairs, jobs=JOBS, progress=False, options=options)
        return result.folds[self.scoring].to_numpy()

    def by_sklearn(self, *, outer_jobs: int | None = None, inner_jobs: int | None = None) -> Any:
        """The score of each outer fold."""
        search = GridSearchCV(self.estimator, self.space, cv=self.inner, scoring=self.scoring, n_jobs=inner_jobs)
        return cross_val_score(search, self.X, self.y, cv=self.pairs, scoring=self.scoring, n_jobs=outer_jobs)


# n_jobs of the outer and of the inner level, as a user of scikit-learn may set them.
PEERS: dict[str, dict[str, int]] = {
    "sklearn, outer n_jobs=2": {"outer_jobs": JOBS},
    "sklearn, inner n_jobs=2": {"inner_jobs": JOBS},
    "sklearn, no n_jobs": {},
}


def opaque(steps: int | None = None) -> NestedStudy:
    """A learner of about 20 ms a fit; `steps` as measured, or to be measured now."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X / X.std(axis=0), y - y.mean()
    steps = steps_for(0.02, X[:280], y[:280]) if steps is None else steps
    return NestedStudy(
        words="opaque learner, 20 ms a fit",
        estimator=SlowRidge(steps=steps),
        space={"alpha": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]},
        X=X,
        y=y,
        outer=KFold(FOLDS, shuffle=True, random_state=1),
        inner=KFold(FOLDS, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
    )


def iris_neighbours() -> NestedStudy:
    """The smallest study anyone runs: a millisecond a fit."""
    return _iris("iris, k nearest neighbours", KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]})


def iris_logistic() -> NestedStudy:
    """Fits of a few milliseconds."""
    return _iris("iris, logistic regression", LogisticRegression(max_iter=1000), {"C": [0.1, 1.0, 10.0]})


def _iris(words: str, estimator: Any, space: dict[str, list[Any]]) -> NestedStudy:
    X, y = load_iris(return_X_y=True)
    return NestedStudy(
        words=words,
        estimator=estimator,
        space=space,
        X=X,
        y=y,
        outer=StratifiedKFold(FOLDS, shuffle=True, random_state=1),
        inner=StratifiedKFold(FOLDS, shuffle=True, random_state=0),
        scoring="accuracy",
    )
