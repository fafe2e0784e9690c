"""One xgboost matrix for several fits on the same rows.

Every member is fitted by XGBoost's own estimator, with the matrix that the first one made standing in for its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.kernels.paths.xgboost import XGBOOST
from heldout.kernels.within.binned import Binned

FREE = (
    "n_estimators", "max_depth", "max_leaves", "learning_rate", "gamma", "min_child_weight", "max_delta_step",
    "subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode", "reg_alpha", "reg_lambda",
)  # fmt: skip
METHODS = (None, "auto", "hist")


def _refuses(estimator: Any) -> str | None:
    params = estimator.get_params()
    if params.get("tree_method") not in METHODS:
        return f"tree_method={params['tree_method']!r} has no bins that are made once."
    extra = sorted(set(params) - set(type(estimator)().get_params()))
    if extra:
        return f"{extra[0]} is passed on to XGBoost, where it may be another name of a parameter that differs."
    if not callable(getattr(estimator, "_create_dmatrix", None)):
        return "this version of XGBoost makes its matrix elsewhere."
    return None


def _fit_all(own: Sequence[Any], X: Any, y: Any, arguments: Mapping[str, Any]) -> list[Any]:
    kept: list[Any] = []
    for estimator in own:
        make = estimator._create_dmatrix

        def once(ref: Any, make: Any = make, **data: Any) -> Any:
            if not kept:
                kept.append(make(ref, **data))
            return kept[0]

        estimator._create_dmatrix = once
        estimator.fit(X, y, **arguments)
        del estimator._create_dmatrix
    return list(own)


XGBOOST_BINS = Binned(
    name="XGBoost bins",
    prefix=XGBOOST,
    free=FREE,
    refuses=_refuses,
    fit_all=_fit_all,
)
