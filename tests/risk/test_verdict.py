"""Verdicts say what the estimates say, in the user's own sign, and never more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heldout.risk.estimands import estimand_of, learner_risk, predictor_risk
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import Leading, Reference, promise_of, sentence_of, surer, verdict_of

LEARNER = Estimate(
    name="risk",
    loss="squared",
    value=2900.0,
    low=2500.0,
    high=3300.0,
    level=0.9,
    method="corrected t",
    guarantee="heuristic",
    estimand=learner_risk("squared", train_size=353, tuned=True),
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
    estimand=predictor_risk("accuracy", train_size=80, sign=-1),
    train_size=80.0,
    n=20,
    unclipped=(0.85, 0.94),
)


def test_a_learner_and_a_predictor_are_told_apart():
    assert sentence_of(LEARNER) == (
        "On new rows the tuned learner, trained on about 353 rows, is expected to have a mean squared loss of 2,900 "
        "(90 % interval 2,500 to 3,300)."
    )
    assert sentence_of(PREDICTOR) == (
        "On new rows this predictor, trained on 80 rows, is expected to be right 90.0 % of the time "
        "(90 % interval 85.0 % to 94.0 %)."
    )


def test_later_rows_are_later_rows():
    later = estimand_of("forward", parts=3, tuned=True, train_size=353, loss="squared")
    assert sentence_of(replace(LEARNER, estimand=later)).startswith("On later rows")


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        ("exact", "at least 90 %"),
        ("finite-sample", "at least 90 %"),
        ("asymptotic", "about 90 %"),
        ("heuristic", "aims"),
    ],
)
def test_a_promise_is_that_of_the_guarantee(guarantee, words):
    assert words in promise_of(replace(LEARNER, guarantee=guarantee))
    proved = "at least" in promise_of(replace(LEARNER, guarantee=guarantee))
    assert proved == (guarantee in ("exact", "finite-sample"))


def test_without_an_interval_the_reason_stands_in_its_place():
    bare = replace(LEARNER, low=None, high=None, guarantee=None, method=None, reason="No interval: one row.")
    assert promise_of(bare) == "No interval: one row."
    assert "interval" not in sentence_of(bare)
    assert surer(bare, rows=442) == []


def test_without_a_value_nothing_is_claimed():
    failed = replace(LEARNER, value=None, low=None, high=None, reason="A fit failed.")
    told = verdict_of({"risk": failed}, Reference(value=6000.0, words="the mean"), rows=442)
    assert told["sentence"] == "This study has no risk to tell. A fit failed."
    assert told["surer"] == []


def test_where_no_model_has_no_meaning_the_reason_is_kept():
    told = verdict_of({"risk": PREDICTOR}, Reference(reason="No constant answer is known."), rows=100)
    assert told["no_model"]["reason"] == "No constant answer is known."


def test_the_width_halves_with_four_times_the_rows():
    resampled = replace(LEARNER, n=1_700)  # rows that were predicted several times are not more rows
    for learner in (LEARNER, resampled):
        assert surer(learner, rows=442) == [
            "Four times as many rows (1,768 instead of 442) would about halve the interval, from 800 to 400 wide."
        ]
    assert surer(LEARNER, rows=442, units="groups")[0].startswith("Four times as many groups would")
    first, second = surer(PREDICTOR, rows=100)
    assert first.startswith("Four times as many test rows (80 instead of 20)")
    assert first.endswith("from 9.0 points to 4.5 points wide.")
    assert second.startswith("Cross-validation would test on every row")
    assert surer(replace(PREDICTOR, n=4), rows=100) == []


BEST = replace(LEARNER, name="best_validation", value=2800.0, low=None, high=None, optimistic=True)


def optimism(risk: Estimate, best: Estimate) -> str | None:
    told: str | None = verdict_of({"risk": risk, "best_validation": best}, rows=442)["optimism"]
    return told


def test_optimism_is_told_of_the_same_loss_only():
    assert "2,800" in (optimism(LEARNER, BEST) or "")
    assert optimism(LEARNER, replace(BEST, loss="log")) is None
    assert optimism(LEARNER, replace(BEST, optimistic=False)) is None


def test_optimism_is_a_difference_in_the_sign_of_the_loss():
    told = optimism(LEARNER, BEST) or ""
    assert told.endswith("the number to quote is 2,900. The optimism is 100: the number to quote minus that one.")
    assert "from training sets of about 353 rows" in told
    smaller = optimism(LEARNER, replace(BEST, train_size=280.0)) or ""
    assert smaller.endswith("Part of it comes from the different training sizes.")
    turned = optimism(LEARNER, replace(BEST, value=3000.0)) or ""
    assert "The optimism is -100: the number to quote minus that one. It is negative: in this study" in turned
    assert "negative" not in told
    score = replace(PREDICTOR, name="best_validation", value=0.93, optimistic=True)
    assert "The optimism is 3.0 points: that number minus the one to quote." in (optimism(PREDICTOR, score) or "")
    absent = optimism(LEARNER, replace(BEST, value=None, reason="No value: no fits.")) or ""
    assert absent.endswith("No value: no fits.")


def test_the_familiar_score_is_told_where_it_leads():
    risk = replace(PREDICTOR, loss="zero_one", value=0.02, low=0.01, high=0.04, greater_is_better=False)
    best = replace(risk, name="best_validation", value=0.015, low=None, high=None, optimistic=True)
    accuracy = replace(risk, loss="accuracy", value=0.98, low=0.96, high=0.99, greater_is_better=True)
    leads = Leading(estimate=accuracy, label="accuracy")
    told = verdict_of({"risk": risk, "best_validation": best}, rows=100, leads=leads)
    assert "is expected to be right 98.0 % of the time (90 % interval 96.0 % to 99.0 %)." in told["sentence"]
    assert "The best validation number is 98.5 %" in told["optimism"]
    assert told["flattery"] == "the best validation score (98.5 %) is 0.5 points too good"
    rmse = Leading(estimate=replace(LEARNER, loss="rmse", value=53.85, low=50.0, high=57.4), label="RMSE")
    told = verdict_of({"risk": LEARNER, "best_validation": BEST}, rows=442, leads=rmse)
    assert "is expected to have an RMSE of 53.9 (90 % interval 50 to 57.4)." in told["sentence"]
    assert told["flattery"] == "the best validation score (52.9) is 0.9 too good"
    other = Leading(estimate=replace(LEARNER, loss="mape", value=0.1, low=0.08, high=0.12), label="MAPE")
    told = verdict_of({"risk": LEARNER, "best_validation": BEST}, rows=442, leads=other)
    assert "the number to quote is 2,900" in told["optimism"]


def test_a_best_number_that_does_not_flatter_is_not_called_too_good():
    for value in (2_900.0, 2_899.0, 3_000.0):
        told = verdict_of({"risk": LEARNER, "best_validation": replace(BEST, value=value)}, rows=442)
        assert told["flattery"].startswith("none here: the best validation score was ")


def test_a_coarse_answer_is_all_that_is_told():
    coarse = replace(PREDICTOR, loss="zero_one", value=None, low=None, high=None, answer="pass: at most 0.2")
    assert sentence_of(coarse) == (
        "All that is told of this predictor, trained on 80 rows, on new rows and by zero-one: pass: at most 0.2."
    )
    rounded = replace(PREDICTOR, answer="rounded to 0.1")
    assert "90.0 % of the time, rounded to 0.1 (90 %" in sentence_of(rounded)


def test_nearly_all_is_not_all():
    assert "right 99.97 % of the time" in sentence_of(replace(PREDICTOR, value=0.9997))
    assert "right 100.0 % of the time" in sentence_of(replace(PREDICTOR, value=1.0))
    wrong = replace(PREDICTOR, loss="zero_one", value=0.0003, greater_is_better=False)
    assert "wrong 0.03 % of the time" in sentence_of(wrong)


def test_scores_are_said_as_scores():
    score = replace(LEARNER, loss="r2", value=0.48, low=0.4, high=0.55, greater_is_better=True)
    assert "is expected to score 0.48 by r2 (90 % interval 0.4 to 0.55)" in sentence_of(score)


def test_of_a_test_set_nothing_is_said_of_cross_validation():
    assert "cross-validation" not in promise_of(replace(PREDICTOR, guarantee="heuristic"))


def test_every_estimate_has_a_meaning():
    meanings = verdict_of({"risk": LEARNER, "risk_log": replace(LEARNER, name="risk_log", loss="log")}, rows=442)[
        "meanings"
    ]
    assert meanings["risk"]["label"] == "risk"
    assert meanings["risk_log"]["label"] == "log risk"
    assert "about 353 rows" in meanings["risk"]["text"]
    assert "chosen anew" in meanings["risk"]["text"]
