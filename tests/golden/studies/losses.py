"""Golden studies of losses and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import (
    Ridge,
)
from sklearn.metrics import fbeta_score, get_scorer_names, hamming_loss, hinge_loss, make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from golden.ground import (
    Ground,
    classes,
    numbers,
    rates,
    study,
)
from golden.studies.learners import tree

# Losses and scores.


@study()
def several_losses(at: Ground) -> Any:
    losses = ["log", "brier", "zero_one", "roc_auc", "f1", "neg_brier_score", "balanced_accuracy"]
    return at.study(GaussianNB(), *classes("several losses", 90), test=ho.KFold(3), loss=losses)


@study()
def several_losses_one_test_set(at: Ground) -> Any:
    losses = {"ours": "brier", "area": "roc_auc", "theirs": "accuracy"}
    test = ho.Holdout(0.4, stratify=False)
    return at.study(GaussianNB(), *classes("several losses once", 90), test=test, loss=losses)


@study()
def area_under_the_curve(at: Ground) -> Any:
    learner = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 10.0]}, validation=ho.KFold(3), loss="roc_auc")
    return at.study(learner, *classes("area", 90), test=ho.KFold(3))


@study()
def pooled_and_not(at: Ground) -> Any:
    X, y = numbers("pooled")
    return {
        str(pool): at.study(Ridge(), X, y, test=ho.KFold(3), loss=loss, options=ho.Options(pool=pool), final=False)
        for pool, loss in ((None, ["r2", "neg_root_mean_squared_error"]), (True, "squared"), (False, "r2"))
    }


@study()
def losses_of_numbers(at: Ground) -> Any:
    losses = ["pinball:0.8", "absolute", "neg_mean_absolute_percentage_error", "neg_max_error"]
    return at.study(
        make_pipeline(StandardScaler(), Ridge()), *numbers("numbers' losses"), test=ho.KFold(3), loss=losses
    )


@study()
def losses_of_counts(at: Ground) -> Any:
    losses = ["poisson", "tweedie:1.5", "squared"]
    return at.study(DummyRegressor(), *rates("count losses"), test=ho.KFold(3), loss=losses)


def scores_seen(at: Ground, learner: Any, X: Any, y: Any, names: list[Any]) -> Any:
    """The estimate and the folds of each loss, asked by itself; the kind of error where it is refused."""
    found: dict[str, Any] = {}
    for name in names:
        loss, label = (name, name) if isinstance(name, str) else (name, str(name))
        try:
            result = at.evaluate(learner, X, y, test=ho.KFold(2), loss=loss)
        except ho.HeldoutError as error:
            found[label] = type(error).__name__
        else:
            summary = result.summary()
            told = {
                key: summary["risk"][key] for key in ("loss", "value", "low", "high", "method", "greater_is_better")
            }
            found[label] = {**told, "folds": [list(fold.values())[-1] for fold in summary["folds"]]}
    return found


OURS = ["zero_one", "log", "brier", "squared", "absolute", "poisson", "gamma", "pinball:0.9", "tweedie:1.5"]


@study()
def every_score(at: Ground) -> Any:
    """Every loss of ours and every scoring name of scikit-learn: for two classes, for three, for numbers above 0."""
    names = [*OURS, *sorted(get_scorer_names())]
    several = [name for name in names if name.endswith(("_macro", "_ovr", "_ovo", "accuracy", "log_loss", "brier"))]
    margins = [make_scorer(hinge_loss, greater_is_better=False, response_method="decision_function")]
    margins += [make_scorer(hamming_loss, greater_is_better=False)]
    X, y = numbers("every score of numbers")
    above = y - y.min() + 1
    return {
        "two": scores_seen(at, GaussianNB(), *classes("every score of two"), names),
        "three": scores_seen(at, GaussianNB(), *classes("every score of three", 90, kinds=3, words=True), several),
        "margins": scores_seen(at, LinearDiscriminantAnalysis(), *classes("every margin"), margins),
        "numbers": scores_seen(at, DecisionTreeRegressor(max_depth=2, random_state=0), X, above, names),
    }


def huber(y_true: Any, y_pred: Any) -> Any:
    error = np.abs(y_true - y_pred)
    return np.where(error < 2, error**2 / 4, error - 1)


def halves_and_wholes(y_true: Any, y_pred: Any) -> Any:
    """A loss between 0 and 1."""
    return np.where(y_true == y_pred, 0.0, np.where(np.asarray(y_true) == 1, 1.0, 0.5))


def own_score(estimator: Any, X: Any, y: Any) -> float:
    """A scorer that asks the estimator itself."""
    return float(np.mean(estimator.predict(X) == y)) - 0.25


@study(exact=True)
def own_losses(at: Ground) -> Any:
    costs = ho.row_loss(halves_and_wholes, low=0, high=1, name="costs")
    X, y = classes("own losses")
    return {
        "classes": at.study(tree(loss=costs), X, y, test=ho.Holdout(0.4, stratify=False)),
        "numbers": at.study(
            DecisionTreeRegressor(max_depth=2, random_state=0),
            *numbers("own loss"),
            test=ho.KFold(3),
            loss=[ho.row_loss(huber, low=0), "squared"],
        ),
        "scorers": at.study(
            DecisionTreeClassifier(max_depth=2, random_state=0),
            *classes("own scorers"),
            test=ho.KFold(3),
            loss={"f2": make_scorer(fbeta_score, beta=2), "own": own_score},
        ),
    }
