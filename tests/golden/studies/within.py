"""Golden studies of what is shared inside one training set, and of races."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from golden.ground import (
    Ground,
    add,
    classes,
    numbers,
    study,
)

# Inside one training set: paths of ensembles, pruning, Pipelines.

PATHS = {
    "forest": (RandomForestClassifier(random_state=0), {"n_estimators": [2, 5, 9]}, classes),
    "extra_trees": (ExtraTreesClassifier(random_state=0, bootstrap=True), {"n_estimators": [2, 7]}, classes),
    "bagging": (
        BaggingRegressor(DecisionTreeRegressor(max_depth=2), random_state=0),
        {"n_estimators": [2, 5]},
        numbers,
    ),
    "adaboost": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), random_state=0),
        {"n_estimators": [2, 6]},
        classes,
    ),
    "gradient_boosting": (GradientBoostingClassifier(random_state=0), {"n_estimators": [2, 10]}, classes),
    "hist_boosting": (
        HistGradientBoostingRegressor(random_state=0, min_samples_leaf=5),
        {"max_iter": [2, 10]},
        numbers,
    ),
    "pruning": (DecisionTreeRegressor(random_state=0), {"ccp_alpha": [0.0, 0.2, 2.0]}, numbers),
    "leaves": (DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 4, 8]}, classes),
}


def path(at: Ground, *, kind: str) -> Any:
    learner, space, data = PATHS[kind]
    return at.study(ho.Tuned(learner, space, validation=ho.KFold(2)), *data(f"path {kind}"), test=ho.KFold(3))


for _kind in PATHS:
    # Boosting of classes takes exponentials, whose last bit is the processor's.
    _exact = _kind not in ("adaboost", "gradient_boosting")
    add(f"path_{_kind}", partial(path, kind=_kind), exact=_exact, drawn=_kind == "forest")


@study()
def other_boosters(at: Ground) -> Any:
    from catboost import CatBoostRegressor
    from lightgbm import LGBMRegressor
    from xgboost import XGBRegressor

    space = {"n_estimators": [3, 8]}
    light = LGBMRegressor(random_state=0, min_child_samples=5, verbose=-1, n_jobs=1)
    extreme = XGBRegressor(random_state=0, max_depth=2, n_jobs=1)
    cat = CatBoostRegressor(random_seed=0, depth=2, verbose=False, thread_count=1, allow_writing_files=False)
    X, y = numbers("boosters")
    learners = {"lightgbm": (light, space), "xgboost": (extreme, space), "catboost": (cat, {"iterations": [3, 8]})}
    return {
        name: at.study(ho.Tuned(learner, space, validation=2), X, y, test=ho.KFold(2))
        for name, (learner, space) in learners.items()
    }


@study(drawn=True)
def pipeline_prefixes(at: Ground) -> Any:
    last = DecisionTreeClassifier(random_state=0)
    pipe = make_pipeline(StandardScaler(), PCA(random_state=0), SelectKBest(f_classif), last)
    space = {"pca__n_components": [3, 4], "selectkbest__k": [1, 2], "decisiontreeclassifier__max_depth": [1, 3]}
    return at.study(ho.Tuned(pipe, space, validation=ho.KFold(2)), *classes("prefixes", p=6), test=ho.KFold(3))


# Races.

RACERS = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 4, 12]}


def race(at: Ground, *, kind: str) -> Any:
    learner = ho.Tuned(DecisionTreeClassifier(random_state=0), RACERS, validation=ho.KFold(8))
    data = classes(f"race {kind}", 96)
    return at.study(learner, *data, test=ho.KFold(2), options=ho.Options(race=kind, race_level=0.2))


for _kind in ("exact", "hoeffding", "bernstein", "paired"):
    add(f"race_{_kind}", partial(race, kind=_kind), exact=True, drawn=_kind == "exact")
