"""Which estimate speaks of the final predictor: the fold predictors bound their average where the loss is convex."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.losses import resolve_losses


def problem(n: int = 90) -> tuple[Any, Any]:
    chance = np.random.default_rng(4)
    X = chance.normal(size=(n, 3))
    return X, X[:, 0] + chance.normal(size=n)


@pytest.mark.parametrize(
    ("loss", "convex"),
    [
        ("squared", True),
        ("absolute", True),
        ("log", True),
        ("neg_log_loss", True),
        ("neg_mean_squared_error", True),
        ("zero_one", False),
        ("accuracy", False),
        ("r2", False),
        ("roc_auc", False),
        ("f1", False),
    ],
)
def test_which_losses_are_convex_in_what_is_averaged(loss, convex):
    assert resolve_losses(loss, classification=True)[0].convex == convex


def test_the_mean_risk_of_the_fold_predictors_bounds_their_average_for_a_fixed_candidate_and_a_convex_loss():
    X, y = problem()
    new, truth = problem(4000)
    fixed = ho.Tuned(DecisionTreeRegressor(random_state=0), validation=ho.KFold(5), final="ensemble", jobs=1).fit(X, y)
    assert fixed.covers_.estimate == "fold_predictors"
    assert "at most the mean risk of the fold predictors" in str(fixed.covers_)
    members = fixed.best_estimator_.members
    average = np.mean((fixed.predict(new) - truth) ** 2)
    assert average <= np.mean([np.mean((member.predict(new) - truth) ** 2) for member in members])
    assert fixed.estimates_["fold_predictors"].value == pytest.approx(-fixed.best_score_)


def test_choosing_spoils_the_estimate_and_not_the_inequality():
    """R(average) ≤ mean R(members) is Jensen's inequality: it holds for the members at hand, whatever chose them."""
    X, y = problem()
    new, truth = problem(4000)
    space = {"max_depth": [1, 3, 9]}
    tree = DecisionTreeRegressor(random_state=0)
    chosen = ho.Tuned(tree, space, validation=ho.KFold(3), final="ensemble", jobs=1).fit(X, y)
    members = chosen.best_estimator_.members
    average = np.mean((chosen.predict(new) - truth) ** 2)
    assert average <= np.mean([np.mean((member.predict(new) - truth) ** 2) for member in members])
    words = str(chosen.covers_)
    assert "at most the mean risk of the fold predictors, however the candidate was chosen" in words
    assert "is optimistic, because the same rows chose" in words
    assert "does not bound" not in words
    assert "averages 3 fold predictors, each trained on 60 rows of 90" in words
    assert chosen.covers_.estimate == "best_validation_bbc"
    assert chosen.estimates_["best_validation_bbc"].value is not None


def test_it_bounds_nothing_where_the_loss_is_not_convex():
    X, y = problem()
    labels = (y > 0).astype(int)
    counted = ho.Tuned(KNeighborsClassifier(), validation=ho.KFold(3), final="ensemble", jobs=1).fit(X, labels)
    assert "'zero_one' is not convex" in str(counted.covers_)
    logistic = ho.Tuned(LogisticRegression(), validation=ho.KFold(3), final="ensemble", loss="log", jobs=1)
    assert "'log' is convex" in str(logistic.fit(X, labels).covers_)
    study = ho.evaluate(logistic, X, labels, test=ho.KFold(3), jobs=1)
    assert "averages fold predictors" in str(study.covers)
    assert "each on about 60" in str(study.covers)
    assert "the learner at 60 rows (each fit on 40 of them)" in str(study.covers)
    assert "at most the mean risk of the fold predictors" in str(study.covers)


def test_a_retrained_predictor_has_its_risk_at_a_smaller_size():
    X, y = problem()
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=ho.KFold(3), jobs=1)
    assert not tuned.fit(X, y).covers_.exactly
    assert tuned.covers_.estimate in tuned.estimates_
    words = str(ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1).covers)
    assert "trained on all 90 rows" in words
    assert "the learner at 60 rows" in words
    assert "it is not measured on this very predictor" in words


def test_a_kept_predictor_is_not_trained_on_all_rows():
    X, y = problem()
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=ho.Holdout(0.3), final="keep", jobs=1)
    words = str(ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1).covers)
    assert "chosen on development rows and trained on the others" in words
    alone = ho.Tuned(Ridge(), validation=ho.Holdout(0.3), final="keep", jobs=1).fit(X, y)
    assert alone.covers_.exactly
    assert "trained on 63 rows of 90" in str(alone.covers_)
