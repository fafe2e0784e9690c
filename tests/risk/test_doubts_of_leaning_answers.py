"""The warning where a learner leans to the majority of stratified folds on data near balance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import heldout as ho
from heldout.risk.doubts import leaning_note

SEEDS = range(20)


def found(learner, seed, *, signal=0.0, n=60, **asked):
    """The findings H104 on coin labels, or on labels that the first column tells."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-signal * X[:, 0])), "yes", "no")
    result = ho.evaluate(learner, X, y, jobs=1, progress=False, **asked)
    return [finding for finding in result.findings if finding.code == "H104"]


def test_it_fires_where_a_stiff_learner_meets_coin_labels():
    fired = [found(RidgeClassifier(1e3), seed) for seed in SEEDS]
    assert sum(map(bool, fired)) >= 13
    (finding,) = next(filter(None, fired))
    assert finding.severity == "warning"
    assert "Stratified folds keep that share in training and held-out rows" in finding.message


def test_it_is_silent_where_there_is_something_to_learn():
    assert sum(bool(found(LogisticRegression(), seed, signal=3.0)) for seed in SEEDS) <= 1


@pytest.mark.parametrize("test", [ho.KFold(5, stratify=False), ho.LeaveOneOut()], ids=repr)
def test_it_is_silent_without_strata(test):
    assert not any(found(RidgeClassifier(1e3), seed, test=test) for seed in range(5))


def test_it_is_silent_where_the_majority_is_known_or_there_is_none():
    everyone = np.ones(1000, dtype=bool)
    assert leaning_note(np.arange(1000) < 550, everyone) is None  # three standard errors above one half
    assert leaning_note(np.arange(1000) < 510, everyone) is not None
    assert leaning_note(np.arange(1000) < 500, everyone) is None
    assert leaning_note(np.arange(20) < 14, everyone) is None
    assert leaning_note(np.arange(60) < 28, np.zeros(60, dtype=bool)) is not None  # the other class is the commoner
    assert leaning_note(np.arange(60) < 28, np.ones(60, dtype=bool)) is None


def test_the_bias_that_it_names_is_the_one_of_a_constant_answer():
    coins = np.arange(60) < 33
    assert "looks about 0.05 better than" in leaning_note(coins, np.ones(60, dtype=bool))
    assert np.mean(~coins) == pytest.approx(0.5 - 0.05)


def test_answers_that_withhold_rows_withhold_it_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), np.arange(200) < 103
    asked = {"test": ho.Holdout(0.3), "jobs": 1, "progress": False}
    open_ = ho.evaluate(RidgeClassifier(1e5), X, y, **asked)
    assert "H104" in [finding.code for finding in open_.findings]
    coarse = ho.evaluate(RidgeClassifier(1e5), X, y, options=ho.Options(answer="rounded:0.1"), **asked)
    assert "H104" not in [finding.code for finding in coarse.findings]
