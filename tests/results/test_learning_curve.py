"""result.learning_curve: plain fits on fewer rows, priced up front, and the number that it extrapolates to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout.base.errors import OptionError, SplitError, StoredError


def problem(n: int = 60) -> tuple[Any, Any]:
    chance = np.random.default_rng(1)
    X = chance.normal(size=(n, 3))
    return X, X[:, 0] + chance.normal(size=n)


@pytest.mark.parametrize(
    "learner",
    [
        Ridge(),
        KNeighborsRegressor(3),
        ho.Tuned(Ridge(), {"alpha": [0.01, 10.0]}, validation=ho.KFold(3), jobs=1),
        ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 4]}, validation=ho.Holdout(0.3), final="keep", jobs=1),
    ],
    ids=["ridge", "neighbours", "tuned", "keep"],
)
def test_each_point_is_what_plain_fits_on_those_rows_give(asked, learner):
    X, y = problem()
    options = ho.Options(learning_curve=(0.3, 0.6))
    question = asked(learner, X, y, test=ho.KFold(4), options=options)
    thin = question.curve.splits["outer"]
    losses = []
    for part in range(len(thin)):
        train, held = thin.train_rows(part), thin.held_rows(part)
        losses.append(np.mean((y[held] - clone(learner).fit(X[train], y[train]).predict(X[held])) ** 2))
    result = ho.evaluate(learner, X, y, test=ho.KFold(4), options=options, jobs=1)
    curve = result.learning_curve
    assert list(curve.columns) == ["size", "estimate", "low", "high"]
    expected = [np.mean(losses[:4]), np.mean(losses[4:]), result.risk.value]
    assert curve["estimate"].tolist() == pytest.approx(expected)
    assert curve["size"].iloc[-1] == result.risk.train_size
    assert (curve["low"] < curve["estimate"]).all()
    assert (curve["estimate"] < curve["high"]).all()


def test_it_is_made_on_demand_too_and_marks_what_it_extrapolates():
    X, y = problem()
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(5), jobs=1)
    assert "extrapolated" not in result.estimates
    assert result.learning_curve["size"].tolist() == pytest.approx([10, 19, 29, 38, 48])
    found = result.estimates["extrapolated"]
    assert found.train_size == 60
    assert "extrapolated from smaller sizes" in found.estimand
    assert found.low is None
    assert "rule of thumb" in found.reason
    assert found.value < result.learning_curve["estimate"].iloc[0]


def test_it_is_priced_up_front_and_counted():
    X, y = problem()
    options = ho.Options(learning_curve=(0.5, 0.75), rules={"ridge": False})
    account = ho.explain(Ridge(), X, y, test=ho.KFold(4), options=options)
    assert account.fits == 4 + 8
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(4), options=options, jobs=1)
    assert result.plan.fits == 12
    assert "learning curve" in str(result.plan)


def test_it_is_saved_with_the_result(tmp_path):
    X, y = problem()
    result = ho.evaluate(Ridge(), X, y, options=ho.Options(learning_curve=True), jobs=1)
    result.save(tmp_path / "with")
    loaded = ho.load(tmp_path / "with")
    assert loaded.learning_curve.equals(result.learning_curve)
    assert loaded.estimates["extrapolated"] == result.estimates["extrapolated"]
    ho.evaluate(Ridge(), X, y, jobs=1).save(tmp_path / "without")
    with pytest.raises(StoredError, match="learning_curve=True"):
        _ = ho.load(tmp_path / "without").learning_curve


def test_what_it_extrapolates_is_near_the_risk_of_least_squares_at_all_rows():
    """OLS with intercept on normal columns: E risk = (1 + 1/n)(n − 2)/(n − p − 2), 1.269 at n = 100 and p = 20."""
    found, plain = [], []
    for seed in range(24):
        chance = np.random.default_rng(seed)
        X, y = chance.normal(size=(100, 20)), chance.normal(size=100)
        options = ho.Options(learning_curve=(0.4, 0.55, 0.7, 0.85))
        result = ho.evaluate(LinearRegression(), X, y, test=ho.KFold(5), options=options, jobs=1)
        found.append(result.estimates["extrapolated"].value)
        plain.append(result.risk.value)
    error = np.std(found) / np.sqrt(24)
    assert abs(np.mean(found) - 1.269) < 3 * error
    assert abs(np.mean(found) - 1.269) < abs(np.mean(plain) - 1.269)


@pytest.mark.parametrize(
    ("learner", "question", "error", "words"),
    [
        (Ridge(), {"options": ho.Options(learning_curve=(200,))}, SplitError, "200 of 40 training rows"),
        (
            ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=ho.SharedBlocks()),
            {"options": ho.Options(learning_curve=True)},
            OptionError,
            "SharedBlocks",
        ),
        (
            Ridge(),
            {"options": ho.Options(learning_curve=True, answer="value"), "test": ho.Holdout(0.3)},
            OptionError,
            "tell more of the test rows",
        ),
    ],
)
def test_where_it_cannot_be_had_it_is_refused_before_any_fit(asked, learner, question, error, words):
    X, y = problem()
    with pytest.raises(error, match=words):
        asked(learner, X, y, **{"test": ho.KFold(3)} | question)


def test_leave_one_out_of_many_rows_would_name_too_many(asked, monkeypatch):
    X, y = problem()
    monkeypatch.setattr("heldout.results.extra_fits.MOST_NUMBERS", 4 * 60 * 59 - 1)
    with pytest.raises(OptionError, match="over 60 test parts"):
        asked(Ridge(), X, y, test=ho.LeaveOneOut(), options=ho.Options(learning_curve=True))


@pytest.mark.parametrize("sizes", ["many", (0.0, 0.5), (), (-3,), 0.5])
def test_sizes_that_are_none_are_refused(sizes):
    with pytest.raises(OptionError, match="learning_curve="):
        ho.Options(learning_curve=sizes)


def test_a_predictor_that_came_fitted_has_none():
    X, y = problem()
    frozen = FrozenEstimator(KNeighborsClassifier().fit(X, (y > 0).astype(int)))
    result = ho.evaluate(frozen, X, (y > 0).astype(int), test=ho.Given(np.arange(20)), jobs=1)
    with pytest.raises(OptionError, match="came fitted"):
        _ = result.learning_curve
