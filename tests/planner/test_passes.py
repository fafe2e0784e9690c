from __future__ import annotations

import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.errors import OptionError
from heldout.kernels import step as steps
from heldout.planner.account import account_for
from heldout.planner.passes import PASSES, check_rules, make_plan

X, y = (part[:40] for part in load_diabetes(return_X_y=True))
LEARNER = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0, 3.0]}, validation=ho.SharedBlocks())
ALL_OFF = dict.fromkeys([name for name, _ in PASSES], False)


def plan_of(question, **how):
    return make_plan(question.study, question.task, done=frozenset(), **how)


def test_without_rules_each_candidate_is_fitted_on_each_training_set(asked):
    plan = plan_of(asked(LEARNER, X, y, test=ho.KFold(4)), rules=ALL_OFF)
    assert plan.fits == plan.cells == len(plan.steps) == 4 * 3 * 3
    assert {step.tier for step in plan.steps} == {"identical"}


def test_a_rule_switched_off_says_so(asked):
    question = asked(LEARNER, X, y, test=ho.KFold(4))
    off = plan_of(question, rules=ALL_OFF)
    assert {record.refusals for record in off.passes} == {("switched off",)}
    assert plan_of(question, rules=ALL_OFF | {"share_fits": True}).fits == off.fits // 2


def test_an_unknown_rule_is_refused_with_the_nearest():
    with pytest.raises(OptionError, match=r"no rule 'share_fit'\. Did you mean 'share_fits'"):
        check_rules({"share_fit": False})


def test_a_plan_depends_on_the_question_alone(asked):
    question = asked(LEARNER, X, y, test=ho.KFold(4))
    assert plan_of(question).steps == plan_of(question).steps


def test_panels_that_wait_or_are_done_are_not_planned(asked):
    question = asked(LEARNER, X, y, test=ho.KFold(4))
    keys = {held.panel for step in plan_of(question, rules=ALL_OFF).steps for t in step.trainings for held in t.answers}
    assert keys == {f"validation/{part}" for part in range(4)}
    some = make_plan(question.study, question.task, done=frozenset({"validation/0"}), rules=ALL_OFF)
    assert some.cells == 3 * 3 * 3


def test_a_long_queue_is_cut_into_steps_of_several_candidates(asked, monkeypatch):
    monkeypatch.setattr(steps, "MOST_STEPS", 10)
    plan = plan_of(asked(LEARNER, X, y, test=ho.KFold(4)), rules=ALL_OFF)
    assert plan.cells == 36
    assert len(plan.steps) <= 12
    assert max(len(step.candidates) for step in plan.steps) == 3


def test_the_account_counts_what_waits(asked):
    question = asked(LEARNER, X, y, test=ho.KFold(4))
    account = account_for(question.study, question.task, plan_of(question, rules=ALL_OFF | {"share_fits": True}))
    assert (account.cells, account.fits, account.fits_before) == (36 + 4, 18 + 4, 36 + 4)
    text = str(account)
    for words in ("Plan for Ridge", "22 instead of 40", "once the choices are made", "share_fits: 36 → 18"):
        assert words in text, text


def test_the_account_of_an_ensemble_counts_every_member(asked):
    learner = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=ho.KFold(4), final="ensemble")
    question = asked(learner, X, y, test=ho.KFold(3))
    assert account_for(question.study, question.task, plan_of(question, rules=ALL_OFF)).fits == 3 * 4 * 2 + 3 * 4


def test_the_account_of_a_fixed_learner_has_no_validation(asked):
    question = asked(Ridge(), X, y, test=ho.KFold(5))
    account = account_for(question.study, question.task, plan_of(question, rules=ALL_OFF))
    assert account.inner is None
    assert (account.cells, account.fits) == (5, 5)
    assert "validation" not in str(account)
