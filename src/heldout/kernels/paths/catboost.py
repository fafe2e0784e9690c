"""CatBoost: the first m trees of a longer fit are the fit of m trees, given a learning rate.

Law: a tree depends on the trees before it and on one random stream. Left to itself, CatBoost takes its learning rate
from the number of trees to come. Threads do not change its results on a CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from heldout.kernels.paths.asking import Methods, limited
from heldout.kernels.paths.counting import CountPath, named

COUNTS = ("iterations", "n_estimators")
OTHER_COUNTS = frozenset({"num_boost_round", "num_trees"})
# What stops early, shrinks earlier trees, takes up another fit, or runs a function of the user's.
UNSURE = frozenset(
    [
        "early_stopping_rounds",
        "od_type",
        "od_pval",
        "od_wait",
        "use_best_model",
        "best_model_min_trees",
        "eval_fraction",
        "posterior_sampling",
        "langevin",
        "diffusion_temperature",
        "model_shrink_rate",
        "model_shrink_mode",
        "save_snapshot",
        "snapshot_file",
        "snapshot_interval",
        "callback",
        "callbacks",
        "text_features",
        "embedding_features",
        "text_processing",
    ]
)


def _refuses(estimator: Any) -> str | None:
    params = {name: value for name, value in estimator.get_params().items() if value is not None}
    if len((set(COUNTS) | OTHER_COUNTS) & params.keys()) != 1:
        return "the number of trees is given under two names."
    if "learning_rate" not in params and "eta" not in params:
        return "CatBoost takes its learning rate from the number of trees. Pass learning_rate."
    for name in UNSURE & params.keys():
        return f"{name} is set, and may make a tree depend on more than the trees before it."
    if str(params.get("task_type", "CPU")).upper() != "CPU":
        return "on a GPU, sums have no fixed order."
    for name in ("loss_function", "objective", "eval_metric"):
        if name in params and not isinstance(params[name], str):
            return f"{name} is a function of the user's."
    return None


def _members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    for size in sizes:
        yield limited(fitted, ntree_end=min(size, fitted.tree_count_))


CATBOOST = tuple(
    CountPath(
        name=f"CatBoost prefix ({parameter})",
        parameter=parameter,
        takes_type=named("catboost", "CatBoostClassifier", "CatBoostRegressor"),
        refuses=_refuses,
        members=_members,
    )
    for parameter in COUNTS
)
