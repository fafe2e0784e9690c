"""LightGBM: the first m rounds of a longer fit are the fit of m rounds, for boosting by gbdt, goss or rf.

Law: a round depends on the rounds before it and on one random stream. dart rescales earlier rounds later on. A fit in
which some round found no split is given up, and its values are fitted one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from heldout.kernels.paths.asking import Methods, limited
from heldout.kernels.paths.counting import CountPath, named

# Other names of n_estimators, which win over it, and ways to stop early.
OTHER_COUNTS = frozenset(
    [
        "num_iteration",
        "num_iterations",
        "n_iter",
        "num_tree",
        "num_trees",
        "num_round",
        "num_rounds",
        "nrounds",
        "num_boost_round",
        "max_iter",
    ]
)
STOPPING = frozenset(["early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change"])
BOOSTINGS = frozenset({"gbdt", "gbrt", "goss", "rf", "random_forest"})


def _refuses(estimator: Any) -> str | None:
    params = {name: value for name, value in estimator.get_params().items() if value is not None}
    boosting = {params[name] for name in ("boosting_type", "boosting", "boost") if name in params}
    for name in (OTHER_COUNTS | STOPPING) & params.keys():
        return f"{name} is set, and decides on the rounds beside n_estimators."
    if not boosting <= BOOSTINGS:
        return f"boosting {', '.join(sorted(map(str, boosting - BOOSTINGS)))} changes earlier rounds later on."
    if callable(params.get("objective")):
        return "the objective is a function of the user's."
    if {params.get("device_type", "cpu"), params.get("device", "cpu")} != {"cpu"}:
        return "on a GPU, sums have no fixed order."
    if not _one_order(params):
        return "with several threads LightGBM's sums have no fixed order. Pass n_jobs=1."
    return None


def _one_order(params: dict[str, Any]) -> bool:
    if params.get("n_jobs") == 1 and not {"num_threads", "num_thread", "nthread", "nthreads"} & params.keys():
        return True
    one_way = params.get("force_col_wise") or params.get("force_row_wise")
    return bool(params.get("deterministic") and one_way)


def _members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    booster = fitted.booster_
    if booster.num_trees() < fitted.n_estimators * booster.num_model_per_iteration():
        # A round that finds no split leaves no trace, and a later one may find one by chance: rounds cannot be counted.
        raise ValueError("LightGBM found no split in some rounds, so its trees do not tell their rounds.")
    for size in sizes:
        yield limited(fitted, num_iteration=size)


LIGHTGBM = CountPath(
    name="LightGBM prefix",
    parameter="n_estimators",
    takes_type=named("lightgbm", "LGBMClassifier", "LGBMRegressor"),
    refuses=_refuses,
    members=_members,
)
