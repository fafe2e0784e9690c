"""Forests: the first m trees of a larger forest with the same seed are the forest of m trees.

Law: a forest seeds its trees in order from one stream, and each tree draws from its own seed alone. Probabilities and
predictions are sums over trees in order, divided by their number, so that running sums answer every size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from heldout.kernels.paths.asking import Answering, Methods, stand_in
from heldout.kernels.paths.counting import CountPath, exactly, warm_start_refusal

FOREST_TYPES = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)


def forest_refusal(estimator: Any) -> str | None:
    """What no forest path can do."""
    if estimator.oob_score:
        return "oob_score=True: each size has its own out-of-bag score and warnings."
    return warm_start_refusal(estimator)


def empty_sums(fitted: Any, n: int) -> list[NDArray[np.float64]]:
    """Sums over no trees yet, one array an output of a classifier, shaped as the forest shapes them."""
    if is_classifier(fitted):
        return [np.zeros((n, int(classes))) for classes in np.atleast_1d(fitted.n_classes_)]
    return [np.zeros((n, fitted.n_outputs_) if fitted.n_outputs_ > 1 else n)]


def add_tree(sums: list[NDArray[np.float64]], tree: Any, X: Any) -> None:
    """Add what one tree answers on rows that the forest has already checked."""
    if is_classifier(tree):
        answer = tree.predict_proba(X, check_input=False)
        for total, one in zip(sums, answer if isinstance(answer, list) else [answer], strict=True):
            total += one
    else:
        sums[0] += tree.predict(X, check_input=False)


def mean_member(fitted: Any, sums: list[NDArray[np.float64]], trees: int) -> Any:
    """The forest whose trees add up to these sums."""
    means = [total / trees for total in sums]
    answer = Answering(means[0] if len(means) == 1 else means)
    return stand_in(fitted, {"predict_proba" if is_classifier(fitted) else "predict": answer})


def _members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    rows = fitted._validate_X_predict(X)
    sums = empty_sums(fitted, rows.shape[0])
    done = 0
    for size in sizes:
        for tree in fitted.estimators_[done:size]:
            add_tree(sums, tree, rows)
        done = size
        yield mean_member(fitted, sums, size)


FORESTS = CountPath(
    name="forest prefix",
    parameter="n_estimators",
    takes_type=exactly(*FOREST_TYPES),
    refuses=forest_refusal,
    members=_members,
)
