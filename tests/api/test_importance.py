"""Permutation importance and coefficients of the folds' predictors, which are fitted again at the recorded seeds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import heldout as ho
from heldout.risk.intervals.t_intervals import corrected_t


@pytest.fixture(scope="module")
def table():
    return load_diabetes(return_X_y=True, as_frame=True)


def of_scikit_learn(learner, X, y, fold, *, scoring, repeats, seed, weight=None):
    """scikit-learn's own importance of one fold, of the learner fitted on the other rows."""
    train, held = fold
    predictor = clone(learner).fit(X.iloc[train], y[train])
    return permutation_importance(
        predictor,
        X.iloc[held],
        y[held],
        scoring=scoring,
        n_repeats=repeats,
        random_state=seed,
        sample_weight=None if weight is None else weight[held],
    )


@pytest.mark.parametrize(("loss", "scoring"), [("squared", "neg_mean_squared_error"), ("r2", "r2")])
def test_each_fold_is_scikit_learns(table, loss, scoring):
    X, y = table
    forest = RandomForestRegressor(10, random_state=3)
    result = ho.evaluate(forest, X, y, loss=loss, seed=7, test=ho.KFold(3), jobs=1)
    found = result.importance(4, by_fold=True)
    for fold, rows in enumerate(result.splits):
        own = found[found["fold"] == fold]
        ours = of_scikit_learn(forest, X, y.to_numpy(), rows, scoring=scoring, repeats=4, seed=7)
        np.testing.assert_allclose(own["importance"], ours.importances_mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(own["sd"], ours.importances_std, rtol=1e-9, atol=1e-9)
        assert own["feature"].tolist() == X.columns.tolist()


def test_several_classes_text_labels_and_weights():
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    weight = np.random.default_rng(0).random(len(y))
    learner = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
    result = ho.evaluate(learner, X, y, loss="log", sample_weight=weight, test=ho.KFold(3), jobs=1)
    found = result.importance(3, by_fold=True)
    for fold, (train, held) in enumerate(result.splits):
        predictor = clone(learner).fit(X.iloc[train], y[train], logisticregression__sample_weight=weight[train])
        ours = permutation_importance(
            predictor,
            X.iloc[held],
            y[held],
            scoring="neg_log_loss",
            n_repeats=3,
            random_state=0,
            sample_weight=weight[held],
        )
        np.testing.assert_allclose(found[found["fold"] == fold]["importance"], ours.importances_mean, atol=1e-9)


def test_a_learner_without_a_seed_is_the_predictor_of_the_study():
    X, y = load_iris(return_X_y=True)
    result = ho.evaluate(RandomForestClassifier(5), X, y, test=ho.KFold(3), jobs=1)
    predictors = result.handles.fold_predictors()
    frame = result.predictions
    for fold, predictor in enumerate(predictors):
        own = frame[frame["fold"] == fold]
        np.testing.assert_array_equal(predictor.predict(X[own["row"]]), own["predict"])


@pytest.mark.parametrize("final", ["retrain", "ensemble"])
def test_a_tuned_learner_has_the_predictor_that_each_fold_chose(table, final):
    X, y = table
    tuned = ho.Tuned(
        make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10, 1000]}, validation=3, final=final
    )
    result = ho.evaluate(tuned, X, y, test=ho.KFold(4), jobs=1)
    frame = result.predictions
    for fold, predictor in enumerate(result.handles.fold_predictors()):
        own = frame[frame["fold"] == fold]
        np.testing.assert_allclose(predictor.predict(X.iloc[own["row"]]), own["predict"], rtol=1e-9)
    assert result.importance(2)["feature"].tolist()[0] in ("bmi", "s5", "s1")
    assert len(result.coefficients) == 10


def test_the_interval_is_the_corrected_t_over_folds(table):
    X, y = table
    result = ho.evaluate(Ridge(0.1), X, y, test=ho.KFold(4), level=0.9, jobs=1)
    means, folds = result.importance(3), result.importance(3, by_fold=True)
    assert means["importance"].is_monotonic_decreasing
    for row in means.itertuples():
        of_folds = folds[folds["feature"] == row.feature]["importance"].to_numpy()
        sure = corrected_t(of_folds, test_ratio=442 / (3 * 442), level=0.9)
        assert (row.importance, row.low, row.high) == pytest.approx((of_folds.mean(), sure.low, sure.high))
    one = ho.evaluate(Ridge(), X, y, test=ho.Holdout(0.3), jobs=1).importance(2)
    assert one["low"].isna().all()


def test_options_ask_for_it_and_explain_prices_it(table, tmp_path):
    X, y = table
    options = ho.Options(importance=2)
    plan = str(ho.explain(Ridge(), X, y, options=options))
    assert "importance: 5 fits again, and 105 predictions of a fold's held-out rows" in " ".join(plan.split())
    result = ho.evaluate(Ridge(), X, y, options=options, jobs=1)
    summary = result.summary(figures=True)
    assert summary["importance"]["repeats"] == 2
    assert summary["figures"]["importance"]["rows"][0]["feature"] == result.importance()["feature"].iloc[0]
    assert "mean squared error gets worse by" in str(result)
    result.save(tmp_path / "r.heldout")
    loaded = ho.load(tmp_path / "r.heldout")
    pd.testing.assert_frame_equal(loaded.importance(), result.importance())
    pd.testing.assert_frame_equal(loaded.importance(by_fold=True), result.importance(by_fold=True))
    pd.testing.assert_frame_equal(loaded.coefficients, result.coefficients)
    assert loaded.plot.importance() is not None
    with pytest.raises(ho.HeldoutError, match=r"without the learner none can be computed"):
        loaded.importance(7)


def test_it_is_measured_when_first_asked_for(table, tmp_path):
    X, y = table
    result = ho.evaluate(Ridge(), X, y, jobs=1)
    assert result.summary()["importance"] is None
    assert "Options(importance=5)" in result.summary(figures=True)["figures"]["importance"]["none"]
    result.save(tmp_path / "r.heldout")
    assert result.plot.importance().get_xlabel() == "how much worse mean squared error gets without the column"
    assert result.summary()["importance"]["repeats"] == 5
    other = result.importance(2, loss="absolute")
    assert result.summary()["importance"]["loss"] == "MAE"
    assert len(other) == 10
    loaded = ho.load(tmp_path / "r.heldout")
    for ask in (loaded.importance, lambda: loaded.coefficients):
        with pytest.raises(ho.HeldoutError, match=r"options=Options\(importance=5\) before saving"):
            ask()
    with pytest.raises(ho.HeldoutError, match="Not asked for"):
        loaded.plot.coefficients()


def test_what_cannot_be_permuted_is_refused_before_any_fit(table):
    X, y = table
    options = ho.Options(importance=2)
    refused = {
        "sparse": (csr_matrix(X), {}),
        "to_pandas": (pl.from_pandas(X), {}),
        "one held-out row": (X[:30], {"test": ho.LeaveOneOut()}),
        "importance= tells more of the test rows": (X, {"test": ho.Holdout(0.5), "answer": "value"}),
    }
    for words, (rows, how) in refused.items():
        asked = ho.Options(importance=2, answer=how.pop("answer")) if "answer" in how else options
        with pytest.raises(ho.HeldoutError, match=words):
            ho.evaluate(Ridge(), rows, y[: rows.shape[0]].to_numpy(), options=asked, jobs=1, **how)
    with pytest.raises(ho.HeldoutError, match="importance= is a whole number, at least 1"):
        ho.Options(importance=0)
    with pytest.raises(ho.HeldoutError, match="importance= is a whole number, at least 1"):
        ho.evaluate(Ridge(), X, y, jobs=1).importance(0)


def test_a_predictor_that_came_fitted_is_not_fitted_again(table):
    X, y = table
    model = FrozenEstimator(Ridge(0.1).fit(X[:200], y[:200]))
    asked = {"test": ho.Given(np.arange(200, 442)), "jobs": 1}
    assert "importance: no fit" in str(ho.explain(model, X, y, test=asked["test"], options=ho.Options(importance=2)))
    result = ho.evaluate(model, X, y, **asked)
    ours = permutation_importance(
        model, X[200:], y[200:], scoring="neg_mean_squared_error", n_repeats=2, random_state=0
    )
    assert result.importance(2)["importance"].to_numpy() == pytest.approx(np.sort(ours.importances_mean)[::-1])
    assert result.coefficients["mean"].tolist() == pytest.approx(model.estimator.coef_.tolist())


def test_a_fold_that_failed_says_so(table):
    X, y = table

    class Fails(Ridge):
        def fit(self, X, y):
            if X["age"].iloc[0] == first:
                raise ValueError("no")
            return super().fit(X, y)

    first = X["age"].iloc[0]
    result = ho.evaluate(Fails(), X, y, test=ho.KFold(4, shuffle=False), jobs=1)
    assert result.risk.value is None
    with pytest.raises(ho.HeldoutError, match="The predictor of fold 1 failed"):
        result.importance()


def test_coefficients_are_those_of_the_folds_models_under_the_names_after_preparation(table):
    X, y = table
    X = X.assign(region=np.where(np.arange(len(X)) % 3, "north", "south"))
    prepared = make_column_transformer((StandardScaler(), ["bmi", "bp", "s5"]), (OneHotEncoder(), ["region"]))
    learner = make_pipeline(prepared, Ridge())
    result = ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=1)
    models = [clone(learner).fit(X.iloc[train], y[train]) for train, _ in result.splits]
    values = np.array([model[-1].coef_ for model in models])
    found = result.coefficients
    assert found["feature"].tolist() == models[0][:-1].get_feature_names_out().tolist()
    np.testing.assert_allclose(found["mean"], values.mean(axis=0))
    np.testing.assert_allclose(found["sd"], values.std(axis=0, ddof=1))
    np.testing.assert_allclose(found[["low", "high"]], np.stack([values.min(axis=0), values.max(axis=0)], axis=1))
    assert (found["selected"] == 3).all()


def test_columns_that_a_lasso_or_a_selector_leaves_out_are_counted(table):
    X, y = table
    lasso = make_pipeline(StandardScaler(), Lasso(3.0))
    result = ho.evaluate(lasso, X, y, jobs=1)
    models = [clone(lasso).fit(X.iloc[train], y[train]) for train, _ in result.splits]
    kept = np.count_nonzero([model[-1].coef_ for model in models], axis=0)
    assert result.coefficients["selected"].tolist() == kept.tolist()
    assert 0 < sum(kept < 5) < 10
    select = SelectKBest(f_regression, k=5)
    for last in (LinearRegression(), KNeighborsRegressor()):
        chosen = ho.evaluate(make_pipeline(select, last), X, y, jobs=1).coefficients
        counts = chosen.set_index("feature")["selected"]
        masks = [clone(select).fit(X.iloc[train], y[train]).get_support() for train, _ in result.splits]
        expected = pd.Series(np.sum(masks, axis=0), index=X.columns)
        assert counts.to_dict() == expected[expected > 0].to_dict()
        assert ("mean" in chosen) == isinstance(last, LinearRegression)
        assert counts.sum() == 25


def test_classes_and_transformed_targets_have_coefficients_too(table):
    X, y = load_iris(return_X_y=True)
    found = ho.evaluate(LogisticRegression(max_iter=1_000), X, np.array(["a", "b", "c"])[y], jobs=1).coefficients
    assert found["class"].tolist() == ["a", "b", "c"] * 4
    assert found["feature"].tolist() == [f"x{n}" for n in range(4) for _ in range(3)]
    X, y = table
    log = TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp)
    assert ho.evaluate(log, X, y, jobs=1).coefficients["feature"].tolist() == X.columns.tolist()


def test_models_without_coefficients_say_so(table):
    X, y = table
    result = ho.evaluate(KNeighborsRegressor(), X, y, test=ho.KFold(3), jobs=1)
    with pytest.raises(ho.HeldoutError, match="KNeighborsRegressor has no coefficients, and no step before it selects"):
        _ = result.coefficients
    assert "no coefficients" in result.summary(figures=True)["figures"]["coefficients"]["none"]
    families = {"ridge": (Ridge(), {}), "knn": (KNeighborsRegressor(), {"n_neighbors": [1, 30]})}
    tuned = ho.evaluate(ho.Tuned(families, validation=3), X, y, test=ho.KFold(3), jobs=1)
    if tuned.choices["family"].nunique() > 1:
        with pytest.raises(ho.HeldoutError, match="different models"):
            _ = tuned.coefficients


def test_the_score_may_be_a_users_own():
    X, y = load_iris(return_X_y=True)
    result = ho.evaluate(
        LogisticRegression(max_iter=1_000), X, y, loss=get_scorer("balanced_accuracy"), test=ho.KFold(3), jobs=1
    )
    train, held = next(iter(result.splits))
    model = LogisticRegression(max_iter=1_000).fit(X[train], y[train])
    ours = permutation_importance(model, X[held], y[held], scoring="balanced_accuracy", n_repeats=2, random_state=0)
    found = result.importance(2, by_fold=True)
    np.testing.assert_allclose(found[found["fold"] == 0]["importance"], ours.importances_mean)
