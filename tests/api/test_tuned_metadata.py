"""Metadata routing: groups reach the inner splits, weights the fits that ask for them, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_diabetes
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def data() -> tuple[Any, Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:90], y[:90], np.arange(90) // 5


@pytest.mark.usefixtures("routing")
def test_groups_reach_both_levels_of_cross_validate() -> None:
    X, y, groups = data()
    tuned = ho.Tuned(Ridge(), {"alpha": [0.01, 1.0]}, validation=ho.KFold(3), jobs=1)
    found = cross_validate(
        tuned, X, y, cv=GroupKFold(3), params={"groups": groups}, return_estimator=True, return_indices=True
    )
    result = ho.evaluate(tuned, X, y, groups=groups, test=GroupKFold(3), jobs=1)
    assert found["test_score"] == pytest.approx(-result.folds["squared"].to_numpy(), rel=1e-12)
    for fold, (estimator, train) in enumerate(zip(found["estimator"], found["indices"]["train"], strict=True)):
        assert estimator.best_index_ == result.choices["candidate"][fold]
        own = groups[train]
        for part in range(3):
            held, rest = estimator.splits_.held_rows(part), estimator.splits_.train_rows(part)
            assert not set(own[held]) & set(own[rest])


def test_groups_reach_both_levels_without_routing_too() -> None:
    X, y, groups = data()
    tuned = ho.Tuned(Ridge(), {"alpha": [0.01, 1.0]}, validation=ho.KFold(3), jobs=1)
    scores = cross_val_score(tuned, X, y, groups=groups, cv=GroupKFold(3), params={"groups": groups})
    result = ho.evaluate(tuned, X, y, groups=groups, test=GroupKFold(3), jobs=1)
    assert scores == pytest.approx(-result.folds["squared"].to_numpy(), rel=1e-12)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_to_who_asks() -> None:
    X, y, _ = data()
    weight = np.random.default_rng(0).uniform(0.1, 4.0, len(y))
    asking = ho.Tuned(Ridge().set_fit_request(sample_weight=True), {"alpha": [0.01, 1.0]}, validation=3, jobs=1)
    asking.fit(X, y, sample_weight=weight)
    by_hand = Ridge(**asking.best_params_).fit(X, y, sample_weight=weight)
    assert asking.predict(X) == pytest.approx(by_hand.predict(X), rel=1e-12)


@pytest.mark.usefixtures("routing")
def test_weights_that_nobody_asked_for_are_refused_as_scikit_learn_refuses_them() -> None:
    X, y, _ = data()
    tuned = ho.Tuned(Ridge(), {"alpha": [1.0]}, jobs=1)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        tuned.fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_a_pipeline() -> None:
    X, y, _ = data()
    weight = np.random.default_rng(0).uniform(0.1, 4.0, len(y))
    pipe = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=True), Ridge().set_fit_request(sample_weight=True)
    )
    tuned = ho.Tuned(pipe, {"ridge__alpha": [1.0]}, validation=3, jobs=1).fit(X, y, sample_weight=weight)
    by_hand = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=True), Ridge(alpha=1.0).set_fit_request(sample_weight=True)
    ).fit(X, y, sample_weight=weight)
    assert tuned.predict(X) == pytest.approx(by_hand.predict(X), rel=1e-12)
    result = ho.evaluate(tuned, X, y, sample_weight=weight, test=ho.KFold(3), jobs=1)
    assert result.risk.value is not None


@pytest.mark.usefixtures("routing")
def test_routing_reaches_worker_processes() -> None:
    X, y, _ = data()
    weight = np.random.default_rng(0).uniform(0.1, 4.0, len(y))
    pipe = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=True), Ridge().set_fit_request(sample_weight=True)
    )
    here, there = (
        ho.evaluate(pipe, X, y, sample_weight=weight, test=ho.KFold(3), **how)
        for how in ({"jobs": 1}, {"jobs": 2, "backend": "processes"})
    )
    assert here.folds.equals(there.folds)


@pytest.mark.usefixtures("routing")
def test_a_weight_a_family_each() -> None:
    """Routing asks every family, not the first alone."""
    X, y, _ = data()
    weight = np.random.default_rng(0).uniform(0.1, 4.0, len(y))
    families = {"asks": Ridge().set_fit_request(sample_weight=True), "silent": Ridge(fit_intercept=False)}
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        ho.Tuned(families, validation=3, jobs=1).fit(X, y, sample_weight=weight)
