"""Declares the request of a user, the checked question and the record of a study, and summarises the record."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from heldout.base.findings import Finding
from heldout.base.options import Options
from heldout.base.shown import plain
from heldout.engine.stream_source import Source
from heldout.kernels.statistics.family import Family
from heldout.results.estimates import Covers
from heldout.results.extra_fits import PairsOfBlocks
from heldout.results.headline import headline_of
from heldout.results.metrics import Metric
from heldout.results.selection import BEST_BBC, BEST_TT, FOLD_PREDICTORS
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import Reference
from heldout.study.study import OUTER, SPREAD, Study
from heldout.task import Task

Columns = dict[str, Any]
CURVE = "learning curve"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """Holds a way to divide the rows into subgroups."""

    name: str
    codes: NDArray[np.intp]  # of each row of the task
    labels: tuple[str, ...]  # of each code


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Request:
    """Holds the unchecked arguments of a call; see :func:`heldout.evaluate`."""

    test: Any = None
    roles: Mapping[str, Any] = field(default_factory=dict)  # those declared of groups, time, sample_weight, strata
    loss: Any = None
    positive: Any = None  # the class that scores of one class speak of
    level: float = 0.95
    seed: int = 0
    options: Options | None = None
    remarks: tuple[Finding, ...] = ()  # on what a learner by name leaves out
    slices: Any = None
    name: str | None = None  # what the study is called


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionOfStream:
    """Holds the extra parts of a question about a stream. Its study splits buckets of rows, here called cells."""

    source: Source
    families: tuple[Family, ...]
    cells: Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """Holds a learner, data and test splits that passed every check, before anything is fitted."""

    learner: Any
    task: Task
    study: Study
    seed: int
    level: float
    options: Options
    test: Any  # the strategy that drew the test splits
    pairs: PairsOfBlocks | None = None  # the extra fits of an interval that needs them
    curve: Study | None = None  # the study of a learning curve; None if not asked for
    positive: Any = None  # the class that scores of one class speak of
    asks_loss: bool = True  # whether anyone chose the loss; else it is what learners take by default
    call: str | None = None  # Python code that asks the same question
    stream: QuestionOfStream | None = None  # None for data in memory
    remarks: tuple[Finding, ...] = ()  # made before the study ran
    slices: tuple[Slice, ...] = ()

    @property
    def has_one_test_set(self) -> bool:
        """Whether a predictor is held to one test set; cross-validation tells the risk of a typical one."""
        return len(self.study.splits[OUTER].held_sizes) == 1 or isinstance(self.learner, FrozenEstimator)

    @property
    def extra(self) -> dict[str, Study]:
        """The extra studies of this question by name, in the order in which they run."""
        studies = {SPREAD: None if self.pairs is None else self.pairs.study, CURVE: self.curve}
        return {name: study for name, study in studies.items() if study is not None}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyRecord:
    """Holds what a result shows and saves. A table is a dict of columns; everything else is plain values."""

    estimates: Mapping[str, Estimate]
    tables: Mapping[str, Columns]
    findings: tuple[Finding, ...]
    covers: Covers
    plan: Mapping[str, Any]
    about: Mapping[str, Any]  # learner, data, splits, seed, level, environment
    seconds: Mapping[str, Any]
    frame: str = "pandas"
    no_model: Reference | None = None  # the learner against a constant answer
    metrics: tuple[Metric, ...] | None = None  # familiar scores; None until they are first asked for


VERSION = 3


def summarise(record: StudyRecord, *, findings: Iterable[Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything a report says as values that JSON can hold; docs/summary.md describes them."""
    estimates = plain({name: estimate.as_dict() for name, estimate in record.estimates.items()})
    return {
        "version": VERSION,
        "kind": "result",
        "headline": plain(headline_of(record.about, record.metrics or (), choices_of(record))),
        "metrics": [plain(one.as_dict()) for one in record.metrics or ()],
        "about": {"call": None, "command": None, **plain(record.about)},
        "verdict": plain(verdict),
        "risk": estimates["risk"],
        "estimates": estimates,
        "folds": rows_of(record.tables["folds"]),
        "choices": choices_of(record),
        "failures": rows_of(record.tables["failures"]),
        "findings": [{"code": f.code, "severity": f.severity, "message": f.message} for f in findings],
        "covers": asdict(record.covers),
        "plan": plain(record.plan),
        "seconds": plain(record.seconds),
    }


def is_shown(name: str, estimate: Mapping[str, Any]) -> bool:
    """Return whether a report shows this estimate beside the risk.

    It hides a correction without a value, and "development_chosen" without its bound, which only repeats the best
    validation loss.
    """
    if name in ("risk", FOLD_PREDICTORS) or (name == "development_chosen" and estimate["low"] is None):
        return False
    return estimate["value"] is not None or name not in (BEST_BBC, BEST_TT)


def choices_of(record: StudyRecord) -> list[dict[str, Any]]:
    """Return one dict for each choice, with the chosen parameters by name."""
    always = record.about.get("parameters", {})
    rows = rows_of(record.tables["choices"])
    return [{**row, "params": params_in(row, always.get(str(row["family"]), ()))} for row in rows]


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Convert columns to a list of rows, each a dict of plain values."""
    names = list(columns)
    # Numbers are converted all at once, which is far faster than one by one.
    fast = {name: isinstance(one, np.ndarray) and one.dtype.kind in "iufb" for name, one in columns.items()}
    values = [plain(columns[name].tolist() if fast[name] else list(columns[name])) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)] if names else []


def params_in(row: Mapping[str, Any], always: Collection[str]) -> dict[str, Any]:
    """Return the parameters that a candidate sets, from the ``param_…`` entries of its row.

    None counts as a value for the parameters in `always`. For any other parameter None means that this candidate,
    from another family or another part of the space, does not set it.
    """
    found = {name.removeprefix("param_"): value for name, value in row.items() if name.startswith("param_")}
    return {name: value for name, value in found.items() if value is not None or name in always}
