"""The exact accelerations beside scikit-learn's cross_val_score(GridSearchCV), same rows, same deliverables, one run.

Run ``python -m benchmarks accelerated``, or name rows: ``python -m benchmarks.accelerated ridge forest``. scikit-learn
gets both cores, at the best of n_jobs on the outer level, on the inner level, or none (none is left out for forests,
which take minutes). heldout's seconds are the median of several warm runs. scikit-learn's leave-one-out is timed on 100
of its 2,000 parts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from benchmarks.opaque import SlowRidge, steps_for

JOBS = 2
ALPHAS = ho.log_grid(-6, 2, 17).tolist()


class Row(NamedTuple):
    """One study of the table: how each side answers it, and the ratio that is asked."""

    words: str
    floor: float
    ours: Callable[[], tuple[Any, int]]  # fold scores, and fits done
    theirs: dict[str, Callable[[], Any]]  # fold scores, by way
    plan: Callable[[], Any]  # what explain says of it
    share: float = 1.0  # of scikit-learn's work that is timed


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    print(__doc__)
    asked = sys.argv[1:]
    print(f"{'study':66}{'heldout':>10}{'sklearn':>10}{'ratio':>9}{'asked':>7}{'difference':>12}{'fits':>7}")
    below = 0
    for name, build in ROWS.items():
        if not asked or name in asked:
            below += _print_row(build())
    print(f"{below} below what is asked")


def _print_row(row: Row) -> bool:
    row.ours()  # workers boot and libraries load outside the clock
    seconds = []
    for _ in range(11):
        started = perf_counter()
        scores, fits = row.ours()
        seconds.append(perf_counter() - started)
        if sum(seconds) > 10 and len(seconds) >= 3:
            break
    own = median(seconds)
    best, peer = np.inf, None
    for way in row.theirs.values():
        started = perf_counter()
        answer = way()
        spent = (perf_counter() - started) / row.share
        if spent < best:
            best, peer = spent, answer
    gap = np.nan if scores is None or peer is None else float(np.abs(np.asarray(scores) - np.asarray(peer)).max())
    ratio = best / own
    mark = "" if ratio >= row.floor else "  BELOW"
    print(
        f"{row.words:66}{own:>8.4f} s{best:>8.2f} s{ratio:>9.2f}{row.floor:>7g}{gap:>12.2g}{fits:>7}{mark}", flush=True
    )
    return ratio < row.floor


def _nested(
    words: str,
    floor: float,
    learner: tuple[Any, dict[str, Any]],
    data: tuple[Any, Any],
    *,
    folds: tuple[int, int],
    score: str,
) -> Row:
    estimator, space = learner
    X, y = data
    kind = StratifiedKFold if score == "accuracy" else KFold
    pairs = list(kind(folds[0], shuffle=True, random_state=0).split(X, y))
    inner = kind(folds[1], shuffle=True, random_state=1)

    def ours() -> tuple[Any, int]:
        tuned = ho.Tuned(estimator, space, validation=inner, loss=score)
        result = ho.evaluate(tuned, X, y, test=pairs, jobs=JOBS, progress=False)
        return result.folds[score].to_numpy(), result.plan.fits

    def theirs(outer: int | None, inside: int | None) -> Any:
        search = GridSearchCV(estimator, space, cv=inner, scoring=score, n_jobs=inside)
        return cross_val_score(search, X, y, cv=pairs, scoring=score, n_jobs=outer)

    ways = {
        "outer": partial(theirs, JOBS, None),
        "inner": partial(theirs, None, JOBS),
        "none": partial(theirs, None, None),
    }
    if isinstance(estimator, RandomForestClassifier):
        del ways["none"]
    plan = partial(ho.explain, ho.Tuned(estimator, space, validation=inner, loss=score), X, y, test=pairs)
    return Row(words, floor, ours, ways, plan)


def _leave_one_out(words: str, floor: float, learner: tuple[Any, dict[str, Any]], data: tuple[Any, Any]) -> Row:
    estimator, space = learner
    X, y = data
    parts = 100

    def ours() -> tuple[Any, int]:
        tuned = ho.Tuned(estimator, space, validation=ho.LeaveOneOut(), loss="neg_mean_squared_error", jobs=JOBS).fit(
            X, y
        )
        scores = [tuned.cv_results_[f"split{part}_test_score"] for part in range(parts)]
        return np.stack(scores), tuned.plan_.fits

    def theirs(jobs: int | None) -> Any:
        some = list(LeaveOneOut().split(X))[:parts]
        search = GridSearchCV(estimator, space, cv=some, scoring="neg_mean_squared_error", n_jobs=jobs, refit=False)
        results = search.fit(X, y).cv_results_
        return np.stack([results[f"split{part}_test_score"] for part in range(parts)])

    ways = {"two": partial(theirs, JOBS), "none": partial(theirs, None)}
    tuned = ho.Tuned(estimator, space, validation=ho.LeaveOneOut(), loss="neg_mean_squared_error", jobs=JOBS)
    return Row(words, floor, ours, ways, lambda: tuned.fit(X, y).plan_, share=parts / len(X))


def _numbers(n: int, p: int) -> tuple[Any, Any]:
    return make_regression(n, p, n_informative=p // 2, noise=20.0, random_state=0)


def _classes(n: int, p: int) -> tuple[Any, Any]:
    return make_classification(n, p, n_informative=min(p // 2, 10), flip_y=0.1, random_state=0)


def _ridge(n: int = 20_000, p: int = 200) -> Row:
    learner = make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}
    words = f"scaler+ridge, {n:,} × {p}, 17 α, nested 5×5"
    return _nested(words, 70, learner, _numbers(n, p), folds=(5, 5), score="neg_mean_squared_error")


def _neighbours() -> Row:
    learner = KNeighborsClassifier(), {"n_neighbors": list(range(1, 51))}
    return _nested(
        "kNN, 5,000 × 20, k = 1…50, nested 5×5", 45, learner, _classes(5_000, 20), folds=(5, 5), score="accuracy"
    )


def _tree() -> Row:
    learner = DecisionTreeClassifier(random_state=0), {"ccp_alpha": np.linspace(0, 0.01, 20).tolist()}
    words = "decision tree, 5,000 × 20, 20 ccp_alphas, nested 5×5"
    return _nested(words, 15, learner, _classes(5_000, 20), folds=(5, 5), score="accuracy")


def _selection() -> Row:
    score = partial(mutual_info_classif, random_state=0)
    learner = (
        make_pipeline(SelectKBest(score), LogisticRegression(max_iter=1000)),
        {"selectkbest__k": [2, 5, 10, 20, 30, 40], "logisticregression__C": [0.01, 0.1, 1.0, 10.0, 100.0]},
    )
    words = "SelectKBest(mutual information) 6 k × logistic 5 C, 2,000 × 40, 5×3"
    return _nested(words, 13, learner, _classes(2_000, 40), folds=(5, 3), score="accuracy")


def _boosting() -> Row:
    learner = HistGradientBoostingClassifier(random_state=0), {"max_iter": list(range(20, 201, 20))}
    words = "HistGradientBoosting, max_iter 20…200 in 10, 5,000 × 20, nested 5×3"
    return _nested(words, 5, learner, _classes(5_000, 20), folds=(5, 3), score="accuracy")


def _forest() -> Row:
    learner = RandomForestClassifier(random_state=0), {"n_estimators": [50, 100, 150, 200, 250, 300]}
    words = "forest, n_estimators 50…300 in 6, 5,000 × 20, nested 5×3"
    return _nested(words, 2.8, learner, _classes(5_000, 20), folds=(5, 3), score="accuracy")


def _shared_forest() -> Row:
    estimator, space = RandomForestClassifier(random_state=0), {"n_estimators": [50, 100, 150, 200, 250, 300]}
    row = _nested("", 4.7, (estimator, space), _classes(5_000, 20), folds=(6, 5), score="accuracy")
    X, y = _classes(5_000, 20)

    def ours() -> tuple[Any, int]:
        tuned = ho.Tuned(estimator, space, validation=ho.SharedBlocks(), loss="accuracy")
        pairs = list(StratifiedKFold(6, shuffle=True, random_state=0).split(X, y))
        result = ho.evaluate(tuned, X, y, test=pairs, jobs=JOBS, progress=False)
        return None, result.plan.fits  # other inner folds than nested 6×5, so no scores to compare

    tuned = ho.Tuned(estimator, space, validation=ho.SharedBlocks(), loss="accuracy")
    plan = partial(ho.explain, tuned, X, y, test=ho.KFold(6))
    return row._replace(words="the same forest, SharedBlocks on 6 blocks, to nested 6×5", ours=ours, plan=plan)


def _opaque() -> Row:
    X, y = _numbers(400, 10)
    learner = SlowRidge(steps=steps_for(0.02, X, y)), {"alpha": [0.1, 1.0, 10.0]}
    words = "opaque learner of 20 ms a fit, nothing to share, nested 5×5"
    return _nested(words, 1.05, learner, (X, y), folds=(5, 5), score="neg_mean_squared_error")


def _iris() -> Row:
    learner = KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}
    words = "iris, 3 candidates, the smallest study"
    return _nested(words, 0.95, learner, load_iris(return_X_y=True), folds=(5, 5), score="accuracy")


ROWS: dict[str, Callable[[], Row]] = {
    "ridge": _ridge,
    "neighbours": _neighbours,
    "tree": _tree,
    "selection": _selection,
    "boosting": _boosting,
    "forest": _forest,
    "shared": _shared_forest,
    "ridge_loo": lambda: _leave_one_out(
        "ridge leave-one-out, 2,000 × 50, 17 α", 1_000, (Ridge(), {"alpha": ALPHAS}), _numbers(2_000, 50)
    ),
    "scaled_ridge_loo": lambda: _leave_one_out(
        "scaler+ridge leave-one-out, 2,000 × 50, 17 α",
        700,
        (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}),
        _numbers(2_000, 50),
    ),
    "opaque": _opaque,
    "iris": _iris,
}


if __name__ == "__main__":
    main()
