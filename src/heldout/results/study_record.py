"""The values that this room works on: a request, a question that passed every check, and the record of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout.base.findings import Finding
from heldout.base.options import Options
from heldout.engine.stream_source import Source
from heldout.kernels.statistics.family import Family
from heldout.results.extra_fits import PairsOfBlocks
from heldout.results.scope import Covers
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import Reference
from heldout.study.study import SPREAD, Study
from heldout.task import Task

Columns = dict[str, Any]
CURVE = "learning curve"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Request:
    """What the user asked of a learner and data, before anything was checked; see :func:`heldout.evaluate`."""

    test: Any = None
    roles: Mapping[str, Any] = field(default_factory=dict)  # groups, time, sample_weight, strata: those declared
    loss: Any = None
    level: float = 0.95
    seed: int = 0
    options: Options | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionOfStream:
    """What a question about a stream has beside its study, which is then one of cells of rows."""

    source: Source
    families: tuple[Family, ...]
    cells: Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """A learner, data and test splits that passed every check; nothing was fitted yet."""

    learner: Any
    task: Task
    study: Study
    seed: int
    level: float
    options: Options
    test: Any  # the strategy that drew the test splits
    pairs: PairsOfBlocks | None = None  # the fits of an interval that takes some of its own
    curve: Study | None = None  # of a learning curve, where it was asked for
    call: str | None = None  # the Python that asks the same
    stream: QuestionOfStream | None = None  # None for data in memory

    @property
    def extra(self) -> dict[str, Study]:
        """The studies that are asked beside this one, in the order in which they run."""
        studies = {SPREAD: None if self.pairs is None else self.pairs.study, CURVE: self.curve}
        return {name: study for name, study in studies.items() if study is not None}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyRecord:
    """What a result holds and saves. Tables are columns by name; everything else is plain."""

    estimates: Mapping[str, Estimate]
    tables: Mapping[str, Columns]
    findings: tuple[Finding, ...]
    covers: Covers
    plan: Mapping[str, Any]
    about: Mapping[str, Any]  # learner, data, splits, seed, level, environment
    seconds: Mapping[str, Any]
    frame: str = "pandas"
    no_model: Reference | None = None  # the learner against a constant answer
