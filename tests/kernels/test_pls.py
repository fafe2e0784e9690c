"""The kernel `pls` against brute force, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import kernel_steps
import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSCanonical, PLSRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.kernels.pls.kernel import KERNEL, find_components, sums_exactly
from heldout.kernels.step import Step, Work

COUNTS = {"n_components": [1, 2, 3, 4]}


def numbers(n: int = 60, p: int = 5, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 10, p) + 5 * rng.normal(size=p)
    return X, X @ rng.normal(size=p) + rng.normal(size=n) + 50


def posed(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Step, Work]:
    """The first validation panel of a tuned learner, as one step of this kernel."""
    return kernel_steps.posed(learner, X, y, kernel="pls", most_panels=1, **more)


def worst_difference(step: Step, work: Work) -> float:
    return kernel_steps.worst_difference(KERNEL, step, work)


def answered(step: Step, work: Work) -> int:
    """Cells that the kernel answers itself: brute force gives them one by one."""
    return sum(a.count for a in KERNEL.answer(step, work) if not (a.failures or a.score_seconds))  # of fits it is timed


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("shape", [(60, 5), (60, 1), (30, 80), (41, 40)])
def test_responses_are_scikit_learns(shape: tuple[int, int], scale: bool) -> None:
    counts = [1, 2, 3, 4] if shape[1] > 1 else [1]
    for learner in (
        ho.Tuned(PLSRegression(scale=scale), {"n_components": counts}),
        ho.Tuned(make_pipeline(StandardScaler(), PLSRegression(scale=scale)), {"plsregression__n_components": counts}),
    ):
        step, work = posed(learner, *numbers(*shape))
        assert answered(step, work) == len(step.candidates) * len(step.trainings)
        assert worst_difference(step, work) < 1e-11


@pytest.mark.parametrize("scale", [True, False])
def test_few_rows_left_out_of_many_columns(scale: bool) -> None:
    X, y = numbers(73, 20)
    middle = ColumnTransformer([("some", StandardScaler(), list(range(15, 3, -1)))])
    for learner, name in (
        (PLSRegression(scale=scale), "n_components"),
        (make_pipeline(middle, PLSRegression(scale=scale)), "plsregression__n_components"),
    ):
        step, work = posed(ho.Tuned(learner, {name: [1, 2, 3]}, validation=ho.KFold(15)), X, y)
        assert answered(step, work) == 45
        assert worst_difference(step, work) < 1e-11


def test_digits_lost_where_one_row_is_left_out_are_found_in_the_others() -> None:
    X, y = numbers(72, 20)
    X[:, 3] *= 1e-3
    X[40, 3] = 1e6  # all but everything of this column is in one row
    step, work = posed(ho.Tuned(PLSRegression(), COUNTS, validation=ho.LeaveOneOut()), X, y)
    assert answered(step, work) == len(step.candidates) * len(step.trainings)
    assert worst_difference(step, work) < 1e-11


@pytest.mark.filterwarnings("ignore:A column-vector")
def test_a_column_of_y_gives_a_column() -> None:
    X, y = numbers()
    step, work = posed(ho.Tuned(PLSRegression(), COUNTS), X, y[:, None])
    assert worst_difference(step, work) < 1e-12


def test_components_past_the_rank_are_brute_forces() -> None:
    X, y = numbers()
    X[:, 3] = X[:, 1] + X[:, 2]
    X[:, 4] = X[:, 1] - X[:, 2]
    step, work = posed(ho.Tuned(PLSRegression(scale=False), {"n_components": [1, 2, 3, 5, 9]}), X, y)
    assert answered(step, work) == 3 * len(step.trainings)
    assert worst_difference(step, work) < 1e-9
    failed = {candidate for a in KERNEL.answer(step, work) for candidate, _ in a.failures}
    assert failed == {4}  # nine components of five columns


@pytest.mark.parametrize(("value", "own"), [(0.0, True), (7.0, True), (0.1, False)])
def test_constant_columns(value: float, own: bool) -> None:
    """Where the mean of equal numbers is inexact, scikit-learn divides one rounding error by another."""
    X, y = numbers()
    X[:, 2] = value
    step, work = posed(ho.Tuned(PLSRegression(), COUNTS), X, y)
    assert (answered(step, work) > 0) is own
    assert worst_difference(step, work) < 1e-9


def test_sums_exactly() -> None:
    assert sums_exactly(np.array([0.0, -3.0, 0.5, 1e6]), 1_000).all()
    assert not sums_exactly(np.array([0.1, 1 / 3]), 1_000).any()


def test_jobs_change_no_bit() -> None:
    step, work = posed(ho.Tuned(PLSRegression(), COUNTS, validation=ho.LeaveOneOut()), *numbers(50, 12))
    one, two = (
        kernel_steps.tables_of(KERNEL.answer(step, replace(work, jobs=jobs, products={})), step, work)
        for jobs in (1, 2)
    )
    assert all(np.array_equal(table.losses, two[panel].losses) for panel, table in one.items())


def test_little_memory_changes_little() -> None:
    step, work = posed(ho.Tuned(PLSRegression(), COUNTS), *numbers())
    small = replace(work, budget=1 << 12, products={})
    assert worst_difference(step, small) < 1e-11
    assert answered(step, replace(work, budget=1 << 8, products={})) == 0


@pytest.mark.parametrize("nearness", [1.0, 1e-2, 1e-4, 1e-6])
def test_errors_grow_no_more_than_is_told(nearness: float) -> None:
    """In products that are off by a known, small amount, as rounding leaves them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6))
    X[:, 5] = X[:, 0] + nearness * rng.normal(size=100)
    C, d = X.T @ X, X.T @ rng.normal(size=100)
    off = 1e-13
    E, e = (rng.uniform(-off, off, size=size) for size in ((6, 6), 6))
    plain = find_components(lambda r: C @ r, np.diagonal(C), d, 6)
    moved = find_components(lambda r: (C * (1 + E + E.T)) @ r, np.diagonal(C), d * (1 + e), 6).coef - plain.coef
    assert (np.linalg.norm(moved, axis=1) <= 8 * off * plain.growth).all()


def test_errors_of_components_past_the_rank_have_no_bound() -> None:
    growth = find_components(lambda r: r, np.ones(3), np.ones(3), 2).growth
    assert growth[0] == pytest.approx(2 * np.sqrt(3))
    assert not growth[1] < 1e9


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (PLSCanonical(1), "PLSCanonical is not PLSRegression"),
        (make_pipeline(MinMaxScaler(), PLSRegression()), "MinMaxScaler stands before PLSRegression"),
        (make_pipeline(StandardScaler(), StandardScaler(), PLSRegression()), "more than one step"),
        (PLSRegression(copy=False), "copy=False"),
        (PLSRegression(n_components=0), "n_components=0"),
    ],
)
def test_refused_learners(learner: Any, reason: str) -> None:
    X, y = numbers()
    assert reason in str(ho.explain(learner, X, y, test=3))


def test_refused_data() -> None:
    X, y = numbers()
    for x, target, reason in (
        (X, np.column_stack([y, y]), "several targets"),
        (X.astype(np.float32), y, "X is of type float32"),
        (sparse.csr_matrix(X), y, "X is sparse"),
    ):
        assert reason in str(ho.explain(PLSRegression(), x, target, test=3))


def test_explain_shows_rule_and_tier() -> None:
    plan = ho.explain(ho.Tuned(PLSRegression(), COUNTS), *numbers(), test=3)
    assert {(line.rule, line.tier) for line in plan.lines} == {("pls", "rounding")}
