"""Extra studies: the fits behind an interval or a learning curve. They are priced with a study, and run after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from heldout.base.options import Options, plan_settings
from heldout.engine.run import Outcome, Running, run_study
from heldout.planner.account import Account, account_for, merge_accounts, with_race
from heldout.planner.checked_cells import foreseen_checks
from heldout.planner.passes import make_plan, stand_in
from heldout.planner.start_races import start_races
from heldout.results.study_record import Question
from heldout.study.study import Study
from heldout.task import Task


def run_extra(question: Question, how: Running) -> dict[str, Outcome]:
    """Run what was asked beside a study."""
    return {name: run_study(study, question.task, how) for name, study in question.extra.items()}


def counted_with(outcome: Outcome, extra: Mapping[str, Outcome]) -> Outcome:
    """The outcome of the study itself with the plans and the checks of all that ran beside it."""
    for name, ran in extra.items():
        account = merge_accounts(outcome.account, ran.account, words=name)
        outcome = replace(outcome, account=account, checks=(*outcome.checks, *ran.checks))
    return outcome


def account_with_extra(account: Account, question: Question) -> Account:
    """The account of a study with all that is asked beside it."""
    for name, study in question.extra.items():
        account = merge_accounts(account, account_of(study, question.task, question.options), words=name)
    return account


def account_of(study: Study, task: Task, options: Options) -> Account:
    """The account of a study before anything is fitted."""
    settings = plan_settings(options)
    plan = make_plan(study, task, done=frozenset(), **settings)
    ready = frozenset(panel.key for panel in study.panels if panel.candidates is not None)
    later = make_plan(stand_in(study), task, done=ready, **settings)
    account = with_race(account_for(study, task, plan, later), start_races(study, task, plan))
    return replace(account, checked=foreseen_checks(study, task, (plan, later)))
