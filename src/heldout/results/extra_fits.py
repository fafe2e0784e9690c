"""Extra studies: the fits behind an interval or a learning curve. They are priced with a study, and run after it."""

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
from heldout.results.interval_by_pairs import PairsOfBlocks, pose_pairs
from heldout.results.learning_curve import pose_curve
from heldout.study.study import SPREAD, Study
from heldout.task import Task

CURVE = "learning curve"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExtraStudies:
    """Further questions of a study, each None where it was not asked."""

    pairs: PairsOfBlocks | None = None
    curve: Study | None = None

    def by_name(self) -> dict[str, Study]:
        """Those that were asked, in the order in which they run."""
        studies = {SPREAD: None if self.pairs is None else self.pairs.study, CURVE: self.curve}
        return {name: study for name, study in studies.items() if study is not None}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExtraOutcomes:
    """What the extra studies gave, each None where it was not asked."""

    pairs: Outcome | None = None
    curve: Outcome | None = None

    def by_name(self) -> dict[str, Outcome]:
        """Those that ran, in the order in which they ran."""
        return {name: ran for name, ran in ((SPREAD, self.pairs), (CURVE, self.curve)) if ran is not None}

    def counted_with(self, outcome: Outcome) -> Outcome:
        """The outcome of the study itself with the plans and the checks of all that ran beside it."""
        for name, ran in self.by_name().items():
            account = merge_accounts(outcome.account, ran.account, words=name)
            outcome = replace(outcome, account=account, checks=(*outcome.checks, *ran.checks))
        return outcome


def pose_extra(study: Study, task: Task, test: Any, *, options: Options, seed: int) -> ExtraStudies:
    """What the options ask for beside the study, or a refusal before any fit. `seed` drew the test splits."""
    return ExtraStudies(
        pairs=pose_pairs(study, task, test, options=options, seed=seed),
        curve=pose_curve(study, task, options.learning_curve, seed=seed),
    )


def run_extra(extra: ExtraStudies, task: Task, how: Running) -> ExtraOutcomes:
    """Run what was asked beside a study."""
    outcomes = {name: run_study(study, task, how) for name, study in extra.by_name().items()}
    return ExtraOutcomes(pairs=outcomes.get(SPREAD), curve=outcomes.get(CURVE))


def account_with_extra(account: Account, extra: ExtraStudies, task: Task, how: Mapping[str, Any]) -> Account:
    """The account of a study with all that is asked beside it; `how` is what a plan is made by besides the study."""
    for name, other in extra.by_name().items():
        account = merge_accounts(account, account_of(other, task, how), words=name)
    return account


def account_of(study: Study, task: Task, how: Mapping[str, Any]) -> Account:
    """The account of a study before anything is fitted; `how` is what a plan is made by besides the study."""
    plan = make_plan(study, task, done=frozenset(), **how)
    ready = frozenset(panel.key for panel in study.panels if panel.candidates is not None)
    later = make_plan(stand_in(study), task, done=ready, **how)
    account = with_race(account_for(study, task, plan, later), start_races(study, task, plan))
    return replace(account, checked=foreseen_checks(study, task, (plan, later)))
