"""`advise`: what it says, that its calls work, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.errors import OptionError
from heldout.report.show import as_text


def test_an_advice_has_the_recipe_the_rows_and_the_bounds():
    advice = ho.advise(n=10_000, candidates=17, gap=0.05, width=0.1, error_rate=0.1)
    assert advice.recipe == "cross-validation and a test set"
    assert advice.dev_rows == 5218
    assert (advice.test_rows.bound, advice.test_rows.normal) == (738, 139)
    assert advice.sizes == {"train": 6400, "dev": 1600, "test": 2000}
    assert advice.bounds["dev_gap"] == pytest.approx(np.sqrt(2 * np.log(34 / 0.05) / 1600))
    assert advice.bounds["test_width"] == pytest.approx(2 * np.sqrt(np.log(40) / 4000))
    assert advice.reasons


def test_without_rows_there_are_only_numbers():
    advice = ho.advise(candidates=100, gap=0.02)
    assert advice.recipe is advice.call is advice.k is advice.sizes is None
    assert advice.dev_rows == 41_471
    assert advice.bounds == {"dev_gap": None, "test_width": None}
    assert "pass n=" in str(advice)


def test_no_bound_is_promised_for_rows_in_time_for_folds_or_without_a_range():
    assert ho.advise(n=9000, candidates=3, time=True).bounds == {"dev_gap": None, "test_width": None}
    assert ho.advise(n=100).bounds["test_width"] is None
    unbounded = ho.advise(n=9000, candidates=3, loss_range=None, sd=2.0)
    assert unbounded.bounds == {"dev_gap": None, "test_width": None}
    assert unbounded.dev_rows is unbounded.test_rows.bound is None
    assert (unbounded.width, unbounded.test_rows.normal) == (pytest.approx(0.4), 385)


def test_the_bounds_count_groups_not_rows():
    rows, groups = ho.advise(n=50_000), ho.advise(n=50_000, groups=40_000)
    assert rows.bounds["test_width"] < groups.bounds["test_width"]


def test_the_summary_is_plain_and_the_text_says_it_all():
    advice = ho.advise(n=200, candidates=17)
    summary = advice.summary()
    assert json.loads(json.dumps(summary)) == summary
    assert str(advice) == as_text("advice", summary)
    for words in ("nested cross-validation", advice.call, "1,305 development rows", "738 test rows", *advice.reasons):
        assert words in str(advice)


@pytest.mark.parametrize(
    "known",
    [
        {"n": 60},
        {"n": 60, "candidates": 3},
        {"n": 4000},
        {"n": 8000, "candidates": 3},
        {"n": 600, "about": "predictor", "candidates": 3},
        {"n": 60, "closed_form": True, "about": "predictor"},
        {"n": 60, "groups": 10, "candidates": 3},
        {"n": 60, "time": True, "candidates": 3},
    ],
)
def test_what_it_advises_can_be_run(known):
    advice = ho.advise(**known)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(known["n"], 3)), rng.normal(size=known["n"])
    names = {
        **{name: getattr(ho, name) for name in ("evaluate", "Tuned", "KFold", "Holdout", "LeaveOneOut")},
        "learner": Ridge(),
        "space": {"alpha": [0.1, 1.0, 10.0]},
        "X": X,
        "y": y,
        "groups": np.arange(known["n"]) % known.get("groups", 1),
        "time": np.arange(known["n"]),
    }
    result = eval(advice.call, names)
    fold = result.folds.iloc[0]
    assert abs(fold["held_rows"] - advice.sizes["test"]) <= 1
    assert len(result.folds) == (advice.k or 1)
    assert abs(fold["train_rows"] - advice.sizes["train"] - advice.sizes["dev"]) <= 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n": 0}, "n is a whole number of at least 1"),
        ({"n": 10.5}, "n is a whole number"),
        ({"n": True}, "n is a whole number"),
        ({"candidates": 0}, "candidates is a whole number"),
        ({"gap": -0.1}, "gap is a number above 0"),
        ({"gap": "small"}, "gap is a number above 0"),
        ({"width": float("nan")}, "width is a number above 0"),
        ({"level": 1}, "level is a number between 0 and 1"),
        ({"level": 95}, "level is a number between 0 and 1"),
        ({"loss_range": 0}, "loss_range is a number above 0"),
        ({"sd": 0.2, "error_rate": 0.1}, "Pass one of them"),
        ({"sd": 0.7}, "at most half the range"),
        ({"error_rate": 1.5}, "error_rate is a number between 0 and 1"),
        ({"loss_range": None, "gap": 0.1}, "only for a loss with a range"),
        ({"n": 10, "groups": 20}, "groups=20 are more than the n=10 rows"),
        ({"time": "yes"}, "time is True or False"),
        ({"about": "model"}, '"learner" or "predictor"'),
        ({"columns": -1}, "columns is a whole number"),
    ],
)
def test_senseless_arguments_are_refused_by_name(wrong, words):
    with pytest.raises(OptionError, match=words):
        ho.advise(**wrong)
