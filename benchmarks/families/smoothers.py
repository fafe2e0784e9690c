"""Kernel ridge regression and least squares by block residuals and leverages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import LeaveOneOut, cross_val_score

import heldout as ho
from benchmarks.table import ALPHAS, JOBS, Row, leave_one_out, nested, numbers

GAMMAS = [0.01, 0.05, 0.2]
LEAST_SQUARES_PARTS = 200  # of leave-one-out that scikit-learn is timed on


def _kernel_ridge_nested() -> Row:
    return nested(
        "KernelRidge rbf, 800 rows × 20, 17 α × 3 γ, nested 10×10",
        20,
        (KernelRidge(kernel="rbf"), {"alpha": ALPHAS, "gamma": GAMMAS}),
        numbers(800, 20),
        folds=(10, 10),
        score="neg_mean_squared_error",
    )


def _kernel_ridge_leave_one_out() -> Row:
    return leave_one_out(
        "KernelRidge LOO, 400 rows, 17 α",
        400,
        (KernelRidge(kernel="rbf", gamma=0.05), {"alpha": ALPHAS}),
        numbers(400, 20),
    )


def _least_squares_leave_one_out() -> Row:
    X, y = numbers(5_000, 50)
    score = "neg_mean_squared_error"

    def ours() -> tuple[Any, int]:
        result = ho.evaluate(LinearRegression(), X, y, test=ho.LeaveOneOut(), loss=score, jobs=JOBS, progress=False)
        return result.folds[score].to_numpy()[:LEAST_SQUARES_PARTS], result.plan.fits

    def theirs(jobs: int | None) -> Any:
        some = list(LeaveOneOut().split(X))[:LEAST_SQUARES_PARTS]
        return cross_val_score(LinearRegression(), X, y, cv=some, scoring=score, n_jobs=jobs)

    ways: dict[str, Callable[[], Any]] = {"two": partial(theirs, JOBS), "none": partial(theirs, None)}
    plan = partial(ho.explain, LinearRegression(), X, y, test=ho.LeaveOneOut(), loss=score)
    return Row("OLS LOO, 5,000 × 50", 500, ours, ways, plan, share=LEAST_SQUARES_PARTS / len(np.asarray(X)))


ROWS: dict[str, Callable[[], Row]] = {
    "kernel_ridge": _kernel_ridge_nested,
    "kernel_ridge_loo": _kernel_ridge_leave_one_out,
    "ols_loo": _least_squares_leave_one_out,
}
