"""Kernel ridge regression and least squares by block residuals and leverages."""

from __future__ import annotations

from collections.abc import Callable

from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression

from benchmarks.table import ALPHAS, Row, leave_one_out, nested, numbers

GAMMAS = [0.01, 0.05, 0.2]


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
    return leave_one_out(
        "OLS LOO, 5,000 × 50",
        500,
        (LinearRegression(), {"fit_intercept": [True]}),
        numbers(5_000, 50),
    )


ROWS: dict[str, Callable[[], Row]] = {
    "kernel_ridge": _kernel_ridge_nested,
    "kernel_ridge_loo": _kernel_ridge_leave_one_out,
    "ols_loo": _least_squares_leave_one_out,
}
