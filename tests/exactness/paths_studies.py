"""Studies for the comparison of paths with brute force: ensembles read off the largest, trees pruned and cut back.

Each study is a label and a function that makes a learner, X, y and the keywords of `evaluate`. All of it follows from
the study's number, so that a study that differs can be made again by its label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

import heldout as ho

Study = tuple[Any, Any, Any, dict[str, Any]]
Made = tuple[str, Callable[[], Study]]

RULE = "within"
TIER = "identical"

SIZES = [1, 3, 8]
LABELS = np.array(["ash", "birch", "cedar"])

REGRESSORS: Sequence[tuple[Any, dict[str, Any]]] = (
    (RandomForestRegressor(), {"n_estimators": SIZES}),
    (RandomForestRegressor(max_samples=0.6), {"n_estimators": SIZES, "max_features": [1, 1.0]}),
    (ExtraTreesRegressor(random_state=5), {"n_estimators": SIZES, "max_depth": [2, None]}),
    (BaggingRegressor(max_features=0.7), {"n_estimators": SIZES}),
    (BaggingRegressor(Ridge(), max_samples=0.5), {"n_estimators": SIZES, "estimator__alpha": [0.1, 10.0]}),
    (GradientBoostingRegressor(subsample=0.7, max_features=2), {"n_estimators": SIZES, "max_depth": [1, 3]}),
    (GradientBoostingRegressor(n_iter_no_change=2, learning_rate=0.9), {"n_estimators": [2, 10, 30]}),
    (HistGradientBoostingRegressor(min_samples_leaf=5), {"max_iter": SIZES, "learning_rate": [0.1, 1.0]}),
    (HistGradientBoostingRegressor(early_stopping=True, n_iter_no_change=2, tol=0.1), {"max_iter": [2, 10, 30]}),
    (AdaBoostRegressor(), {"n_estimators": SIZES, "loss": ["linear", "exponential"]}),
)

CLASSIFIERS: Sequence[tuple[Any, dict[str, Any]]] = (
    (RandomForestClassifier(), {"n_estimators": SIZES, "criterion": ["gini", "entropy"]}),
    (RandomForestClassifier(class_weight="balanced_subsample"), {"n_estimators": SIZES}),
    (ExtraTreesClassifier(bootstrap=True), {"n_estimators": SIZES}),
    (BaggingClassifier(max_features=2, bootstrap_features=True), {"n_estimators": SIZES}),
    (BaggingClassifier(RidgeClassifier()), {"n_estimators": SIZES}),
    (GradientBoostingClassifier(subsample=0.5), {"n_estimators": SIZES, "learning_rate": [0.1, 1.0]}),
    (HistGradientBoostingClassifier(min_samples_leaf=5, max_features=0.5), {"max_iter": SIZES}),
    (HistGradientBoostingClassifier(early_stopping=True, n_iter_no_change=2), {"max_iter": [2, 10, 30]}),
    (AdaBoostClassifier(), {"n_estimators": [2, 9, 12], "learning_rate": [0.5, 1.0]}),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)), {"n_estimators": [2, 9, 12]}),
)

ALPHAS = [0.0, 0.002, 0.01, 0.03, 0.3]
LEAVES = [2, 3, 6, 12, 40]

TREE_REGRESSORS: Sequence[tuple[Any, dict[str, Any]]] = (
    (DecisionTreeRegressor(), {"ccp_alpha": ALPHAS}),
    (DecisionTreeRegressor(max_features=2), {"ccp_alpha": ALPHAS[1:], "max_depth": [3, None]}),
    (DecisionTreeRegressor(criterion="absolute_error"), {"ccp_alpha": ALPHAS}),
    (ExtraTreeRegressor(), {"ccp_alpha": ALPHAS, "min_samples_leaf": [1, 4]}),
    (RandomForestRegressor(4), {"ccp_alpha": ALPHAS}),
    (ExtraTreesRegressor(4, bootstrap=True, max_samples=0.5), {"ccp_alpha": ALPHAS[1:]}),
    (DecisionTreeRegressor(), {"max_leaf_nodes": LEAVES}),
    (DecisionTreeRegressor(splitter="random", max_features=3), {"max_leaf_nodes": [*LEAVES, None]}),
    (RandomForestRegressor(4), {"max_leaf_nodes": LEAVES}),
    (DecisionTreeRegressor(), {"max_leaf_nodes": LEAVES[2:], "ccp_alpha": ALPHAS}),
)

TREE_CLASSIFIERS: Sequence[tuple[Any, dict[str, Any]]] = (
    (DecisionTreeClassifier(), {"ccp_alpha": ALPHAS}),
    (DecisionTreeClassifier(class_weight="balanced"), {"ccp_alpha": ALPHAS, "criterion": ["gini", "entropy"]}),
    (DecisionTreeClassifier(splitter="random"), {"ccp_alpha": ALPHAS[1:]}),
    (ExtraTreeClassifier(), {"ccp_alpha": ALPHAS}),
    (RandomForestClassifier(4, class_weight="balanced_subsample"), {"ccp_alpha": ALPHAS}),
    (ExtraTreesClassifier(4), {"ccp_alpha": ALPHAS[1:], "max_depth": [4, None]}),
    (DecisionTreeClassifier(max_features="sqrt"), {"max_leaf_nodes": LEAVES}),
    (DecisionTreeClassifier(class_weight="balanced"), {"max_leaf_nodes": [None, *LEAVES]}),
    (RandomForestClassifier(4), {"max_leaf_nodes": LEAVES, "criterion": ["gini", "log_loss"]}),
    (ExtraTreesClassifier(4), {"max_leaf_nodes": LEAVES}),
)

RECIPES: Sequence[dict[str, Any]] = (
    {"test": ho.KFold(3)},
    {"test": ho.KFold(2, repeats=2)},
    {"test": ho.Resample(3, held_out=0.3)},
    {"test": ho.Holdout(0.3)},
    {"test": ho.KFold(4)},
    {"test": [(np.arange(20, 90, 2), np.arange(20)), (np.arange(10, 60), np.arange(60, 90))]},
)

TREATMENTS = (
    "plain",
    "rounded",
    "offset",
    "float32",
    "constant columns",
    "wide",
    "frame",
    "weights",
    "sparse",
    "missing",
)


def studies() -> Iterator[Made]:
    """All of them: ensembles first, then pruning, then LightGBM, XGBoost and CatBoost where they are installed."""
    yield from _family("ensemble", REGRESSORS, CLASSIFIERS, repeats=2)
    yield from _family("pruning", TREE_REGRESSORS, TREE_CLASSIFIERS, repeats=2)
    yield from _other_boosters()


def _family(
    name: str,
    regressors: Sequence[tuple[Any, dict[str, Any]]],
    classifiers: Sequence[tuple[Any, dict[str, Any]]],
    *,
    repeats: int,
) -> Iterator[Made]:
    for number in range(repeats * len(regressors)):
        place, again = number % len(regressors), number // len(regressors)
        # The second time round each learner meets another treatment and another recipe.
        treatment = TREATMENTS[(number + 3 * again) % len(TREATMENTS)]
        for kind, table in (("regression", regressors), ("classes", classifiers)):
            estimator, space = table[place]
            label = f"{name} {number}: {type(estimator).__name__} {'×'.join(space)}, {kind}, {treatment}"
            yield label, partial(_make, estimator, space, kind=kind, treatment=treatment, number=number)


def _make(estimator: Any, space: dict[str, Any], *, kind: str, treatment: str, number: int) -> Study:
    refused = {"missing": not _takes_missing(estimator), "sparse": _wants_dense(estimator)}
    if refused.get(treatment, False):
        treatment = "rounded"
    X, y, roles = _data(kind, treatment, number)
    if number % 3 == 1 and treatment not in ("sparse", "missing"):
        estimator = make_pipeline(StandardScaler(), estimator)
        last = estimator.steps[-1][0]
        space = {f"{last}__{name}": values for name, values in space.items()}
    votes = "RidgeClassifier" in repr(estimator)
    proba = kind == "classes" and number % 2 == 0 and not votes
    loss = (["zero_one", "log"] if proba else "zero_one") if kind == "classes" else ["squared", "absolute"]
    recipe = RECIPES[number % len(RECIPES)]
    validation = ho.SharedBlocks() if recipe["test"] == ho.KFold(4) else ho.KFold(2 + number % 2)
    final = "ensemble" if number % 7 == 6 else "retrain"
    learner = ho.Tuned(estimator, space, validation=validation, loss=loss, final=final)
    return learner, X, y, {**recipe, **roles, "seed": number}


def _takes_missing(estimator: Any) -> bool:
    return isinstance(
        estimator, HistGradientBoostingClassifier | HistGradientBoostingRegressor | RandomForestClassifier
    ) or type(estimator) in (DecisionTreeClassifier, ExtraTreesClassifier)


def _wants_dense(estimator: Any) -> bool:
    return isinstance(estimator, HistGradientBoostingClassifier | HistGradientBoostingRegressor)


def _data(kind: str, treatment: str, number: int) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng([number, len(treatment)])
    n, p = 90, 120 if treatment == "wide" else 5
    X: Any = rng.normal(size=(n, p))
    signal = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=n)
    if treatment in ("rounded", "sparse"):
        X = np.round(X)
    if treatment == "offset":
        X, signal = X + 1e6, signal + (1e6 if kind == "regression" else 0)
    if treatment == "float32":
        X = X.astype(np.float32)
    if treatment == "constant columns":
        X[:, 2], X[:, 3] = 3.0, X[:, 0]
    y: Any = signal if kind == "regression" else LABELS[np.digitize(signal, [-1.2, 0.8])]
    if kind == "regression" and treatment == "rounded":
        y = np.round(y)
    roles = {"sample_weight": rng.choice([0.25, 1.0, 2.0], size=n)} if treatment == "weights" else {}
    if treatment == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    if treatment == "sparse":
        X = sparse.csr_matrix(X)
    if treatment == "frame":
        X = pd.DataFrame(X, columns=[f"column {number}" for number in range(p)])
    return X, y, roles


def _other_boosters() -> Iterator[Made]:
    for number, (package, name, options, space) in enumerate(_BOOSTERS):
        if find_spec(package) is None:
            continue
        kind = "classes" if name.endswith("Classifier") else "regression"
        label = f"booster {number}: {name} {options}"
        yield label, partial(_make_booster, (package, name, options), space, kind=kind, number=number)


_LIGHT = {"n_jobs": 1, "verbose": -1, "min_child_samples": 3}
_CAT = {"learning_rate": 0.2, "verbose": 0, "allow_writing_files": False, "thread_count": 1, "depth": 3}

_BOOSTERS: Sequence[tuple[str, str, dict[str, Any], dict[str, Any]]] = (
    ("lightgbm", "LGBMRegressor", _LIGHT, {"n_estimators": SIZES, "num_leaves": [4, 8]}),
    ("lightgbm", "LGBMClassifier", {**_LIGHT, "subsample": 0.5, "subsample_freq": 1}, {"n_estimators": SIZES}),
    ("lightgbm", "LGBMClassifier", {**_LIGHT, "data_sample_strategy": "goss"}, {"n_estimators": SIZES}),
    ("lightgbm", "LGBMClassifier", {**_LIGHT, "extra_trees": True, "min_child_samples": 25}, {"n_estimators": SIZES}),
    ("lightgbm", "LGBMRegressor", {**_LIGHT, "boosting_type": "dart"}, {"n_estimators": SIZES}),
    ("xgboost", "XGBRegressor", {"max_depth": 3}, {"n_estimators": SIZES, "learning_rate": [0.1, 0.5]}),
    ("xgboost", "XGBClassifier", {"subsample": 0.6, "colsample_bynode": 0.6}, {"n_estimators": SIZES}),
    ("xgboost", "XGBRegressor", {"booster": "dart", "rate_drop": 0.5}, {"n_estimators": SIZES}),
    ("catboost", "CatBoostRegressor", _CAT, {"iterations": SIZES}),
    ("catboost", "CatBoostClassifier", {**_CAT, "bootstrap_type": "Bernoulli"}, {"n_estimators": SIZES}),
)


def _make_booster(which: tuple[str, str, dict[str, Any]], space: dict[str, Any], *, kind: str, number: int) -> Study:
    from importlib import import_module

    package, name, options = which
    X, y, _ = _data(kind, "plain", number)
    if kind == "classes":
        y = np.unique(y, return_inverse=True)[1]
    estimator = getattr(import_module(package), name)(**options)
    loss = ["zero_one", "log"] if kind == "classes" else "squared"
    learner = ho.Tuned(estimator, space, validation=ho.KFold(2), loss=loss)
    return learner, X, y, {"test": ho.KFold(3), "seed": number}
