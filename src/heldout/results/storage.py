"""Saves and loads results and drawn splits as a versioned zip file of JSON and arrays, without pickles."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from heldout.base import archive
from heldout.base.findings import Finding
from heldout.base.shown import plain
from heldout.planner.account import Line
from heldout.planner.plan import PassRecord
from heldout.results.estimates import Covers
from heldout.results.metrics import Metric
from heldout.results.study_record import StudyRecord
from heldout.risk.estimate import Estimate, stored_values
from heldout.risk.verdict import Reference
from heldout.splits import Recipe, Splits
from heldout.splits.checks import check_structure
from heldout.splits.remarks import class_notes
from heldout.splits.saved import SavedSplits, TaskIdentity
from heldout.splits.summary import Picture, Summary, picture_of, summarise_splits
from heldout.task import Task

RESULT_FILE = archive.Format(
    name="heldout result", words="a saved result", manifest="result.json", version=4, again="run the study again"
)


def save_record(record: StudyRecord, splits: tuple[SavedSplits, SplitsDescription] | None, path: str | Path) -> None:
    """Write the record of a study; an existing file is replaced only when the new one is complete."""
    arrays: archive.Arrays = {}
    manifest = {
        "estimates": {name: plain(stored_values(estimate)) for name, estimate in record.estimates.items()},
        "findings": [asdict(finding) for finding in record.findings],
        "covers": asdict(record.covers),
        "plan": plain(record.plan),
        "about": plain(record.about),
        "seconds": plain(record.seconds),
        "frame": record.frame,
        "no_model": None if record.no_model is None else plain(asdict(record.no_model)),
        "metrics": [_packed_metric(one) for one in record.metrics or ()],
        "tables": {table: archive.pack_columns(table, columns, arrays) for table, columns in record.tables.items()},
        "splits": None if splits is None else pack_splits(*splits, arrays),
    }
    archive.write_archive(path, RESULT_FILE, manifest, arrays)


def load_record(path: str | Path) -> tuple[StudyRecord, tuple[SavedSplits, SplitsDescription] | None]:
    """Read the record in a file, and its test splits; these are None for a study of a stream."""
    with archive.opened_archive(path, RESULT_FILE) as (manifest, file):
        stored = msgspec.convert(manifest, _StoredRecord)
        tables = {table: archive.unpack_columns(columns, file) for table, columns in stored.tables.items()}
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
            metrics=tuple(_unpacked_metric(one) for one in stored.metrics),
            frame=stored.frame,
        )
        if "risk" not in record.estimates:
            raise ValueError("it lacks risk")
    return record, splits


# The tables and columns that every file must have; other columns depend on the study.
COLUMNS: dict[str, tuple[str, ...]] = dict.fromkeys(("choices", "candidates", "one_se", "predictions", "warnings"), ())
COLUMNS["folds"] = ("fold", "repeat", "train_rows", "held_rows")
COLUMNS["failures"] = ("panel", "part", "candidate", "stage", "error", "message", "traceback")


class _About(msgspec.Struct):
    """Declares what every record says about its learner, data, splits and library versions."""

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


class _StoredMetric(msgspec.Struct):
    label: str
    unit: str
    estimate: dict[str, Any]
    against: Reference
    asked: bool
    decides: bool
    folds: list[float | None] = []


def _packed_metric(metric: Metric) -> dict[str, Any]:
    of_both = {"estimate": plain(stored_values(metric.estimate)), "against": plain(asdict(metric.against))}
    return {**{name: getattr(metric, name) for name in ("label", "unit", "asked", "decides", "folds")}, **of_both}


def _unpacked_metric(stored: _StoredMetric) -> Metric:
    made = {"estimate": Estimate.from_dict(stored.estimate), "folds": tuple(stored.folds)}
    return Metric(**{**msgspec.structs.asdict(stored), **made})


class _StoredRecord(msgspec.Struct):
    """Declares the JSON of a saved result, which is checked when it is read."""

    estimates: dict[str, dict[str, Any]]
    findings: list[Finding]
    covers: Covers
    plan: _Plan
    about: _About
    seconds: _Seconds
    frame: Literal["pandas", "polars"]
    no_model: Reference | None
    metrics: list[_StoredMetric]
    tables: dict[str, dict[str, archive.StoredColumn]]
    splits: dict[str, Any] | None


SPLITS_FILE = archive.Format(
    name="heldout splits",
    words="a file of saved splits",
    manifest="splits.json",
    version=1,
    again="draw the splits again",
)
_ROWS = ("rows", "held", "held_cuts", "train", "train_cuts", "buffered")
_GRIDS = ("edges", "lanes", "train", "held", "unused")  # the arrays of a picture


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitsDescription:
    """Holds the summary and the picture of drawn splits, which are shown without the task."""

    summary: Summary
    picture: Picture
    frame: str = "pandas"  # library of the data frames shown

    @classmethod
    def of(cls, task: Task, splits: Splits) -> SplitsDescription:
        """Build the description from the task, by counting rows, groups and classes."""
        summary, notes = summarise_splits(task, splits), class_notes(task, splits)
        if notes:
            summary = replace(summary, totals={**summary.totals, "notes": notes})
        return cls(summary=summary, picture=picture_of(task, splits), frame=task.frame)


def save_splits(saved: SavedSplits, description: SplitsDescription, path: str | Path) -> None:
    """Write drawn splits; an existing file is replaced only when the new one is complete."""
    arrays: archive.Arrays = {}
    archive.write_archive(path, SPLITS_FILE, {"splits": pack_splits(saved, description, arrays)}, arrays)


def read_splits(path: str | Path) -> tuple[SavedSplits, SplitsDescription]:
    """Read the splits in a file and their description."""
    with archive.opened_archive(path, SPLITS_FILE) as (manifest, file):
        return unpack_splits(manifest["splits"], file)


def pack_splits(saved: SavedSplits, description: SplitsDescription, arrays: archive.Arrays) -> dict[str, Any]:
    """Convert drawn splits to a plain dict, and put their rows and tables into `arrays`."""
    splits = saved.splits
    present = [name for name in _ROWS if getattr(splits, name) is not None]
    for name in present:
        arrays[f"splits/{name}"] = to_steps(getattr(splits, name))
    for name in _GRIDS:
        arrays[f"splits/picture/{name}"] = getattr(description.picture, name)
    summary, picture = description.summary, description.picture
    packed = {
        "recipe": plain(asdict(splits.recipe)),
        "fingerprint": splits.fingerprint,
        "task": {"fingerprint": saved.origin.fingerprint, "pieces": dict(saved.origin.pieces)},
        "arrays": present,
        "parts": archive.pack_columns("splits/parts", summary.parts, arrays),
        "shares": archive.pack_columns("splits/shares", summary.shares, arrays),
        "totals": plain(dict(summary.totals)),
        "marks": [[place, words] for place, words in picture.marks],
        "in_time": picture.in_time,
        "frame": description.frame,
    }
    return {**packed, "seal": _seal(packed)}


class _StoredSplits(msgspec.Struct):
    """Declares the JSON of drawn splits, which is checked when it is read."""

    recipe: Recipe
    fingerprint: str
    task: TaskIdentity
    arrays: list[Literal["rows", "held", "held_cuts", "train", "train_cuts", "buffered"]]
    parts: dict[str, archive.StoredColumn]
    shares: dict[str, archive.StoredColumn]
    totals: dict[str, Any]
    marks: list[tuple[int, str]]
    in_time: bool
    frame: Literal["pandas", "polars"]
    seal: str


def unpack_splits(packed: Mapping[str, Any], file: zipfile.ZipFile) -> tuple[SavedSplits, SplitsDescription]:
    """Rebuild the splits that :func:`pack_splits` packed. Raise ValueError if the file was changed."""
    stored = msgspec.convert(packed, _StoredSplits)
    if stored.seal != _seal({name: value for name, value in packed.items() if name != "seal"}):
        raise ValueError("it was changed after it was written")
    rows = {name: from_steps(archive.read_array(file, f"splits/{name}")) for name in stored.arrays}
    splits = Splits(recipe=stored.recipe, **rows)
    _check_cuts(splits)
    if splits.fingerprint != stored.fingerprint:
        raise ValueError("its rows are not those it was written with")
    check_structure(splits, who="The saved splits")
    words = stored.recipe.words
    summary = Summary(
        words=words,
        parts=archive.unpack_columns(stored.parts, file),
        shares=archive.unpack_columns(stored.shares, file),
        totals=stored.totals,
    )
    picture = Picture(
        words=words,
        parts=len(splits),
        in_time=stored.in_time,
        marks=tuple(stored.marks),
        **{name: archive.read_array(file, f"splits/picture/{name}") for name in _GRIDS},
    )
    description = SplitsDescription(summary=summary, picture=picture, frame=stored.frame)
    return SavedSplits(splits=splits, origin=stored.task), description


def _seal(packed: Mapping[str, Any]) -> str:
    """Return a checksum that reveals a description changed by hand. The rows have their own fingerprint."""
    return blake2b(json.dumps(packed, sort_keys=True).encode(), digest_size=16).hexdigest()


def _check_cuts(splits: Splits) -> None:
    """Check that arrays have matching lengths and cuts ascend, which `check_structure` takes for granted."""
    if not np.array_equal(splits.rows, np.arange(len(splits.rows))):
        raise ValueError("its rows are not all rows of a task")
    if splits.buffered is not None and len(splits.buffered) != len(splits):
        raise ValueError("buffers and parts do not go together")
    for cuts, numbers in ((splits.held_cuts, splits.held), (splits.train_cuts, splits.train)):
        if (cuts is None) != (numbers is None):
            raise ValueError("rows and parts do not go together")
        if cuts is not None and numbers is not None:
            whole = len(cuts) == len(splits.held_cuts) > 1 and cuts[0] == 0 and cuts[-1] == len(numbers)
            if not whole or (np.diff(cuts) < 0).any():
                raise ValueError("rows and parts do not go together")


def to_steps(numbers: NDArray[np.intp]) -> NDArray[np.signedinteger[Any]]:
    """Encode row numbers as differences, in the smallest integer type that fits. Ascending rows then compress well."""
    steps = np.diff(numbers, prepend=0)
    most = int(np.abs(steps).max(initial=0))
    width = next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if most <= np.iinfo(kind).max)
    return steps.astype(width)


def from_steps(steps: NDArray[Any]) -> NDArray[np.intp]:
    """Decode row numbers that `to_steps` stored as differences."""
    if steps.ndim != 1 or steps.dtype.kind != "i":
        raise ValueError("row numbers must be whole numbers")
    numbers = np.cumsum(steps, dtype=np.intp)
    numbers.setflags(write=False)
    return numbers
