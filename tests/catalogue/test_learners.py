"""The catalogue of named learners: preparation inside the learner, default spaces, refusals."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import ParameterGrid

import heldout as ho
from heldout.api.learners import tuned_learner
from heldout.base.errors import ColumnError, LearnerError
from heldout.catalogue.learners import CATALOGUE, expand_names, learner_named, learner_names
from heldout.catalogue.preparation import CODED, MOST_ONE_HOT, SCALED, coded_columns, prepare_columns, survey_table
from heldout.search.simplicity import simplicity
from heldout.task.column_kinds import column_kinds

EVERY = [(name, c) for c in (True, False) for name in learner_names(classification=c)]


def messy(rows: int = 60, seed: int = 0) -> pd.DataFrame:
    """Every kind of column, each with gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=rows),
            "whole": pd.array(rng.integers(0, 9, rows), dtype="Int64"),
            "word": rng.choice(["red", "green", "blue"], rows),
            "kind": pd.Categorical(rng.choice(["x", "y"], rows)),
            "flag": pd.array(rng.random(rows) < 0.5, dtype="boolean"),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, rows), unit="D"),
            "sure": rng.random(rows) < 0.5,
        }
    )
    for name in frame.columns[:-1]:
        frame.loc[rng.random(rows) < 0.2, name] = None
    return frame.assign(void=np.nan)


def target(rows: int = 60, *, classification: bool) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.choice(["no", "yes"], rows) if classification else rng.normal(1e5, 1e4, rows)


@pytest.mark.parametrize(("name", "classification"), EVERY)
def test_every_learner_fits_a_messy_table_and_rows_it_never_saw(name: str, classification: bool) -> None:
    X, y = messy(), target(classification=classification)
    estimator, space = learner_named(name, X, classification=classification)
    assert is_classifier(estimator) == classification
    estimator.set_params(**{parameter: values[0] for parameter, values in space.items()})
    fitted = clone(estimator).fit(X, y)
    new = messy(seed=5).assign(word="violet", number=np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = pickle.loads(pickle.dumps(fitted)).predict(new)
    assert len(answers) == len(new)
    assert not pd.isna(answers).any()


@pytest.mark.parametrize(("name", "classification"), EVERY)
def test_every_default_space_can_be_set(name: str, classification: bool) -> None:
    estimator, space = learner_named(name, messy(), classification=classification)
    assert (not space) == (name in ("dummy", "linear"))
    for params in ParameterGrid(space):
        assert clone(estimator).set_params(**params).get_params().items() >= params.items()


@pytest.mark.parametrize(
    ("name", "parameter", "low", "high", "step"),
    [
        ("ridge", "ridge__alpha", -6, 4, 0.5),
        ("lasso", "lasso__regressor__alpha", -4, 0, 0.5),
        ("elastic_net", "elastic_net__regressor__alpha", -4, 0, 0.5),
        ("logistic", "logistic__C", -4, 4, 1),
    ],
)
def test_strength_of_regularisation_is_a_log_grid(name: str, parameter: str, low: int, high: int, step: float) -> None:
    _, space = learner_named(name, messy(), classification=name == "logistic")
    np.testing.assert_allclose(np.log10(space[parameter]), np.arange(low, high + step, step), atol=1e-12)


def test_preparation_is_fitted_on_training_rows_alone() -> None:
    X = messy()
    estimator, _ = learner_named("ridge", X, classification=False)
    train = X.iloc[:40].assign(word="red")
    fitted = clone(estimator).fit(train, target(40, classification=False))
    prepared = fitted[0].named_transformers_
    assert prepared["categories"]["onehotencoder"].categories_[0].tolist() == ["red"]
    assert prepared["numbers"]["simpleimputer"].statistics_[0] == train["number"].median()
    assert prepared["numbers"]["standardscaler"].n_samples_seen_ == 40


def test_feature_names() -> None:
    columns = prepare_columns(survey_table(messy()), SCALED).fit(messy(), target(classification=False))
    names = columns.get_feature_names_out().tolist()
    assert {
        "numbers__number",
        "numbers__missingindicator_number",
        "dates__day_days",
        "dates__day_year_sin",
        "categories__flag_True",
    } <= set(names)
    assert {"categories__word_red", "categories__word_(missing)"} <= set(names)
    assert columns.transform(messy()).shape == (60, len(names))
    assert np.isfinite(columns.transform(messy())).all()


def test_boosting_gets_gaps_and_codes_as_they_are() -> None:
    X = messy()
    estimator, _ = learner_named("boosting", X, classification=False)
    prepared = prepare_columns(survey_table(X), CODED).fit_transform(X)
    assert estimator[-1].categorical_features == coded_columns(survey_table(X)) == [0, 1, 2, 3]
    assert np.isnan(prepared[:, 4].astype(float)).sum() == X["number"].isna().sum() > 0
    numbers_only, _ = learner_named("boosting", X[["number"]], classification=False)
    assert numbers_only[-1].categorical_features is None


def test_many_different_texts_stay_few_columns() -> None:
    X = pd.DataFrame({"name": [f"n{i % 100}" for i in range(300)]})
    assert prepare_columns(survey_table(X), SCALED).fit_transform(X, np.arange(300.0)).shape == (300, 1)
    few = pd.DataFrame({"name": [f"n{i % MOST_ONE_HOT}" for i in range(300)]})
    assert prepare_columns(survey_table(few), SCALED).fit_transform(few, np.arange(300.0)).shape == (300, MOST_ONE_HOT)
    estimator, _ = learner_named("boosting", X.assign(name=[f"n{i % 290}" for i in range(300)]), classification=False)
    assert len(estimator.fit(X, np.arange(300.0)).predict(X)) == 300


def test_ridge_of_the_catalogue_is_ridge_on_scaled_columns() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    estimator, _ = learner_named("ridge", X, classification=False)
    by_hand = Ridge().fit((X - X.mean()) / X.std(ddof=0), y)
    np.testing.assert_allclose(estimator.fit(X, y)[-1].coef_, by_hand.coef_, rtol=1e-8)


def test_penalties_do_not_depend_on_the_unit_of_the_target() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    for name in ("lasso", "svm"):
        estimator, _ = learner_named(name, X, classification=False)
        once, thousandfold = clone(estimator).fit(X, y).predict(X), clone(estimator).fit(X, 1000 * y).predict(X)
        np.testing.assert_allclose(thousandfold, 1000 * once, rtol=1e-6)


@pytest.mark.parametrize(
    ("load", "name"),
    [(load_iris, "logistic"), (load_breast_cancer, "logistic"), (load_diabetes, "lasso")],
)
def test_linear_learners_converge_at_both_ends_of_their_space(load: object, name: str) -> None:
    X, y = load(return_X_y=True, as_frame=True)  # type: ignore[operator]
    estimator, space = learner_named(name, X, classification=name == "logistic")
    ((parameter, values),) = space.items()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (min(values), max(values)):
            fitted = clone(estimator).set_params(**{parameter: value}).fit(X, y)
            model = getattr(fitted[-1], "regressor_", fitted[-1])
            assert np.max(model.n_iter_) < model.max_iter


def test_neighbours_fit_into_small_tables() -> None:
    for rows in (8, 20, 60, 1000):
        _, space = learner_named("knn", messy(rows), classification=True)
        assert max(space["knn__n_neighbors"]) <= max(1, rows // 6)


def test_a_learner_that_does_not_suit_is_refused_with_those_that_do() -> None:
    with pytest.raises(LearnerError, match=r"'lasso' is for regression, but this is classification.*logistic, lda"):
        learner_named("lasso", messy(), classification=True)
    with pytest.raises(
        LearnerError, match=r"'logistic' is for classification, but this is regression.*elastic_net, knn"
    ):
        learner_named("logistic", messy(), classification=False)
    with pytest.raises(LearnerError, match=r"no learner 'forrest'.*Did you mean 'forest'\?"):
        learner_named("forrest", messy(), classification=False)


def test_a_loss_that_a_learner_cannot_answer_is_refused_before_any_fit() -> None:
    with pytest.raises(LearnerError, match="'svm' has no predict_proba, which the loss 'log' needs"):
        tuned_learner(["logistic", "svm"], messy(), classification=True, loss=["zero_one", "log"])


def test_several_names_are_one_tuned_and_one_without_a_space_is_itself() -> None:
    both = tuned_learner(["ridge", "knn", "ridge"], messy(), classification=False, validation=3)
    assert type(both) is ho.Tuned
    assert list(both.estimator) == ["ridge", "knn"]
    assert type(tuned_learner(["ridge"], messy(), classification=False)) is ho.Tuned
    assert not isinstance(tuned_learner(["dummy"], messy(), classification=False), ho.Tuned)
    with pytest.raises(LearnerError, match="No learner was named"):
        tuned_learner([], messy(), classification=False)


def test_columns_no_learner_can_use_are_named() -> None:
    with pytest.raises(ColumnError, match=r"Column 'parts' has type object.*leave it out"):
        column_kinds(pd.DataFrame({"parts": [[1], [2]]}))


def test_unset_seeds_are_left_to_the_study() -> None:
    for classification in (True, False):
        for name in learner_names(classification=classification):
            params = learner_named(name, messy(), classification=classification)[0].get_params()
            assert all(value is None for key, value in params.items() if key.endswith("random_state"))


def test_a_learner_says_the_same_of_itself_every_time() -> None:
    for name in CATALOGUE:
        suits = CATALOGUE[name].suits(classification=True)
        assert " at 0x" not in repr(learner_named(name, messy(), classification=suits)[0])


def test_auto_suits() -> None:
    for classification in (True, False):
        table = survey_table(messy(), classes=2 * classification)
        names, _ = expand_names(["auto"], table, classification=classification)
        assert set(names) <= set(learner_names(classification=classification))


@pytest.mark.parametrize(
    ("name", "classification"),
    [(n, c) for c in (True, False) for n in learner_names(classification=c) if n not in ("dummy", "linear")],
)
def test_what_is_simple_is_known_for_every_learner(name: str, classification: bool) -> None:
    X = pd.DataFrame({"age": [31.0, 7.0] * 60})
    tuned = tuned_learner([name], X, classification=classification, choose="one_se")
    search = tuned.as_search(seed=0)
    key = simplicity(search)
    simplest = search.params_of(min(range(len(search)), key=key))
    table = (Path(__file__).parents[2] / "docs" / "selection.md").read_text(encoding="utf-8")
    (row,) = [line for line in table.splitlines() if line.startswith(f"| `{name}` |")]
    for parameter, value in simplest.items():
        assert f"`{parameter.rpartition('__')[2]}`" in row
        others = [params[parameter] for params in map(search.params_of, range(len(search)))]
        if isinstance(value, float | int):
            assert value in (min(others), max(others))
