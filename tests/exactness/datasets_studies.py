"""Generated studies for candidates that share binned data: LightGBM and XGBoost, bit for bit as separate fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

Posed = tuple[Any, Any, Any, dict[str, Any]]
Study = tuple[str, Callable[[], Posed]]
RULE, TIER = "within", "identical"
COUNTED = ((lightgbm.Dataset, "__init__"), (xgboost.QuantileDMatrix, "__init__"))  # the binned data that fits share
ROUNDS = [3, 6]

LIGHT: dict[str, dict[str, Any]] = {
    "leaves and rates": {"num_leaves": [4, 15], "learning_rate": [0.1, 0.3]},
    "rounds": {"num_leaves": [4, 15], "n_estimators": ROUNDS},
    "penalties": {"reg_alpha": [0.0, 1.0], "reg_lambda": [0.0, 5], "min_split_gain": [0.0, 0.1]},
    "samples of rows and columns": {"subsample": [0.6, 1.0], "colsample_bytree": [0.5, 1.0], "subsample_freq": [1]},
    "depth and weights": {"max_depth": [2, -1], "min_child_weight": [1e-3, 2.0]},
    "rows in a leaf": {"min_child_samples": [5, 20], "num_leaves": [4, 15]},
    "numbers of bins": {"max_bin": [15, 255], "num_leaves": [4, 15]},
    "invalid": {"num_leaves": [4, 0], "learning_rate": [0.1, 0.3]},
}
EXTREME: dict[str, dict[str, Any]] = {
    "depths and rates": {"max_depth": [2, 4], "learning_rate": [0.1, 0.3]},
    "rounds": {"max_depth": [2, 4], "n_estimators": ROUNDS},
    "penalties": {"reg_alpha": [None, 1.0], "reg_lambda": [0.5, 5], "gamma": [0, 0.5]},
    "samples of rows and columns": {"subsample": [0.6, 1.0], "colsample_bytree": [0.5, 1.0], "colsample_bynode": [0.7]},
    "weights and steps": {"min_child_weight": [1, 4], "max_delta_step": [0, 1]},
    "leaves": {"grow_policy": ["lossguide"], "max_leaves": [4, 9], "learning_rate": [0.3, 0.1]},
    "numbers of bins": {"max_bin": [15, 64], "max_depth": [2, 4]},
    "other trees": {"tree_method": ["hist", "exact", "approx"], "max_depth": [2, 4]},
    "invalid": {"max_depth": [2, -3], "learning_rate": [0.1, 0.3]},
}


def studies() -> Iterator[Study]:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for kinds in (0, 2, 3):
        name = "Classifier" if kinds else "Regressor"
        for words, space in LIGHT.items():
            made = getattr(lightgbm, f"LGBM{name}")(n_estimators=5, n_jobs=1, verbose=-1, min_child_samples=5)
            yield f"LightGBM, {kinds} classes, {words}", lambda m=made, s=space, k=kinds: _posed(m, s, k)
        for words, space in EXTREME.items():
            made = getattr(xgboost, f"XGB{name}")(n_estimators=5, n_jobs=1)
            yield f"XGBoost, {kinds} classes, {words}", lambda m=made, s=space, k=kinds: _posed(m, s, k)
    light = lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1, min_child_samples=5)
    extreme = xgboost.XGBRegressor(n_estimators=5, n_jobs=1)
    grids = ((light, LIGHT["leaves and rates"]), (extreme, EXTREME["depths and rates"]))
    for made, space in grids:
        name = type(made).__name__
        pipe = make_pipeline(StandardScaler(), made)
        inside = {f"{name.lower()}__{key}": values for key, values in space.items()}
        yield f"{name}, weights", lambda m=made, s=space: _posed(m, s, 0, weights=True)
        yield f"{name}, frames", lambda m=made, s=space: _posed(m, s, 0, frame=True)
        yield f"{name}, behind a scaler", lambda m=pipe, s=inside: _posed(m, s, 0)
        yield f"{name}, a given seed", lambda m=made, s=space: _posed(m, s | {"random_state": [3, 4]}, 0)
        yield f"{name}, several losses", lambda m=made, s=space: _posed(m, s, 0, loss=["absolute", "r2"])
        many = space | {"reg_lambda": [0.1, 1.0, 10.0, 100.0]}
        yield f"{name}, more fits than share", lambda m=made, s=many: _posed(m, s, 0)


def _posed(
    made: Any, space: dict[str, Any], kinds: int, *, weights: bool = False, frame: bool = False, loss: Any = None
) -> Posed:
    rng = np.random.default_rng(0)
    n = 150
    X = rng.normal(size=(n, 5))
    X[:, 1] = X[:, 1].round()
    X[::9, 2] = np.nan
    score = X[:, 0] + X[:, 1] + rng.normal(size=n)
    y = np.argsort(np.argsort(score)) * kinds // n if kinds else score
    table = X if not frame else pd.DataFrame(X, columns=list("abcde")).assign(f=pd.Categorical(rng.integers(0, 3, n)))
    if frame and hasattr(made, "enable_categorical"):
        made = made.set_params(enable_categorical=True)
    tuned = ho.Tuned(made, space, validation=ho.KFold(3), loss=loss, random_state=1)
    return tuned, table, y, {"test": ho.Holdout(0.3)} | ({"sample_weight": rng.uniform(0.5, 2, n)} if weights else {})
