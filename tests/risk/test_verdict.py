"""Verdicts say what the estimates say, in the user's own sign, and never more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heldout.risk.estimate import Estimate
from heldout.risk.verdict import Reference, promise_of, sentence_of, surer, verdict_of

LEARNER = Estimate(
    name="risk",
    loss="squared",
    value=2900.0,
    low=2500.0,
    high=3300.0,
    level=0.9,
    method="corrected t",
    guarantee="heuristic",
    estimand="expected squared risk of the tuned learner trained on 353 rows",
    train_size=353.4,
    n=442,
    unclipped=(2500.0, 3300.0),
)
PREDICTOR = replace(
    LEARNER,
    loss="accuracy",
    value=0.9,
    low=0.85,
    high=0.94,
    guarantee="exact",
    greater_is_better=True,
    estimand="accuracy of this predictor, trained on 80 rows",
    train_size=80.0,
    n=20,
    unclipped=(0.85, 0.94),
)


def test_a_learner_and_a_predictor_are_told_apart():
    assert sentence_of(LEARNER) == (
        "On new rows the tuned learner, trained on about 353 rows, is expected to have a mean squared loss of 2,900 "
        "(90% interval 2,500 to 3,300)."
    )
    assert sentence_of(PREDICTOR) == (
        "On new rows this predictor, trained on 80 rows, is expected to be right 90.0% of the time "
        "(90% interval 85.0% to 94.0%)."
    )


def test_later_rows_are_later_rows():
    assert sentence_of(replace(LEARNER, estimand=LEARNER.estimand + ", on later rows")).startswith("On later rows")


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [("exact", "at least 90%"), ("finite-sample", "at least 90%"), ("asymptotic", "about 90%"), ("heuristic", "aims")],
)
def test_a_promise_is_that_of_the_guarantee(guarantee, words):
    assert words in promise_of(replace(LEARNER, guarantee=guarantee))
    proved = "at least" in promise_of(replace(LEARNER, guarantee=guarantee))
    assert proved == (guarantee in ("exact", "finite-sample"))


def test_without_an_interval_the_reason_stands_in_its_place():
    bare = replace(LEARNER, low=None, high=None, guarantee=None, method=None, reason="No interval: one row.")
    assert promise_of(bare) == "No interval: one row."
    assert "interval" not in sentence_of(bare)
    assert len(surer(bare)) == 1


def test_without_a_value_nothing_is_claimed():
    failed = replace(LEARNER, value=None, low=None, high=None, reason="A fit failed.")
    told = verdict_of({"risk": failed}, Reference(value=6000.0, words="the mean"))
    assert told["sentence"] == "This study has no risk to tell. A fit failed."
    assert told["against"] is None
    assert told["surer"] == []


@pytest.mark.parametrize(
    ("value", "claim"),
    [
        (6000.0, "The whole interval is better"),
        (3300.0, "does not show"),
        (3000.0, "does not show"),
        (2500.0, "does not show"),
        (2000.0, "The whole interval is worse"),
    ],
)
def test_against_no_model_only_the_whole_interval_counts(value, claim):
    assert claim in verdict_of({"risk": LEARNER}, Reference(value=value, words="always answering the mean"))["against"]


@pytest.mark.parametrize(("value", "claim"), [(0.5, "better"), (0.85, "does not show"), (0.97, "worse")])
def test_scores_are_better_when_greater(value, claim):
    assert claim in verdict_of({"risk": PREDICTOR}, Reference(value=value, words="always answering 'a'"))["against"]


def test_the_width_halves_with_four_times_the_rows():
    first, second = surer(LEARNER)
    assert first == (
        "Four times as many rows (1,768 instead of 442) would about halve the interval, from 800 to 400 wide."
    )
    assert "repeats" in second
    assert surer(LEARNER, units="groups")[0].startswith("Four times as many groups would")
    assert surer(PREDICTOR)[0].startswith("Four times as many test rows (80 instead of 20)")
    assert surer(PREDICTOR)[0].endswith("from 9.0 points to 4.5 points wide.")


def test_optimism_is_told_of_the_same_loss_only():
    best = replace(LEARNER, name="best_validation", value=2800.0, low=None, high=None, optimistic=True)
    assert "2,800" in verdict_of({"risk": LEARNER, "best_validation": best})["optimism"]
    assert verdict_of({"risk": LEARNER, "best_validation": replace(best, loss="log")})["optimism"] is None


def test_a_coarse_answer_is_all_that_is_told():
    coarse = replace(LEARNER, value=None, low=None, high=None, answer="pass: at most 3000", reason=None)
    assert "pass: at most 3000" in sentence_of(coarse)
    assert "2,900" not in sentence_of(coarse)


def test_every_estimate_has_a_meaning():
    meanings = verdict_of({"risk": LEARNER, "risk_log": replace(LEARNER, name="risk_log", loss="log")})["meanings"]
    assert meanings["risk"]["label"] == "risk"
    assert meanings["risk_log"]["label"] == "log risk"
    assert "about 353 rows" in meanings["risk"]["text"]
    assert "chosen anew" in meanings["risk"]["text"]
