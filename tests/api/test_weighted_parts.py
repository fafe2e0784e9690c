"""Where rows have weights, each held-out part counts as much as its rows weigh: in risks and in choices."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut
from sklearn.svm import SVC

import heldout as ho
from heldout.risk.selection import bbc, tibshirani

X, Y = make_regression(40, 3, noise=5.0, random_state=0)
WEIGHT = np.random.default_rng(0).lognormal(0, 1.5, 40)
WILD = 100 + Y
WILD[:8] = 800 - 8 * Y[:8]  # rows that go another way, and that weigh next to nothing
LIGHT = np.where(np.arange(40) < 8, 1e-6, 1.0)
QUIET = {"progress": False, "jobs": 1}


class Mean(RegressorMixin, BaseEstimator):
    """The weighted mean of the targets, times a factor: simple enough to be followed by hand."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y, sample_weight=None):
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return np.full(len(X), self.factor * self.mean_)


def loo_losses(y, weight, factor=1.0):
    losses = []
    for row in range(len(y)):
        rest = np.arange(len(y)) != row
        losses.append((y[row] - factor * np.average(y[rest], weights=weight[rest])) ** 2)
    return np.array(losses)


@pytest.mark.parametrize("learner", [Mean(), Ridge()], ids=["brute force", "kernel"])
def test_leave_one_out_knows_the_weights(learner):
    result = ho.evaluate(learner, X, WILD, test=ho.LeaveOneOut(), sample_weight=LIGHT, **QUIET)
    losses = []
    for train, held in LeaveOneOut().split(X):
        fitted = type(learner)().fit(X[train], WILD[train], sample_weight=LIGHT[train])
        losses.append(float((WILD[held] - fitted.predict(X[held]))[0] ** 2))
    assert result.risk.value == pytest.approx(np.average(losses, weights=LIGHT), rel=1e-9)
    assert result.risk.value < np.mean(losses) / 5  # what it was: as if every row weighed the same
    assert result.folds.squared.mean() == pytest.approx(np.mean(losses), rel=1e-9)  # parts are told as they are


@pytest.mark.parametrize(
    "test", [ho.KFold(7), ho.KFold(5, repeats=2), ho.Resample(6, held_out=0.3), ho.KFold(3, stratify=False)], ids=repr
)
def test_the_risk_of_a_row_loss_is_the_weighted_mean_over_held_out_rows(test):
    result = ho.evaluate(Ridge(), X, Y, test=test, sample_weight=WEIGHT, **QUIET)
    rows = result.predictions
    assert result.risk.value == pytest.approx(np.average(rows.loss_squared, weights=WEIGHT[rows.row]), rel=1e-12)
    totals = [WEIGHT[rows.row[rows.fold == fold]].sum() for fold in result.folds.fold]
    assert result.risk.value == pytest.approx(np.average(result.folds.squared, weights=totals), rel=1e-12)
    pooled = ho.evaluate(Ridge(), X, Y, test=test, sample_weight=WEIGHT, options=ho.Options(pool=True), **QUIET)
    assert pooled.risk.value == pytest.approx(result.risk.value, rel=1e-12)
    assert result.risk.low < result.risk.value < result.risk.high


def test_the_estimand_names_the_weights():
    weighted = ho.evaluate(Ridge(), X, Y, sample_weight=WEIGHT, **QUIET)
    assert weighted.risk.estimand.endswith("trained on 32 rows, rows weighted by sample_weight")
    assert "weight" not in ho.evaluate(Ridge(), X, Y, **QUIET).risk.estimand


def test_parts_of_a_set_score_weigh_likewise():
    features, labels = make_classification(60, random_state=0)
    weight = np.random.default_rng(1).lognormal(0, 1.5, 60)
    result = ho.evaluate(
        LogisticRegression(), features, labels, test=ho.KFold(3), loss="roc_auc", sample_weight=weight, **QUIET
    )
    rows = result.predictions
    scores, totals = [], []
    for fold in range(3):
        own = rows[rows.fold == fold]
        scores.append(roc_auc_score(own.y, own.decision_function, sample_weight=weight[own.row]))
        totals.append(weight[own.row].sum())
    assert result.folds.roc_auc.to_numpy() == pytest.approx(scores)
    assert result.risk.value == pytest.approx(np.average(scores, weights=totals), rel=1e-12)


@pytest.mark.parametrize("validation", [ho.LeaveOneOut(), ho.KFold(20, shuffle=False, stratify=False)], ids=repr)
@pytest.mark.parametrize("estimator", ["mean", "ridge"])
def test_choices_are_made_by_weighted_parts(validation, estimator):
    space = {"mean": (Mean(), {"factor": [1.0, 2.0, 4.0]}), "ridge": (Ridge(), {"alpha": [0.1, 10.0, 1000.0]})}
    tuned = ho.Tuned(*space[estimator], validation=validation, loss="squared", jobs=1)
    target = np.where(LIGHT < 1, 700.0, WILD) if estimator == "mean" else WILD
    tuned.fit(X, target, sample_weight=LIGHT)
    results = tuned.cv_results_
    parts = np.array([results[f"split{part}_test_score"] for part in range(tuned.n_splits_)]).T
    weights = [LIGHT[tuned.splits_.held_rows(part)].sum() for part in range(tuned.n_splits_)]
    means = np.average(parts, axis=1, weights=weights)
    assert results["mean_test_score"] == pytest.approx(means, rel=1e-12)
    assert tuned.best_index_ == np.argmax(means) == np.argmin(results["rank_test_score"])
    assert tuned.best_index_ != np.argmax(parts.mean(axis=1))  # what a plain mean would have chosen
    assert tuned.best_score_ == pytest.approx(means.max(), rel=1e-12)
    assert tuned.estimates_["best_validation"].value == pytest.approx(-means.max(), rel=1e-12)


def test_a_nested_study_chooses_as_the_learner_does():
    learner = ho.Tuned(Mean(), {"factor": [1.0, 2.0, 4.0]}, validation=ho.LeaveOneOut(), loss="squared")
    result = ho.evaluate(learner, X, WILD, test=ho.KFold(4), sample_weight=LIGHT, **QUIET)
    splits = ho.draw(ho.KFold(4), X, WILD, sample_weight=LIGHT)
    for part, (train, _) in enumerate(splits):
        means = [np.average(loo_losses(WILD[train], LIGHT[train], f), weights=LIGHT[train]) for f in (1.0, 2.0, 4.0)]
        row = result.choices.iloc[part]
        assert row.candidate == np.argmin(means)
        assert row.validation_squared == pytest.approx(min(means), rel=1e-12)
        table = result.candidates[result.candidates.fold == part]
        assert table.validation_squared.to_numpy() == pytest.approx(means, rel=1e-12)


def test_one_standard_error_goes_by_weighted_parts():
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, validation=ho.KFold(8), loss="squared", choose="one_se")
    equal = learner.fit(X, Y, sample_weight=np.ones(40))
    plain = ho.Tuned(**learner.get_params(deep=False)).fit(X, Y)
    assert equal.best_params_ == plain.best_params_
    assert equal.best_score_ == pytest.approx(plain.best_score_, rel=1e-12)
    # A part that weighs nearly everything has nearly all of the error: no other candidate is within it by chance.
    heavy = np.full(40, 1e-9)
    heavy[plain.splits_.held_rows(0)] = 1.0
    alone = ho.Tuned(**learner.get_params(deep=False)).fit(X, Y, sample_weight=heavy)
    first = alone.cv_results_["split0_test_score"]
    assert alone.cv_results_["mean_test_score"] == pytest.approx(first, rel=1e-6)
    assert alone.best_index_ == np.argmax(first)


def test_corrections_start_from_the_mean_that_chooses():
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, validation=ho.KFold(8), loss="squared", jobs=1)
    tuned.fit(X, WILD, sample_weight=WEIGHT)
    held = tuned.splits_.held
    results = tuned.cv_results_
    parts = -np.array([results[f"split{part}_test_score"] for part in range(8)]).T
    weights = np.array([WEIGHT[tuned.splits_.held_rows(part)].sum() for part in range(8)])
    mean = np.average(parts, axis=1, weights=weights)
    chosen = parts[np.argmin(mean)]
    expected = mean.min() + np.average(chosen - parts.min(axis=0), weights=weights)
    assert tuned.estimates_["best_validation_tt"].value == pytest.approx(expected, rel=1e-12)
    rows = np.empty((3, 40))
    for number, alpha in enumerate((0.1, 10.0, 1000.0)):
        for part in range(8):
            train, out = tuned.splits_.train_rows(part), tuned.splits_.held_rows(part)
            fitted = Ridge(alpha=alpha).fit(X[train], WILD[train], sample_weight=WEIGHT[train])
            rows[number, np.isin(held, out)] = (WILD[out] - fitted.predict(X[out])) ** 2
    assert np.average(rows, axis=1, weights=WEIGHT[held]) == pytest.approx(mean, rel=1e-9)
    by_hand = [bbc(rows, units=held, weights=WEIGHT[held], seed=seed).value for seed in range(30)]
    found = tuned.estimates_["best_validation_bbc"].value
    assert min(by_hand) <= found <= max(by_hand)
    by_part = WEIGHT[held] / np.repeat(weights, tuned.splits_.held_sizes)  # as if parts counted alike
    assert (
        not min(alike := [bbc(rows, units=held, weights=by_part, seed=s).value for s in range(30)])
        <= found
        <= max(alike)
    )


def test_tibshiranis_correction_of_equal_weights_is_the_plain_one():
    losses = np.random.default_rng(0).random((4, 6))
    assert tibshirani(losses, weights=np.full(6, 0.25)).value == pytest.approx(tibshirani(losses).value, rel=1e-14)


@pytest.mark.parametrize("loss", ["zero_one", "accuracy", "log", "roc_auc"])
@pytest.mark.parametrize("race", ["exact", "paired"])
def test_races_know_the_weights(loss, race):
    features, labels = make_classification(90, 6, n_informative=4, random_state=0)
    space = {"C": ho.log_grid(-3, 3, 6), "gamma": ho.log_grid(-4, 1, 3)}
    learner, space = (LogisticRegression(), {"C": ho.log_grid(-4, 2, 14)}) if loss == "log" else (SVC(), space)
    weight = np.random.default_rng(2).lognormal(0, 1.5, 90)
    how = {"validation": ho.KFold(8), "loss": loss, "jobs": 1}
    whole = ho.Tuned(learner, space, **how).fit(features, labels, sample_weight=weight)
    raced = ho.Tuned(learner, space, **how, options=ho.Options(race=race)).fit(features, labels, sample_weight=weight)
    if race == "exact":
        assert raced.best_index_ == whole.best_index_
        assert raced.best_score_ == whole.best_score_
    ran = np.isfinite(raced.cv_results_["mean_test_score"])
    assert raced.cv_results_["mean_test_score"][ran] == pytest.approx(whole.cv_results_["mean_test_score"][ran])


def test_a_race_still_drops_candidates_where_rows_have_weights():
    features, labels = make_classification(90, 6, n_informative=4, class_sep=2, random_state=0)
    space = {"C": ho.log_grid(-3, 3, 6), "gamma": ho.log_grid(-4, 1, 3)}
    raced = ho.Tuned(SVC(), space, validation=ho.KFold(8), options=ho.Options(race="exact"), jobs=1)
    raced.fit(features, labels, sample_weight=np.random.default_rng(2).uniform(0.5, 2, 90))
    assert np.isnan(raced.cv_results_["mean_test_score"]).any()


def test_a_part_that_weighs_nothing_is_refused_with_the_way_out():
    weight = np.append(0.0, np.ones(39))
    with pytest.raises(ho.HeldoutError, match=r"part 0 holds out rows of zero weight only\. Leave rows of zero weight"):
        ho.evaluate(Ridge(), X, Y, test=ho.LeaveOneOut(), sample_weight=weight, **QUIET)
    with pytest.raises(ho.HeldoutError, match="rows of zero weight only"):
        ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=ho.LeaveOneOut()).fit(X, Y, sample_weight=weight)


def test_differences_of_learners_are_weighted_too():
    found = ho.compare({"one": Ridge(), "two": Mean()}, X, Y, test=ho.KFold(6), sample_weight=WEIGHT, **QUIET)
    values = {name: estimate.value for name, estimate in found.ranking.items()}
    (pair,) = found.pairs
    assert abs(pair.difference.value) == pytest.approx(abs(values["one"] - values["two"]), rel=1e-9)


def test_equal_weights_change_nothing_but_rounding():
    plain = ho.evaluate(Mean(), X, Y, test=ho.KFold(5), **QUIET)
    equal = ho.evaluate(Mean(), X, Y, test=ho.KFold(5), sample_weight=np.full(40, 3.0), **QUIET)
    assert equal.risk.value == pytest.approx(plain.risk.value, rel=1e-12)
    assert plain.risk.value == float(np.mean(plain.folds.squared.to_numpy()))
