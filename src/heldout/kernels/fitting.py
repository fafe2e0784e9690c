"""Making a candidate and fitting it: the same for every kernel that fits, and for the final predictor."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from copy import deepcopy
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from heldout.base.errors import LearnerError, SpaceError, did_you_mean
from heldout.base.rowkeys import Rows, derive
from heldout.search.search import Search
from heldout.task.task import Task


def make_candidate(search: Search, candidate: int) -> Any:
    """The candidate as an unfitted estimator: a clone of its family's, with its parameters set."""
    return _on_one_thread(_cloned(search, candidate))


def _on_one_thread(estimator: Any) -> Any:
    """LightGBM counts cores itself and hears no thread limit but its own parameter."""
    if "lightgbm" not in sys.modules:
        return estimator
    for name, value in estimator.get_params(deep=True).items():
        if value is None and (name == "n_jobs" or name.endswith("__n_jobs")):
            owner = estimator.get_params(deep=True)[name.removesuffix("__n_jobs")] if "__" in name else estimator
            if type(owner).__module__.startswith("lightgbm."):
                estimator.set_params(**{name: 1})
    return estimator


def _cloned(search: Search, candidate: int) -> Any:
    estimator = clone(search.family_of(candidate).estimator)
    params = search.params_of(candidate)
    if params:
        # Estimators among the values are cloned too, so that fits never share one.
        estimator.set_params(**{name: clone(value, safe=False) for name, value in params.items()})
    return estimator


def unseeded_names(estimator: Any) -> tuple[str, ...]:
    """The parameters that chance would decide, at any depth: a random_state that is None, a splitter that has one."""
    return tuple(name for name, value in estimator.get_params(deep=True).items() if _is_unseeded(name, value))


def _is_unseeded(name: str, value: Any) -> bool:
    if value is None:
        return name == "random_state" or name.endswith("__random_state")
    shuffles = hasattr(value, "split") and getattr(value, "shuffle", True) is not False
    return shuffles and getattr(value, "random_state", 0) is None and not hasattr(value, "get_params")


def set_seeds(estimator: Any, seed: int, content_key: int, *, prefix: str = "") -> Any:
    """Give each unset random_state a seed of its own, from the study's seed, its name and the training rows.

    `prefix` is the estimator's own name where it is a step of a larger one.
    """
    names = unseeded_names(estimator)
    if names:
        values = estimator.get_params(deep=True)
        full = {name: f"{prefix}__{name}" if prefix else name for name in names}
        seeds = {name: _seeded(values[name], derive(seed, full[name], content_key)) for name in names}
        estimator.set_params(**seeds)
    return estimator


def _seeded(value: Any, seed: int) -> Any:
    if value is None:
        return seed
    splitter = deepcopy(value)
    splitter.random_state = seed
    return splitter


def fit_on_rows(estimator: Any, task: Task, rows: Rows, *, seed: int, fit_params: Mapping[str, Any]) -> Any:
    """Fit on a private copy of these rows, seeded by their content."""
    if unseeded_names(estimator):  # hashing the rows is left out where nothing wants a seed
        set_seeds(estimator, seed, task.content_key(rows))
    arguments = rows_of_params(fit_params, rows, len(task))
    if task.weight is not None and "sample_weight" not in arguments:
        arguments[weight_argument(estimator)] = task.weight[rows]
    return estimator.fit(task.take(rows), task.y[rows], **arguments)


def rows_of_params(fit_params: Mapping[str, Any], rows: Rows, n: int) -> dict[str, Any]:
    """Fit parameters for these rows: arrays with a row each are cut, anything else is passed on."""
    return {name: value[rows] if _per_row(value, n) else value for name, value in fit_params.items()}


def _per_row(value: Any, n: int) -> bool:
    return isinstance(value, np.ndarray) and value.ndim >= 1 and len(value) == n


def weight_argument(estimator: Any) -> str:
    """How sample weights are passed to this estimator: to the last step of a Pipeline, or as routed."""
    if isinstance(estimator, Pipeline) and not get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        return f"{name}__{weight_argument(last)}"
    return "sample_weight"


def check_takes_weights(estimator: Any) -> None:
    """Refuse weights for a learner whose fit knows none, rather than leave them out in silence."""
    if get_config()["enable_metadata_routing"]:
        return
    last = estimator
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    if not has_fit_parameter(last, "sample_weight") and not _takes_anything(last):
        raise LearnerError(
            f"{type(last).__name__}.fit takes no sample_weight, but the task has weights. "
            "Choose a learner that does, or leave sample_weight out."
        )


def _takes_anything(estimator: Any) -> bool:
    return any(p.kind is Parameter.VAR_KEYWORD for p in signature(estimator.fit).parameters.values())


def check_names(search: Search) -> None:
    """Refuse parameters that an estimator does not have, before any fit, with the nearest names."""
    for family in search.families:
        known = family.estimator.get_params(deep=True)
        for name in family.candidates.names:
            if name in known:
                continue
            try:  # a parameter of a step that another parameter replaces is known only to the candidate itself
                for index in range(min(len(family.candidates), 50)):
                    params = family.candidates[index]
                    if name in params:
                        clone(family.estimator).set_params(**params)
            except ValueError:
                raise SpaceError(
                    f"{type(family.estimator).__name__} has no parameter {name!r}. {did_you_mean(name, known)}"
                ) from None
