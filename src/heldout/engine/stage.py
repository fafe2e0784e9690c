"""One stage of a study: the steps of a plan done on a backend, their answers taken in, kernels spot-checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from heldout.backends.base import Backend
from heldout.engine.final_fit import calls_user
from heldout.engine.progress import Progress
from heldout.engine.spot_check import SpotChecks, answered_beside
from heldout.journal import NoJournal, unanswered
from heldout.kernels.step import Step, Work
from heldout.kernels.trainings import sides_of
from heldout.planner.checked_cells import Spot
from heldout.planner.expected_work import longest_first
from heldout.planner.plan import Plan
from heldout.study.answers import Tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """All that it takes to do the plans of a study."""

    work: Work
    backend: Backend
    tables: Tables
    progress: Progress
    checks: SpotChecks = field(default_factory=SpotChecks)
    journal: NoJournal = field(default_factory=NoJournal)


def perform_stage(
    plans: Sequence[Plan], stage: Stage, *, queue_seed: int | None, waits: bool, meanwhile: Callable[[], None]
) -> list[str]:
    """Do every step of the last plan that is not known; the kernels that failed a check, whose answers are dropped.

    What is to be done `meanwhile` has all answers of the stage, while checks of them may still run. Where panels wait
    for a choice, a kernel that keeps all threads busy is checked in the stage after, which is short.
    """
    steps, checks = plans[-1].steps, stage.checks
    drawn = checks.draws.draw([step for step in steps if step.cells], stage.work, waits=waits)
    postpones = waits and not calls_user(stage.work.search)
    spots = [spot for spot in drawn if not (postpones and spot.origin.spreads)] + checks.postponed
    checks.postponed = [spot for spot in drawn if spot not in spots]
    known = stage.journal.known_checks(spots)
    new = [spot for spot in spots if spot.panel not in known]
    work = stage.journal.widened(stage.work)
    work = replace(
        work,
        keep_responses=work.keep_responses | {spot.panel for spot in new},
        watched=frozenset((spot.held.panel, spot.candidate, spot.held.part) for spot in drawn if spot.fewer is None),
        splits={**work.splits, **{spot.panel: spot.fewer for spot in new if spot.fewer is not None}},
    )
    left = _recall(stage, steps)
    # Kernels that spread leave no queue to put their spots in, so they are answered beside them.
    aside = [spot for spot in new if spot.origin.spreads and work.jobs > 1]
    with answered_beside(aside, work, checks):
        _do(stage, left, [spot for spot in new if spot not in aside], work, queue_seed)
        meanwhile()
    found = checks.compare(spots, stage.tables, work, known=known)
    failed = list(dict.fromkeys(check.kernel for check in found if not check.passed))
    wrong = [step for plan in plans for step in plan.steps if step.kernel in failed]
    for step in wrong:  # nobody may choose by them, not even where time is up before they are replaced
        sides = (held for stretch in sides_of(step.trainings) for held in stretch)
        stage.tables.forget(step.candidates, ((held.panel, held.part) for held in sides))
    if failed:
        seen = {check.kernel for check in known.values() if not check.passed}
        stage.journal.drop([step for step in wrong if step.kernel not in seen])
        checks.begin_again(failed)
    stage.journal.keep_checks(
        {spot: check for spot, check in zip(spots, found, strict=True) if spot.panel not in known}
    )
    return failed


def _recall(stage: Stage, steps: Sequence[Step]) -> list[Step]:
    """The steps that are left to do, once the answers that the journal knows are in the tables."""
    left = list(steps)
    if stage.checks.switches_off():  # the study is planned again, and has the answers of others
        left = [one for step in steps if (one := unanswered(step, stage.tables, asides=False)) is not None]
    left = stage.journal.recall(left, stage.tables)
    stage.progress.recall(steps, left)
    return left


def _do(stage: Stage, steps: list[Step], spots: Sequence[Spot], work: Work, queue_seed: int | None) -> None:
    steps, checked = [*steps, *(spot.step for spot in spots)], {spot.panel for spot in spots}
    if queue_seed is not None:
        order = np.random.default_rng(queue_seed).permutation(len(steps))
        steps = [steps[i] for i in order]
    else:
        steps = longest_first(steps, work.task, work.splits, work.search)
    for step, answers in stage.backend.run(work, steps):
        if step.trainings[0].answers[0].panel in checked:
            stage.checks.take(answers)
            continue
        # The journal has an answer before the tables do: whoever stops here has lost nothing that was counted.
        for answer in stage.journal.keep(step, answers, stage.tables):
            stage.tables.put(answer)
        told = [answer for answer in answers if answer.panel not in stage.tables.asides]
        stage.progress.tell_failures(told, work.search.describe)
        stage.progress.advance(step, told)
