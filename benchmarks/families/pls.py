"""Partial least squares beside scikit-learn, and beside the fast cross-validation of ikpls (pip install ikpls)."""

from __future__ import annotations

import contextlib
import io
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold

import heldout as ho
from benchmarks.table import JOBS, Row, nested, numbers

COMPONENTS = list(range(1, 21))


def pls() -> Row:
    """Number of components chosen by K-fold inside K-fold."""
    words = "PLS, 3,000 × 200, 1–20 components, nested 5×5"
    learner = (PLSRegression(), {"n_components": COMPONENTS})
    return nested(words, 45, learner, numbers(3_000, 200), folds=(5, 5), score="neg_mean_squared_error")


def pls_ikpls(folds: int) -> Row:
    """One level of K-fold for every number of components, which ikpls is made for, and a fit of the chosen one."""
    words = f"PLS, 3,000 × 200, 1–20 components, {folds}-fold, against ikpls"
    X, y = numbers(3_000, 200)
    tuned = ho.Tuned(
        PLSRegression(),
        {"n_components": COMPONENTS},
        validation=KFold(folds),
        loss="neg_mean_squared_error",
        jobs=JOBS,
    )

    def ours() -> tuple[Any, int]:
        fitted = tuned.fit(X, y)
        scores = [fitted.cv_results_[f"split{part}_test_score"] for part in range(folds)]
        return -np.stack(scores), fitted.plan_.fits

    ways = {f"{n} processes": partial(_by_ikpls, X, y, folds, n) for n in (1, JOBS)}
    return Row(words, 1.0, ours, ways, lambda: tuned.fit(X, y).plan_)


def _by_ikpls(X: Any, y: Any, folds: int, processes: int) -> Any:
    from ikpls.fast_cross_validation.numpy import PLS as FastPLS
    from ikpls.numpy import PLS

    parts = np.empty(len(X), dtype=int)
    for part, (_, held) in enumerate(KFold(folds).split(X)):
        parts[held] = part
    # Its own choice of BLAS threads is many times slower than one.
    with contextlib.redirect_stdout(io.StringIO()), _libraries().limit(limits=1):
        model = FastPLS(algorithm=2, ddof=1)
        found = model.cross_validate(X, y[:, None], max(COMPONENTS), parts, _squared, n_jobs=processes, verbose=0)
        errors = np.stack([found[part] for part in range(folds)])
        PLS(algorithm=2, ddof=1).fit(X, y[:, None], int(errors.mean(axis=0).argmin()) + 1)
    return errors


@cache
def _libraries() -> Any:
    """To look them up takes milliseconds, which are not the peer's."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _squared(true: Any, predicted: Any) -> Any:
    return ((true - predicted) ** 2).mean(axis=(1, 2))


ROWS = {"pls": pls, **{f"pls_ikpls_{folds}": partial(pls_ikpls, folds) for folds in (5, 10, 100)}}
