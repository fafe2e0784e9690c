"""Saving results and loading them: one zip file of JSON and arrays, no pickles, with a version."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import msgspec

from heldout.base.archive import (
    Arrays,
    Format,
    StoredColumn,
    opened_archive,
    pack_columns,
    unpack_columns,
    write_archive,
)
from heldout.base.findings import Finding
from heldout.base.plain import plain
from heldout.planner.account import Line
from heldout.planner.plan import PassRecord
from heldout.results.scope import Covers
from heldout.results.stored_splits import SplitsDescription, pack_splits, unpack_splits
from heldout.results.study_record import StudyRecord
from heldout.risk.estimate import Estimate, stored_values
from heldout.risk.verdict import Reference
from heldout.splits.saved import SavedSplits

FORMAT = Format(
    name="heldout result",
    words="a saved result",
    manifest="result.json",
    version=3,
    again="run the study again",
)


def save_record(record: StudyRecord, splits: tuple[SavedSplits, SplitsDescription] | None, path: str | Path) -> None:
    """Write the record of a study; an existing file is replaced only once the new one is whole."""
    arrays: Arrays = {}
    manifest = {
        "estimates": {name: plain(stored_values(estimate)) for name, estimate in record.estimates.items()},
        "findings": [asdict(finding) for finding in record.findings],
        "covers": asdict(record.covers),
        "plan": plain(record.plan),
        "about": plain(record.about),
        "seconds": plain(record.seconds),
        "frame": record.frame,
        "no_model": None if record.no_model is None else plain(asdict(record.no_model)),
        "tables": {table: pack_columns(table, columns, arrays) for table, columns in record.tables.items()},
        "splits": None if splits is None else pack_splits(*splits, arrays),
    }
    write_archive(path, FORMAT, manifest, arrays)


def load_record(path: str | Path) -> tuple[StudyRecord, tuple[SavedSplits, SplitsDescription] | None]:
    """The record that a file holds, and its test splits; a study of a stream has none."""
    with opened_archive(path, FORMAT) as (manifest, file):
        stored = msgspec.convert(manifest, _StoredRecord)
        tables = {table: unpack_columns(columns, file) for table, columns in stored.tables.items()}
        missing = [f"{table}/{name}" for table, names in COLUMNS.items() for name in names if name not in tables[table]]
        if missing:
            raise ValueError(f"it lacks {', '.join(missing[:5])}")
        splits = None if stored.splits is None else unpack_splits(stored.splits, file)
        record = StudyRecord(
            estimates={name: Estimate.from_dict(values) for name, values in stored.estimates.items()},
            tables=tables,
            findings=tuple(stored.findings),
            covers=stored.covers,
            plan=manifest["plan"],
            about=manifest["about"],
            seconds=manifest["seconds"],
            no_model=stored.no_model,
            frame=stored.frame,
        )
        if "risk" not in record.estimates:
            raise ValueError("it lacks risk")
    return record, splits


# What every file has of its tables; other columns depend on the study.
COLUMNS: dict[str, tuple[str, ...]] = dict.fromkeys(("choices", "candidates", "one_se", "predictions", "warnings"), ())
COLUMNS["folds"] = ("fold", "repeat", "train_rows", "held_rows")
COLUMNS["failures"] = ("panel", "part", "candidate", "stage", "error", "message", "traceback")


class _About(msgspec.Struct):
    """What every record says of its learner, data, splits and builds."""

    learner: str
    families: list[str]
    estimators: list[str]
    parameters: dict[str, list[str]]
    classification: bool
    tuned: bool
    candidates: int
    losses: list[str]
    chosen_by: str | None
    test: str
    validation: str | None
    rows: int
    roles: list[str]
    classes: list[Any] | None
    fingerprint: str
    seed: int
    level: float
    environment: dict[str, str]


class _Plan(msgspec.Struct):
    passes: list[PassRecord]
    lines: list[Line]
    text: str


class _Seconds(msgspec.Struct):
    total: float
    spent: list[dict[str, Any]] = []


class _StoredRecord(msgspec.Struct):
    """The JSON of a saved result, checked once when it is read."""

    estimates: dict[str, dict[str, Any]]
    findings: list[Finding]
    covers: Covers
    plan: _Plan
    about: _About
    seconds: _Seconds
    frame: Literal["pandas", "polars"]
    no_model: Reference | None
    tables: dict[str, dict[str, StoredColumn]]
    splits: dict[str, Any] | None
