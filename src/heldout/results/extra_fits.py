"""What is asked beside a study: the fits behind an interval, and the learning curve. Priced with it, run after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from heldout.base.options import Options
from heldout.engine.run import Outcome, Running, run_study
from heldout.planner.account import Account, account_for, merge_accounts, with_race
from heldout.planner.checked_cells import foreseen_checks
from heldout.planner.passes import make_plan, stand_in
from heldout.planner.start_races import start_races
from heldout.results.learning_curve import ask_curve, with_curve
from heldout.results.record import Facts, fit_findings, plan_facts
from heldout.results.spread import Spread, ask_spread, with_spread
from heldout.study.study import SPREAD, Study
from heldout.task import Task

CURVE = "learning curve"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Beside:
    """Further questions of a study, each None where it was not asked."""

    spread: Spread | None = None
    curve: Study | None = None


def ask_beside(study: Study, task: Task, test: Any, *, options: Options, seed: int) -> Beside:
    """What the options ask for beside the study, or a refusal before any fit. `seed` drew the test splits."""
    return Beside(
        spread=ask_spread(study, task, test, options=options, seed=seed),
        curve=ask_curve(study, task, options.learning_curve, seed=seed),
    )


def answer_beside(
    facts: Facts, task: Task, outcome: Outcome, *, beside: Beside, how: Running, level: float
) -> tuple[Facts, Outcome]:
    """The facts with what was asked beside the study in them, and the outcome with its plan in the account."""
    if beside.spread is not None:
        found = run_study(beside.spread.study, task, how)
        facts = with_spread(facts, task, outcome, spread=beside.spread, found=found)
        facts, outcome = _counted(facts, outcome, found, SPREAD)
    if beside.curve is not None:
        found = run_study(beside.curve, task, how)
        facts = with_curve(facts, task, outcome, curve=found, level=level)
        facts, outcome = _counted(facts, outcome, found, CURVE)
    return facts, outcome


def account_beside(account: Account, beside: Beside, task: Task, how: Mapping[str, Any]) -> Account:
    """The account of a study with all that is asked beside it; `how` is what a plan is made by besides the study."""
    if beside.spread is not None:
        account = merge_accounts(account, account_of(beside.spread.study, task, how), words=SPREAD)
    if beside.curve is not None:
        account = merge_accounts(account, account_of(beside.curve, task, how), words=CURVE)
    return account


def account_of(study: Study, task: Task, how: Mapping[str, Any]) -> Account:
    """The account of a study before anything is fitted; `how` is what a plan is made by besides the study."""
    plan = make_plan(study, task, done=frozenset(), **how)
    ready = frozenset(panel.key for panel in study.panels if panel.candidates is not None)
    later = make_plan(stand_in(study), task, done=ready, **how)
    account = with_race(account_for(study, task, plan, later), start_races(study, task, plan))
    return replace(account, checked=foreseen_checks(study, task, (plan, later)))


def _counted(facts: Facts, outcome: Outcome, found: Outcome, words: str) -> tuple[Facts, Outcome]:
    """Plan, time and findings of what ran beside the study, added to its own."""
    outcome = replace(
        outcome,
        account=merge_accounts(outcome.account, found.account, words=words),
        checks=(*outcome.checks, *found.checks),
    )
    late = [replace(one, message=f"In the {words}: {one.message}") for one in fit_findings(found)]
    seconds = {**facts.seconds, "total": facts.seconds["total"] + found.seconds}
    facts = replace(facts, plan=plan_facts(outcome), seconds=seconds, findings=(*facts.findings, *late))
    return facts, outcome
