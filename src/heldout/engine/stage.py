"""One stage of a study: a backend performs the steps of a plan, answers are stored, and kernels are checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from heldout.backends.base import Backend
from heldout.engine.checks import KernelChecks
from heldout.engine.progress import Progress
from heldout.journal import StudyJournal, unanswered
from heldout.kernels.step import Step, Work, longest_first, sides_of
from heldout.planner.checked_cells import CheckedCell
from heldout.planner.plan import Plan
from heldout.study.answers import Tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """Everything needed to perform the plans of a study."""

    work: Work
    backend: Backend
    tables: Tables
    progress: Progress
    checks: KernelChecks = field(default_factory=KernelChecks)
    journal: StudyJournal | None = None


def perform_stage(plans: Sequence[Plan], stage: Stage, *, queue_seed: int | None, waits: bool) -> list[str]:
    """Perform the unknown steps of the last plan. Drop the answers of kernels that failed a check; return their names.

    If panels wait for a choice, a kernel that keeps all threads busy is checked in the next stage, which is short.
    """
    steps, checks = plans[-1].steps, stage.checks
    drawn = checks.draws.draw([step for step in steps if step.cells], stage.work, waits=waits)
    search = stage.work.search  # a user's function that chooses sees only checked numbers
    postpones = waits and not (callable(search.choose) or callable(search.simplest))
    cells = [cell for cell in drawn if not (postpones and cell.origin.spreads)] + checks.postponed
    checks.postponed = [cell for cell in drawn if cell not in cells]
    journal = stage.journal
    known = {} if journal is None else journal.known_checks(cells)
    new = [cell for cell in cells if cell.panel not in known]
    work = stage.work if journal is None else journal.widened(stage.work)
    work = replace(
        work,
        keep_responses=work.keep_responses | {cell.panel for cell in new},
        watched=frozenset((cell.held.panel, cell.candidate, cell.held.part) for cell in drawn if cell.fewer is None),
        splits={**work.splits, **{cell.panel: cell.fewer for cell in new if cell.fewer is not None}},
    )
    _do(stage, _recall(stage, steps), new, work, queue_seed)
    compared = checks.compare(cells, stage.tables, work, known=known)
    failed = list(dict.fromkeys(check.kernel for check in compared if not check.passed))
    wrong = [step for plan in plans for step in plan.steps if step.kernel in failed]
    for step in wrong:  # no choice may use them, even if time is up before they are replaced
        stage.tables.forget(step.candidates, [(held.panel, held.part) for held in sides_of(step.trainings)])
    if failed:
        seen = {check.kernel for check in known.values() if not check.passed}
        if journal is not None:
            journal.drop([step for step in wrong if step.kernel not in seen])
        checks.begin_again(failed)
    if journal is not None:
        made = zip(cells, compared, strict=True)
        journal.keep_checks({cell: check for cell, check in made if cell.panel not in known})
    return failed


def _recall(stage: Stage, steps: Sequence[Step]) -> list[Step]:
    """Put the answers that the journal knows into the tables, and return the steps that are left."""
    left = list(steps)
    if stage.checks.switches_off():  # the study is planned again, and has the answers of others
        left = [rest for step in steps if (rest := unanswered(step, stage.tables, asides=False)) is not None]
    if stage.journal is not None:
        left = stage.journal.recall(left, stage.tables)
    stage.progress.recall(steps, left)
    return left


def _do(stage: Stage, steps: list[Step], cells: Sequence[CheckedCell], work: Work, queue_seed: int | None) -> None:
    steps, checked = [*steps, *(cell.step for cell in cells)], {cell.panel for cell in cells}
    if queue_seed is not None:
        order = np.random.default_rng(queue_seed).permutation(len(steps))
        steps = [steps[i] for i in order]
    elif len(steps) > 1:
        steps = longest_first(steps, work.task, work.splits, work.search)
    for step, answers in stage.backend.run(work, steps):
        if step.trainings[0].answers[0].panel in checked:
            stage.checks.take(answers)
            continue
        # The journal gets an answer before the tables do, so that a stop here loses nothing that was counted.
        kept = answers if stage.journal is None else stage.journal.keep(step, answers, stage.tables)
        for answer in kept:
            stage.tables.put(answer)
        shown = [answer for answer in answers if answer.panel not in stage.tables.asides]
        stage.progress.tell_failures(shown, work.search.describe)
        stage.progress.advance(step, shown)
