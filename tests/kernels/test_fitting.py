from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.base.errors import LearnerError, SpaceError
from heldout.kernels.brute import (
    check_names,
    check_takes_weights,
    fit_on_rows,
    make_candidate,
    rows_of_params,
    set_seeds,
    unseeded_names,
    weight_argument,
)
from heldout.task import declare

X, y = (part[:50] for part in load_diabetes(return_X_y=True))
TASK = declare(X, y, classification=False)
ROWS = np.arange(0, 50, 2)


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers what fit was given, and writes into it."""

    def fit(self, X: Any, y: Any, **params: Any) -> Recorder:
        self.seen_ = {"X": np.array(X), "y": np.array(y), **{name: np.copy(v) for name, v in params.items()}}
        X *= 0
        y *= 0
        for value in params.values():
            value *= 0
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


def search_of(estimator: Any, space: Any) -> Any:
    return ho.Tuned(estimator, space).as_search(seed=0)


def test_a_candidate_is_a_clone_with_its_parameters():
    ridge = Ridge(alpha=7.0)
    search = search_of(ridge, {"alpha": [1.0, 2.0]})
    made = [make_candidate(search, c) for c in (0, 1)]
    assert [one.alpha for one in made] == [1.0, 2.0]
    assert ridge.alpha == 7.0


def test_estimators_among_the_values_are_never_shared_between_fits():
    scaler = StandardScaler()
    search = search_of(Pipeline([("s", None), ("r", Ridge())]), {"s": [scaler]})
    one, other = make_candidate(search, 0), make_candidate(search, 0)
    assert one.named_steps["s"] is not other.named_steps["s"]
    assert one.named_steps["s"] is not scaler


def test_every_unset_seed_is_set_by_its_name_and_integers_are_left_alone():
    learner = Pipeline([("b", BaggingRegressor(DecisionTreeRegressor(random_state=5))), ("f", RandomForestRegressor())])
    assert unseeded_names(learner) == ("b__random_state", "f__random_state")
    set_seeds(learner, 0, content_key=1)
    assert learner.get_params()["b__estimator__random_state"] == 5
    assert learner.get_params()["b__random_state"] != learner.get_params()["f__random_state"]
    assert unseeded_names(learner) == ()


def seed_on(task, rows, seed=0):
    return fit_on_rows(DecisionTreeRegressor(), task, np.asarray(rows), seed=seed, fit_params={}).random_state


def test_a_seed_comes_from_the_content_of_the_training_rows():
    """Not from their numbers: the same rows, elsewhere in another task, seed alike; so `fit` on a fold is the study."""
    moved = declare(X[::-1], y[::-1], classification=False)
    first = seed_on(TASK, ROWS)
    assert seed_on(moved, 49 - ROWS) == first
    assert seed_on(TASK, ROWS[::-1]) == first
    alone = declare(X[ROWS], y[ROWS], classification=False)
    assert seed_on(alone, np.arange(25)) == first


@pytest.mark.parametrize("rows", [ROWS[1:], [*ROWS, 0], [*ROWS, 1], ROWS + 1])
def test_other_rows_or_repeats_have_another_seed(rows):
    assert seed_on(TASK, rows) != seed_on(TASK, ROWS)


def test_another_study_seed_is_another_seed():
    assert seed_on(TASK, ROWS, seed=1) != seed_on(TASK, ROWS, seed=0)


def test_duplicate_rows_are_interchangeable():
    twins = declare(np.vstack([X, X]), np.concatenate([y, y]), classification=False)
    assert seed_on(twins, ROWS) == seed_on(twins, ROWS + 50) == seed_on(TASK, ROWS)


def test_a_fit_gets_a_private_copy():
    weight = np.linspace(1, 2, 50)
    task = declare(X, y, classification=False, sample_weight=weight)
    own = np.arange(1.0, 51.0)
    seen = fit_on_rows(Recorder(), task, ROWS, seed=0, fit_params={"own": own}).seen_
    assert np.array_equal(seen["X"], X[ROWS])
    assert np.array_equal(seen["y"], y[ROWS])
    assert np.array_equal(seen["sample_weight"], weight[ROWS])
    assert np.array_equal(seen["own"], own[ROWS])
    assert X.any(axis=1).all()  # and what it wrote into is not ours
    assert y.all()
    assert own.all()
    assert task.weight.all()


def test_a_frame_stays_a_frame():
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(10)])
    fitted = fit_on_rows(Ridge(), declare(frame, y, classification=False), ROWS, seed=0, fit_params={})
    assert fitted.feature_names_in_.tolist() == list(frame.columns)


def test_parameters_with_a_row_each_are_cut_and_others_passed_on():
    params = {"rows": np.arange(50), "matrix": np.ones((50, 3)), "short": np.arange(3), "word": "w", "number": 2}
    cut = rows_of_params(params, ROWS, 50)
    assert cut["rows"].tolist() == ROWS.tolist()
    assert cut["matrix"].shape == (25, 3)
    assert cut["short"] is params["short"]
    assert (cut["word"], cut["number"]) == ("w", 2)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (Ridge(), "sample_weight"),
        (make_pipeline(StandardScaler(), Ridge()), "ridge__sample_weight"),
        (make_pipeline(make_pipeline(StandardScaler(), Ridge())), "pipeline__ridge__sample_weight"),
    ],
)
def test_weights_go_to_the_last_step(learner, name):
    assert weight_argument(learner) == name
    weight = np.linspace(0.1, 3, 50)
    task = declare(X, y, classification=False, sample_weight=weight)
    ours = fit_on_rows(learner, task, ROWS, seed=0, fit_params={}).predict(X)
    scaled = StandardScaler().fit(X[ROWS]) if isinstance(learner, Pipeline) else None
    Z = X if scaled is None else scaled.transform(X)
    theirs = Ridge().fit(Z[ROWS], y[ROWS], sample_weight=weight[ROWS]).predict(Z)
    np.testing.assert_array_equal(ours, theirs)


def test_weights_are_not_left_out_in_silence():
    check_takes_weights(make_pipeline(StandardScaler(), Ridge()))
    check_takes_weights(Recorder())  # takes anything
    with pytest.raises(LearnerError, match=r"KNeighborsRegressor\.fit takes no sample_weight"):
        check_takes_weights(make_pipeline(StandardScaler(), KNeighborsRegressor()))


@pytest.mark.parametrize(
    ("learner", "space", "words"),
    [
        (Ridge(), {"aplha": [1]}, "Ridge has no parameter 'aplha'. Did you mean 'alpha'"),
        (make_pipeline(Ridge()), {"alpha": [1]}, "Pipeline has no parameter 'alpha'"),
    ],
)
def test_names_that_do_not_exist_are_refused_before_any_fit(learner, space, words):
    with pytest.raises(SpaceError, match=words):
        check_names(search_of(learner, space))


def test_a_parameter_of_a_step_that_a_candidate_brings_is_known():
    learner = Pipeline([("s", None), ("r", Ridge())])
    check_names(search_of(learner, {"s": [StandardScaler()], "s__with_mean": [True, False]}))


def test_metadata_routing_hands_weights_to_the_estimator_itself():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        assert weight_argument(make_pipeline(StandardScaler(), Ridge())) == "sample_weight"
