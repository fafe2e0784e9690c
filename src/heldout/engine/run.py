"""The loop of a study: plan, perform, advance, until no panel waits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn

from heldout.backends.base import BackendSettings
from heldout.backends.limits import SHARE_KEPT, OutOfTime, allowed_jobs, limits_of, total_memory
from heldout.backends.registry import open_backend
from heldout.base.events import StagePlanned, StudyFinished, StudyStarted, WorkerLost
from heldout.base.options import Options, switched_rules
from heldout.base.words import show_seconds
from heldout.engine.live_file import publish_progress
from heldout.engine.progress import Progress, Watch, open_progress
from heldout.engine.stage import Stage, perform_stage
from heldout.journal import JournalUse, StudyJournal, journal_of
from heldout.kernels.step import Plain, Step, Work, sides_of, total_work
from heldout.planner.account import Account, account_for, account_of_race, waiting_cells, with_race
from heldout.planner.checked_cells import KernelCheck
from heldout.planner.passes import make_plan
from heldout.planner.plan import Plan, ready_panels
from heldout.planner.start_races import RaceStart, start_races
from heldout.study.answers import Tables, mean_over_parts
from heldout.study.choose import advance, all_answered, give_up
from heldout.study.study import EVERYWHERE, OUTER, TEST, VALIDATION, Study, aside_of, losses_by_level
from heldout.task.task import Task

if TYPE_CHECKING:
    from heldout.engine.stream_sample import OfStream

# Validation row losses serve one correction of the best validation number, so they are kept where that is affordable.
MOST_KEPT_ROW_LOSSES = 1 << 24  # numbers: an eighth of a gigabyte
MOST_ROWS_INSIDE = 4_096  # held-out rows of a choice, if the study also estimates a risk, which matters more


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """How a study is run, as opposed to what it asks. Nothing here may change a number."""

    jobs: int | None = None
    backend: Any = None
    progress: bool | str | Progress = False
    options: Options = field(default_factory=Options)
    journal: str | os.PathLike[str] | None = None  # the file that finished answers are kept in
    deadline: float | None = None  # on the monotonic clock; None with a timeout: that long from now

    def __post_init__(self) -> None:
        if self.deadline is None and self.options.timeout is not None:
            object.__setattr__(self, "deadline", monotonic() + self.options.timeout)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """A finished study: its final state, all answers, the account of its plan, and its duration."""

    study: Study
    tables: Tables
    account: Account
    seconds: float
    checks: tuple[KernelCheck, ...] = ()
    journal: JournalUse | None = None  # what came from the journal; it changes no number
    lost: tuple[WorkerLost, ...] = ()  # worker processes that died on the way
    stopped: str | None = None  # why it is incomplete, where its time was up
    stream: OfStream | None = None  # what a stream gave beside its tables


def run_study(
    study: Study,
    task: Task,
    how: Running,
    *,
    fit_params: Mapping[str, Any] | None = None,
    first: Plan | None = None,
) -> Outcome:
    """Answer a study. The same question and seed give the same numbers, whatever `how` says.

    `first` is the plan of the first stage, if it was made before.
    """
    started = perf_counter()
    work = work_of(study, task, fit_params or {}, how)
    progress, tables = open_progress(how.progress), Tables()
    settings = BackendSettings(
        jobs=how.jobs,
        limits=limits_of(how.options, deadline=how.deadline),
        isolate=how.journal is not None,  # a fit that crashes the program would crash it again at every resume
        on_lost=progress.lose,
    )
    keeping: AbstractContextManager[StudyJournal | None] = nullcontext()
    if how.journal is not None:
        keeping = journal_of(how.journal, study, work, how.options)
    with (
        progress,
        keeping as journal,
        nullcontext() if journal is None else publish_progress(journal.use, progress),
        open_backend(how.backend, settings) as backend,
    ):
        progress.begin(_watch(study, work, tables, how, progress), study.cells)
        progress.tell(StudyStarted(rows=task.size, candidates=study.search.size))
        loop = _Loop(
            study=study,
            rules=switched_rules(how.options.rules, os.environ),
            precision=how.options.precision,
            limited=how.options.limits_fits,
            stage=Stage(work=work, backend=backend, tables=tables, progress=progress, journal=journal),
        )
        stopped = None
        try:
            loop.go_round(queue_seed=how.options.queue_seed, first=first)
        except KeyboardInterrupt as interrupt:
            if how.journal is not None:
                interrupt.add_note(f"What finished is in {how.journal}. The same call goes on from there.")
            raise
        except OutOfTime:
            stopped = f"The study's time limit of {show_seconds(how.options.timeout or 0.0)} came before its end"
            loop.study = give_up(advance(loop.study, loop.stage.tables))
        if journal is not None:
            journal.answered = all_answered(loop.study, tables)
    seconds = perf_counter() - started
    progress.tell(StudyFinished(complete=stopped is None, cells=progress.done, failed=progress.failed, seconds=seconds))
    return Outcome(
        study=loop.study,
        tables=tables,
        account=replace(loop.account(study), checked=loop.stage.checks.words()),
        seconds=seconds,
        checks=tuple(loop.stage.checks.made),
        journal=None if journal is None else journal.use,
        lost=tuple(progress.lost),
        stopped=stopped,
    )


def _watch(study: Study, work: Work, tables: Tables, how: Running, progress: Progress) -> Watch:
    """Return what the progress asks about this study; nothing that costs time if nobody looks at it."""
    if not (progress.is_seen or how.journal is not None or how.options.on_event is not None):
        return Watch()
    families, outer = study.search.families, study.splits.get(OUTER)
    parts = 1 if outer is None else outer.parts
    word = "fold" if outer is not None and "fold" in outer.recipe.words else "part"
    folds = {choice.panel: choice.fold for choice in study.choices}

    def family(step: Step) -> str:
        return f"{study.search.family_of(step.candidates[0]).name}, {step.kernel}"

    def place(step: Step) -> str:
        name = study.search.family_of(step.candidates[0]).name if len(families) > 1 else ""
        held = sides_of(step.trainings) if len(step.trainings) == 1 else []
        fold = (held[0].part if held[0].level == TEST else folds.get(held[0].panel)) if held else None
        where = "" if fold is None or parts == 1 else f"{word} {fold + 1} of {parts}"
        return ", ".join(filter(None, (name, where)))

    return Watch(
        on_event=how.options.on_event,
        expected=partial(total_work, work=work),
        family=family,
        place=place,
        best=partial(_best_so_far, study, tables),
    )


def _best_so_far(study: Study, tables: Tables) -> str:
    """Say how good the best candidates of all choices are so far, on the validation rows: an optimistic number."""
    asked = [tables.panels[choice.panel] for choice in study.choices if choice.panel in tables.panels]
    means = [mean_over_parts(table.losses[:, :, 0], table.weights) for table in asked]
    best = [float(np.nanmin(mean)) for mean in means if np.isfinite(mean).any()]
    if not best:
        return ""
    loss, value = study.search.losses[0], sum(best) / len(best)
    shown = {"zero_one": 1.0 - value, "squared": sqrt(max(value, 0.0))}.get(loss.name, loss.sign * value)
    return f"best so far {shown:.3g} (optimistic)"


@dataclass(slots=True, kw_only=True, eq=False)
class _Loop:
    """Plans, performs and advances a study until no panel waits."""

    study: Study
    rules: Mapping[str, bool]
    precision: str
    limited: bool
    stage: Stage
    plans: list[Plan] = field(default_factory=list)
    races: RaceStart | None = None  # where a race was asked for

    def go_round(self, *, queue_seed: int | None, first: Plan | None) -> None:
        done: frozenset[str] = frozenset()
        stage = self.stage
        if self.study.race is not None:
            self.races = start_races(self.study, stage.work.task, self._plan(done))
            self.study = self.races.study
        asked = self.study
        while ready := ready_panels(self.study, done):
            plan, first = first or self._plan(done), None
            self.plans.append(plan)
            planned = StagePlanned(stage=len(self.plans), steps=len(plan.steps), cells=plan.cells, fits=plan.fits)
            stage.progress.expect(plan.steps, waiting=waiting_cells(self.study))
            stage.progress.tell(planned)
            stage.tables.open(self.study, ready, weight=stage.work.task.weight)
            _open_asides(stage.tables, plan, self.study)
            waits = any(panel.candidates is None for panel in self.study.panels)
            if perform_stage(self.plans, stage, queue_seed=queue_seed, waits=waits):
                # A kernel failed: choices based on its answers are made again, and the panels that waited for them too.
                for panel in asked.panels if len(self.plans) > 1 else ():
                    if panel.candidates is None:
                        stage.tables.panels.pop(panel.key, None)
                self.study, self.plans, done = asked, [], frozenset()
                continue
            done = done.union(panel.key for panel in ready)
            self.study = advance(self.study, stage.tables)

    def _plan(self, done: frozenset[str]) -> Plan:
        work = self.stage.work
        return make_plan(
            self.study,
            work.task,
            done=done,
            rules={**self.rules, **self.stage.checks.switches_off()},
            own_fit_params=bool(work.fit_params) or work.config["enable_metadata_routing"],
            precision=self.precision,
            limited=self.limited,
            clock=perf_counter,
        )

    def account(self, study: Study) -> Account:
        """Return the account of the plan, in terms of the study as it was asked."""
        task = self.stage.work.task
        if self.races is not None and self.races.raced:
            return account_of_race(self.races, task, self.plans)
        first, second = [*self.plans, None, None][:2]
        assert first is not None, "every study has a panel that waits for nothing"
        account = account_for(study, task, first, second)
        return account if self.races is None else with_race(account, self.races)


def work_of(study: Study, task: Task, fit_params: Mapping[str, Any], how: Running | None = None) -> Work:
    """Collect everything that the steps of a study need."""
    how = Running(jobs=1) if how is None else how
    test = frozenset([panel.key for panel in study.panels if panel.level == TEST])
    validation = [panel for panel in study.panels if panel.level == VALIDATION]
    rows = sum([len(study.splits[p.splits].held) for p in validation])
    few = rows * study.search.size * len(study.search.losses) <= MOST_KEPT_ROW_LOSSES
    alone = len(validation) == len(study.panels)
    single = len(validation) == 1 and rows <= MOST_ROWS_INSIDE  # with several choices, none is corrected
    keep = frozenset([p.key for p in validation]) if few and (alone or single) else frozenset()
    keep |= {panel.key for panel in study.panels if panel.keeps_rows}
    asides = frozenset(map(aside_of, range(study.search.size))) if study.everywhere.parts else frozenset()
    return Work(
        task=task,
        search=study.search,
        splits=study.splits,
        losses=losses_by_level(study),
        keep_rows=test | keep,
        keep_responses=test | asides,
        jobs=allowed_jobs(how.jobs),
        room=how.options.memory if isinstance(how.options.memory, int) else total_memory() // SHARE_KEPT,
        fit_params=fit_params,
        config=sklearn.get_config(),
    )


def _open_asides(tables: Tables, plan: Plan, study: Study) -> None:
    """Open a table for each candidate that only an interval needs. The test tables exist already."""
    if not study.everywhere.parts:
        return
    named = [(step, piece) for step in plan.steps for piece in step.pieces if not isinstance(piece, Plain)]
    held = [(side, step) for step, piece in named for training in piece for side in training.answers]
    for panel, candidate in {side.panel: step.candidates[0] for side, step in held if side.level == EVERYWHERE}.items():
        tables.open_aside(panel, candidate, study.splits[EVERYWHERE].held_sizes)
