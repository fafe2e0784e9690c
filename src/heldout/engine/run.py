"""The loop of a study: plan, perform, advance, until nothing waits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import sklearn

from heldout.base.options import Options, switched_rules
from heldout.engine.backends import open_backend
from heldout.engine.jobs import allowed_jobs
from heldout.engine.progress import open_progress
from heldout.engine.spot_check import SpotCheck, SpotChecks
from heldout.engine.stage import Stage, perform_stage
from heldout.kernels.step import Work
from heldout.planner.account import Account, account_for, waiting_fits
from heldout.planner.passes import make_plan
from heldout.planner.plan import ready_panels
from heldout.study.advance import advance
from heldout.study.panels import SPREAD, TEST, VALIDATION, Panel, Study
from heldout.study.tables import Tables
from heldout.task.task import Task

# Validation row losses serve one correction of the best validation number, so they are kept where that is affordable.
MOST_KEPT_ROW_LOSSES = 1 << 24  # numbers: an eighth of a gigabyte
MOST_ROWS_INSIDE = 4_096  # held-out rows of all choices under outer splits, where the risk itself is the better number


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
    checks: tuple[SpotCheck, ...] = ()


def run_study(study: Study, task: Task, how: Running, *, fit_params: Mapping[str, Any] | None = None) -> Outcome:
    """Answer a study. The same question and seed give the same numbers, whatever `how` says."""
    started = perf_counter()
    work = _work_of(study, task, fit_params or {}, jobs=allowed_jobs(how.jobs))
    rules = switched_rules(how.options.rules, os.environ)
    checks = SpotChecks()
    tables = Tables()
    done: frozenset[str] = frozenset()
    asked, plans = study, []
    with open_progress(how.progress) as progress, open_backend(how.backend, how.jobs) as backend:
        while ready := ready_panels(study, done):
            plan = make_plan(
                study,
                task,
                done=done,
                rules=rules,
                own_fit_params=bool(fit_params) or sklearn.get_config()["enable_metadata_routing"],
                clock=perf_counter,
            )
            plans.append(plan)
            progress.expect(sum(one.fits for one in plans) + waiting_fits(study))
            for panel in ready:
                _open_table(tables, panel, study)
            stage = Stage(plan=plan, work=work, backend=backend, tables=tables, progress=progress, checks=checks)
            perform_stage(stage, queue_seed=how.options.queue_seed)
            done = done.union(panel.key for panel in ready)
            study = advance(study, tables)
    return Outcome(
        study=study,
        tables=tables,
        account=account_for(asked, task, plans[0], plans[1] if len(plans) > 1 else None),
        seconds=perf_counter() - started,
        checks=tuple(checks.made),
    )


def _work_of(study: Study, task: Task, fit_params: Mapping[str, Any], *, jobs: int = 1) -> Work:
    test = frozenset(panel.key for panel in study.of_level(TEST))
    validation = study.of_level(VALIDATION)
    rows = sum(len(study.splits[p.splits].held) for p in validation)
    few = rows * len(study.search) * len(study.search.losses) <= MOST_KEPT_ROW_LOSSES
    alone = len(validation) == len(study.panels)
    keep = frozenset(p.key for p in validation) if few and (alone or rows <= MOST_ROWS_INSIDE) else frozenset()
    keep |= {panel.key for panel in study.panels if panel.keeps_rows}
    return Work(
        task=task,
        search=study.search,
        splits=study.splits,
        losses={level: study.losses_at(level) for level in (TEST, VALIDATION, SPREAD)},
        keep_rows=test | keep,
        keep_responses=test,
        jobs=jobs,
        fit_params=fit_params,
        config=sklearn.get_config(),
    )


def _open_table(tables: Tables, panel: Panel, study: Study) -> None:
    assert panel.candidates is not None
    tables.open(panel.key, panel.candidates, panel.parts, len(study.losses_at(panel.level)))
