"""What a number claims: no more than how its rows were held out, and what was trained, allow."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.report.show import as_text

X, Y = (part[:200] for part in load_breast_cancer(return_X_y=True))
TIME = np.arange(len(Y))
KNN = KNeighborsClassifier()
SOME = {"n_neighbors": [1, 5]}


@pytest.mark.parametrize("test", [ho.Given(TIME[150:]), ho.Given(folds=TIME % 4), [(TIME[:150], TIME[150:])]])
def test_declared_time_is_counted_in_stretches_whoever_held_the_rows_out(test):
    found = ho.evaluate(KNN, X, Y, test=test, time=TIME, jobs=1).estimates
    assert (found["risk"].method, found["risk"].guarantee) == ("five batch means", "heuristic")
    assert all(one.low is None for name, one in found.items() if name != "risk")


def test_a_frozen_predictor_in_time_needs_rows_enough_for_stretches():
    fitted = FrozenEstimator(KNeighborsClassifier().fit(X[:100], Y[:100]))
    assert ho.evaluate(fitted, X, Y, test=ho.Given(TIME[150:]), time=TIME).risk.method == "five batch means"
    few = ho.evaluate(fitted, X, Y, test=ho.Given(TIME[160:]), time=TIME).risk
    assert few.low is None
    assert "40 test rows in time are too few" in few.reason


def test_parts_that_go_forward_are_known_without_a_declared_time():
    risk = ho.evaluate(KNN, X, Y, test=TimeSeriesSplit(4), jobs=1).risk
    assert risk.method == "five batch means"


def test_declared_time_leaves_a_given_development_set_no_bound():
    tuned = ho.Tuned(KNN, SOME, validation=ho.Given(TIME[150:]), final="keep", jobs=1).fit(X, Y, time=TIME)
    assert "in time" in tuned.estimates_["development_chosen"].reason
    assert "in time" in tuned.estimates_["best_validation_bbc"].reason


@pytest.mark.parametrize("splitter", [StratifiedShuffleSplit, ShuffleSplit])
def test_rows_that_someone_elses_splitter_drew_promise_less(splitter):
    one = splitter(1, test_size=0.3, random_state=0)
    risk = ho.evaluate(KNN, X, Y, test=one, jobs=1).risk
    assert (risk.method, risk.guarantee) == ("Clopper–Pearson", "heuristic")
    tuned = ho.Tuned(KNN, SOME, validation=one, final="keep", jobs=1).fit(X, Y)
    assert tuned.estimates_["development_chosen"].guarantee == "heuristic"


@pytest.mark.parametrize("test", [ho.KFold(5), ho.Holdout(0.5)])
def test_losses_that_do_not_vary_have_no_interval(test):
    found = ho.evaluate(DummyRegressor(), X, np.full(len(Y), 3.0), test=test, jobs=1).estimates
    assert found["risk"].value == 0
    assert all((one.low, one.method) == (None, None) for one in found.values())
    assert "do not vary" in found["risk"].reason


def test_no_error_in_any_fold_is_no_proof_of_none():
    apart = np.repeat([0.0, 100.0], 20)[:, None]
    labels = np.repeat([0, 1], 20)
    study = ho.evaluate(KNN, apart, labels, test=ho.KFold(4), options=ho.Options(interval="bht", repetitions=1), jobs=1)
    tuned = ho.Tuned(KNN, SOME, validation=ho.KFold(4), jobs=1).fit(apart, labels)
    for one in (study.risk, tuned.estimates_["best_validation_bbc"]):
        assert (one.value, one.low) == (0.0, None)
        assert "do not vary" in one.reason
    plain = study.estimates["cross_validation"]
    assert (plain.value, plain.low) == (0.0, 0.0)
    assert plain.high > 3.84 / (40 + 3.84)  # Wilson's for no error among 40 rows, widened


@pytest.mark.parametrize(
    ("how", "size"), [({"final": "keep", "validation": ho.Holdout(0.25)}, 120), ({"final": "ensemble"}, 128)]
)
@pytest.mark.parametrize("test", [ho.KFold(5), ho.Holdout(0.2)], ids=str)
def test_the_risk_of_what_keeps_or_averages_names_what_was_given_and_what_each_fit_used(how, size, test):
    study = ho.evaluate(ho.Tuned(KNN, SOME, **how), X, Y, test=test, jobs=1)
    words = f"160 rows (each fit on {size} of them)"
    assert (study.risk.train_size, study.risk.fit_size) == (160, size)
    assert f"trained on {words}" in study.risk.estimand
    assert f"trained on {words}" in study.summary()["verdict"]["sentence"]
    assert test != ho.KFold(5) or f"the learner at {words}" in str(study.covers)
    again = ho.evaluate(ho.Tuned(KNN, SOME), X, Y, test=test, jobs=1).risk
    assert (again.train_size, again.fit_size) == (160, None)


def test_training_sizes_that_differ_are_a_range():
    clock = np.arange(120)
    study = ho.evaluate(KNN, X[:120], Y[:120], test=ho.Forward(3), time=clock, jobs=1)
    assert (study.risk.train_size, study.risk.train_range) == (60, (30, 90))
    assert "trained on 30 to 90 rows" in study.risk.estimand
    verdict = study.summary()["verdict"]
    assert "trained on 30 to 90 rows" in verdict["sentence"]
    assert "Training size: 30 to 90 rows." in verdict["meanings"]["risk"]["text"]
    assert "the learner at 30 to 90 rows" in str(study.covers)
    both = ho.compare({"one": KNN, "two": DummyClassifier()}, X[:120], Y[:120], test=ho.Forward(3), time=clock, jobs=1)
    assert "trained on 30 to 90 rows: of the learners" in both.pairs[0].difference.estimand
    even = ho.evaluate(KNN, X[:151], Y[:151], test=ho.KFold(5), jobs=1).risk
    assert even.train_range is None
    assert "trained on about 121 rows" in even.estimand


def test_the_estimand_names_class_shares_and_weights():
    plain = ho.evaluate(KNN, X, Y, test=ho.KFold(5, stratify=False), jobs=1)
    assert "shares" not in plain.risk.estimand
    study = ho.evaluate(KNN, X, Y, test=ho.KFold(5), jobs=1)
    for name in ("risk", "fold_predictors"):
        assert study.estimates[name].estimand.endswith("trained on 160 rows, at the class shares of the sample")
    weighted = ho.evaluate(DummyRegressor(), X, X[:, 0], sample_weight=np.ones(200), test=ho.KFold(4), jobs=1)
    assert weighted.risk.estimand.endswith("trained on 150 rows, rows weighted by sample_weight")


def at_length(comparison):
    """All that `heldout compare --verbose` says, each fact on its line."""
    return re.sub(r"\n {11,}", " ", as_text("whole comparison", comparison.summary()))


def test_comparisons_and_tests_against_chance_name_what_they_estimate():
    words = "expected zero-one risk of the learner trained on 160 rows, at the class shares of the sample"
    assert f"estimates    {words}" in at_length(ho.compare({"one": KNN, "two": DummyClassifier()}, X, Y, jobs=1))
    tuned = ho.Tuned(KNN, SOME)
    text = at_length(ho.compare({"one": KNN, "two": tuned}, X, Y, jobs=1))
    assert f"one: {words}" in text
    assert f"two: {words.replace('the learner', 'the tuned learner')}" in text
    assert words in ho.chance(KNN, X, Y, permutations=3, jobs=1).sentence


def test_a_frozen_predictor_in_several_parts_is_still_itself():
    fitted = FrozenEstimator(KNeighborsClassifier().fit(X[:100], Y[:100]))
    covers = ho.evaluate(fitted, X, Y, test=ho.Given(folds=np.where(TIME < 100, -1, TIME % 3))).covers
    assert covers.exactly
    assert "trained on" not in str(covers)


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ({"validation": ho.LeaveOneOut()}, "best_validation_bbc"),
        ({"validation": ho.Holdout(0.3), "loss": "roc_auc"}, "best_validation"),
        ({"choose": "one_se"}, "best_validation"),
        ({}, "best_validation_bbc"),
        ({"loss": "roc_auc"}, "best_validation_tt"),
    ],
)
def test_the_estimate_that_speaks_of_a_retrained_predictor_has_a_value(how, name):
    tuned = ho.Tuned(KNN, SOME, jobs=1, **how).fit(X[:60], Y[:60])
    assert tuned.covers_.estimate == name
    assert tuned.estimates_[name].value is not None
    assert ("optimistic" in str(tuned.covers_)) == tuned.estimates_[name].optimistic


def test_a_second_loss_that_fails_costs_the_first_neither_rows_nor_interval():
    labels, rows = np.zeros(60, dtype=int), ho.Given(range(20, 40))
    labels[[0, 59]] = 1  # not one among the test rows, where the area under the curve is then not defined
    alone = ho.evaluate(DummyClassifier(), X[:60], labels, test=rows, jobs=1)
    found = ho.evaluate(DummyClassifier(), X[:60], labels, test=rows, loss=["zero_one", "roc_auc"], jobs=1)
    assert found.estimates["risk_roc_auc"].value is None
    assert found.risk.low is not None
    assert (found.risk.low, found.risk.high) == (alone.risk.low, alone.risk.high)
    assert found.predictions["loss_zero_one"].tolist() == alone.predictions["loss_zero_one"].tolist()


def test_a_level_may_be_a_number_of_numpy():
    assert ho.evaluate(KNN, X, Y, test=ho.Holdout(0.3), level=np.float32(0.5), jobs=1).risk.level == 0.5


@pytest.mark.parametrize(
    ("loss", "pool", "words"),
    [
        ("f1", None, ", all held-out rows pooled"),
        ("f1", False, ", averaged over folds"),
        ("roc_auc", None, ", averaged over folds"),
        ("accuracy", None, ", at the class shares of the sample"),
    ],
)
def test_a_score_of_whole_sets_says_how_it_was_taken_over_folds(loss, pool, words):
    risk = ho.evaluate(KNN, X, Y, test=ho.KFold(5), loss=loss, options=ho.Options(pool=pool), jobs=1).risk
    assert risk.estimand.endswith(words)
    one = ho.evaluate(KNN, X, Y, test=ho.Holdout(0.3), loss=loss, jobs=1).risk
    assert "pooled" not in one.estimand
    assert "averaged" not in one.estimand


def test_an_interval_of_groups_is_called_by_what_it_counts():
    risk = ho.evaluate(KNN, X, Y, test=ho.KFold(5), groups=np.arange(len(Y)) // 4, jobs=1).risk
    assert risk.method == "Wilson over groups"


def test_the_way_out_of_a_finding_is_printed():
    features, labels = np.random.default_rng(0).normal(size=(60, 5)), (np.arange(60) < 32).astype(int)
    result = ho.evaluate(RidgeClassifier(1e3), features, labels, test=ho.KFold(5), jobs=1)
    assert [one.code for one in result.findings] == ["H104"]
    assert "Use stratify=False." in str(result)


def test_r2_that_is_saturated_is_not_sent_to_a_loss_that_is_no_better():
    random = np.random.default_rng(0)
    result = ho.evaluate(
        Ridge(1e-6), random.normal(size=(60, 45)), random.normal(size=60), test=ho.KFold(5), loss=["r2", "squared"]
    )
    found = [one.message for one in result.findings if one.code == "H305"]
    assert len(found) == 2
    assert not any("surer" in message for message in found)
