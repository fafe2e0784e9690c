"""Golden studies of choices and final predictors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import (
    Ridge,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from golden.ground import (
    Ground,
    classes,
    groups_of,
    numbers,
    study,
    weights_of,
)
from golden.seen import digest, plain, seen, seen_predictor
from golden.studies.learners import scaled_ridge, tree

# Choices and final predictors.


@study()
def one_standard_error(at: Ground) -> Any:
    return at.study(scaled_ridge(choose="one_se", validation=ho.KFold(5)), *numbers("one se"), test=ho.KFold(3))


def middle(results: dict[str, Any]) -> int:
    return int(np.argsort(results["rank_test_score"], kind="stable")[1])


@study()
def own_choice(at: Ground) -> Any:
    return at.study(scaled_ridge(choose=middle), *numbers("own choice"), test=ho.KFold(3))


@study(exact=True)
def simplest_by_name(at: Ground) -> Any:
    learner = tree(choose="one_se", simplest={"max_depth": "smaller"}, validation=ho.KFold(4))
    return at.study(learner, *classes("simplest"), test=ho.KFold(2))


@study()
def ensemble_and_collapse(at: Ground) -> Any:
    X, y = numbers("ensemble")
    told = at.study(scaled_ridge(final="ensemble"), X, y, test=ho.KFold(3))
    tuned = scaled_ridge(final="ensemble").fit(X, y)
    collapsed = tuned.best_estimator_.collapse()
    return {"study": told, "tuned": seen(tuned), "collapsed": seen_predictor(collapsed, X)}


@study()
def ensemble_of_probabilities(at: Ground) -> Any:
    learner = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, validation=3, loss="log", final="ensemble")
    return at.study(learner, *classes("ensemble of probabilities"), test=ho.Holdout(0.3))


@study(exact=True)
def kept(at: Ground) -> Any:
    X, y = classes("kept", 90)
    learner = tree(validation=ho.Holdout(0.4, stratify=False), final="keep")
    return {"study": at.study(learner, X, y, test=ho.KFold(2)), "tuned": seen(learner.fit(X, y))}


@study()
def tuned_alone(at: Ground) -> Any:
    X, y = numbers("tuned alone")
    weighted = scaled_ridge(loss=["absolute", "squared"], random_state=3, jobs=at.jobs)
    found = {
        "plain": seen(scaled_ridge(jobs=at.jobs).fit(X, y)),
        "roles": seen(weighted.fit(X, y, groups=groups_of("tuned alone", 60), sample_weight=weights_of("tuned", 60))),
        "score": plain(weighted.score(X, y)),
    }
    return {**found, "predict": digest(weighted.predict(X))}


@study()
def families(at: Ground) -> Any:
    competing = {
        "ridge": (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0]}),
        "neighbours": (KNeighborsRegressor(), {"n_neighbors": [3, 9]}),
        "mean": DummyRegressor(),
    }
    return at.study(ho.Tuned(competing, validation=ho.KFold(3)), *numbers("families"), test=ho.KFold(3))


@study()
def sampled_space(at: Ground) -> Any:
    from scipy.stats import loguniform

    space = ho.Sample(5, {"alpha": loguniform(1e-3, 1e3), "fit_intercept": [True, False]})
    learner = ho.Tuned(Ridge(), space, validation=ho.KFold(3), random_state=4)
    return at.study(learner, *numbers("sampled"), test=ho.KFold(3))


@study(exact=True)
def list_of_spaces(at: Ground) -> Any:
    space = [{"criterion": ["gini"], "max_depth": [1, 3]}, {"criterion": ["entropy"], "min_samples_leaf": [3]}]
    learner = ho.Tuned(DecisionTreeClassifier(random_state=0), space, validation=ho.KFold(2))
    return at.study(learner, *classes("list of spaces"), test=ho.KFold(2))
