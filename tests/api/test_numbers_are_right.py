"""Cases in which numbers that people quote were wrong: imbalanced classes, small folds, scores of whole sets, time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    balanced_accuracy_score,
    explained_variance_score,
    f1_score,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

import heldout as ho
from heldout.risk.intervals.auc import placements


def rare(n, share, seed, *, signal=0.7):
    """Two classes that a logistic regression tells apart a little, the second of them rare."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    odds = signal * X[:, 0] + np.log(share / (1 - share))
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def numbers(n, seed, p=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] + rng.standard_normal(n)


@pytest.mark.parametrize("learner", [LogisticRegression(), DummyClassifier()], ids=repr)
@pytest.mark.parametrize("n", [200, 2_000])
def test_stratified_folds_do_not_narrow_the_interval_of_errors(learner, n):
    """Folds with the same class shares have the same error: their spread is no measure of anything."""
    X, y = rare(n, 0.06, seed=1)
    risk = ho.evaluate(learner, X, y, test=ho.KFold(5)).risk
    errors = round(risk.value * n)
    binomial = beta.ppf(0.975, errors + 1, n - errors) - beta.ppf(0.025, errors, n - errors + 1)
    assert risk.high - risk.low >= binomial
    assert risk.high - risk.low < 1.6 * binomial


def test_the_default_covers_where_classes_are_rare():
    """The corrected t covered 23 of 100 here."""
    share = np.mean(np.concatenate([rare(2_000, 0.06, seed=seed)[1] for seed in range(1_000, 1_020)]))
    studies = [rare(2_000, 0.06, seed=seed) for seed in range(40)]
    found = [ho.evaluate(LogisticRegression(), *study, test=ho.KFold(5)).risk for study in studies]
    assert sum(risk.low <= share <= risk.high for risk in found) >= 34  # it hardly ever answers the rare class


@pytest.mark.parametrize("loss", ["zero_one", "log", "neg_brier_score"])
@pytest.mark.parametrize("test", [ho.LeaveOneOut(), ho.KFold(5, repeats=3), ho.Resample(15)], ids=str)
def test_no_recipe_is_surer_than_one_test_set_of_the_same_rows(loss, test):
    X, y = rare(60, 0.3, seed=3)
    risk = ho.evaluate(LogisticRegression(), X, y, test=test, loss=loss).risk
    losses = ho.evaluate(LogisticRegression(), X, y, test=ho.LeaveOneOut(), loss=loss)
    spread = losses.predictions[f"loss_{loss}"].std() / np.sqrt(60)
    assert risk.high - risk.low >= 2 * 1.96 * spread


@pytest.mark.parametrize(
    ("loss", "score"),
    [("r2", r2_score), ("neg_root_mean_squared_error", lambda y, p: -root_mean_squared_error(y, p))],
)
@pytest.mark.parametrize("test", [ho.KFold(10), ho.LeaveOneOut()], ids=str)
def test_functions_of_means_are_taken_of_all_rows_together(loss, score, test):
    X, y = numbers(50, seed=4)
    result = ho.evaluate(LinearRegression(), X, y, test=test, loss=loss)
    rows = result.predictions.sort_values("row")
    assert result.risk.value == pytest.approx(score(y, rows["predict"]), rel=1e-12)
    assert result.risk.low < result.risk.value < result.risk.high


@pytest.mark.parametrize(
    ("loss", "score", "sign"),
    [
        ("r2", r2_score, 1),
        ("explained_variance", explained_variance_score, 1),
        ("neg_root_mean_squared_error", root_mean_squared_error, -1),
    ],
)
def test_functions_of_means_of_several_targets_are_taken_of_all_rows_together_too(loss, score, sign):
    """As means over single rows the explained variance was 1."""
    X, _ = numbers(40, seed=1)
    Y = X[:, :2] + np.random.default_rng(2).standard_normal((40, 2))
    risk = ho.evaluate(Ridge(), X, Y, test=ho.LeaveOneOut(), loss=loss).risk
    assert risk.value == pytest.approx(sign * score(Y, cross_val_predict(Ridge(), X, Y, cv=40)))
    assert risk.low < risk.value < risk.high
    pooled = ho.evaluate(Ridge(), X, Y, test=ho.LeaveOneOut(), loss=loss, options=ho.Options(pool=True)).risk
    assert pooled.value == risk.value


def test_fold_means_are_had_on_request():
    X, y = numbers(50, seed=4)
    apart = ho.evaluate(LinearRegression(), X, y, test=ho.KFold(10), loss="r2", options=ho.Options(pool=False))
    assert apart.risk.value == pytest.approx(apart.folds["r2"].mean())
    together = ho.evaluate(LinearRegression(), X, y, test=ho.KFold(10), loss="r2")
    assert apart.risk.value < together.risk.value  # five rows have little spread to explain


def test_balanced_accuracy_of_one_answer_is_one_half():
    X, y = rare(100, 0.05, seed=5)
    risk = ho.evaluate(DummyClassifier(), X, y, test=ho.KFold(10, stratify=False), loss="balanced_accuracy").risk
    assert risk.value == 0.5


def test_scores_of_counts_equal_a_loop_by_hand():
    X, y = rare(200, 0.4, seed=6, signal=2.0)
    losses = ["balanced_accuracy", "f1", "roc_auc"]
    result = ho.evaluate(LogisticRegression(), X, y, test=ho.KFold(5), loss=losses)
    folds = result.splits
    predicted = cross_val_predict(LogisticRegression(), X, y, cv=folds)
    decided = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="decision_function")
    areas = [roc_auc_score(y[held], decided[held]) for _, held in folds]
    assert result.risk.value == pytest.approx(balanced_accuracy_score(y, predicted))
    assert result.estimates["risk_f1"].value == pytest.approx(f1_score(y, predicted))
    assert result.estimates["risk_roc_auc"].value == pytest.approx(np.mean(areas))
    assert all(result.estimates[name].low is not None for name in ("risk", "risk_f1", "risk_roc_auc"))


@pytest.mark.parametrize("options", [ho.Options(), ho.Options(pool=False)], ids=["auc", "fold means"])
def test_a_fold_without_a_class_is_refused_before_any_fit_where_it_matters(options):
    X, y = rare(60, 0.05, seed=7)
    loss = "roc_auc" if options.pool is None else "balanced_accuracy"
    with pytest.raises(ho.HeldoutError, match=r"needs every class in each held-out part, but part \d+ has no row"):
        ho.evaluate(LogisticRegression(), X, y, test=ho.KFold(20, stratify=False), loss=loss, options=options)


def test_areas_are_never_pooled():
    X, y = rare(60, 0.4, seed=8)
    with pytest.raises(ho.HeldoutError, match="predictions of different folds cannot be ranked together"):
        ho.evaluate(LogisticRegression(), X, y, test=ho.KFold(3), loss="roc_auc", options=ho.Options(pool=True))


def test_one_test_set_has_an_interval_of_its_area_by_delong():
    X, y = rare(300, 0.4, seed=9, signal=1.5)
    risk = ho.evaluate(LogisticRegression(), X, y, test=ho.Holdout(0.5), loss="roc_auc").risk
    assert (risk.method, risk.guarantee) == ("DeLong, logit scale", "asymptotic")
    assert 0.05 < risk.high - risk.low < 0.25


def test_an_area_of_one_is_no_proof_of_one_and_tells_something():
    X = np.repeat([[0.0], [9.0]], 45, axis=0) + np.linspace(0, 1, 90)[:, None]
    risk = ho.evaluate(LogisticRegression(), X, np.repeat([0, 1], 45), test=ho.KFold(5), loss="roc_auc").risk
    assert risk.value == risk.high == 1.0
    assert 0.85 < risk.low < 0.99


def test_later_rows_have_an_interval_from_stretches():
    X, y = numbers(300, seed=10)
    risk = ho.evaluate(Ridge(), X, y, test=ho.Forward(5), time=np.arange(300)).risk
    assert risk.method == "five batch means"
    assert risk.low < 1.0 < risk.high


def test_a_few_large_losses_do_not_blow_up_the_interval_of_a_test_set():
    """The bootstrap-t was 4 to 10 times too wide where few positives decide."""

    class Rates(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.array([0, 1])
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

        def predict_proba(self, X):
            return np.column_stack([np.full(len(X), 0.98), np.full(len(X), 0.02)])

    y = np.zeros(150, dtype=int)
    y[[0, 50, 60, 70, 149]] = 1
    X = np.arange(150.0)[:, None]
    risk = ho.evaluate(Rates(), X, y, test=ho.Given(np.arange(50, 150)), loss="log").risk
    losses = -np.log(np.where(y[50:] == 1, 0.02, 0.98))
    plain = 2 * 1.96 * losses.std(ddof=1) / 10
    assert plain < risk.high - risk.low < 4 * plain


def test_a_predictor_that_always_answers_the_same_gets_no_interval_of_its_f1():
    rng = np.random.default_rng(11)
    X, y = rng.standard_normal((60, 3)), np.repeat([0, 1], 30)
    result = ho.evaluate(LogisticRegression(C=1e-9), X, y, test=ho.KFold(5, stratify=False), loss="f1")
    assert result.risk.low is None
    assert "give every row the same class" in result.risk.reason


@pytest.mark.parametrize("test", [ho.LeaveOneOut(), ho.KFold(20, stratify=False)], ids=str)
def test_nor_does_it_where_parts_have_few_rows(test):
    X, y = rare(60, 0.2, seed=4)
    risk = ho.evaluate(DummyClassifier(), X, y, test=test, loss="f1").risk
    assert risk.low is None
    assert "give every row the same class" in risk.reason


@pytest.mark.parametrize("test", [ho.Given(folds=np.arange(90) % 5), ho.Given(rows=np.arange(0, 90, 2))], ids=str)
def test_the_interval_of_an_area_knows_no_names_of_classes(test):
    """Of labels 1 and 2 the first was taken for the positive one."""
    X, y = rare(90, 0.3, seed=5)
    plain, renamed = (ho.evaluate(LogisticRegression(), X, one, test=test, loss="roc_auc").risk for one in (y, y + 1))
    assert (renamed.value, renamed.low, renamed.high) == (plain.value, plain.low, plain.high)


def test_the_interval_of_an_area_counts_rows_of_hardly_any_weight_for_little():
    X, y = rare(400, 0.5, seed=6, signal=1.5)
    halved = np.where(np.random.default_rng(6).random(400) < 0.5, 1.0, 1e-6)
    plain, half = (
        ho.evaluate(LogisticRegression(), X, y, test=ho.KFold(5), loss="roc_auc", sample_weight=weight).risk
        for weight in (np.ones(400), halved)
    )
    assert half.high - half.low > 1.25 * (plain.high - plain.low)


def test_placements_with_weights_equal_those_of_rows_that_are_repeated():
    rng = np.random.default_rng(7)
    scores, y, times = rng.integers(6, size=30) / 5, rng.integers(2, size=30), rng.integers(1, 4, size=30)
    weighed = placements(scores, y.astype(float), times.astype(float))
    repeated = placements(np.repeat(scores, times), np.repeat(y, times).astype(float))
    assert np.repeat(weighed, times) == pytest.approx(repeated)
    assert float(np.sum(times * weighed)) == pytest.approx(0, abs=1e-9)


class FailsWithoutRowZero(LogisticRegression):
    def fit(self, X, y):
        if not (X == 99).any():
            raise ValueError("row 0 is missing")
        return super().fit(X, y)


@pytest.mark.parametrize("loss", ["zero_one", "log", "f1"])
def test_a_part_that_failed_leaves_no_pooled_number_and_says_so(loss):
    X, y = rare(60, 0.4, seed=8)
    X[0] = 99
    risk = ho.evaluate(FailsWithoutRowZero(), X, y, test=ho.KFold(3), loss=loss, options=ho.Options(pool=True)).risk
    assert risk.value is None
    assert "1 of 3 parts failed" in risk.reason


@pytest.mark.parametrize(
    ("test", "options", "where"),
    [
        (ho.Holdout(rows=1), ho.Options(), "these test rows"),
        (ho.LeaveOneOut(), ho.Options(pool=False), "30 of 30 parts"),
    ],
    ids=str,
)
def test_a_score_that_is_not_defined_is_not_called_a_failed_fit(test, options, where):
    risk = ho.evaluate(Ridge(), *numbers(30, seed=9), test=test, loss="r2", options=options).risk
    assert risk.value is None
    assert f"'r2' is not defined on {where}" in risk.reason


def test_the_error_of_a_constant_target_has_an_interval():
    """Its errors vary though the target does not."""
    X, y = numbers(60, seed=10)
    y[30:] = 1.0
    test = ho.Given(rows=np.arange(30, 60))
    risk = ho.evaluate(LinearRegression(), X, y, test=test, loss="neg_root_mean_squared_error").risk
    assert risk.low < risk.value < risk.high


def test_a_perfect_score_tells_why_it_has_no_interval():
    X, y = numbers(30, seed=11)
    test = ho.Given(rows=np.arange(30))
    risk = ho.evaluate(KNeighborsRegressor(1), np.tile(X, (2, 1)), np.tile(y, 2), test=test, loss="r2").risk
    assert risk.value == 1
    assert "do not vary" in risk.reason


@pytest.mark.parametrize("loss", ["roc_auc", "f1", "balanced_accuracy", "matthews_corrcoef"])
def test_a_row_that_outweighs_all_others_leaves_no_interval_of_a_score(loss):
    X, y = rare(60, 0.4, seed=12)
    weight = np.where(np.arange(60) == 4, 1e9, 1.0)
    risk = ho.evaluate(LogisticRegression(), X, y, test=ho.KFold(3), loss=loss, sample_weight=weight).risk
    assert risk.low is None
    assert "tell no more than 1.0 of equal weight would" in risk.reason
