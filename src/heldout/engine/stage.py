"""One stage of a study: the steps of a plan done on a backend, their answers taken in, kernels spot-checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heldout.engine.backends import Backend
from heldout.engine.progress import Progress
from heldout.engine.spot_check import SpotChecks, answered_beside, is_spot
from heldout.kernels.step import Step, Work
from heldout.planner.brute_force import brute_step, cut_brute_force
from heldout.planner.plan import Plan
from heldout.study.tables import CellAnswer, Tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """A plan, and all that it takes to do it."""

    plan: Plan
    work: Work
    backend: Backend
    tables: Tables
    progress: Progress
    checks: SpotChecks


def perform_stage(stage: Stage, *, queue_seed: int | None) -> None:
    """Do every step; where a kernel fails its spot check, do its cells again by brute force."""
    spots = stage.checks.draw(stage.plan.steps, stage.work)
    work = replace(
        stage.work,
        keep_responses=stage.work.keep_responses | {spot.panel for spot in spots},
        splits={**stage.work.splits, **{spot.panel: spot.fewer for spot in spots if spot.fewer is not None}},
    )
    # Kernels that spread leave no queue to put their spot in, so it is answered beside them.
    aside = [spot for spot in spots if spot.origin.spreads and work.jobs > 1]
    queued = [spot.step for spot in spots if spot not in aside]
    with answered_beside(aside, work, stage.checks):
        _do(stage, [*stage.plan.steps, *queued], work, queue_seed)
    for kernel in stage.checks.compare(spots, stage.tables, work):
        again = tuple(brute_step(s.candidates, s.trainings) for s in stage.plan.steps if s.kernel == kernel)
        _do(stage, list(cut_brute_force(again)), stage.work, queue_seed)


def _do(stage: Stage, steps: list[Step], work: Work, queue_seed: int | None) -> None:
    if queue_seed is not None:
        order = np.random.default_rng(queue_seed).permutation(len(steps))
        steps = [steps[i] for i in order]
    for step, answers in stage.backend.run(work, steps):
        if is_spot(step):
            stage.checks.take(answers)
            continue
        for answer in answers:
            stage.tables.put(answer)
        failed = sum(isinstance(answer, CellAnswer) and answer.failure is not None for answer in answers)
        stage.progress.advance(step.fits, failed)
