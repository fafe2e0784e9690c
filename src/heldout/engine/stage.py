"""One stage of a study: the steps of a plan done on a backend, their answers taken in, kernels spot-checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from heldout.engine.backends import Backend
from heldout.engine.expected import longest_first
from heldout.engine.journal import NoJournal
from heldout.engine.progress import Progress
from heldout.engine.spot_check import SpotChecks, answered_beside, is_spot
from heldout.kernels.step import Step, Work
from heldout.kernels.trainings import sides_of
from heldout.planner.brute_force import brute_step, cut_brute_force
from heldout.planner.plan import Plan
from heldout.study.tables import Tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """All that it takes to do the plans of a study."""

    work: Work
    backend: Backend
    tables: Tables
    progress: Progress
    checks: SpotChecks = field(default_factory=SpotChecks)
    journal: NoJournal = field(default_factory=NoJournal)


def perform_stage(plan: Plan, stage: Stage, *, queue_seed: int | None, meanwhile: Callable[[], None]) -> None:
    """Do every step that the journal does not know; where a kernel fails its spot check, use brute force instead.

    What is to be done `meanwhile` has all answers of the stage, while checks of them may still run.
    """
    spots = stage.checks.draw([step for step in plan.steps if step.cells], stage.work)
    known = stage.journal.known_checks(spots)
    new = [spot for spot in spots if spot.kernel not in known]
    work = stage.journal.widened(stage.work)
    work = replace(
        work,
        keep_responses=work.keep_responses | {spot.panel for spot in new},
        watched=frozenset((spot.held.panel, spot.candidate, spot.held.part) for spot in new if spot.fewer is None),
        splits={**work.splits, **{spot.panel: spot.fewer for spot in new if spot.fewer is not None}},
    )
    steps = _recall(stage, plan.steps, stage.journal)
    # Kernels that spread leave no queue to put their spot in, so it is answered beside them.
    aside = [spot for spot in new if spot.origin.spreads and work.jobs > 1]
    queued = [spot.step for spot in new if spot not in aside]
    with answered_beside(aside, work, stage.checks):
        _do(stage, [*steps, *queued], work, stage.journal, queue_seed)
        meanwhile()
    failed = stage.checks.compare(spots, stage.tables, work, known=known)
    made = {check.kernel: check for check in stage.checks.made}
    stage.journal.keep_checks(new, [made[spot.kernel] for spot in new])
    for kernel in failed:
        wrong = [step for step in plan.steps if step.kernel == kernel]
        journal = stage.journal.instead_of(kernel, wrong)
        for step in wrong:  # nobody may choose by them, not even where time is up before they are replaced
            sides = (held for stretch in sides_of(step.trainings) for held in stretch)
            stage.tables.forget(step.candidates, ((held.panel, held.part) for held in sides))
        again = cut_brute_force(tuple(brute_step(step.candidates, step.trainings) for step in wrong))
        _do(stage, _recall(stage, again, journal), journal.widened(stage.work), journal, queue_seed)


def _recall(stage: Stage, steps: Sequence[Step], journal: NoJournal) -> list[Step]:
    """The steps that the journal leaves to do, once its answers are in the tables."""
    left = journal.recall(steps, stage.tables)
    stage.progress.recall(steps, left)
    return left


def _do(stage: Stage, steps: list[Step], work: Work, journal: NoJournal, queue_seed: int | None) -> None:
    if queue_seed is not None:
        order = np.random.default_rng(queue_seed).permutation(len(steps))
        steps = [steps[i] for i in order]
    else:
        steps = longest_first(steps, work.task, work.splits, work.search)
    for step, answers in stage.backend.run(work, steps):
        if is_spot(step):
            stage.checks.take(answers)
            continue
        # The journal has an answer before the tables do: whoever stops here has lost nothing that was counted.
        for answer in journal.keep(step, answers, stage.tables):
            stage.tables.put(answer)
        told = [answer for answer in answers if answer.panel not in stage.tables.asides]
        stage.progress.tell_failures(told, work.search.describe)
        stage.progress.advance(step, told)
