"""One lightgbm.Dataset for several fits on the same rows.

The first member is fitted by LightGBM's own estimator; a callback keeps the Dataset that this made, and the parameters
as they were handed to lightgbm.train. The others are trained on it by lightgbm.train itself, which refuses parameters
that would have needed other bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.kernels.paths.asking import stand_in
from heldout.kernels.paths.lightgbm import LIGHTGBM
from heldout.kernels.within.binned import Binned

FREE = (
    "n_estimators", "num_leaves", "max_depth", "learning_rate", "min_split_gain", "min_child_weight", "reg_alpha",
    "reg_lambda", "subsample", "subsample_freq", "colsample_bytree",
)  # fmt: skip

# Further parameters that are no other names of those above.
KNOWN = frozenset(
    ["verbose", "verbosity", "deterministic", "force_col_wise", "force_row_wise", "extra_trees", "max_bin",
     "min_data_in_bin", "data_sample_strategy", "top_rate", "other_rate", "path_smooth", "cat_smooth"]
)  # fmt: skip


def _refuses(estimator: Any) -> str | None:
    params = estimator.get_params()
    if params.get("linear_tree"):
        return "linear_tree=True keeps the rows beside their bins."
    extra = sorted(set(params) - set(type(estimator)().get_params()) - KNOWN)
    if extra:
        return f"{extra[0]} is passed on to LightGBM, where it may be another name of a parameter that differs."
    return None


def _fit_all(own: Sequence[Any], X: Any, y: Any, arguments: Mapping[str, Any]) -> list[Any]:
    import lightgbm

    kept: dict[str, Any] = {}

    def keep(env: Any) -> None:
        kept.setdefault("params", dict(env.params))
        kept.setdefault("data", env.model.train_set)

    keep.before_iteration = True  # type: ignore[attr-defined]
    first = own[0].fit(X, y, **arguments, callbacks=[keep])
    fitted = [first]
    for other in own[1:]:
        changed = {name: other.get_params(deep=False)[name] for name in FREE}
        rounds = changed.pop("n_estimators")
        params = {name: value for name, value in kept["params"].items() if name != "num_iterations"} | changed
        booster = lightgbm.train(params, kept["data"], num_boost_round=rounds)
        twin = stand_in(first, {"_Booster": booster, "n_estimators": rounds, **changed})
        if twin.booster_ is not booster:
            raise TypeError("This version of LightGBM keeps its trees elsewhere.")
        fitted.append(twin)
    return fitted


LIGHTGBM_BINS = Binned(
    name="LightGBM bins",
    prefix=LIGHTGBM,
    free=FREE,
    refuses=_refuses,
    fit_all=_fit_all,
)
