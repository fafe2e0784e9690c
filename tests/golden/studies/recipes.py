"""Golden studies of recipes, and of roles of rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
)
from sklearn.model_selection import GridSearchCV, GroupKFold, RandomizedSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.model_selection import KFold as SklearnKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from golden.ground import (
    Ground,
    add,
    classes,
    days_of,
    groups_of,
    numbers,
    study,
    weights_of,
)
from golden.studies.learners import scaled_ridge, tree

# Recipes.


@study(exact=True, drawn=True)
def holdout(at: Ground) -> Any:
    return at.study(
        DecisionTreeClassifier(max_depth=3, random_state=0), *classes("holdout"), test=ho.Holdout(0.3, stratify=False)
    )


@study()
def given_rows(at: Ground) -> Any:
    return at.study(Ridge(0.5), *numbers("given_rows"), test=ho.Given(np.arange(0, 60, 3)))


@study(exact=True)
def given_folds(at: Ground) -> Any:
    folds = np.arange(60) % 4 - (np.arange(60) % 12 == 0) * 9  # some rows are never held out
    return at.study(KNeighborsRegressor(3), *numbers("given_folds"), test=ho.Given(folds=folds))


@study()
def kfold_repeats(at: Ground) -> Any:
    test = ho.KFold(4, repeats=2)
    return at.study(LinearRegression(), *numbers("kfold_repeats"), test=test, loss=["absolute", "squared"])


@study()
def kfold_contiguous(at: Ground) -> Any:
    return at.study(GaussianNB(), *classes("contiguous"), test=ho.KFold(4, shuffle=False, stratify=False))


@study()
def leave_one_out(at: Ground) -> Any:
    return at.study(make_pipeline(StandardScaler(), Ridge()), *numbers("leave_one_out", 40), test=ho.LeaveOneOut())


@study(exact=True)
def resample(at: Ground) -> Any:
    learner = DecisionTreeRegressor(max_depth=3, random_state=0)
    return at.study(learner, *numbers("resample"), test=ho.Resample(6, held_out=0.25))


@study()
def forward(at: Ground) -> Any:
    X, y = numbers("forward", 90)
    learner = scaled_ridge(validation=ho.Forward(2, buffer=2))
    return at.study(learner, X, y, time=days_of("forward", 90), test=ho.Forward(3, buffer=3), loss="absolute")


@study(exact=True)
def default_splits_in_time(at: Ground) -> Any:
    X, y = classes("defaults in time", 90)
    return at.study(tree(validation=None), X, y, time=np.arange(90) * 1.5)


INNER = {
    "holdout": ho.Holdout(0.3),
    "kfold": ho.KFold(3),
    "repeats": ho.KFold(3, repeats=2),
    "leave_one_out": ho.LeaveOneOut(),
    "resample": ho.Resample(4, held_out=0.25),
    "number": 3,
    "splitter": ShuffleSplit(3, test_size=0.3, random_state=0),
}


def nested(at: Ground, *, inner: str) -> Any:
    return at.study(scaled_ridge(validation=INNER[inner]), *numbers(f"nested {inner}", 48), test=ho.KFold(3))


def nested_trees(at: Ground, *, inner: str) -> Any:
    return at.study(tree(validation=INNER[inner]), *classes(f"nested trees {inner}", 60), test=ho.KFold(3))


for _inner in INNER:
    add(f"nested_{_inner}", partial(nested, inner=_inner), drawn=_inner == "kfold")
for _inner in ("holdout", "resample"):
    add(f"nested_trees_{_inner}", partial(nested_trees, inner=_inner), exact=True, drawn=_inner == "resample")


@study()
def nested_random_resampling(at: Ground) -> Any:
    learner = scaled_ridge(validation=ho.Resample(3))
    return at.study(learner, *numbers("nested random"), test=ho.Resample(4, held_out=0.3))


@study(exact=True, drawn=True)
def shared_blocks(at: Ground) -> Any:
    return at.study(tree(validation=ho.SharedBlocks()), *classes("shared_blocks"), test=ho.KFold(4))


@study()
def shared_blocks_ridge(at: Ground) -> Any:
    return at.study(scaled_ridge(validation=ho.SharedBlocks()), *numbers("shared ridge"), test=ho.KFold(5))


@study()
def someone_elses_splits(at: Ground) -> Any:
    X, y = numbers("foreign")
    pairs = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    return {
        "pairs": at.study(Ridge(), X, y, test=pairs),
        "splitter": at.study(Ridge(), X, y, test=SklearnKFold(3), final=False),
        "groups": at.study(Ridge(), X, y, test=GroupKFold(3), groups=groups_of("foreign", 60), final=False),
    }


@study()
def grid_search(at: Ground) -> Any:
    space = {"ridge__alpha": [0.01, 1.0, 100.0]}
    search = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), space, cv=3, scoring="neg_mean_absolute_error")
    return at.study(search, *numbers("grid search"), test=ho.KFold(3))


@study(exact=True)
def randomized_search(at: Ground) -> Any:
    space = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5, 9]}
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    learner = DecisionTreeClassifier(random_state=0)
    search = RandomizedSearchCV(learner, space, n_iter=4, cv=inner, random_state=1, n_jobs=2)
    return at.study(search, *classes("randomized search"), test=ho.Holdout(0.3))


def smallest_depth(results: dict[str, Any]) -> int:
    """A choice of someone's own: the first candidate within 0.05 of the best."""
    means = np.asarray(results["mean_test_score"])
    return int(np.flatnonzero(means >= means.max() - 0.05)[0])


@study(exact=True)
def grid_search_as_black_box(at: Ground) -> Any:
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=3, refit=smallest_depth)
    return at.study(search, *classes("black box search"), test=ho.KFold(3))


# Roles.


@study(drawn=True)
def groups(at: Ground) -> Any:
    X, y = numbers("groups")
    return at.study(scaled_ridge(), X, y, groups=groups_of("groups", 60), test=ho.KFold(4))


@study(exact=True)
def groups_one_test_set(at: Ground) -> Any:
    X, y = classes("grouped holdout")
    rows = groups_of("grouped holdout", 72)
    return at.study(tree(), X, y, groups=rows, test=ho.Holdout(0.3))


@study()
def groups_and_classes(at: Ground) -> Any:
    X, y = classes("grouped classes", kinds=3, words=True)
    test = ho.KFold(3, stratify=True)
    return at.study(GaussianNB(), X, y, groups=groups_of("grouped classes", 72), test=test, loss=["log", "zero_one"])


@study()
def groups_and_time(at: Ground) -> Any:
    X, y = numbers("panel", 120)
    roles = {"groups": groups_of("panel", 120), "time": days_of("panel", 120)}
    learner = scaled_ridge(validation=ho.KFold(2))
    return at.study(learner, X, y, **roles, test=ho.KFold(2, buffer="5d"))


@study()
def time_spans(at: Ground) -> Any:
    X, y = numbers("spans", 90)
    begin = days_of("spans", 90)
    end = begin + np.arange(90) % 5
    learner = scaled_ridge(validation=ho.KFold(2))
    return at.study(learner, X, y, time=(begin, end), test=ho.KFold(3, buffer="2d", embargo="4d"))


@study()
def weights(at: Ground) -> Any:
    X, y = numbers("weights")
    return at.study(scaled_ridge(), X, y, sample_weight=weights_of("weights", 60), test=ho.KFold(3))


@study(exact=True)
def weights_one_test_set(at: Ground) -> Any:
    X, y = classes("weighted holdout")
    return at.study(tree(), X, y, sample_weight=weights_of("weighted holdout", 72), test=ho.Holdout(0.3))


@study()
def strata(at: Ground) -> Any:
    X, y = numbers("strata")
    region = np.array(["north", "south", "west"])[groups_of("strata", 60) % 3]
    return at.study(scaled_ridge(), X, y, strata=region, test=ho.KFold(3))
