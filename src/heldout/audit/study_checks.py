"""Looks for leaks and traps in the data of a study before its first fit, for about a tenth of the study's own cost."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from heldout.audit.check_table import MOST_ROWS, Table, open_table, rows_to_look_at
from heldout.audit.run_checks import COSTLY, CheckReport, run_checks
from heldout.audit.trap import EXPLAINED, NOT_SEEN, SEVERITIES
from heldout.backends.threads import one_thread
from heldout.base.errors import OptionError, did_you_mean
from heldout.base.findings import Finding
from heldout.base.rowkeys import derive
from heldout.base.warnings import catch_warnings
from heldout.kernels.step import FIT, Step, expected_work, operations
from heldout.planner.plan import Plan
from heldout.search.search import Family
from heldout.splits import Given
from heldout.splits.foreign import Pairs
from heldout.study.study import OUTER, Study
from heldout.task import Task
from heldout.task.arrays import is_frame

QUICK, ALL, NONE = MODES = ("quick", "all", "none")
SHARE = 0.1  # of the study's operations
_A_STUDY, _A_CELL = 1.5e7, 60.0  # operations of any study, and for each number of its table, beside its fits
_OF_A_KERNEL = 50.0  # operations of a kernel that take as long as one of any other program
_LOOK, _LOOK_AT_OUTPUT = 60.0, 15.0  # operations for each number that is looked at, and more for each output
_A_TEXT = 8  # numbers that take as long to read as one text
_FEWEST_CELLS, _FEWEST_ROWS, _EVERY_COLUMN = 30_000, 300, 300_000  # numbers, rows and numbers always looked at
_QUESTIONS = 3  # that share what one look at every column leaves
_OF_THE_STUDY = frozenset({"H101"})  # findings that a study has by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """Says how much is looked at, and which findings are left out."""

    mode: str
    ignore: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyChecks:
    """Holds the findings in the data of a study, and what was looked for, as plain values."""

    findings: tuple[Finding, ...]
    summary: Mapping[str, Any]


def accept_mode(mode: Any) -> str:
    """Return the mode; raise OptionError if there is none of this name."""
    if mode not in MODES:
        raise OptionError(f"checks= is one of {', '.join(MODES)}, not {mode!r}. {did_you_mean(str(mode), MODES)}")
    return str(mode)


def no_checks(settings: CheckSettings, reason: str) -> StudyChecks:
    """Return what is said of a study whose data were not looked at."""
    report = CheckReport(traps=(), groups=None, missed=dict.fromkeys(EXPLAINED, reason))
    summary = _summary(report, settings, rows=0, seconds=0.0)
    what = "everything" if settings.mode == NONE else "leaks and traps in the data"
    return StudyChecks(findings=(), summary={**summary, "ran": False, "not_looked": [f"{what} ({reason})"]})


def check_study(
    studies: Sequence[Study], task: Task, plan: Plan | None, *, test: Any, settings: CheckSettings
) -> StudyChecks:
    """Look at the data that these studies share. `plan` is that of the first, if it is known, and tells its cost."""
    started = perf_counter()
    with one_thread(), catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            table, left = _table(studies, task, plan, test=test, settings=settings)
            report = run_checks(table, ignore=_OF_THE_STUDY.union(settings.ignore), lenient=True)
        except Exception as error:  # no table may end a study by being looked at
            return no_checks(settings, f"reading the columns failed: {type(error).__name__}: {error}")
    missed = {code: reason for code, reason in report.missed.items() if code not in _OF_THE_STUDY}
    report = replace(report, missed=missed)
    summary = _summary(report, settings, rows=len(table), seconds=perf_counter() - started)
    if left:
        summary["not_looked"].append(f"{left:,} columns, drawn by lot ({COSTLY})")
    summary["not_looked"] += NOT_SEEN
    findings = [
        Finding(code=trap.code, severity=trap.severity, message=f"{trap.seen} {trap.way_out}") for trap in report.traps
    ]
    return StudyChecks(findings=tuple(findings), summary=summary)


def _summary(report: CheckReport, settings: CheckSettings, *, rows: int, seconds: float) -> dict[str, Any]:
    missed = {code: reason for code, reason in report.missed.items() if code not in settings.ignore}
    found = Counter(trap.severity for trap in report.traps)
    return {
        "ran": True,
        "mode": settings.mode,
        "looked": [EXPLAINED[code].looks_for for code in EXPLAINED if code not in report.missed],
        "not_looked": [f"{EXPLAINED[code].looks_for} ({missed[code]})" for code in EXPLAINED if code in missed],
        "rows_looked_at": rows,
        "seconds": seconds,
        "ignored": list(settings.ignore),
        "found": {severity: found[severity] for severity in reversed(SEVERITIES)},
    }


def _table(
    studies: Sequence[Study], task: Task, plan: Plan | None, *, test: Any, settings: CheckSettings
) -> tuple[Table, int]:
    """Read what is to be looked at, and return it with the number of columns that are left out by lot."""
    places = seen_columns([family for study in studies for family in study.search.families], task)
    rows, allowance, width = min(MOST_ROWS, rows_to_look_at(len(places))), np.inf, len(places)
    seed = derive(settings.seed, "check")
    if settings.mode == QUICK:
        work = SHARE * operations_of(studies[0], task, plan)
        allowance = work / _QUESTIONS
        outputs = len(task.classes) if task.classes is not None else task.y.size // max(1, task.size)
        cells = max(_FEWEST_CELLS, work / (_LOOK + _LOOK_AT_OUTPUT * min(outputs, 20)))
        a_row, least = _numbers_a_row(task.X, places), min(task.size, _FEWEST_ROWS)
        rows = max(least, int(cells / a_row))
        rows = rows if 2 * rows < task.size else task.size  # only all rows show some traps
        most = max(cells, _EVERY_COLUMN)
        if least * a_row > most:
            kept = max(1, int(width * most / (least * a_row)))
            places = np.sort(np.random.default_rng(seed).permutation(places)[:kept])
    table = open_table(
        task,
        rows=rows,
        columns=places.tolist(),
        splits=studies[0].splits[OUTER],
        given=isinstance(test, Given | Pairs),
        seed=seed,
    )
    return replace(table, allowance=allowance), width - len(places)


def _numbers_a_row(X: Any, places: Any) -> float:
    """Return how many numbers take as long to read as a row of these columns."""
    if is_frame(X):
        kinds = list(X.dtypes)
        return sum([1 if getattr(kinds[place], "kind", "O") in "biufmM" else _A_TEXT for place in places])
    return len(places) * (_A_TEXT if X.dtype.kind == "O" else 1)


def operations_of(study: Study, task: Task, plan: Plan | None) -> float:
    """Return about how many operations a study takes: by its plan, or at least, by the rows that it holds out."""
    columns = task.n_columns or 1
    if plan is None:
        work = sum([len(splits.held) * float(columns) for splits in study.splits.values()]) * study.search.size
    else:
        members = {family.name: _members_of(family) for family in study.search.families}
        work = sum([_work_of(step, task, study, members) for step in plan.steps])
    cells = getattr(task.X, "nnz", task.size * columns)
    work *= cells / (task.size * columns)  # of a sparse table those that are kept
    return _A_STUDY + _A_CELL * cells + work


def _members_of(family: Family) -> int:
    """Return how many members an ensemble has by its own parameters; 1 for any other learner."""
    own = family.estimator.get_params().items()
    sizes = [value for name, value in own if name.endswith("n_estimators") and name not in family.candidates.names]
    return max([1, *(size for size in sizes if isinstance(size, int))])


def _work_of(step: Step, task: Task, study: Study, members: Mapping[str, int]) -> float:
    work = expected_work(step, task, study.splits, study.search)
    if operations(step, task, study.splits) is not None:
        return work / _OF_A_KERNEL
    return (work + FIT * step.fits) * members[study.search.family_of(step.candidates[0]).name]


def seen_columns(families: Iterable[Family], task: Task) -> NDArray[np.intp]:
    """Return the positions of the columns that any of these learners reads, as far as that can be told.

    A ColumnTransformer that drops the remainder and stands first reads the columns that it names.
    """
    every, names = np.arange(task.n_columns or 1), list(getattr(task.X, "columns", ()))
    seen: set[int] = set()
    for family in families:
        name, first = family.estimator.steps[0] if isinstance(family.estimator, Pipeline) else ("", family.estimator)
        searched = name in family.candidates.names
        if not isinstance(first, ColumnTransformer) or first.remainder != "drop" or searched:
            return every
        for _, part, wanted in first.transformers:
            if callable(wanted):
                return every
            one: Any = [wanted] if isinstance(wanted, str | int) else wanted
            try:
                named = not isinstance(one, slice) and all(isinstance(name, str) for name in one)
                places = [names.index(name) for name in one] if named else every[one].tolist()
            except (ValueError, IndexError):  # a slice by name, or what the fit will refuse
                return every
            seen.update(places if part != "drop" else ())
    return np.array(sorted(seen), dtype=np.intp) if seen else every
