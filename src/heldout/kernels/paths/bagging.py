"""Bagging: the first m members of a larger ensemble with the same seed are the ensemble of m members.

Law: the members' seeds are drawn in order from one stream, and rows, columns and random states of a member come from
its seed alone. Answers are sums over members in order (of probabilities, votes, decisions or predictions), divided by
their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.ensemble._bagging import _parallel_predict_proba
from sklearn.utils.validation import validate_data

from heldout.kernels.paths.asking import Answering, Methods, asks, stand_in
from heldout.kernels.paths.counting import CountPath, exactly, warm_start_refusal


def _refuses(estimator: Any) -> str | None:
    if estimator.oob_score:
        return "oob_score=True: each size has its own out-of-bag score and warnings."
    return warm_start_refusal(estimator)


def _members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    rows = validate_data(
        fitted, X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False, reset=False
    )  # as its predict does
    sums = _sums(fitted, methods)
    done = 0
    for size in sizes:
        for place in range(done, size):
            for method, total in sums.items():
                # Not in place: a first answer in single precision is added up in single precision.
                sums[method] = total + _answer(fitted, place, rows, method)
        done = size
        yield stand_in(fitted, {method: Answering(total / size) for method, total in sums.items()})


def _sums(fitted: Any, methods: Methods) -> dict[str, Any]:
    if not is_classifier(fitted):
        return {"predict": 0}
    sums: dict[str, Any] = {"predict_proba": 0}
    if asks(methods, "decision_function", fitted):
        sums["decision_function"] = 0
    return sums


def _answer(fitted: Any, place: int, X: Any, method: str) -> Any:
    member, features = fitted.estimators_[place], fitted.estimators_features_[place]
    if method == "predict_proba":  # scikit-learn's own way with votes and absent classes
        return _parallel_predict_proba([member], [features], X, fitted.n_classes_)
    return np.asarray(getattr(member, method)(X[:, features]))


BAGGING = CountPath(
    name="bagging prefix",
    parameter="n_estimators",
    takes_type=exactly(BaggingClassifier, BaggingRegressor),
    refuses=_refuses,
    members=_members,
)
