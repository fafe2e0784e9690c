"""A request, a question that passed every check, and the record of a study with its summary as a plain dict."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from heldout.base.findings import Finding
from heldout.base.options import Options
from heldout.base.shown import plain
from heldout.base.words import line, number
from heldout.engine.stream_source import Source
from heldout.kernels.statistics.family import Family
from heldout.results.estimates import Covers
from heldout.results.extra_fits import PairsOfBlocks
from heldout.results.selection import BEST_BBC, BEST_TT, FOLD_PREDICTORS
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


VERSION = 2
NOTHING = "nothing: every candidate failed"


def summarise(record: StudyRecord, *, findings: Iterable[Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Everything a report says, as values that JSON can hold: docs/summary.md describes them."""
    return {
        "version": VERSION,
        "kind": "result",
        "about": {"call": None, "command": None, **plain(record.about)},
        "verdict": plain(verdict),
        "risk": plain(record.estimates["risk"].as_dict()),
        "estimates": {name: plain(estimate.as_dict()) for name, estimate in record.estimates.items()},
        "folds": rows_of(record.tables["folds"]),
        "choices": choices_of(record),
        "failures": rows_of(record.tables["failures"]),
        "findings": [{"code": f.code, "severity": f.severity, "message": f.message} for f in findings],
        "covers": asdict(record.covers),
        "plan": plain(record.plan),
        "seconds": plain(record.seconds),
    }


def is_shown(name: str, estimate: Mapping[str, Any]) -> bool:
    """Whether an estimate stands in a report beside the risk; a correction that could not be made does not.

    Nor does the chosen predictor's risk on development rows without its bound: it repeats the best validation number.
    """
    if name in ("risk", FOLD_PREDICTORS) or (name == "development_chosen" and estimate["low"] is None):
        return False
    return estimate["value"] is not None or name not in (BEST_BBC, BEST_TT)


def choices_of(record: StudyRecord) -> list[dict[str, Any]]:
    """A row a choice, with its parameters by name."""
    always = record.about.get("parameters", {})
    rows = rows_of(record.tables["choices"])
    return [{**row, "params": params_in(row, always.get(str(row["family"]), ()))} for row in rows]


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Columns as a list of plain rows."""
    names = list(columns)
    values = [plain(list(columns[name])) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)] if names else []


def choice_words(family: Any, params: Mapping[str, Any]) -> str:
    """A family and its parameters on one line, each by the last part of its name where that tells them apart.

    >>> choice_words("Pipeline", {"ridge__alpha": 0.1, "select__k": 5})
    'Pipeline alpha=0.1, k=5'
    """
    words = ", ".join(
        f"{name}={number(value) if isinstance(value, float) else value}"
        for name, value in zip(short_names(params), params.values(), strict=True)
    )
    return line(f"{family} {words}")


def short_names(params: Collection[str]) -> list[str]:
    """The last part of each name, as in `step__param`, where that tells them apart."""
    short = [name.rpartition("__")[2] for name in params]
    return short if len(set(short)) == len(short) else list(params)


def words_of_choice(choice: Mapping[str, Any]) -> str:
    """A row of a summary's choices in words."""
    if choice["candidate"] < 0:
        return NOTHING
    return choice_words(choice["family"], choice["params"])


def params_in(row: Mapping[str, Any], always: Collection[str]) -> dict[str, Any]:
    """The parameters in a row of columns ``param_…``. None is a value where a candidate always sets the parameter.

    Elsewhere it means that this candidate, of another family or of another part of the space, does not set it.
    """
    found = {name.removeprefix("param_"): value for name, value in row.items() if name.startswith("param_")}
    return {name: value for name, value in found.items() if value is not None or name in always}
