"""The kernel `glm`: what it claims and refuses, hard cases, the same bits whatever the jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.kernels.glm import KERNEL
from heldout.kernels.glm.design import pair_places, products_of_pairs, spread_of, with_pairs
from heldout.kernels.glm.families import Family
from heldout.kernels.glm.forms import Form
from heldout.kernels.glm.models import largest_move, most_moved, quadratic_model, rough_model, slopes
from heldout.kernels.glm.newton import left_share, solve_path
from heldout.kernels.glm.sets import Sets, make_sets
from heldout.kernels.ridge.columns import Columns

SOLVER = ho.Options(precision="solver")
SCALED = make_pipeline(StandardScaler(), LogisticRegression())
CS = [0.01, 1.0, 100.0]


def labelled(kinds: int = 2, n: int = 60, p: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * [1, 5, 0.2][:p]
    return X, np.argsort(np.argsort(X[:, 0] + rng.normal(size=n))) * kinds // n


def counted(n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, rng.poisson(np.exp(0.5 * X[:, 0] + 0.3)).astype(float)


def record(learner: Any, X: Any, y: Any, **more: Any) -> Any:
    plan = ho.explain(learner, X, y, test=ho.KFold(3), options=SOLVER, **more)
    return next(p for p in plan.passes if p.name == "glm")


def test_it_runs_only_where_it_is_asked_for():
    X, y = labelled()
    tuned = ho.Tuned(SCALED, {"logisticregression__C": CS}, validation=ho.KFold(3))
    assert "tier solver" in str(ho.explain(tuned, X, y, test=ho.KFold(3), options=SOLVER))
    usual = ho.explain(tuned, X, y, test=ho.KFold(3))
    reasons = next(p for p in usual.passes if p.name == "glm").refusals
    assert any("precision='solver'" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (LogisticRegression(solver="liblinear"), "penalises the intercept"),
        (LogisticRegression(solver="saga", l1_ratio=0.5), "l1_ratio is not 0"),
        (LogisticRegression(max_iter=5), "stops before the optimum"),
        (LogisticRegression(tol=0.5), "near their optimum"),
        (make_pipeline(MinMaxScaler(), LogisticRegression()), "MinMaxScaler stands before"),
    ],
)
def test_what_is_refused_of_classifiers(learner, words):
    assert any(words in reason for reason in record(learner, *labelled()).refusals)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (TweedieRegressor(power=0), "only powers from 1 to 2"),
        (TweedieRegressor(power=3), "only powers from 1 to 2"),
        (TweedieRegressor(power=1.5, link="identity"), "only powers from 1 to 2"),
        (GammaRegressor(), "y has values that the loss does not take"),
        (PoissonRegressor(max_iter=7), "stops before the optimum"),
    ],
)
def test_what_is_refused_of_regressors(learner, words):
    assert any(words in reason for reason in record(learner, *counted()).refusals)


def test_what_is_refused_of_data():
    X, y = labelled()
    reasons = {
        "sparse": record(LogisticRegression(), sparse.csr_matrix(X), y).refusals,
        "float32": record(LogisticRegression(), X.astype(np.float32), y).refusals,
        "far from 0": record(LogisticRegression(), X + 1e6, y).refusals,
        "columns": record(LogisticRegression(), np.random.default_rng(0).normal(size=(60, 201)), y).refusals,
    }
    for word, found in reasons.items():
        assert any(word in reason for reason in found), (word, found)
    assert record(SCALED, X + 1e6, y).used


@pytest.mark.parametrize("kinds", [2, 3])
def test_probabilities_and_decisions_are_those_of_a_sharp_fit(kinds):
    X, y = labelled(kinds)
    losses = ["log", "roc_auc"] if kinds == 2 else ["log"]
    on = ho.evaluate(SCALED, X, y, test=ho.KFold(3), loss=losses, options=SOLVER, progress=False, jobs=1)
    sharp = ho.evaluate(KERNEL.sharpened(SCALED), X, y, test=ho.KFold(3), loss=losses, progress=False, jobs=1)
    for name in losses:
        np.testing.assert_allclose(on.folds[name], sharp.folds[name], rtol=1e-6)
    assert on.findings == ()


@pytest.mark.parametrize("learner", [PoissonRegressor(), make_pipeline(StandardScaler(), TweedieRegressor(power=1.5))])
def test_numbers_are_those_of_a_sharp_fit(learner):
    X, y = counted()
    on = ho.evaluate(learner, X, y, test=ho.KFold(3), options=SOLVER, progress=False, jobs=1)
    sharp = ho.evaluate(KERNEL.sharpened(learner), X, y, test=ho.KFold(3), progress=False, jobs=1)
    np.testing.assert_allclose(on.predictions["predict"], sharp.predictions["predict"], rtol=1e-6)


def test_jobs_change_no_bit():
    X, y = labelled(3, 1200)
    tuned = ho.Tuned(SCALED, {"logisticregression__C": CS}, validation=ho.KFold(5), loss="log")
    one, two = (
        ho.evaluate(tuned, X, y, test=ho.KFold(5), options=SOLVER, progress=False, jobs=jobs) for jobs in (1, 2)
    )
    assert one.plan.fits < one.plan.fits_before
    np.testing.assert_array_equal(one.predictions["predict"], two.predictions["predict"])
    for name in ("log", "train_rows"):
        np.testing.assert_array_equal(one.folds[name], two.folds[name])
    np.testing.assert_array_equal(one.candidates["validation_log"], two.candidates["validation_log"])


def test_separable_rows_without_a_penalty_are_fitted_by_scikit_learn():
    X, _ = labelled()
    y = (X[:, 0] > 0).astype(int)
    learner = LogisticRegression(C=np.inf)
    on = ho.evaluate(learner, X, y, test=ho.KFold(3), loss="log", options=SOLVER, progress=False, jobs=1)
    off = ho.evaluate(KERNEL.sharpened(learner), X, y, test=ho.KFold(3), loss="log", progress=False, jobs=1)
    np.testing.assert_array_equal(on.folds["log"], off.folds["log"])


def test_separable_rows_at_a_weak_penalty_agree_with_a_fit_that_is_sharp_for_it():
    X, _ = labelled()
    y = (X[:, 0] > 0).astype(int)
    learner = LogisticRegression(C=1e12, max_iter=5000)
    more = {"test": ho.KFold(3), "loss": "log", "progress": False, "jobs": 1}
    on = ho.evaluate(learner, X, y, options=SOLVER, **more)
    sharp = ho.evaluate(KERNEL.sharpened(learner), X, y, **more)
    np.testing.assert_allclose(on.folds["log"], sharp.folds["log"], rtol=1e-4)
    assert "H205" not in {finding.code for finding in on.findings}


def test_a_class_that_is_absent_is_left_to_scikit_learn():
    X, y = labelled()
    y[:2] = 2
    found = record(LogisticRegression(), X, y)
    tuned = ho.evaluate(
        LogisticRegression(),
        X,
        y,
        test=[(np.arange(10, 60), np.arange(10))],
        options=SOLVER,
        progress=False,
        jobs=1,
    )
    assert found.used
    assert any("a class is absent" in reason for p in tuned.plan.passes for reason in p.refusals)


def made_sets(kinds: int, *, width: int = 3) -> Sets:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, width))
    y = rng.integers(0, kinds, 80).astype(float)
    shift, scale = spread_of(X)
    design = with_pairs(np.column_stack([(X - shift) / scale, np.ones(80)]), shift, scale, room=1 << 20)
    form = Form(power=None, intercept=True, columns=Columns(centred=True, scaled=True))
    rows = [np.arange(60), np.arange(20, 80), np.repeat(np.arange(30), 2)]
    return make_sets(design, form, Family(classes=kinds), (y, rng.uniform(0.5, 2, 80)), rows)


@pytest.mark.parametrize("kinds", [2, 4])
@pytest.mark.parametrize("width", [3, 70])
def test_second_derivatives_are_slopes_of_slopes(kinds, width):
    sets = made_sets(kinds, width=width)
    at = 0.1 * np.random.default_rng(2).normal(size=(3, sets.family.predictors, width + 1))
    _, second = quadratic_model(sets, at)
    for predictor in range(sets.family.predictors):
        for column in (0, width):
            move = np.zeros_like(at)
            move[:, predictor, column] = 1e-5
            above, below = (quadratic_model(sets, at + sign * move)[0].gradient for sign in (1, -1))
            np.testing.assert_allclose((above - below) / 2e-5, second[:, :, :, predictor, column], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kinds", [2, 4])
def test_second_derivatives_in_single_precision_are_off_by_no_more_than_is_said(kinds):
    sets = made_sets(kinds)
    at = np.random.default_rng(2).normal(size=(3, sets.family.predictors, 4))
    slope, second = quadratic_model(sets, at)
    rough_slope, rough, off = rough_model(sets, at)
    np.testing.assert_allclose(rough_slope.gradient, slope.gradient, rtol=1e-12)
    for one, other, share in zip(second, rough, off, strict=True):
        size = 4 * sets.family.predictors
        root = np.linalg.inv(np.linalg.cholesky(other.reshape(size, size)))
        apart = np.abs(np.linalg.eigvalsh(root @ (one - other).reshape(size, size) @ root.T)).max()
        assert 0 < apart < share < 0.05


def test_columns_in_one_plane_keep_their_digits_in_single_precision():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 5))
    X[:, 4] = X[:, 0] - 2 * X[:, 1]
    nearly = X + 1e-6 * rng.normal(size=X.shape)
    for columns, rough in ((X, True), (nearly, False)):
        shift, scale = spread_of(columns)
        design = with_pairs(np.column_stack([(columns - shift) / scale, np.ones(600)]), shift, scale, room=1 << 20)
        assert design.rough == rough


@pytest.mark.parametrize("kinds", [2, 3])
@pytest.mark.parametrize("moved", [0.0, 0.05])
def test_what_a_step_leaves_is_bounded(kinds, moved):
    sets = made_sets(kinds)
    shape = (3, sets.family.predictors, 4)
    rng = np.random.default_rng(4)
    at, aside = 0.3 * rng.normal(size=shape), rng.normal(size=shape)
    aside *= (moved / largest_move(sets, aside))[:, None, None] if moved else 0.0
    size = shape[1] * shape[2]
    before = quadratic_model(sets, at)[1].reshape(3, size, size) + 30.0 * np.eye(size)

    def slope(at):
        return (slopes(sets, at).gradient + 30.0 * at).reshape(3, size)

    step = -np.linalg.solve(before, slope(at + aside)[:, :, None])[:, :, 0]
    decrement = np.sqrt(-(step * slope(at + aside)).sum(axis=1))
    reach = largest_move(sets, step.reshape(shape))
    assert (reach <= most_moved(sets, step.reshape(shape))).all()
    after = at + aside + step.reshape(shape)
    second = quadratic_model(sets, after)[1].reshape(3, size, size) + 30.0 * np.eye(size)
    left = np.sqrt((slope(after) * np.linalg.solve(second, slope(after)[:, :, None])[:, :, 0]).sum(axis=1))
    assert (left <= decrement * left_share(np.full(3, moved), reach, np.zeros(3))).all()


@pytest.mark.parametrize("kinds", [2, 3])
def test_slopes_vanish_at_every_end_of_the_path(kinds):
    sets, strengths = made_sets(kinds), np.array([100.0, 1.0, 0.01])
    found, good = solve_path(sets, strengths)
    assert good.all()
    for place, strength in enumerate(strengths):
        slope = quadratic_model(sets, found[:, place])[0].gradient
        slope[:, :, :-1] += strength * sets.stretch[:, None] * found[:, place, :, :-1]
        assert np.abs(slope).max() < 1e-5


def test_products_of_pairs_are_found_where_they_stand():
    Z = np.random.default_rng(0).normal(size=(5, 4))
    pairs = products_of_pairs(Z)[:, pair_places(4)]
    np.testing.assert_array_equal(pairs, Z[:, :, None] * Z[:, None])


def test_contrasts_are_orthonormal_and_add_up_to_nothing():
    basis = Family(classes=5).contrasts()
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-15)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-15)
