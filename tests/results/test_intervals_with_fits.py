"""Intervals that take further fits, "bht" and "ratio": what holds of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.errors import OptionError

BOTH = pytest.mark.parametrize("interval", ["bht", "ratio"])


def problem() -> tuple[Any, Any]:
    chance = np.random.default_rng(3)
    X = chance.normal(size=(45, 5))
    return X, X[:, 0] + chance.normal(size=45)


@BOTH
def test_it_is_priced_up_front_and_counted_afterwards(interval):
    X, y = problem()
    options = ho.Options(interval=interval, repetitions=3, rules={"ridge": False})
    account = ho.explain(Ridge(), X, y, test=ho.KFold(5), options=options)
    # 5 of the study; 10 pairs a repetition, and 5 single blocks in each of the two further repetitions.
    assert account.fits == 5 + 3 * 10 + 2 * 5
    assert "spread" in str(account)
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(5), options=options, jobs=1)
    assert result.plan.fits == account.fits
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3))
    account = ho.explain(tuned, X, y, test=ho.KFold(5), options=options)
    assert account.fits == (1 + 2 * 3) * (5 + 3 * 10 + 2 * 5)  # a third level inside each training set
    assert "nested" not in str(account)


@BOTH
def test_the_same_numbers_come_with_several_jobs_and_after_saving(interval, tmp_path):
    X, y = problem()
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3))
    shuffled = ho.Options(interval=interval, repetitions=2, queue_seed=1)
    one = ho.evaluate(tuned, X, y, test=ho.KFold(4), options=shuffled, jobs=1)
    two = ho.evaluate(tuned, X, y, test=ho.KFold(4), options=ho.Options(interval=interval, repetitions=2), jobs=2)
    assert one.risk == two.risk
    one.save(tmp_path / "study")
    assert ho.load(tmp_path / "study").risk == one.risk


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"test": ho.Holdout(0.3)}, r"needs test=KFold\(…\), and the test is Holdout"),
        ({"test": ho.Resample(5)}, "needs test=KFold"),
        ({"test": ho.KFold(2)}, "at least 3 blocks"),
        ({"test": ho.KFold(45)}, "two rows in each block"),
        ({"time": np.arange(45)}, "in time"),
        ({"groups": np.repeat(np.arange(15), 3)}, "come in groups"),
        ({"sample_weight": np.ones(45)}, "weights"),
        ({"loss": "r2"}, "whole sets"),
        ({"test": ho.KFold(5, shuffle=False)}, "repetitions=1"),
    ],
)
@pytest.mark.parametrize(("interval", "name"), [("bht", "Bates–Hastie–Tibshirani"), ("ratio", "ratio of jackknives")])
def test_where_it_cannot_be_had_it_is_refused_before_any_fit(asked, interval, name, question, words):
    X, y = problem()
    with pytest.raises(OptionError, match=rf"interval=.{interval}. \({name}\).*{words}"):
        asked(Ridge(), X, y, options=ho.Options(interval=interval), **{"test": ho.KFold(5)} | question)
