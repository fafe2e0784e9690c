"""`Options(interval=…)`: asked for, refused before any fit, and what other losses get."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression

import heldout as ho
from heldout.audit.ledger import MemoryLedger
from heldout.base.errors import OptionError

X, Y = make_regression(n_samples=60, n_features=4, noise=10.0, random_state=0)
XC, YC = make_classification(n_samples=80, n_features=5, random_state=0)


class Unfit(RegressorMixin, BaseEstimator):
    """Fails when it is fitted, so that a refusal shows that nothing was."""

    def fit(self, X, y):
        raise AssertionError("nothing should be fitted")


class Zero(RegressorMixin, BaseEstimator):
    """Predicts zero."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


class Halves:
    """Both halves of the rows, drawn `times` times, each split in two on its own."""

    def __init__(self, times):
        self.times = times

    def split(self, X, y=None, groups=None):
        for time in range(self.times):
            rows = np.random.default_rng(time).permutation(len(X))
            for half in np.array_split(rows, 2):
                for held in np.array_split(half, 2):
                    yield np.setdiff1d(half, held), np.sort(held)


def risk(learner=None, *, interval=None, data=(X, Y), **asked):
    options = ho.Options(interval=interval, ledger=MemoryLedger())
    return ho.evaluate(learner or LinearRegression(), *data, options=options, progress=False, **asked).risk


@pytest.mark.parametrize(
    ("interval", "test", "words"),
    [
        ("wilson", ho.KFold(5), r"Wilson cannot be had here: it speaks of one test set.*'corrected-t'"),
        ("betting", ho.Holdout(0.5), r"'squared' has no such bounds"),
        ("clopper-pearson", ho.Holdout(0.5), r"the loss 'squared' takes other values"),
        ("bootstrap-t", ho.Holdout(0.2), r"12 rows are too few"),
        ("bayle", ho.Resample(5), r"hold out each row once"),
        ("bayle", ho.KFold(5, repeats=2), r"one set of folds, and there are 2"),
        ("5x2", ho.KFold(5), r"KFold\(2, repeats=5\)"),
        ("conservative-z", ho.KFold(2, repeats=5), r"pairs of halves"),
        ("corrected-t", ho.LeaveOneOut(), r"leave-one-out gives a point estimate"),
        ("naive", ho.KFold(5), r"There is no interval method 'naive'"),
        (3, ho.KFold(5), r"interval= is the name of a method or None, not 3"),
    ],
)
def test_a_method_that_does_not_suit_is_refused_before_any_fit(interval, test, words):
    with pytest.raises(OptionError, match=words):
        risk(Unfit(), interval=interval, test=test)


def test_explain_refuses_it_too():
    with pytest.raises(OptionError, match="Wilson cannot be had here"):
        ho.explain(LinearRegression(), X, Y, test=ho.KFold(5), options=ho.Options(interval="wilson"))


@pytest.mark.parametrize(
    ("interval", "test", "method"),
    [
        ("student", ho.Holdout(0.5), "Student"),
        ("bca", ho.Holdout(0.5), "BCa"),
        ("bayle-within", ho.KFold(5), "Bayle, within folds"),
        ("5x2", ho.KFold(2, repeats=5), "5×2 combined F"),
        ("5x2-t", ho.KFold(2, repeats=5), "5×2 t"),
        ("conservative-z", Halves(6), "conservative Z"),
        ("bayle", ho.LeaveOneOut(), "Bayle, all pairs"),
    ],
)
def test_a_method_that_suits_is_taken(interval, test, method):
    found = risk(interval=interval, test=test)
    assert found.method == method
    assert found.low < found.value < found.high


def test_halves_have_their_own_training_size():
    assert risk(interval="conservative-z", test=Halves(5)).train_size == 15


def test_a_loss_that_turns_out_not_to_suit_is_refused_in_the_end():
    lonely = (X, (np.arange(60) == 7).astype(float))
    with pytest.raises(OptionError, match="one value is so common"):
        risk(Zero(), interval="bootstrap-t", test=ho.Given(np.arange(30)), data=lonely)


def test_other_losses_get_what_suits_them_and_say_so():
    result = ho.evaluate(
        LogisticRegression(),
        XC,
        YC,
        test=ho.Holdout(0.5),
        loss=["zero_one", "log", "accuracy"],
        progress=False,
        options=ho.Options(interval="wilson"),
    )
    assert result.risk.method == result.estimates["risk_accuracy"].method == "Wilson"
    other = result.estimates["risk_log"]
    assert other.method == "t over rows, log scale"
    assert other.reason.startswith("Wilson was asked for, but it counts rows that are right or wrong")


def test_the_fold_predictors_get_bayles_interval_and_the_risk_does_not():
    result = ho.evaluate(LinearRegression(), X, Y, test=ho.KFold(5), progress=False)
    assert result.risk.method == "t over rows, log scale"
    mean = result.estimates["fold_predictors"]
    assert (mean.method, mean.guarantee) == ("Bayle, all pairs", "asymptotic")
    assert mean.high - mean.low < result.risk.high - result.risk.low
    asked = ho.evaluate(
        LinearRegression(), X, Y, test=ho.KFold(5), options=ho.Options(interval="bayle"), progress=False
    )
    assert (asked.risk.low, asked.risk.high) == (mean.low, mean.high)
    assert asked.risk.estimand.endswith("; the interval is that of the mean risk of the fold predictors")
    assert "interval is that" not in asked.estimates["fold_predictors"].estimand


@pytest.mark.parametrize(("test", "words"), [(ho.Resample(4), "each row once"), (ho.KFold(3), "come in groups")])
def test_where_bayle_does_not_apply_the_fold_predictors_say_why(test, words):
    groups = np.repeat(np.arange(12), 5) if isinstance(test, ho.KFold) else None
    result = ho.evaluate(LinearRegression(), X, Y, test=test, groups=groups, progress=False)
    mean = result.estimates["fold_predictors"]
    assert mean.low is None
    assert words in mean.reason


def test_groups_and_weights_reach_the_record():
    pairs = np.repeat(np.arange(30), 2)
    assert risk(test=ho.Given(np.arange(48)), groups=pairs).method == "Hall's t over groups"  # 24 groups, one decides
    assert risk(test=ho.Given(np.arange(30)), groups=pairs).method == "Student"  # 15 are too few to resample
    uneven = np.r_[np.repeat(np.arange(20), 2), np.arange(20, 40)]
    assert risk(test=ho.Given(np.arange(10, 60)), groups=uneven).method == "t over groups, log scale"
    assert risk(test=ho.Holdout(0.5), sample_weight=1 + np.arange(60) % 3).method == "Hall's t over rows"


def test_the_seed_of_the_study_is_that_of_the_interval():
    first, again, other = (risk(test=ho.Given(np.arange(30)), seed=seed) for seed in (0, 0, 1))
    assert first.method == "bootstrap-t"
    assert first == again
    assert first.value == other.value
    assert first.interval_seed != other.interval_seed
    assert first.high != other.high


def test_heavy_tails_are_a_finding():
    y = Y + 40 * np.random.default_rng(3).standard_t(1, size=60)
    codes = [f.code for f in ho.evaluate(LinearRegression(), X, y, test=ho.KFold(5), progress=False).findings]
    assert "H302" in codes
    plain = [f.code for f in ho.evaluate(LinearRegression(), X, Y, test=ho.KFold(5), progress=False).findings]
    assert "H302" not in plain


def test_where_rows_are_withheld_their_tails_are_too():
    y = Y + 5000.0 * (np.arange(60) == 3)
    options = ho.Options(answer="value", ledger=MemoryLedger())
    for asked, told in ((None, True), (options, False)):
        result = ho.evaluate(LinearRegression(), X, y, test=ho.Given(np.arange(30)), options=asked, progress=False)
        assert ("H302" in [f.code for f in result.findings]) is told
