"""Pruning and best-first paths against separate fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import path_checks as checks
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from heldout.kernels.paths.subtrees import FOREST_LEAVES, FOREST_PRUNING, TREE_LEAVES, TREE_PRUNING

ALPHAS = [0.02, 0.0, 0.003, 10.0, 1e-12, 0.1, 0.003]
LEAVES = [9, 2, 30, 3, 5, 1000]

TREES = [
    (DecisionTreeRegressor(random_state=0), checks.regression),
    (DecisionTreeRegressor(random_state=1, criterion="absolute_error", max_features=2), checks.weighted_regression),
    (DecisionTreeRegressor(random_state=2, splitter="random"), checks.tied_regression),
    (DecisionTreeRegressor(random_state=3, max_depth=5), checks.several_targets),
    (DecisionTreeClassifier(random_state=4), checks.binary),
    (DecisionTreeClassifier(random_state=5, criterion="entropy", class_weight="balanced"), checks.weighted_multiclass),
    (DecisionTreeClassifier(random_state=6, max_features="sqrt", min_samples_leaf=2), checks.multiclass),
    (DecisionTreeClassifier(random_state=7), checks.ties),
    (DecisionTreeClassifier(random_state=8), checks.several_labels),
    (DecisionTreeClassifier(random_state=9), checks.few_rows),
    (DecisionTreeClassifier(random_state=10, min_impurity_decrease=0.005), checks.frame),
    (DecisionTreeClassifier(random_state=11), checks.sparse_rows),
    (DecisionTreeClassifier(random_state=12), checks.missing),
    (DecisionTreeClassifier(random_state=13), checks.one_held_row),
    (DecisionTreeRegressor(random_state=14, monotonic_cst=[1, -1, 0, 0, 0, 0]), checks.regression),
    (ExtraTreeClassifier(random_state=15), checks.multiclass),
    (ExtraTreeRegressor(random_state=16), checks.several_targets),
]

FORESTS = [
    (RandomForestRegressor(4, random_state=0), checks.regression),
    (RandomForestRegressor(4, random_state=1, max_samples=0.5), checks.several_targets),
    (RandomForestClassifier(4, random_state=2, class_weight="balanced_subsample"), checks.multiclass),
    (RandomForestClassifier(4, random_state=3, bootstrap=False, max_features=None), checks.weighted_multiclass),
    (RandomForestClassifier(4, random_state=4), checks.several_labels),
    (RandomForestClassifier(4, random_state=5), checks.ties),
    (ExtraTreesClassifier(4, random_state=6), checks.frame),
    (ExtraTreesRegressor(4, random_state=7), checks.weighted_regression),
]


@pytest.mark.parametrize(("estimator", "make"), TREES)
def test_one_tree_is_pruned_to_every_alpha(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(TREE_PRUNING, estimator, ALPHAS, make())


@pytest.mark.parametrize(("estimator", "make"), TREES)
def test_alphas_of_the_pruning_path_itself(estimator: Any, make: checks.Make) -> None:
    """The hard ones: each is exactly the strength of a branch."""
    problem = make()
    found = estimator.cost_complexity_pruning_path(problem.X, problem.y, problem.fit.get("sample_weight"))
    alphas = list(np.maximum(found.ccp_alphas, 0.0)[::-1])  # scikit-learn says -1e-17 at times, and refuses it
    checks.assert_path_equals_fits(TREE_PRUNING, estimator, alphas, problem)


@pytest.mark.parametrize("make", [checks.regression, checks.binary])
def test_a_tree_grown_best_first_is_pruned_too(make: checks.Make) -> None:
    tree = DecisionTreeRegressor(random_state=0, max_leaf_nodes=25)
    alone = checks.assert_path_equals_fits(TREE_PRUNING, tree, ALPHAS, make())
    assert alone[0].tree_.node_count < alone[1].tree_.node_count  # it was pruned


@pytest.mark.parametrize(("estimator", "make"), FORESTS)
def test_one_forest_is_pruned_to_every_alpha(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(FOREST_PRUNING, estimator, ALPHAS, make())


@pytest.mark.parametrize(("estimator", "make"), TREES)
def test_the_first_leaves_are_the_smaller_tree(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(TREE_LEAVES, estimator, LEAVES, make())


@pytest.mark.parametrize(("estimator", "make"), FORESTS)
def test_the_first_leaves_are_the_smaller_trees_of_a_forest(estimator: Any, make: checks.Make) -> None:
    checks.assert_path_equals_fits(FOREST_LEAVES, estimator, LEAVES, make())


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), levels=st.integers(1, 6), classes=st.integers(0, 3))
def test_any_small_rounded_data(seed: int, n: int, levels: int, classes: int) -> None:
    """Rounded columns and targets make equal strengths, equal gains and branches of strength 0."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(2 * n, 3)).astype(float)
    y = rng.integers(0, max(classes, 4), size=n) / (1 if classes else 3)
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    weight = {"sample_weight": rng.choice([0.1, 0.3, 1.0], size=n)} if seed % 2 else {}
    problem = checks.Problem(X=X[:n], y=y, held=X[n:], fit=weight)
    tree = kind(random_state=int(seed), max_features=2)
    path = tree.cost_complexity_pruning_path(problem.X, y, weight.get("sample_weight")).ccp_alphas
    alphas = [*np.maximum(path, 0.0), *np.nextafter(np.maximum(path, 0.0), np.inf), 0.01]
    checks.assert_path_equals_fits(TREE_PRUNING, tree, alphas, problem)
    checks.assert_path_equals_fits(TREE_LEAVES, tree, [12, 2, 3, 4, 6], problem)


def test_a_large_tree() -> None:
    problem = checks.regression(n=3000)
    tree = DecisionTreeRegressor(random_state=0)
    path = tree.cost_complexity_pruning_path(problem.X, problem.y).ccp_alphas
    alphas = list(np.maximum(path[:: len(path) // 12], 0.0))
    checks.assert_path_equals_fits(TREE_PRUNING, tree, alphas, problem)


def test_refusals_have_reasons() -> None:
    tree, forest = DecisionTreeClassifier(), RandomForestClassifier()
    assert "ccp_alpha above 0 prunes" in checks.refusal_of(TREE_LEAVES, DecisionTreeClassifier(ccp_alpha=0.1), [2, 3])
    assert "best first" in checks.refusal_of(TREE_LEAVES, tree, [None, 3])
    assert "best first" in checks.refusal_of(FOREST_LEAVES, forest, [1, 3])
    assert "no finite number" in checks.refusal_of(TREE_PRUNING, tree, [-1.0, 3])
    assert "no finite number" in checks.refusal_of(FOREST_PRUNING, forest, [float("nan"), 3])
    assert "oob_score" in checks.refusal_of(FOREST_PRUNING, RandomForestClassifier(oob_score=True), [0.0, 0.1])
    assert "not a seed" in checks.refusal_of(
        TREE_PRUNING, DecisionTreeClassifier(random_state=np.random.RandomState(0)), [0.0, 0.1]
    )


def test_trees_without_a_number_of_leaves_are_fitted_apart() -> None:
    assert TREE_LEAVES.lane(3) == TREE_LEAVES.lane(np.int64(8)) != TREE_LEAVES.lane(None)
