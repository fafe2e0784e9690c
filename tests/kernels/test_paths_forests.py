"""Forest prefixes against separate forests."""

from __future__ import annotations

from typing import Any

import numpy as np
import path_checks as checks
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)

from heldout.kernels.paths.ensembles import FORESTS

SIZES = [4, 1, 6, 2]


@pytest.mark.parametrize(
    ("estimator", "make"),
    [
        (RandomForestRegressor(random_state=0), checks.regression),
        (RandomForestRegressor(random_state=1, max_samples=0.5, max_features=2), checks.weighted_regression),
        (RandomForestRegressor(random_state=2, criterion="absolute_error", max_depth=3), checks.tied_regression),
        (RandomForestRegressor(random_state=3), checks.several_targets),
        (RandomForestClassifier(random_state=4), checks.binary),
        (RandomForestClassifier(random_state=5, class_weight="balanced_subsample"), checks.multiclass),
        (RandomForestClassifier(random_state=6, class_weight="balanced", max_samples=40), checks.weighted_multiclass),
        (RandomForestClassifier(random_state=7, bootstrap=False), checks.ties),
        (RandomForestClassifier(random_state=8), checks.several_labels),
        (RandomForestClassifier(random_state=9), checks.few_rows),
        (RandomForestClassifier(random_state=10), checks.frame),
        (RandomForestClassifier(random_state=11), checks.sparse_rows),
        (RandomForestClassifier(random_state=12, n_jobs=2), checks.missing),
        (RandomForestClassifier(random_state=13), checks.one_held_row),
        (ExtraTreesClassifier(random_state=14, bootstrap=True), checks.multiclass),
        (ExtraTreesClassifier(random_state=15, max_leaf_nodes=6), checks.ties),
        (ExtraTreesRegressor(random_state=16), checks.several_targets),
        (ExtraTreesRegressor(random_state=17, ccp_alpha=0.01), checks.weighted_regression),
    ],
)
def test_the_first_trees_are_the_smaller_forest(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(FORESTS, estimator, SIZES, make())


def test_another_seed_is_another_forest() -> None:
    problem = checks.regression()
    with pytest.raises(AssertionError, match="predict at"):
        _compare_with_seed(problem, fitted_seed=1, alone_seed=2)


def _compare_with_seed(problem: checks.Problem, *, fitted_seed: int, alone_seed: int) -> None:
    fitted = RandomForestRegressor(5, random_state=fitted_seed).fit(problem.X, problem.y)
    alone = RandomForestRegressor(3, random_state=alone_seed).fit(problem.X, problem.y)
    (found,) = FORESTS.responses(fitted, [3], problem.held, [("predict",)])
    assert np.array_equal(found.predict, alone.predict(problem.held)), "predict at 3"


def test_refusals_have_reasons() -> None:
    assert "oob_score" in checks.refusal_of(FORESTS, RandomForestClassifier(oob_score=True), [1, 2])
    assert "warm_start" in checks.refusal_of(FORESTS, RandomForestClassifier(warm_start=True), [1, 2])
    assert "no count" in checks.refusal_of(FORESTS, RandomForestClassifier(), [0, 2])
    assert "not a seed" in checks.refusal_of(
        FORESTS, RandomForestClassifier(random_state=np.random.RandomState(0)), [1, 2]
    )


def test_only_exact_types_are_taken() -> None:
    class Mine(RandomForestClassifier):  # type: ignore[misc]
        pass

    assert FORESTS.takes(RandomForestClassifier())
    assert not FORESTS.takes(Mine())
    assert not FORESTS.takes(IsolationForest())


def test_values_that_are_no_counts_have_lanes_of_their_own() -> None:
    assert FORESTS.lane(3) == FORESTS.lane(np.int64(5))
    assert len({FORESTS.lane(value) for value in (3, 0, 2.0, True, None)}) == 5
