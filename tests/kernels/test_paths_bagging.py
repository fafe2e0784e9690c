"""Bagging prefixes against separate ensembles."""

from __future__ import annotations

from typing import Any

import path_checks as checks
import pytest
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.kernels.paths.ensembles import BAGGING

SIZES = [4, 1, 6, 2]


@pytest.mark.parametrize(
    ("estimator", "make"),
    [
        (BaggingRegressor(random_state=0), checks.regression),
        (BaggingRegressor(random_state=1, max_samples=0.4, bootstrap=False), checks.regression),
        (BaggingRegressor(DecisionTreeRegressor(max_features=2), random_state=2), checks.weighted_regression),
        (BaggingRegressor(Ridge(), random_state=3, max_features=0.5), checks.frame),
        (BaggingRegressor(Ridge(), random_state=4), checks.several_targets),
        (BaggingClassifier(random_state=5), checks.multiclass),
        (BaggingClassifier(random_state=6, max_features=3, bootstrap_features=True), checks.multiclass),
        (BaggingClassifier(DecisionTreeClassifier(splitter="random"), random_state=7), checks.weighted_multiclass),
        (BaggingClassifier(RidgeClassifier(), random_state=8), checks.multiclass),  # votes and decisions
        (BaggingClassifier(RidgeClassifier(), random_state=9), checks.binary),
        (BaggingClassifier(SVC(), random_state=10, n_jobs=2), checks.binary),
        (BaggingClassifier(GaussianNB(), random_state=11, max_samples=4), checks.few_rows),
        (
            BaggingClassifier(KNeighborsClassifier(1), random_state=12, max_samples=5),
            checks.multiclass,
        ),  # absent classes
        (BaggingClassifier(random_state=13), checks.sparse_rows),
        (BaggingClassifier(random_state=14), checks.one_held_row),
        (BaggingClassifier(random_state=15), checks.ties),
    ],
)
def test_the_first_members_are_the_smaller_ensemble(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(BAGGING, estimator, SIZES, make())


def test_refusals_have_reasons() -> None:
    assert "oob_score" in checks.refusal_of(BAGGING, BaggingClassifier(oob_score=True), [1, 2])
    assert "warm_start" in checks.refusal_of(BAGGING, BaggingRegressor(warm_start=True), [1, 2])
