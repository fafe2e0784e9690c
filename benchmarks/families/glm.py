"""Logistic regression: nested beside scikit-learn, LogisticRegressionCV on its own ground, leave-one-out.

Beside LogisticRegressionCV stand the largest slopes of the mean objective of both sides, over all folds and Cs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from benchmarks.table import JOBS, Row, classes, nested
from heldout.kernels.glm import answer as answering

SOLVER = ho.Options(precision="solver")
APPROXIMATE = ho.Options(precision="approximate")
CS = ho.log_grid(-4, 4, 17).tolist()
INNER = StratifiedKFold(5, shuffle=True, random_state=1)
PARTS = 100  # of leave-one-out that scikit-learn is timed on


def _scaled() -> tuple[Any, dict[str, Any]]:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), {"logisticregression__C": CS}


def _three(n: int, p: int) -> tuple[Any, Any]:
    return make_classification(n, p, n_informative=min(p // 2, 10), n_classes=3, flip_y=0.1, random_state=0)


def _nested(words: str, floor: float, make: Callable[[int, int], tuple[Any, Any]]) -> Row:
    return nested(words, floor, _scaled(), make(5_000, 20), folds=(5, 5), score="accuracy", options=SOLVER)


def _own_ground() -> Row:
    """Folds, the same Cs, a fit on all rows and its test: what LogisticRegressionCV does, columns scaled beforehand."""
    X, y = classes(6_250, 20)
    X = StandardScaler().fit_transform(X)
    train, test = next(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    own = {"validation": INNER, "loss": "accuracy", "jobs": JOBS, "options": SOLVER}
    tuned = ho.Tuned(LogisticRegression(max_iter=1000), {"C": CS}, **own)

    def ours() -> tuple[Any, int]:
        fitted = tuned.fit(X[train], y[train])
        return [fitted.score(X[test], y[test])], fitted.plan_.fits

    def search(jobs: int | None) -> Any:
        return LogisticRegressionCV(
            Cs=CS,
            cv=INNER,
            scoring="accuracy",
            n_jobs=jobs,
            max_iter=1000,
            l1_ratios=(0,),
            use_legacy_attributes=False,
        ).fit(X[train], y[train])

    def theirs(jobs: int | None) -> Any:
        return [search(jobs).score(X[test], y[test])]

    ways = {"two": partial(theirs, JOBS), "none": partial(theirs, None)}
    slopes = f"{_own_slope(ours, X[train], y[train]):.0e}, {_their_slope(search(None), X[train], y[train]):.0e}"
    words = f"LogisticRegressionCV, 5,000 × 20, 17 C, 5-fold; slopes {slopes}"
    return Row(words, 1, ours, ways, lambda: tuned.fit(X[train], y[train]).plan_)


def _own_slope(ours: Callable[[], Any], X: Any, y: Any) -> float:
    """The largest slope of the mean objective, over the fits of all folds and Cs."""
    found: list[Any] = []
    own = answering.solve_chunk

    def recorded(job: Any) -> Any:
        solved = own(job)
        found.extend((job[0], one) for one in solved)
        return solved

    with patch.object(answering, "solve_chunk", recorded):
        ours()
    worst = 0.0
    for group, one in found:
        rows = group.work.train_rows(one.training.trains[0])
        for strength, coef in zip(group.strengths, one.coef[:, 0], strict=True):
            raw = coef[:-1] / group.design.scale
            constant = coef[-1] - raw @ group.design.shift
            worst = max(worst, _slope(X[rows], y[rows], raw, constant, strength))
    return worst


def _their_slope(search: Any, X: Any, y: Any) -> float:
    worst = 0.0
    for fold, (rows, _) in enumerate(INNER.split(X, y)):
        for place, C in enumerate(CS):
            coef = np.asarray(search.coefs_paths_)[fold].reshape(len(CS), -1)[place]
            worst = max(worst, _slope(X[rows], y[rows], coef[:-1], coef[-1], 1 / C))
    return worst


def _slope(X: Any, y: Any, coef: Any, constant: float, strength: float) -> float:
    left = expit(X @ coef + constant) - y
    return float(np.abs(np.append(X.T @ left + strength * coef, left.sum())).max() / len(y))


def _leave_one_out(words: str, floor: float, options: ho.Options, rows: int) -> Row:
    X, y = classes(rows, 20)
    model = make_pipeline(StandardScaler(), LogisticRegression())

    def ours() -> tuple[Any, int]:
        result = ho.evaluate(model, X, y, test=ho.LeaveOneOut(), loss="log", jobs=JOBS, progress=False, options=options)
        return result.folds["log"].to_numpy()[:PARTS], result.plan.fits

    def theirs(jobs: int | None) -> Any:
        some = list(LeaveOneOut().split(X))[:PARTS]
        shares = [model.fit(X[train], y[train]).predict_proba(X[held])[0] for train, held in some]
        return [log_loss(y[held], [share], labels=[0, 1]) for (_, held), share in zip(some, shares, strict=True)]

    plan = partial(ho.explain, model, X, y, test=ho.LeaveOneOut(), options=options)
    return Row(words, floor, ours, {"none": partial(theirs, None)}, plan, share=PARTS / rows)


ROWS: dict[str, Callable[[], Row]] = {
    "logistic": lambda: _nested("scaler+LogisticRegression, 5,000 × 20, 17 C, nested 5×5, solver", 10, classes),
    "multinomial": lambda: _nested("the same, three classes, multinomial, solver", 6, _three),
    "logistic_cv": _own_ground,
    "approximate_loo": lambda: _leave_one_out(
        "scaler+LogisticRegression, 2,000 × 20, LOO, approximate", 20, APPROXIMATE, 2_000
    ),
}
