"""LightGBM, XGBoost and CatBoost: the first m rounds of a longer fit are the fit of m rounds.

Law: a round depends on the rounds before it and on one random stream. Estimators are refused if they rescale earlier
rounds later on, stop early, use the number of rounds to come, add up in no fixed order, or run a user's function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from heldout.base.responses import METHODS
from heldout.kernels.paths.path import Methods, count_path

# Aliases of LightGBM's n_estimators, which override it, and parameters of early stopping.
LIGHTGBM_COUNTS = frozenset(
    ["num_iteration", "num_iterations", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds", "nrounds",
     "num_boost_round", "max_iter", "early_stopping_round", "early_stopping_rounds", "early_stopping",
     "n_iter_no_change"]
)  # fmt: skip
LIGHTGBM_BOOSTINGS = frozenset({"gbdt", "gbrt", "goss", "rf", "random_forest"})
CATBOOST_COUNTS = ("iterations", "n_estimators")
# Parameters by which CatBoost stops early, shrinks earlier trees, continues another fit, or runs a user's function.
CATBOOST_UNSURE = frozenset(
    ["early_stopping_rounds", "od_type", "od_pval", "od_wait", "use_best_model", "best_model_min_trees",
     "eval_fraction", "posterior_sampling", "langevin", "diffusion_temperature", "model_shrink_rate",
     "model_shrink_mode", "save_snapshot", "snapshot_file", "snapshot_interval", "callback", "callbacks",
     "text_features", "embedding_features", "text_processing"]
)  # fmt: skip
ON_GPU = "on a GPU, sums have no fixed order."
OWN_OBJECTIVE = "the objective is a function of the user's."


def named(package: str, *names: str) -> Callable[[type], bool]:
    """Return a function that tells if a type is one of these classes of a package that need not be installed."""
    return lambda kind: kind.__module__.split(".")[0] == package and kind.__qualname__ in names


def set_params(estimator: Any) -> dict[str, Any]:
    """Return the estimator's parameters that are not None."""
    return {name: value for name, value in estimator.get_params().items() if value is not None}


def _limited(fitted: Any, **limit: Any) -> Any:
    """Return a stand-in for a fitted estimator that answers with its first rounds alone."""
    methods = {name: partial(getattr(fitted, name), **limit) for name in METHODS if hasattr(fitted, name)}
    classes = {"classes_": fitted.classes_} if hasattr(fitted, "classes_") else {}
    return SimpleNamespace(**methods, **classes)


def _refuse_lightgbm(estimator: Any) -> str | None:
    params = set_params(estimator)
    boosting = {params[name] for name in ("boosting_type", "boosting", "boost") if name in params}
    for name in LIGHTGBM_COUNTS & params.keys():
        return f"{name} is set, and decides on the rounds beside n_estimators."
    if not boosting <= LIGHTGBM_BOOSTINGS:
        return f"boosting {', '.join(sorted(map(str, boosting - LIGHTGBM_BOOSTINGS)))} changes earlier rounds later on."
    if callable(params.get("objective")):
        return OWN_OBJECTIVE
    if {params.get("device_type", "cpu"), params.get("device", "cpu")} != {"cpu"}:
        return ON_GPU
    one_thread = params.get("n_jobs") == 1
    if {"num_threads", "num_thread", "nthread", "nthreads"} & params.keys():
        one_thread = False
    one_way = params.get("force_col_wise") or params.get("force_row_wise")
    if not (one_thread or (params.get("deterministic") and one_way)):
        return "with several threads LightGBM's sums have no fixed order. Pass n_jobs=1."
    return None


def _lightgbm(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    booster = fitted.booster_
    if booster.num_trees() < fitted.n_estimators * booster.num_model_per_iteration():
        # A round that finds no split leaves no trace, and a later one may find one by chance: rounds cannot be counted.
        raise ValueError("LightGBM found no split in some rounds, so its trees do not tell their rounds.")
    for size in sizes:
        yield _limited(fitted, num_iteration=size)


def _refuse_xgboost(estimator: Any) -> str | None:
    params = set_params(estimator)
    if params.get("booster", "gbtree") != "gbtree":
        return f"booster={params['booster']!r} does not keep earlier rounds as they were."
    for name in ("early_stopping_rounds", "callbacks", "updater", "process_type"):
        if name in params:
            return f"{name} is set, and may make a round depend on more than the rounds before it."
    if callable(params.get("objective")):
        return OWN_OBJECTIVE
    if str(params.get("device", "cpu")) != "cpu" or "gpu" in str(params.get("tree_method", "")):
        return ON_GPU
    # Left unset it follows OpenMP, which is held to one thread while a study runs.
    if params.get("n_jobs", 1) != 1 or "nthread" in params:
        return "with several threads XGBoost's sums have no fixed order. Pass n_jobs=1."
    return None


def _xgboost(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    built = fitted.get_booster().num_boosted_rounds()
    for size in sizes:
        yield _limited(fitted, iteration_range=(0, min(size, built)))


def _refuse_catboost(estimator: Any) -> str | None:
    params = set_params(estimator)
    if len({*CATBOOST_COUNTS, "num_boost_round", "num_trees"} & params.keys()) != 1:
        return "the number of trees is given under two names."
    if "learning_rate" not in params and "eta" not in params:
        return "CatBoost takes its learning rate from the number of trees. Pass learning_rate."
    for name in CATBOOST_UNSURE & params.keys():
        return f"{name} is set, and may make a tree depend on more than the trees before it."
    if str(params.get("task_type", "CPU")).upper() != "CPU":
        return ON_GPU
    for name in ("loss_function", "objective", "eval_metric"):
        if name in params and not isinstance(params[name], str):
            return f"{name} is a function of the user's."
    return None


def _catboost(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    for size in sizes:
        yield _limited(fitted, ntree_end=min(size, fitted.tree_count_))


IS_LIGHTGBM = named("lightgbm", "LGBMClassifier", "LGBMRegressor")
IS_XGBOOST = named("xgboost", "XGBClassifier", "XGBRegressor")
IS_CATBOOST = named("catboost", "CatBoostClassifier", "CatBoostRegressor")

LIGHTGBM = count_path("LightGBM prefix", "n_estimators", IS_LIGHTGBM, _lightgbm, _refuse_lightgbm)
XGBOOST = count_path("XGBoost prefix", "n_estimators", IS_XGBOOST, _xgboost, _refuse_xgboost)
CATBOOST = tuple(
    count_path(f"CatBoost prefix ({parameter})", parameter, IS_CATBOOST, _catboost, _refuse_catboost)
    for parameter in CATBOOST_COUNTS
)
