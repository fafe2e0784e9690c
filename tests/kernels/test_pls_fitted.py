"""The final predictor that the kernel `pls` makes: scikit-learn's in all that it shows, or none."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.backends.limits import OutOfTime
from heldout.base.errors import FitFailed
from heldout.engine import stage
from heldout.kernels.pls import fitted as subject
from heldout.kernels.pls import jobs

MADE = "final predictor"


def numbers(n: int = 80, p: int = 6, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 5, p) + rng.normal(size=p)
    return X, X @ rng.normal(size=p) + rng.normal(size=n) + 20


def tuned(X: Any, y: Any, counts: list[int], *, rules: dict[str, bool] | None = None, **params: Any) -> ho.Tuned:
    options = ho.Options(rules=rules or {})
    learner = ho.Tuned(PLSRegression(**params), {"n_components": counts}, validation=KFold(4), options=options)
    return learner.set_params(random_state=0, jobs=2).fit(X, y)


def is_made(learner: ho.Tuned) -> bool:
    return any(MADE in note for note in learner.plan_.notes)


def largest(ours: Any, theirs: Any) -> dict[str, float]:
    """The largest difference of each attribute that is an array, relative to its largest number."""
    assert vars(ours).keys() == vars(theirs).keys()
    found = {}
    for name, value in vars(theirs).items():
        mine = getattr(ours, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert mine.shape == value.shape, name
            found[name] = float(np.abs(mine - value).max() / np.abs(value).max())
        else:
            assert np.array_equal(mine, value), name
    return found


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_every_attribute_is_scikit_learns(count: int, scale: bool) -> None:
    X, y = numbers()
    ours = tuned(X, y, [count], scale=scale)
    theirs = PLSRegression(count, scale=scale).fit(X, y)
    assert is_made(ours)
    assert max(largest(ours.best_estimator_, theirs).values()) < 1e-10
    assert np.allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert np.allclose(ours.best_estimator_.transform(X), theirs.transform(X), rtol=0, atol=1e-11)


def test_names_of_columns_are_learned_and_minded() -> None:
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    ours = tuned(frame, y, [1, 2, 3])
    assert is_made(ours)
    theirs = PLSRegression(**ours.best_params_).fit(frame, y)
    assert max(largest(ours.best_estimator_, theirs).values()) < 1e-10
    with pytest.raises(ValueError, match="feature names"):
        ours.predict(frame.rename(columns={"a": "z"}))


def test_it_can_be_kept_and_fitted_again() -> None:
    X, y = numbers()
    made = tuned(X, y, [2]).best_estimator_
    assert np.array_equal(pickle.loads(pickle.dumps(made)).predict(X), made.predict(X))
    assert np.array_equal(clone(made).fit(X, y).predict(X), PLSRegression(2).fit(X, y).predict(X))


def test_scikit_learn_fits_one_cell_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = numbers()
    tuned(X, y, [1, 2])  # what a model of this version holds is looked up once
    rows: list[int] = []
    fit = PLSRegression.fit
    monkeypatch.setattr(PLSRegression, "fit", lambda self, X, y: rows.append(len(X)) or fit(self, X, y))
    assert is_made(tuned(X, y, [1, 2]))
    assert rows == [60]  # the spot check


def test_without_the_rule_the_fit_is_scikit_learns_own() -> None:
    X, y = numbers()
    ours = tuned(X, y, [3], rules={"pls": False})
    assert not is_made(ours)
    assert np.array_equal(ours.best_estimator_.x_weights_, PLSRegression(3).fit(X, y).x_weights_)


def noisy() -> tuple[Any, Any]:
    """Past three components there is nothing left of the covariance but rounding errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 8)) + 1e-7 * rng.normal(size=(200, 8))
    return X, X[:, 0] + 0.1 * rng.normal(size=200)


def far() -> tuple[Any, Any]:
    """A column of which the mean is known to fewer digits than its spread needs."""
    X, y = numbers()
    X[:, 2] = 1e6 + 1e-6 * X[:, 2]
    return X, y


def unlike() -> tuple[Any, Any]:
    X, y = numbers()
    X[:, 1] *= 1e5
    return X, y


def large() -> tuple[Any, Any]:
    """A target in units beside which scikit-learn's epsilon is no small thing."""
    X, y = numbers()
    return X * 1e-3, y * 1e5


def known() -> tuple[Any, Any]:
    """A target of which next to nothing is left."""
    X, _ = numbers()
    return X, X @ np.arange(1.0, 7.0)


@pytest.mark.parametrize(
    ("data", "count", "scale"),
    [(noisy, 6, True), (far, 2, True), (unlike, 4, False), (large, 3, False), (known, 6, True)],
)
def test_where_rounding_may_show_scikit_learn_fits(data: Any, count: int, scale: bool) -> None:
    X, y = data()
    ours = tuned(X, y, [count], scale=scale)
    assert not is_made(ours)
    assert np.array_equal(ours.predict(X), PLSRegression(count, scale=scale).fit(X, y).predict(X))


def test_what_it_has_no_sums_of_is_left_to_scikit_learn() -> None:
    X, y = numbers(n=20, p=30)
    assert not is_made(tuned(X, y, [2]))
    X, y = numbers()
    piped = make_pipeline(StandardScaler(), PLSRegression())
    learner = ho.Tuned(piped, {"plsregression__n_components": [1, 2]}, validation=4, random_state=0).fit(X, y)
    assert not is_made(learner)
    assert learner.predict(X).shape == (80,)


def test_averages_and_kept_predictors_are_fits() -> None:
    X, y = numbers()
    for validation, final in ((ho.KFold(4), "ensemble"), (ho.Holdout(0.3), "keep")):
        learner = ho.Tuned(PLSRegression(), {"n_components": [1, 2]}, validation=validation, final=final)
        assert not is_made(learner.set_params(random_state=0).fit(X, y))


def test_another_versions_models_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = numbers()
    monkeypatch.setattr(subject, "state_names", lambda scale: {"coef_", "something_new_"})
    ours = tuned(X, y, [2])
    assert not is_made(ours)
    assert np.array_equal(ours.predict(X), PLSRegression(2).fit(X, y).predict(X))


def test_sums_that_are_not_those_of_the_rows_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: the kernel's run is right, but the total that the predictor is made of misses a row."""
    X, y = numbers()
    right = subject.from_grams

    def wrong(grams: Any, made: Any, places: Any) -> Any:
        row = np.concatenate([X[0] - made[0].shift.x, [y[0] - made[0].shift.y[0], 1.0]])
        return right(grams - np.outer(row, row), made, places)

    monkeypatch.setattr(subject, "from_grams", wrong)
    assert not is_made(tuned(X, y, [2]))


@pytest.fixture
def mistaken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose check will fail."""
    right = jobs.respond

    def wrong(*given: Any) -> Any:
        values, good = right(*given)
        return values * 1.001, good

    monkeypatch.setattr(jobs, "respond", wrong)


@pytest.mark.usefixtures("mistaken")
def test_a_kernel_that_failed_its_check_makes_no_predictor() -> None:
    X, y = numbers()
    ours = tuned(X, y, [1, 2, 3])
    assert not is_made(ours)
    assert np.array_equal(ours.predict(X), PLSRegression(**ours.best_params_).fit(X, y).predict(X))


@pytest.mark.usefixtures("mistaken")
@pytest.mark.parametrize("count", [1, 2])
def test_an_error_of_a_kernel_that_failed_its_check_is_nobodys(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(subject, "model_state", fail)
    X, y = numbers()
    learner = ho.Tuned(PLSRegression(), {"n_components": [1, 2]}, validation=KFold(4), random_state=0, jobs=count)
    assert learner.fit(X, y).predict(X).shape == (80,)


@pytest.mark.usefixtures("mistaken")
def test_nothing_is_chosen_by_refuted_numbers_where_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def time_is_up(*_: Any, **__: Any) -> Any:
        raise OutOfTime

    monkeypatch.setattr(stage, "unanswered", time_is_up)
    with pytest.raises(FitFailed, match="no candidate is chosen"):
        tuned(*numbers(), [1, 2, 3])


@pytest.mark.parametrize("count", [1, 2])
def test_a_function_that_chooses_is_asked_once_after_the_check(count: int) -> None:
    asked = []

    def choose(results: Any) -> int:
        asked.append(results)
        return 1

    X, y = numbers()
    learner = ho.Tuned(PLSRegression(), {"n_components": [1, 2]}, validation=KFold(4), choose=choose, random_state=0)
    assert is_made(learner.set_params(jobs=count).fit(X, y))
    assert len(asked) == 1


def test_coefficients_of_a_column_in_tiny_units() -> None:
    """The target ignores it, so its coefficient is a rounding error, and large in the units of the column."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(100, 3))
    y = X[:, 0] + 2 * X[:, 1]
    X[:, 2] *= 1e-12
    ours = tuned(X, y, [3])
    assert np.array_equal(ours.best_estimator_.coef_, PLSRegression(3).fit(X, y).coef_)


def test_the_predictor_of_an_evaluation_is_made_likewise() -> None:
    X, y = numbers()
    learner = ho.Tuned(PLSRegression(), {"n_components": [1, 2, 3]}, validation=KFold(4), random_state=0)
    result = ho.evaluate(learner, X, y, test=ho.KFold(3), progress=False)
    alone = clone(learner).fit(X, y)
    assert is_made(alone)
    assert np.array_equal(result.predictor.x_weights_, alone.best_estimator_.x_weights_)
    theirs = PLSRegression(**alone.best_params_).fit(X, y).x_weights_
    assert not np.array_equal(result.predictor.x_weights_, theirs)  # so it is no fit of scikit-learn's
