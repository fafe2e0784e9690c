"""What "simplest" means for the one-standard-error choice.

For each estimator and parameter that is known here a direction is beyond doubt: more penalty, more neighbours, fewer
or smaller trees, fewer columns. Where several parameters are searched, the first by alphabet counts most, the next
decides among equals, and so on; then the smaller mean loss, then the order of the space. `simplest=` says otherwise.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from heldout.base.errors import Argument, Sentence, SpaceError, did_you_mean
from heldout.search.search import Family, Search

ONE_SE = Argument("choose", "one_se")

SMALLER, LARGER = "smaller", "larger"
Direction = str | tuple[Any, ...]  # "smaller", "larger", or values with the simplest first

# For each estimator, by class name: the parameters whose direction of simplicity is beyond doubt.
_TREE: dict[str, Direction] = {
    "max_leaf_nodes": SMALLER,
    "max_depth": SMALLER,
    "ccp_alpha": LARGER,
    "min_samples_leaf": LARGER,
    "min_samples_split": LARGER,
    "min_impurity_decrease": LARGER,
}
_FOREST: dict[str, Direction] = {**_TREE, "n_estimators": SMALLER, "max_features": SMALLER}
_BOOSTED: dict[str, Direction] = {**_FOREST, "learning_rate": SMALLER, "subsample": SMALLER}
_HIST: dict[str, Direction] = {
    "max_iter": SMALLER,
    "learning_rate": SMALLER,
    "max_leaf_nodes": SMALLER,
    "max_depth": SMALLER,
    "l2_regularization": LARGER,
    "min_samples_leaf": LARGER,
}
_BY_DIRECTIONS: list[tuple[tuple[str, ...], dict[str, Direction]]] = [
    (("Ridge", "RidgeClassifier", "Lasso", "MultiTaskLasso", "KernelRidge"), {"alpha": LARGER}),
    (("ElasticNet", "MultiTaskElasticNet"), {"alpha": LARGER, "l1_ratio": LARGER}),  # more of L1 uses fewer columns
    (("LogisticRegression", "LinearSVC", "LinearSVR"), {"C": SMALLER}),
    (("SVC", "SVR"), {"C": SMALLER, "gamma": SMALLER, "degree": SMALLER}),  # a smaller gamma is smoother
    (
        ("KNeighborsClassifier", "KNeighborsRegressor"),
        {"n_neighbors": LARGER, "weights": ("uniform", "distance")},
    ),
    (("DecisionTreeClassifier", "DecisionTreeRegressor"), _TREE),
    (("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"), _FOREST),
    (("GradientBoostingClassifier", "GradientBoostingRegressor", "XGBClassifier", "XGBRegressor"), _BOOSTED),
    (("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"), _HIST),
    (("LGBMClassifier", "LGBMRegressor"), {"n_estimators": SMALLER, "learning_rate": SMALLER, "num_leaves": SMALLER}),
    (("CatBoostClassifier", "CatBoostRegressor"), {"iterations": SMALLER, "learning_rate": SMALLER, "depth": SMALLER}),
    (("LinearDiscriminantAnalysis",), {"shrinkage": LARGER}),
    (("GaussianNB",), {"var_smoothing": LARGER}),
    (("PCA", "TruncatedSVD", "PLSRegression"), {"n_components": SMALLER}),
    (("SelectKBest",), {"k": SMALLER}),
    (("SelectPercentile",), {"percentile": SMALLER}),
]
KNOWN = {name: directions for names, directions in _BY_DIRECTIONS for name in names}
_FEW_COLUMNS = {"log2": -2.0, "sqrt": -1.0}  # fewer columns than the shares that people give


def simplicity_of(search: Search, candidates: Iterable[int]) -> list[tuple[Any, ...]]:
    """A key for each of these candidates, the smaller the simpler."""
    return list(map(simplicity(search), candidates))


def simplicity(search: Search) -> Callable[[int], tuple[Any, ...]]:
    """A key for candidates, the smaller the simpler; refused where nobody said what simple means."""
    simplest = search.simplest
    if callable(simplest):
        return lambda candidate: (simplest(search.params_of(candidate)),)
    if isinstance(simplest, list | tuple):
        return _by_family(search, [str(name) for name in simplest])
    if simplest is not None:
        directions = _checked(simplest)
        return lambda candidate: _key(search, candidate, directions)
    if len(search.families) > 1:
        names = ", ".join(repr(family.name) for family in search.families)
        raise SpaceError(
            Sentence("{} does not know which family is simplest.", ONE_SE),
            f"Say it: simplest=[{names}], the simplest first, or a function of a candidate's parameters, the smaller "
            "the simpler.",
        )
    directions = _known_directions(search.families[0])
    return lambda candidate: _key(search, candidate, directions)


def _by_family(search: Search, order: list[str]) -> Callable[[int], tuple[Any, ...]]:
    """Families in the order said, the simplest first; inside a family, what is known of its parameters."""
    names = [family.name for family in search.families]
    if sorted(order) != sorted(names):
        raise SpaceError(f"simplest= lists the families {', '.join(order)}, but they are {', '.join(names)}.")
    directions = {family.name: _known_directions(family) for family in search.families}

    def key(candidate: int) -> tuple[Any, ...]:
        name = search.family_of(candidate).name
        return (order.index(name), *_key(search, candidate, directions[name]))

    return key


def _checked(simplest: Any) -> dict[str, Direction]:
    if isinstance(simplest, Mapping):
        directions = {name: tuple(way) if isinstance(way, list) else way for name, way in simplest.items()}
        if all(isinstance(way, tuple) or way in (SMALLER, LARGER) for way in directions.values()):
            return directions
    raise SpaceError(
        'simplest= is a function of a candidate\'s parameters, or a dict such as {"ridge__alpha": "larger"}, '
        'most important first, with "smaller" or "larger" for each parameter, or a list of its values, the simplest '
        "first; for families, a list of their names."
    )


def _known_directions(family: Family) -> dict[str, Direction]:
    directions: dict[str, Direction] = {}
    for name in family.candidates.names:
        owner, _, last = name.rpartition("__")
        estimator = family.estimator.get_params(deep=True).get(owner) if owner else family.estimator
        direction = KNOWN.get(type(estimator).__name__, {}).get(last)
        if direction is None:
            raise SpaceError(
                Sentence("{} does not know whether a smaller or a larger {!r} is simpler.", ONE_SE, name),
                f'Say it: simplest={{"{name}": "smaller"}} (or "larger", or its values, the simplest first).',
            )
        directions[name] = direction
    return directions


def _key(search: Search, candidate: int, directions: Mapping[str, Direction]) -> tuple[float, ...]:
    params, family = search.params_of(candidate), search.family_of(candidate)
    key = []
    for name, direction in directions.items():
        value = params[name] if name in params else _own_value(family, name)
        if isinstance(direction, tuple):
            key.append(_place(value, direction, name))
            continue
        number = _as_number(value, name)
        key.append(number if direction == SMALLER else -number)
    return tuple(key)


def _place(value: Any, order: tuple[Any, ...], name: str) -> float:
    if value not in order:
        raise SpaceError(
            f"simplest= says which {name} is simpler among {list(order)!r}, but a candidate has {value!r}."
        )
    return float(order.index(value))


def _own_value(family: Family, name: str) -> Any:
    """What a candidate that does not set this parameter has: the estimator's own value."""
    known = family.estimator.get_params(deep=True)
    if name not in known:
        raise SpaceError(f"simplest= names {name!r}, which {family.name} does not have. {did_you_mean(name, known)}")
    return known[name]


def _as_number(value: Any, name: str) -> float:
    if value is None or (isinstance(value, str) and value == "all"):
        return np.inf  # as a limit, neither limits anything
    if isinstance(value, str) and value in _FEW_COLUMNS and name.endswith("max_features"):
        return _FEW_COLUMNS[value]
    if isinstance(value, numbers.Real):
        return float(value)
    raise SpaceError(
        Sentence("{} cannot order {}={!r}, which is not a number.", ONE_SE, name, value),
        "Say what is simple with simplest=: a function of a candidate's parameters, the smaller the simpler.",
    )
