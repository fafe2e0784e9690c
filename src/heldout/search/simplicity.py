"""What "simplest" means for the one-standard-error rule.

Each estimator and parameter listed here has a clear direction: more penalty, more neighbours, fewer or smaller trees,
fewer columns. Where several parameters are searched, the first in alphabetical order counts most, the next decides
among equals, and so on. After them comes the smaller mean loss, then the order of the space. `simplest=` overrides
this.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heldout.base.errors import Argument, Sentence, SpaceError, did_you_mean
from heldout.search.search import Family, Search

ONE_SE = Argument("choose", "one_se")

SMALLER, LARGER = "smaller", "larger"
Direction = str | tuple[Any, ...]  # "smaller", "larger", or values with the simplest first

# For each estimator, by class name: the parameters with a clear direction of simplicity.
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
    (("KNeighborsClassifier", "KNeighborsRegressor"), {"n_neighbors": LARGER, "weights": ("uniform", "distance")}),
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
WHAT_SIMPLEST_IS = (
    'simplest= is a function of a candidate\'s parameters, or a dict such as {"ridge__alpha": "larger"}, '
    'most important first, with "smaller" or "larger" for each parameter, or a list of its values, the simplest '
    "first; for families, a list of their names."
)
_FEW_COLUMNS = {"log2": -2.0, "sqrt": -1.0}  # sorted before numbers: they keep fewer columns than the usual shares


def simplicity(search: Search) -> Callable[[int], tuple[Any, ...]]:
    """Return a sort key for candidates: smaller is simpler. Raises SpaceError where no direction is known."""
    simplest, names = search.simplest, [family.name for family in search.families]
    if callable(simplest):
        return lambda candidate: (simplest(search.params_of(candidate)),)
    if isinstance(simplest, Mapping):
        directions = dict.fromkeys(names, _checked(simplest))
        rank = dict.fromkeys(names, 0)
    else:
        rank = {name: place for place, name in enumerate(_families_in_order(simplest, names))}
        directions = {family.name: _known_directions(family) for family in search.families}

    def key(candidate: int) -> tuple[Any, ...]:
        family, params = search.family_of(candidate), search.params_of(candidate)
        values = (_rank_of_value(family, params, *item) for item in directions[family.name].items())
        return (rank[family.name], *values)

    return key


def _families_in_order(simplest: Any, names: list[str]) -> list[str]:
    """Return the names of the families, the simplest first."""
    if simplest is None:
        if len(names) > 1:
            raise SpaceError(
                Sentence("{} does not know which family is simplest.", ONE_SE),
                f"Say it: simplest=[{', '.join(map(repr, names))}], the simplest first, or a function of a candidate's "
                "parameters, the smaller the simpler.",
            )
        return names
    if not isinstance(simplest, list | tuple):
        raise SpaceError(WHAT_SIMPLEST_IS)
    order = [str(name) for name in simplest]
    if sorted(order) != sorted(names):
        raise SpaceError(f"simplest= lists the families {', '.join(order)}, but they are {', '.join(names)}.")
    return order


def _checked(simplest: Mapping[str, Any]) -> dict[str, Direction]:
    directions = {name: tuple(way) if isinstance(way, list) else way for name, way in simplest.items()}
    if not all(isinstance(way, tuple) or way in (SMALLER, LARGER) for way in directions.values()):
        raise SpaceError(WHAT_SIMPLEST_IS)
    return directions


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


def _rank_of_value(family: Family, params: Mapping[str, Any], name: str, direction: Direction) -> float:
    """Return how simple a candidate's value of a parameter is (smaller is simpler); default: the estimator's value."""
    value = params[name] if name in params else _value_of_estimator(family, name)
    if isinstance(direction, tuple):
        if value not in direction:
            raise SpaceError(
                f"simplest= says which {name} is simpler among {list(direction)!r}, but a candidate has {value!r}."
            )
        return float(direction.index(value))
    number = _as_number(value, name)
    return number if direction == SMALLER else -number


def _value_of_estimator(family: Family, name: str) -> Any:
    known = family.estimator.get_params(deep=True)
    if name not in known:
        raise SpaceError(f"simplest= names {name!r}, which {family.name} does not have. {did_you_mean(name, known)}")
    return known[name]


def _as_number(value: Any, name: str) -> float:
    if value is None or (isinstance(value, str) and value == "all"):
        return np.inf  # None and "all" mean no limit
    if isinstance(value, str) and value in _FEW_COLUMNS and name.endswith("max_features"):
        return _FEW_COLUMNS[value]
    if isinstance(value, numbers.Real):
        return float(value)
    raise SpaceError(
        Sentence("{} cannot order {}={!r}, which is not a number.", ONE_SE, name, value),
        "Say what is simple with simplest=: a function of a candidate's parameters, the smaller the simpler.",
    )


# Kinds of models by the module that defines them, the simplest first. Within a kind heldout knows no order.
_KINDS: tuple[tuple[str, ...], ...] = (
    ("sklearn.dummy",),
    ("sklearn.linear_model", "sklearn.discriminant_analysis", "sklearn.naive_bayes", "sklearn.cross_decomposition"),
    ("sklearn.tree", "sklearn.neighbors"),
    ("sklearn.svm", "sklearn.kernel_ridge", "sklearn.gaussian_process"),
    ("sklearn.ensemble._forest", "sklearn.ensemble._bagging"),
    ("sklearn.ensemble", "lightgbm", "xgboost", "catboost"),
)


def rank_of_learner(search: Search) -> int | None:
    """Return how simple the models of a learner are, as a rank; None for several families and unknown models."""
    if len(search.families) > 1:
        return None
    model = search.families[0].estimator
    while getattr(model, "steps", None):
        model = model.steps[-1][1]
    module = type(model).__module__
    found = [rank for rank, names in enumerate(_KINDS) if module.startswith(names)]
    return found[0] if found else None
