"""scikit-learn's ensembles: the first m members of a larger one with the same seed are the ensemble of m members.

Law: forests and bagging draw the seeds of their members in order from one stream, and each member depends on its own
seed alone; their answers are sums over members in order, divided by their number. In boosting a stage depends on the
stages before it and on one random stream, which it continues. Early stopping looks at past stages only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
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
from sklearn.ensemble._bagging import _parallel_predict_proba
from sklearn.utils.validation import validate_data

from heldout.kernels.paths.path import Answering, Methods, count_path, exactly, stand_in

FOREST_TYPES = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)


def refuse_ensemble(estimator: Any) -> str | None:
    """Return why no path can answer this ensemble, or None."""
    if getattr(estimator, "oob_score", False):
        return "oob_score=True: each size has its own out-of-bag score and warnings."
    return "warm_start=True goes on from an earlier fit." if estimator.warm_start else None


def empty_sums(fitted: Any, n: int) -> list[NDArray[np.float64]]:
    """Return sums over no trees, one array for each output of a classifier, shaped as the forest shapes them."""
    if is_classifier(fitted):
        return [np.zeros((n, int(classes))) for classes in np.atleast_1d(fitted.n_classes_)]
    return [np.zeros((n, fitted.n_outputs_) if fitted.n_outputs_ > 1 else n)]


def add_tree(sums: list[NDArray[np.float64]], tree: Any, X: Any) -> None:
    """Add to the sums what one tree answers on rows that the forest has already checked."""
    if is_classifier(tree):
        answer = tree.predict_proba(X, check_input=False)
        for total, one in zip(sums, answer if isinstance(answer, list) else [answer], strict=True):
            total += one
    else:
        sums[0] += tree.predict(X, check_input=False)


def mean_member(fitted: Any, sums: list[NDArray[np.float64]], trees: int) -> Any:
    """Return a stand-in for the forest of this many trees whose answers add up to these sums."""
    means = [total / trees for total in sums]
    answer = Answering(means[0] if len(means) == 1 else means)
    return stand_in(fitted, {"predict_proba" if is_classifier(fitted) else "predict": answer})


def _forests(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    rows = fitted._validate_X_predict(X)
    sums = empty_sums(fitted, rows.shape[0])
    done = 0
    for size in sizes:
        for tree in fitted.estimators_[done:size]:
            add_tree(sums, tree, rows)
        done = size
        yield mean_member(fitted, sums, size)


def _bags(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    rows = validate_data(
        fitted, X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False, reset=False
    )  # as its predict does
    sums: dict[str, Any] = {"predict_proba" if is_classifier(fitted) else "predict": 0}
    called = [next((m for m in alternatives if hasattr(fitted, m)), None) for alternatives in methods]
    if is_classifier(fitted) and "decision_function" in called:
        sums["decision_function"] = 0
    done = 0
    for size in sizes:
        for place in range(done, size):
            for method, total in sums.items():
                # Not in place: a first answer in single precision is added up in single precision.
                sums[method] = total + _answer_of_bag(fitted, place, rows, method)
        done = size
        yield stand_in(fitted, {method: Answering(total / size) for method, total in sums.items()})


def _answer_of_bag(fitted: Any, place: int, X: Any, method: str) -> Any:
    member, features = fitted.estimators_[place], fitted.estimators_features_[place]
    if method == "predict_proba":  # scikit-learn's own way with votes and absent classes
        return _parallel_predict_proba([member], [features], X, fitted.n_classes_)
    return np.asarray(getattr(member, method)(X[:, features]))


def _stages(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    stages = fitted.staged_decision_function(X) if is_classifier(fitted) else fitted.staged_predict(X)
    raw: Any = None
    done = 0
    for size in sizes:
        until = min(size, fitted.n_estimators_)  # fewer where it stopped early
        for raw in islice(stages, until - done):  # noqa: B007 — the last one counts
            pass
        done = until
        yield stand_in(fitted, {"_raw_predict": Answering(raw if is_classifier(fitted) else raw[:, None])})


def _iterations(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    rows = fitted._preprocess_X(X, reset=False)
    baseline = fitted._baseline_prediction
    # Each column is a class and is added to by itself, hence the order.
    raw = np.zeros((rows.shape[0], fitted.n_trees_per_iteration_), dtype=baseline.dtype, order="F")
    raw += baseline
    done = 0
    for size in sizes:
        fitted._predict_iterations(rows, fitted._predictors[done:size], raw, is_binned=False, n_threads=1)
        done = size
        yield stand_in(fitted, {"_raw_predict": Answering(raw.copy(order="F"))})


def _weighted_members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    X = fitted._check_X(X)
    if is_classifier(fitted):
        yield from _weighted_classifiers(fitted, sizes, X)
        return
    # The prediction is a weighted median over members, for which all of them are needed at once.
    recalled = [SimpleNamespace(predict=Answering(one.predict(X))) for one in fitted.estimators_[: sizes[-1]]]
    for size in sizes:
        yield stand_in(fitted, {"estimators_": recalled[:size]})


def _weighted_classifiers(fitted: Any, sizes: Sequence[int], X: Any) -> Iterator[Any]:
    n_classes, classes = fitted.n_classes_, fitted.classes_[:, np.newaxis]
    total: Any = 0
    done = 0
    for size in sizes:
        if n_classes == 1:  # one class is answered without asking the members
            yield fitted
            continue
        for member, weight in zip(fitted.estimators_[done:size], fitted.estimator_weights_[done:size], strict=False):
            total = total + np.where((member.predict(X) == classes).T, weight, -1 / (n_classes - 1) * weight)
        done = min(size, len(fitted.estimators_))
        # As many weights as members were asked for: they are summed in blocks, so the length tells in the last bit.
        decision = total / fitted.estimator_weights_[:size].copy().sum()
        if n_classes == 2:
            decision[:, 0] *= -1
            decision = decision.sum(axis=1)
        yield stand_in(fitted, {"decision_function": Answering(decision)})


BAGS = exactly(BaggingClassifier, BaggingRegressor)
STAGED = exactly(GradientBoostingClassifier, GradientBoostingRegressor)
HISTOGRAMS = exactly(HistGradientBoostingClassifier, HistGradientBoostingRegressor)
WEIGHTED = exactly(AdaBoostClassifier, AdaBoostRegressor)

FORESTS = count_path("forest prefix", "n_estimators", exactly(*FOREST_TYPES), _forests, refuse_ensemble)
BAGGING = count_path("bagging prefix", "n_estimators", BAGS, _bags, refuse_ensemble)
GRADIENT_BOOSTING = count_path("boosting prefix", "n_estimators", STAGED, _stages, refuse_ensemble)
HIST_BOOSTING = count_path("histogram boosting prefix", "max_iter", HISTOGRAMS, _iterations, refuse_ensemble)
ADABOOST = count_path("AdaBoost prefix", "n_estimators", WEIGHTED, _weighted_members)
