"""Logistic regression: nested beside scikit-learn, LogisticRegressionCV on its own ground, leave-one-out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from benchmarks.table import JOBS, Row, classes, nested

APPROXIMATE = ho.Options(precision="approximate")
CS = ho.log_grid(-4, 4, 17).tolist()
INNER = StratifiedKFold(5, shuffle=True, random_state=1)
PARTS = 100  # of leave-one-out that scikit-learn is timed on


def _scaled() -> tuple[Any, dict[str, Any]]:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), {"logisticregression__C": CS}


def _three(n: int, p: int) -> tuple[Any, Any]:
    return make_classification(n, p, n_informative=min(p // 2, 10), n_classes=3, flip_y=0.1, random_state=0)


def _nested(words: str, floor: float, make: Callable[[int, int], tuple[Any, Any]]) -> Row:
    return nested(words, floor, _scaled(), make(5_000, 20), folds=(5, 5), score="accuracy")


def _own_ground() -> Row:
    """Folds, the same Cs, a fit on all rows and its test: what LogisticRegressionCV does, columns scaled beforehand."""
    X, y = classes(6_250, 20)
    X = StandardScaler().fit_transform(X)
    train, test = next(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    own = {"validation": INNER, "loss": "accuracy", "jobs": JOBS}
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
    return Row(
        "LogisticRegressionCV, 5,000 × 20, 17 C, 5-fold", 1, ours, ways, lambda: tuned.fit(X[train], y[train]).plan_
    )


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
    "logistic": lambda: _nested("scaler+LogisticRegression, 5,000 × 20, 17 C, nested 5×5", 10, classes),
    "multinomial": lambda: _nested("the same, three classes, multinomial", 6, _three),
    "logistic_cv": _own_ground,
    "approximate_loo": lambda: _leave_one_out(
        "scaler+LogisticRegression, 2,000 × 20, LOO, approximate", 20, APPROXIMATE, 2_000
    ),
}
