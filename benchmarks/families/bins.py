"""LightGBM and XGBoost candidates that share binned data, beside scikit-learn's grid search: short fits."""

from __future__ import annotations

from benchmarks.table import Row, nested, numbers

RATES = [0.05, 0.1, 0.2]


def lightgbm_bins() -> Row:
    """Leaves and learning rates."""
    from lightgbm import LGBMRegressor

    learner = (LGBMRegressor(n_estimators=20, n_jobs=1, verbose=-1), {"num_leaves": [7, 15], "learning_rate": RATES})
    words = "LightGBM, 5,000 × 100, 6 candidates of 20 rounds, nested 3×3"
    return nested(words, 1.2, learner, numbers(5_000, 100), folds=(3, 3), score="neg_mean_squared_error")


def xgboost_bins() -> Row:
    """Depths and learning rates."""
    from xgboost import XGBRegressor

    learner = (XGBRegressor(n_estimators=20, n_jobs=1), {"max_depth": [2, 4], "learning_rate": RATES})
    words = "XGBoost, 5,000 × 100, 6 candidates of 20 rounds, nested 3×3"
    return nested(words, 1.2, learner, numbers(5_000, 100), folds=(3, 3), score="neg_mean_squared_error")


ROWS = {"lightgbm_bins": lightgbm_bins, "xgboost_bins": xgboost_bins}
