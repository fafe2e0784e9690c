"""The loop of a study: plan, perform, advance, until nothing waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import sklearn

from heldout.base.options import Options
from heldout.engine.backends import Backend, open_backend
from heldout.engine.progress import Progress, open_progress
from heldout.kernels.step import Step, Work
from heldout.planner.account import Account, account_for
from heldout.planner.passes import make_plan
from heldout.planner.plan import Plan, ready_panels
from heldout.study.advance import advance
from heldout.study.panels import TEST, VALIDATION, Panel, Study
from heldout.study.tables import CellAnswer, Tables
from heldout.task.task import Task

MOST_KEPT_ROW_LOSSES = 1 << 25  # numbers: a quarter of a gigabyte of validation row losses, then they are let go


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """How a study is run, as opposed to what it asks: nothing here may change a number."""

    jobs: int | None = None
    backend: Any = None
    progress: bool | str = False
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """A study that ran: the question as it ended, all answers, the account of its plan, and how long it took."""

    study: Study
    tables: Tables
    account: Account
    seconds: float


def run_study(study: Study, task: Task, how: Running, *, fit_params: Mapping[str, Any] | None = None) -> Outcome:
    """Answer a study. The same question and seed give the same numbers, whatever `how` says."""
    started = perf_counter()
    work = _work_of(study, task, fit_params or {})
    tables = Tables()
    done: frozenset[str] = frozenset()
    account: Account | None = None
    with open_progress(how.progress) as progress, open_backend(how.backend, how.jobs) as backend:
        while ready := ready_panels(study, done):
            plan = make_plan(study, task, done=done, rules=how.options.rules)
            if account is None:
                account = account_for(study, plan)
                progress.expect(account.fits)
            for panel in ready:
                _open_table(tables, panel, study)
            _perform(plan, work, backend, tables, progress=progress, queue_seed=how.options.queue_seed)
            done = done.union(panel.key for panel in ready)
            study = advance(study, tables)
    assert account is not None, "a study has at least one panel that is ready"
    return Outcome(study=study, tables=tables, account=account, seconds=perf_counter() - started)


def _perform(
    plan: Plan, work: Work, backend: Backend, tables: Tables, *, progress: Progress, queue_seed: int | None
) -> None:
    for step, answers in backend.run(work, _queue(plan, queue_seed)):
        for answer in answers:
            tables.put(answer)
        progress.advance(
            step.fits, sum(isinstance(answer, CellAnswer) and answer.failure is not None for answer in answers)
        )


def _queue(plan: Plan, seed: int | None) -> list[Step]:
    steps = list(plan.steps)
    if seed is not None:
        order = np.random.default_rng(seed).permutation(len(steps))
        steps = [steps[i] for i in order]
    return steps


def _work_of(study: Study, task: Task, fit_params: Mapping[str, Any]) -> Work:
    test = frozenset(panel.key for panel in study.of_level(TEST))
    validation = study.of_level(VALIDATION)
    numbers = sum(len(study.search) * len(study.splits[p.splits].held) * len(study.search.losses) for p in validation)
    keep = frozenset(p.key for p in validation) if numbers <= MOST_KEPT_ROW_LOSSES else frozenset()
    return Work(
        task=task,
        search=study.search,
        splits=study.splits,
        losses={TEST: study.reported, VALIDATION: study.search.losses},
        keep_rows=test | keep,
        keep_responses=test,
        fit_params=fit_params,
        config=sklearn.get_config(),
    )


def _open_table(tables: Tables, panel: Panel, study: Study) -> None:
    assert panel.candidates is not None
    tables.open(panel.key, panel.candidates, panel.parts, len(study.losses_at(panel.level)))
