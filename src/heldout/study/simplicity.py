"""What "simplest" means for the one-standard-error choice."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heldout.base.errors import SpaceError, did_you_mean
from heldout.study.search import Family, Search

SMALLER, LARGER = "smaller", "larger"

# For each estimator, by class name: the parameters whose direction of simplicity is beyond doubt.
_LINEAR = {"alpha": LARGER}
_MARGIN = {"C": SMALLER}
_TREE = {
    "max_leaf_nodes": SMALLER,
    "max_depth": SMALLER,
    "ccp_alpha": LARGER,
    "min_samples_leaf": LARGER,
    "min_samples_split": LARGER,
    "min_impurity_decrease": LARGER,
}
_FOREST = {**_TREE, "n_estimators": SMALLER}
_HIST = {
    "max_iter": SMALLER,
    "max_leaf_nodes": SMALLER,
    "max_depth": SMALLER,
    "l2_regularization": LARGER,
    "min_samples_leaf": LARGER,
}
KNOWN: dict[str, dict[str, str]] = {
    "Ridge": _LINEAR,
    "RidgeClassifier": _LINEAR,
    "Lasso": _LINEAR,
    "ElasticNet": _LINEAR,
    "MultiTaskLasso": _LINEAR,
    "MultiTaskElasticNet": _LINEAR,
    "KernelRidge": _LINEAR,
    "LogisticRegression": _MARGIN,
    "LinearSVC": _MARGIN,
    "LinearSVR": _MARGIN,
    "SVC": _MARGIN,
    "SVR": _MARGIN,
    "KNeighborsClassifier": {"n_neighbors": LARGER},
    "KNeighborsRegressor": {"n_neighbors": LARGER},
    "DecisionTreeClassifier": _TREE,
    "DecisionTreeRegressor": _TREE,
    "RandomForestClassifier": _FOREST,
    "RandomForestRegressor": _FOREST,
    "ExtraTreesClassifier": _FOREST,
    "ExtraTreesRegressor": _FOREST,
    "GradientBoostingClassifier": _FOREST,
    "GradientBoostingRegressor": _FOREST,
    "HistGradientBoostingClassifier": _HIST,
    "HistGradientBoostingRegressor": _HIST,
    "PCA": {"n_components": SMALLER},
    "TruncatedSVD": {"n_components": SMALLER},
    "PLSRegression": {"n_components": SMALLER},
    "SelectKBest": {"k": SMALLER},
    "SelectPercentile": {"percentile": SMALLER},
}


def simplicity(search: Search) -> Callable[[int], tuple[Any, ...]]:
    """A key for candidates, the smaller the simpler; refused where nobody said what simple means."""
    if callable(search.simplest):
        of_params = search.simplest
        return lambda candidate: (of_params(search.params_of(candidate)),)
    if search.simplest is not None:
        directions = dict(_checked(search.simplest))
        return lambda candidate: _key(search, candidate, directions)
    if len(search.families) > 1:
        raise SpaceError(
            'choose="one_se" does not know which family is simplest. Say it with simplest=: a function of a '
            "candidate's parameters, the smaller the simpler."
        )
    directions = _known_directions(search)
    return lambda candidate: _key(search, candidate, directions)


def _checked(simplest: Any) -> Mapping[str, str]:
    if not isinstance(simplest, Mapping) or not set(simplest.values()) <= {SMALLER, LARGER}:
        raise SpaceError(
            'simplest= is a function of a candidate\'s parameters, or a dict such as {"ridge__alpha": "larger"}, '
            'most important first, with "smaller" or "larger" for each parameter.'
        )
    return simplest


def _known_directions(search: Search) -> dict[str, str]:
    family = search.families[0]
    directions: dict[str, str] = {}
    for name in family.candidates.names:
        owner, _, last = name.rpartition("__")
        estimator = family.estimator.get_params(deep=True).get(owner) if owner else family.estimator
        direction = KNOWN.get(type(estimator).__name__, {}).get(last)
        if direction is None:
            raise SpaceError(
                f'choose="one_se" does not know whether a smaller or a larger {name!r} is simpler. Say it: '
                f'simplest={{"{name}": "smaller"}} (or "larger").'
            )
        directions[name] = direction
    return directions


def _key(search: Search, candidate: int, directions: Mapping[str, str]) -> tuple[float, ...]:
    params, family = search.params_of(candidate), search.family_of(candidate)
    key = []
    for name, direction in directions.items():
        number = _as_number(params[name] if name in params else _own_value(family, name), name)
        key.append(number if direction == SMALLER else -number)
    return tuple(key)


def _own_value(family: Family, name: str) -> Any:
    """What a candidate that does not set this parameter has: the estimator's own value."""
    known = family.estimator.get_params(deep=True)
    if name not in known:
        raise SpaceError(f"simplest= names {name!r}, which {family.name} does not have. {did_you_mean(name, known)}")
    return known[name]


def _as_number(value: Any, name: str) -> float:
    if value is None or (isinstance(value, str) and value == "all"):
        return np.inf  # as a limit, neither limits anything
    if isinstance(value, numbers.Real):
        return float(value)
    raise SpaceError(
        f'choose="one_se" cannot order {name}={value!r}, which is not a number. Say what is simple with simplest=: a '
        "function of a candidate's parameters, the smaller the simpler."
    )
