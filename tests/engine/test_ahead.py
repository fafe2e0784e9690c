"""The final fit goes ahead while the kernel is being checked: it stands where the check passes, and only there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import HuberRegressor, Lasso, Ridge

import heldout as ho
from heldout.engine import spot_check, spot_compare
from heldout.engine.ahead import Ahead, Final
from heldout.engine.spots import SpotCheck

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 6))
Y = X @ np.arange(6.0) + RNG.normal(size=200)
RIDGE = {"alpha": [0.1, 1.0, 10.0]}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[SpotCheck]:
    """The checks of every study from here on."""
    found: list[SpotCheck] = []
    own = spot_check.compare_cell

    def compare(*given: Any) -> SpotCheck:
        found.append(own(*given))
        return found[-1]

    monkeypatch.setattr(spot_check, "compare_cell", compare)
    return found


def fitted(learner: Any = None, space: Any = None, **more: Any) -> ho.Tuned:
    estimator = Ridge() if learner is None else learner
    return ho.Tuned(estimator, RIDGE if space is None else space, validation=ho.KFold(4), jobs=2, **more).fit(X, Y)


def test_the_final_predictor_checks_the_kernel(made: list[SpotCheck]) -> None:
    tuned = fitted()
    (check,) = made
    assert check.passed
    assert check.cell == f"alpha={tuned.best_params_['alpha']:g} on all rows, by the final predictor"
    assert check.difference < 1e-12


def test_a_final_predictor_that_is_no_fit_on_all_rows_checks_nothing(made: list[SpotCheck]) -> None:
    fitted(final="ensemble")
    (check,) = made
    assert "on validation, part" in check.cell


def test_a_kernel_whose_candidates_lose_is_checked_by_a_fit(made: list[SpotCheck]) -> None:
    families = {"ridge": (Ridge(), {"alpha": [1e6, 1e7]}), "huber": HuberRegressor()}
    tuned = ho.Tuned(families, validation=ho.KFold(4), jobs=2).fit(X, Y)
    assert tuned.best_family_ == "huber"
    (check,) = made
    assert check.passed
    assert "on validation, part" in check.cell


def test_a_solver_is_held_to_a_sharp_fit_of_a_cell(made: list[SpotCheck]) -> None:
    for jobs in (1, 2):
        solver = ho.Options(precision="solver")
        ho.Tuned(Lasso(), RIDGE, validation=ho.KFold(4), jobs=jobs, options=solver).fit(X, Y)
    assert all(check.passed for check in made)
    assert made[0].cell == made[1].cell
    assert "on validation, part" in made[0].cell


@pytest.mark.parametrize(("room", "wrong"), [(spot_compare, "_largest"), (spot_check, "differs_from_named")])
def test_a_kernel_that_fails_is_replaced_before_anyone_sees_a_number(
    room: Any, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    components = {"n_components": [1, 3]}
    by_hand = fitted(PLSRegression(), components, options=ho.Options(rules={"pls": False}))
    by_kernel = fitted(PLSRegression(), components)
    monkeypatch.setattr(room, wrong, lambda *_: 1e-3)
    replaced = fitted(PLSRegression(), components)
    scores = [f"split{part}_test_score" for part in range(4)]
    assert any(not np.array_equal(by_kernel.cv_results_[name], by_hand.cv_results_[name]) for name in scores)
    for name in scores:
        assert np.array_equal(replaced.cv_results_[name], by_hand.cv_results_[name])
    assert np.array_equal(replaced.predict(X), by_hand.predict(X))


@pytest.fixture
def warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ridge warns three times of every fit, and takes a way of its own where that is an error."""
    own = Ridge.fit

    def fit(self: Any, *given: Any, **named: Any) -> Any:
        fitted = own(self, *given, **named)
        try:
            for _ in range(3):
                warnings.warn("of a fit", RuntimeWarning, stacklevel=1)
        except RuntimeWarning:
            fitted.coef_ = np.zeros_like(fitted.coef_)
        return fitted

    monkeypatch.setattr(Ridge, "fit", fit)


@pytest.mark.usefixtures("warning")
@pytest.mark.parametrize(("action", "times"), [("always", 3), ("default", 1), ("ignore", 0)])
def test_the_final_fit_warns_by_the_filters_of_the_caller(action: Any, times: int) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter(action)
        before = list(warnings.filters), warnings.showwarning
        fitted()
        assert (list(warnings.filters), warnings.showwarning) == before
    assert [str(one.message) for one in told] == ["of a fit"] * times


@pytest.mark.usefixtures("warning")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_warning_that_is_an_error_is_one_inside_the_final_fit(jobs: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuned = ho.Tuned(Ridge(), RIDGE, validation=ho.KFold(4), jobs=jobs).fit(X, Y)
    assert not tuned.best_estimator_.coef_.any()


@pytest.mark.parametrize("learner", [Ridge(), PLSRegression()])
def test_the_same_cell_is_checked_whatever_the_number_of_jobs(learner: Any, made: list[SpotCheck]) -> None:
    space = RIDGE if isinstance(learner, Ridge) else {"n_components": [1, 3]}
    for jobs in (1, 2):
        ho.Tuned(learner, space, validation=ho.KFold(4), jobs=jobs).fit(X, Y)
    one, two = made
    assert one == two


class FailsOnAllRows(Ridge):  # type: ignore[misc]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if len(X) == 200:
            raise ValueError("too many rows")
        return super().fit(X, y, sample_weight)


def test_a_final_fit_that_fails_says_so() -> None:
    with pytest.raises(ValueError, match="too many rows"):
        fitted(FailsOnAllRows())


def test_an_error_is_kept_back_until_the_numbers_stand() -> None:
    calls = []

    def choose() -> Any:
        calls.append("choose")
        if len(calls) == 1:
            raise ValueError("of numbers that are wrong")
        return "study"

    ahead = Ahead(choose, lambda study: Final(study, 0.0))
    assert ahead.begin() is None
    ahead.go()
    assert ahead.predictor is None
    assert ahead.result(stands=False) == ("study", Final("study", 0.0))
    calls.clear()
    ahead = Ahead(choose, lambda study: Final(study, 0.0))
    ahead.begin()
    with pytest.raises(ValueError, match="wrong"):
        ahead.result(stands=True)


def test_a_score_of_whole_sets_is_checked_by_a_fit_of_its_own(made: list[SpotCheck]) -> None:
    """Such scores are made with warnings caught, which is not safe beside the final fit."""
    fitted(loss="r2")
    assert [check.cell.split(" on ")[1] for check in made] != ["all rows, by the final predictor"]
    fitted(loss="neg_mean_squared_error")
    assert [check.cell.split(" on ")[1] for check in made[1:]] == ["all rows, by the final predictor"]
