"""What a page keeps for the record: the setting of a study, what failed, and the programs that ask it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heldout.base.words import clipped, line
from heldout.report.page.tables import Table, make_table
from heldout.report.page.words import named, percent

MOST_FAILURES, MOST_TRACEBACKS = 100, 5
MOST_CLASSES = 20
MESSAGE = 160  # characters


def facts_of(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The setting of a study as pairs of a label and its words, those that it has."""
    return [(label, words) for label, words in _facts(about) if words]


def _facts(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Learner", " / ".join(str(one) for one in about.get("estimators") or [about.get("learner") or ""])
    columns = f" × {about['columns']:,} columns" if about.get("columns") is not None else ""
    yield "Data", f"{about['rows']:,} rows{columns}"
    yield "Classes", _classes(about.get("classes"))
    yield "Data fingerprint", about["fingerprint"]
    yield "Test", about["test"]
    yield "Validation", about.get("validation") or ""
    yield "Splits fingerprint", about.get("splits_fingerprint") or ""
    yield "Losses", ", ".join(about.get("losses") or [about.get("loss") or ""])
    yield "Seed", str(about["seed"])
    yield "Level", percent(about["level"]) if about.get("level") is not None else ""
    yield "Environment", ", ".join(f"{name} {version}" for name, version in about["environment"].items())


def _classes(classes: Sequence[Any] | None) -> str:
    if not classes:
        return ""
    more = f", … {len(classes):,} in all" if len(classes) > MOST_CLASSES else ""
    return ", ".join(clipped(line(one), 40) for one in classes[:MOST_CLASSES]) + more


def programs_of(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What reproduces the study: in Python, in a shell, or both."""
    found = (("In Python", about.get("call")), ("In a shell", about.get("command")))
    return [(label, text) for label, text in found if text]


def failures_table(failures: Sequence[Mapping[str, Any]]) -> Table:
    """A row a failed cell, the first of them."""
    head = ("Stage", "Where", "Part", "Candidate", "Error", "Message")
    rows = (
        [
            row["stage"],
            row["panel"],
            row["part"],
            row["candidate"],
            row["error"],
            named(row["message"], MESSAGE),
        ]
        for row in failures
    )
    return make_table("Failed cells", head, rows, numeric=("Part",), most=MOST_FAILURES)


def tracebacks_of(failures: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The first tracebacks that differ, each with the error it ends in."""
    found = {row["traceback"]: row["error"] for row in failures if row.get("traceback")}
    return [(error, text) for text, error in found.items()][:MOST_TRACEBACKS]
