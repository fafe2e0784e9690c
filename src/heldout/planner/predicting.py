"""What predictions cost beside fits, by what a learner is made of: decided before any fit, by the question alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from heldout.study.panels import Study
from heldout.study.search import Family, Search
from heldout.task.task import Task

_KNOWN = ("sklearn", "xgboost", "lightgbm", "catboost", "heldout")  # packages whose learners are known by name
# Where predicting a row costs about as much as to have it among the training rows, or more.
_COSTLY = (
    "sklearn.neighbors",
    "sklearn.gaussian_process",
    "sklearn.kernel_ridge",
    "sklearn.semi_supervised",
    "sklearn.manifold",
    "sklearn.feature_extraction",
    "sklearn.svm",
)
_COSTLY_NAMES = frozenset({"KNNImputer", "IterativeImputer", "KernelPCA", "FunctionTransformer", "FrozenEstimator"})
_CHEAP_NAMES = frozenset({"LinearSVC", "LinearSVR"})


def costly_predictions(study: Study, task: Task) -> str | None:
    """Why predicting further rows would cost more than a twentieth of this study, or None where it would not."""
    for part in _parts_of(study.search):
        reason = _about(part)
        if reason is not None:
            return reason
    return None


def has_probabilities(search: Search) -> bool:
    """Whether every predictor that may be chosen gives probabilities, as far as unfitted estimators can tell."""
    return all(hasattr(family.estimator, "predict_proba") for family in search.families)


def _about(part: Any) -> str | None:
    name, module = type(part).__name__, type(part).__module__
    if module.partition(".")[0] not in _KNOWN:
        return f"nothing is known of what predictions of {name} cost"
    if name in _COSTLY_NAMES or (module.startswith(_COSTLY) and name not in _CHEAP_NAMES):
        return f"predictions of {name} cost as much as fits"
    return None


def _parts_of(search: Search) -> Iterator[Any]:
    """Every estimator in a learner, those among the values of its candidates too."""
    for family in search.families:
        yield family.estimator
        for value in family.estimator.get_params(deep=True).values():
            yield from _estimators(value)
        yield from _among_values(family)


def _among_values(family: Family) -> Iterator[Any]:
    params = family.estimator.get_params(deep=True)
    names = [name for name in family.candidates.names if _may_hold(params.get(name))]
    for one in family.candidates if names else ():
        for name in names:
            for found in _estimators(one.get(name)):
                yield found
                for value in found.get_params(deep=True).values():
                    yield from _estimators(value)


def _may_hold(value: Any) -> bool:
    """Whether a parameter with this value may be given an estimator by a candidate."""
    return value is None or isinstance(value, str) or hasattr(value, "get_params")


def _estimators(value: Any) -> Iterator[Any]:
    if hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, type):
        yield value
