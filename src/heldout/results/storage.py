"""Saving results and loading them: one zip file of JSON and arrays, no pickles, with a version."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from heldout.base.archive import (
    Arrays,
    Format,
    opened_archive,
    pack_columns,
    refused_unless_whole,
    unpack_columns,
    write_archive,
)
from heldout.base.findings import Finding
from heldout.base.plain import plain
from heldout.results.stored_splits import SplitsTold, pack_splits, unpack_splits
from heldout.results.study_record import StudyRecord
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import Reference
from heldout.splits.saved import SavedSplits

FORMAT = Format(
    name="heldout result",
    words="a saved result",
    manifest="result.json",
    version=2,
    again="run the study again",
)


def save_record(record: StudyRecord, splits: tuple[SavedSplits, SplitsTold] | None, path: str | Path) -> None:
    """Write the record of a study; an existing file is replaced only once the new one is whole."""
    arrays: Arrays = {}
    manifest = {
        "estimates": {name: plain(estimate.stored()) for name, estimate in record.estimates.items()},
        "findings": [asdict(finding) for finding in record.findings],
        "covers": plain(record.covers),
        "plan": plain(record.plan),
        "about": plain(record.about),
        "seconds": plain(record.seconds),
        "frame": record.frame,
        "no_model": None if record.no_model is None else plain(asdict(record.no_model)),
        "tables": {table: pack_columns(table, columns, arrays) for table, columns in record.tables.items()},
        "splits": None if splits is None else pack_splits(*splits, arrays),
    }
    write_archive(path, FORMAT, manifest, arrays)


def load_record(path: str | Path) -> tuple[StudyRecord, tuple[SavedSplits, SplitsTold] | None]:
    """The record that a file holds, and its test splits; a study of a stream has none."""
    with opened_archive(path, FORMAT) as (manifest, file):
        tables = {table: unpack_columns(columns, file) for table, columns in manifest["tables"].items()}
        packed = manifest.get("splits")
        splits = None if packed is None else unpack_splits(packed, file)
    with refused_unless_whole(path, FORMAT):
        return _facts(manifest, tables), splits


ABOUT = frozenset({"learner", "families", "estimators", "parameters", "tuned", "candidates", "losses", "chosen_by"})
ABOUT |= {"test", "validation", "rows", "roles", "classes", "classification", "fingerprint", "seed", "level"}
ABOUT |= {"environment"}
TABLES = {
    "folds": ("fold", "repeat", "train_rows", "held_rows"),
    "choices": (),
    "candidates": (),
    "one_se": (),
    "predictions": (),
    "failures": ("panel", "part", "candidate", "stage", "error", "message", "traceback"),
    "warnings": (),
}


def _check_whole(manifest: dict[str, Any], tables: dict[str, Any]) -> None:
    """Refuse a file that lacks what a result shows, here and not when it is shown."""
    missing = sorted(ABOUT - set(manifest["about"]))
    missing += [f"{table}/{name}" for table, names in TABLES.items() for name in names if name not in tables[table]]
    missing += [name for name in ("passes", "lines", "text") if name not in manifest["plan"]]
    missing += [name for name in ("risk",) if name not in manifest["estimates"]]
    missing += [name for name in ("sentence",) if name not in manifest["covers"]]
    missing += [name for name in ("total",) if name not in manifest["seconds"]]
    if missing:
        raise ValueError(f"it lacks {', '.join(missing[:5])}")


def _facts(manifest: dict[str, Any], tables: dict[str, Any]) -> StudyRecord:
    _check_whole(manifest, tables)
    estimates = {name: Estimate.from_dict(values) for name, values in manifest["estimates"].items()}
    return StudyRecord(
        estimates=estimates,
        tables=tables,
        findings=tuple(Finding(**finding) for finding in manifest["findings"]),
        covers=manifest["covers"],
        plan=manifest["plan"],
        about=manifest["about"],
        seconds=manifest["seconds"],
        no_model=None if manifest.get("no_model") is None else Reference(**manifest["no_model"]),
        frame=manifest["frame"] if manifest["frame"] in ("pandas", "polars") else "pandas",
    )
