"""XGBoost: the first m rounds of a longer fit are the fit of m rounds, for boosted trees.

Law: a round depends on the rounds before it and on one random stream. dart rescales earlier rounds later on, and a
linear booster keeps no rounds apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from heldout.kernels.paths.asking import Methods, limited
from heldout.kernels.paths.counting import CountPath, named


def _refuses(estimator: Any) -> str | None:
    params = {name: value for name, value in estimator.get_params().items() if value is not None}
    if params.get("booster", "gbtree") != "gbtree":
        return f"booster={params['booster']!r} does not keep earlier rounds as they were."
    for name in ("early_stopping_rounds", "callbacks", "updater", "process_type"):
        if name in params:
            return f"{name} is set, and may make a round depend on more than the rounds before it."
    if callable(params.get("objective")):
        return "the objective is a function of the user's."
    if str(params.get("device", "cpu")) != "cpu" or "gpu" in str(params.get("tree_method", "")):
        return "on a GPU, sums have no fixed order."
    # Left unset it follows OpenMP, which is held to one thread while a study runs.
    if params.get("n_jobs", 1) != 1 or "nthread" in params:
        return "with several threads XGBoost's sums have no fixed order. Pass n_jobs=1."
    return None


def _members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    built = fitted.get_booster().num_boosted_rounds()
    for size in sizes:
        yield limited(fitted, iteration_range=(0, min(size, built)))


XGBOOST = CountPath(
    name="XGBoost prefix",
    parameter="n_estimators",
    takes_type=named("xgboost", "XGBClassifier", "XGBRegressor"),
    refuses=_refuses,
    members=_members,
)
