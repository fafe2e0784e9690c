"""The exact accelerations beside scikit-learn's cross_val_score(GridSearchCV), same rows, same deliverables, one run.

Run ``python -m benchmarks accelerated``, or name rows: ``python -m benchmarks.accelerated ridge forest``. How both
sides are measured: :mod:`benchmarks.table`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from benchmarks.opaque import SlowRidge, steps_for
from benchmarks.table import ALPHAS, JOBS, Row, classes, leave_one_out, nested, numbers, print_table


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    print(__doc__)
    print_table(ROWS, sys.argv[1:])


def _ridge(n: int = 20_000, p: int = 200) -> Row:
    learner = make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}
    words = f"scaler+ridge, {n:,} × {p}, 17 α, nested 5×5"
    return nested(words, 70, learner, numbers(n, p), folds=(5, 5), score="neg_mean_squared_error")


def _neighbours() -> Row:
    learner = KNeighborsClassifier(), {"n_neighbors": list(range(1, 51))}
    return nested(
        "kNN, 5,000 × 20, k = 1…50, nested 5×5", 45, learner, classes(5_000, 20), folds=(5, 5), score="accuracy"
    )


def _tree() -> Row:
    learner = DecisionTreeClassifier(random_state=0), {"ccp_alpha": np.linspace(0, 0.01, 20).tolist()}
    words = "decision tree, 5,000 × 20, 20 ccp_alphas, nested 5×5"
    return nested(words, 15, learner, classes(5_000, 20), folds=(5, 5), score="accuracy")


def _selection() -> Row:
    score = partial(mutual_info_classif, random_state=0)
    learner = (
        make_pipeline(SelectKBest(score), LogisticRegression(max_iter=1000)),
        {"selectkbest__k": [2, 5, 10, 20, 30, 40], "logisticregression__C": [0.01, 0.1, 1.0, 10.0, 100.0]},
    )
    words = "SelectKBest(mutual information) 6 k × logistic 5 C, 2,000 × 40, 5×3"
    return nested(words, 13, learner, classes(2_000, 40), folds=(5, 3), score="accuracy")


def _boosting() -> Row:
    learner = HistGradientBoostingClassifier(random_state=0), {"max_iter": list(range(20, 201, 20))}
    words = "HistGradientBoosting, max_iter 20…200 in 10, 5,000 × 20, nested 5×3"
    return nested(words, 5, learner, classes(5_000, 20), folds=(5, 3), score="accuracy")


def _forest() -> Row:
    learner = RandomForestClassifier(random_state=0), {"n_estimators": [50, 100, 150, 200, 250, 300]}
    words = "forest, n_estimators 50…300 in 6, 5,000 × 20, nested 5×3"
    return nested(words, 2.8, learner, classes(5_000, 20), folds=(5, 3), score="accuracy")


def _shared_forest() -> Row:
    estimator, space = RandomForestClassifier(random_state=0), {"n_estimators": [50, 100, 150, 200, 250, 300]}
    row = nested("", 4.7, (estimator, space), classes(5_000, 20), folds=(6, 5), score="accuracy")
    X, y = classes(5_000, 20)

    def ours() -> tuple[Any, int]:
        tuned = ho.Tuned(estimator, space, validation=ho.SharedBlocks(), loss="accuracy")
        pairs = list(StratifiedKFold(6, shuffle=True, random_state=0).split(X, y))
        result = ho.evaluate(tuned, X, y, test=pairs, jobs=JOBS, progress=False)
        return None, result.plan.fits  # other inner folds than nested 6×5, so no scores to compare

    tuned = ho.Tuned(estimator, space, validation=ho.SharedBlocks(), loss="accuracy")
    plan = partial(ho.explain, tuned, X, y, test=ho.KFold(6))
    return row._replace(words="the same forest, SharedBlocks on 6 blocks, to nested 6×5", ours=ours, plan=plan)


def _opaque() -> Row:
    X, y = numbers(400, 10)
    learner = SlowRidge(steps=steps_for(0.02, X, y)), {"alpha": [0.1, 1.0, 10.0]}
    words = "opaque learner of 20 ms a fit, nothing to share, nested 5×5"
    return nested(words, 1.05, learner, (X, y), folds=(5, 5), score="neg_mean_squared_error")


def _iris() -> Row:
    learner = KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}
    words = "iris, 3 candidates, the smallest study"
    return nested(words, 0.95, learner, load_iris(return_X_y=True), folds=(5, 5), score="accuracy")


ROWS: dict[str, Callable[[], Row]] = {
    "ridge": _ridge,
    "neighbours": _neighbours,
    "tree": _tree,
    "selection": _selection,
    "boosting": _boosting,
    "forest": _forest,
    "shared": _shared_forest,
    "ridge_loo": lambda: leave_one_out(
        "ridge leave-one-out, 2,000 × 50, 17 α", 1_000, (Ridge(), {"alpha": ALPHAS}), numbers(2_000, 50)
    ),
    "scaled_ridge_loo": lambda: leave_one_out(
        "scaler+ridge leave-one-out, 2,000 × 50, 17 α",
        700,
        (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}),
        numbers(2_000, 50),
    ),
    "opaque": _opaque,
    "iris": _iris,
}


if __name__ == "__main__":
    main()
