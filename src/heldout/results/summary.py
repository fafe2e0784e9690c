"""The summary of a result: a plain dict that every rendering is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from heldout.base.plain import plain
from heldout.results.choices import with_params

VERSION = 2


class HasFacts(Protocol):
    """What a summary reads of a result."""

    @property
    def estimates(self) -> Mapping[str, Any]: ...
    @property
    def tables(self) -> Mapping[str, Any]: ...
    @property
    def covers(self) -> Mapping[str, Any]: ...
    @property
    def plan(self) -> Mapping[str, Any]: ...
    @property
    def about(self) -> Mapping[str, Any]: ...
    @property
    def seconds(self) -> Mapping[str, Any]: ...


def summarise(facts: HasFacts, *, findings: Iterable[Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Everything a report says, as values that JSON can hold: docs/summary.md describes them."""
    summary: dict[str, Any] = {
        "version": VERSION,
        "kind": "result",
        "about": {"call": None, "command": None, **plain(facts.about)},
        "verdict": plain(verdict),
        "risk": plain(facts.estimates["risk"].as_dict()),
        "estimates": {name: plain(estimate.as_dict()) for name, estimate in facts.estimates.items()},
        "folds": rows_of(facts.tables["folds"]),
        "choices": choices_of(facts),
        "failures": rows_of(facts.tables["failures"]),
        "findings": [{"code": f.code, "severity": f.severity, "message": f.message} for f in findings],
        "covers": plain(facts.covers),
        "plan": plain(facts.plan),
        "seconds": plain(facts.seconds),
    }
    return summary


def is_shown(name: str, estimate: Mapping[str, Any]) -> bool:
    """Whether an estimate stands in a report beside the risk; a correction that could not be made does not.

    Nor does the chosen predictor's risk on development rows without its bound: it repeats the best validation number.
    """
    if name in ("risk", "fold_predictors") or (name == "development_chosen" and estimate["low"] is None):
        return False
    return estimate["value"] is not None or not name.startswith("best_validation_")


def choices_of(facts: HasFacts) -> list[dict[str, Any]]:
    """A row a choice, with its parameters by name."""
    return with_params(rows_of(facts.tables["choices"]), facts.about.get("parameters", {}))


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Columns as a list of plain rows."""
    names = list(columns)
    values = [plain(list(columns[name])) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)] if names else []
