"""Prefixes of LightGBM, XGBoost and CatBoost, where they are installed, against separate fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import path_checks as checks
import pytest

from heldout.kernels.paths.boosters import CATBOOST, LIGHTGBM, XGBOOST

SIZES = [5, 1, 9, 2]


def _numbered(problem: checks.Problem) -> checks.Problem:
    """XGBoost wants classes as numbers."""
    numbers = np.unique(problem.y, return_inverse=True)[1]
    return checks.Problem(X=problem.X, y=numbers, held=problem.held, fit=problem.fit)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"subsample": 0.5, "subsample_freq": 1, "colsample_bytree": 0.6},
        {"data_sample_strategy": "goss"},
        {"boosting_type": "goss"},
        {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1},
        {"deterministic": True, "force_col_wise": True, "n_jobs": 2},
        {"extra_trees": True},
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_lightgbm(options: dict[str, Any]) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    options = {"n_jobs": 1, "verbose": -1, "random_state": 3, "min_child_samples": 5, **options}
    for make in (checks.regression, checks.weighted_regression):
        checks.assert_path_equals_fits(LIGHTGBM, lightgbm.LGBMRegressor(**options), SIZES, make())
    for make in (checks.binary, checks.multiclass, checks.weighted_multiclass):
        checks.assert_path_equals_fits(LIGHTGBM, lightgbm.LGBMClassifier(**options), SIZES, make())


def test_lightgbm_rounds_without_a_split() -> None:
    """It tries again in the next round, by other random numbers, and may then find one: no prefix."""
    lightgbm = pytest.importorskip("lightgbm")
    problem = checks.multiclass()
    options = {"n_jobs": 1, "verbose": -1, "random_state": 3, "min_child_samples": 60, "extra_trees": True}
    fitted = lightgbm.LGBMClassifier(n_estimators=20, **options).fit(problem.X, problem.y)
    with pytest.raises(ValueError, match="no split in some rounds"):
        list(LIGHTGBM.responses(fitted, [20, 8], problem.held, [("predict",)]))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"boosting_type": "dart"}, "dart"),
        ({"num_boost_round": 5}, "num_boost_round"),
        ({"early_stopping_rounds": 5}, "early_stopping_rounds"),
        ({"objective": lambda y, p: (p - y, y)}, "function"),
        ({"device_type": "gpu"}, "GPU"),
        ({"n_jobs": 2}, "n_jobs=1"),
        ({"n_jobs": None}, "n_jobs=1"),
        ({"num_threads": 2}, "n_jobs=1"),
    ],
)
def test_lightgbm_refusals(options: dict[str, Any], reason: str) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    assert reason in checks.refusal_of(LIGHTGBM, lightgbm.LGBMRegressor(**{"n_jobs": 1, **options}), [1, 2])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"subsample": 0.5, "colsample_bynode": 0.5},
        {"tree_method": "exact", "n_jobs": 1},
        {"tree_method": "approx", "num_parallel_tree": 2},
        {"grow_policy": "lossguide", "max_leaves": 5, "learning_rate": 0.7},
    ],
)
def test_xgboost(options: dict[str, Any]) -> None:
    xgboost = pytest.importorskip("xgboost")
    options = {"random_state": 3, "max_depth": 3, **options}
    for make in (checks.regression, checks.weighted_regression, checks.several_targets):
        checks.assert_path_equals_fits(XGBOOST, xgboost.XGBRegressor(**options), SIZES, make())
    for make in (checks.binary, checks.multiclass, checks.weighted_multiclass):
        checks.assert_path_equals_fits(XGBOOST, xgboost.XGBClassifier(**options), SIZES, _numbered(make()))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"booster": "dart"}, "dart"),
        ({"booster": "gblinear"}, "gblinear"),
        ({"early_stopping_rounds": 5}, "early_stopping_rounds"),
        ({"callbacks": []}, "callbacks"),
        ({"device": "cuda"}, "GPU"),
        ({"n_jobs": 2}, "n_jobs=1"),
        ({"objective": lambda y, p: (p - y, y)}, "function"),
    ],
)
def test_xgboost_refusals(options: dict[str, Any], reason: str) -> None:
    xgboost = pytest.importorskip("xgboost")
    assert reason in checks.refusal_of(XGBOOST, xgboost.XGBRegressor(**options), [1, 2])


def test_boosted_forests_of_xgboost_are_not_taken() -> None:
    xgboost = pytest.importorskip("xgboost")
    assert not XGBOOST.takes(xgboost.XGBRFRegressor())


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bootstrap_type": "Bernoulli", "subsample": 0.6, "rsm": 0.5},
        {"boosting_type": "Ordered", "depth": 2},
        {"grow_policy": "Lossguide", "max_leaves": 5},
    ],
)
def test_catboost(options: dict[str, Any], place: int) -> None:
    catboost = pytest.importorskip("catboost")
    options = {
        "learning_rate": 0.2,
        "verbose": 0,
        "allow_writing_files": False,
        "depth": 3,
        "thread_count": 1,
        **options,
    }
    path = CATBOOST[place]
    checks.assert_path_equals_fits(path, catboost.CatBoostRegressor(**options), SIZES, checks.weighted_regression())
    checks.assert_path_equals_fits(path, catboost.CatBoostClassifier(**options), SIZES, checks.binary())
    checks.assert_path_equals_fits(path, catboost.CatBoostClassifier(**options), SIZES, checks.multiclass())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "Pass learning_rate"),
        ({"learning_rate": 0.1, "early_stopping_rounds": 5}, "early_stopping_rounds"),
        ({"learning_rate": 0.1, "num_trees": 5}, "two names"),
        ({"learning_rate": 0.1, "task_type": "GPU"}, "GPU"),
    ],
)
def test_catboost_refusals(options: dict[str, Any], reason: str) -> None:
    catboost = pytest.importorskip("catboost")
    assert reason in checks.refusal_of(CATBOOST[0], catboost.CatBoostRegressor(**options), [1, 2])
