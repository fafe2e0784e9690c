"""Saving drawn splits and loading them: rows, how they came about, and the task they belong to, as plain data."""

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

from heldout.base.archive import (
    Arrays,
    Format,
    StoredColumn,
    opened_archive,
    pack_columns,
    read_array,
    unpack_columns,
    write_archive,
)
from heldout.base.plain import plain
from heldout.splits import Recipe, Splits
from heldout.splits.checks import check_structure
from heldout.splits.remarks import class_notes
from heldout.splits.saved import SavedSplits, TaskIdentity
from heldout.splits.summary import Picture, Summary, picture_of, summarise_splits
from heldout.task import Task

FORMAT = Format(
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
    """What splits can tell of themselves without the task."""

    summary: Summary
    picture: Picture
    frame: str = "pandas"  # the library of tables

    @classmethod
    def of(cls, task: Task, splits: Splits) -> SplitsDescription:
        """Everything, counted from the task."""
        summary, notes = summarise_splits(task, splits), class_notes(task, splits)
        if notes:
            summary = replace(summary, totals={**summary.totals, "notes": notes})
        return cls(summary=summary, picture=picture_of(task, splits), frame=task.frame)


def save_splits(saved: SavedSplits, description: SplitsDescription, path: str | Path) -> None:
    """Write drawn splits; an existing file is replaced only once the new one is whole."""
    arrays: Arrays = {}
    write_archive(path, FORMAT, {"splits": pack_splits(saved, description, arrays)}, arrays)


def read_splits(path: str | Path) -> tuple[SavedSplits, SplitsDescription]:
    """The splits of a file, and what they tell of themselves."""
    with opened_archive(path, FORMAT) as (manifest, file):
        return unpack_splits(manifest["splits"], file)


def pack_splits(saved: SavedSplits, description: SplitsDescription, arrays: Arrays) -> dict[str, Any]:
    """Drawn splits as a plain dict, their rows and tables put into `arrays`."""
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
        "parts": pack_columns("splits/parts", summary.parts, arrays),
        "shares": pack_columns("splits/shares", summary.shares, arrays),
        "totals": plain(dict(summary.totals)),
        "marks": [[place, words] for place, words in picture.marks],
        "in_time": picture.in_time,
        "frame": description.frame,
    }
    return {**packed, "seal": _seal(packed)}


class _StoredSplits(msgspec.Struct):
    """The JSON of drawn splits, checked once when it is read."""

    recipe: Recipe
    fingerprint: str
    task: TaskIdentity
    arrays: list[Literal["rows", "held", "held_cuts", "train", "train_cuts", "buffered"]]
    parts: dict[str, StoredColumn]
    shares: dict[str, StoredColumn]
    totals: dict[str, Any]
    marks: list[tuple[int, str]]
    in_time: bool
    frame: Literal["pandas", "polars"]
    seal: str


def unpack_splits(packed: Mapping[str, Any], file: zipfile.ZipFile) -> tuple[SavedSplits, SplitsDescription]:
    """The splits that :func:`pack_splits` packed; a file whose rows are not those it was written with is refused."""
    stored = msgspec.convert(packed, _StoredSplits)
    if stored.seal != _seal({name: value for name, value in packed.items() if name != "seal"}):
        raise ValueError("it was changed after it was written")
    rows = {name: from_steps(read_array(file, f"splits/{name}")) for name in stored.arrays}
    splits = Splits(recipe=stored.recipe, **rows)
    _check_cuts(splits)
    if splits.fingerprint != stored.fingerprint:
        raise ValueError("its rows are not those it was written with")
    check_structure(splits, who="The saved splits")
    words = stored.recipe.words
    summary = Summary(
        words=words,
        parts=unpack_columns(stored.parts, file),
        shares=unpack_columns(stored.shares, file),
        totals=stored.totals,
    )
    picture = Picture(
        words=words,
        parts=len(splits),
        in_time=stored.in_time,
        marks=tuple(stored.marks),
        **{name: read_array(file, f"splits/picture/{name}") for name in _GRIDS},
    )
    description = SplitsDescription(summary=summary, picture=picture, frame=stored.frame)
    return SavedSplits(splits=splits, origin=stored.task), description


def _seal(packed: Mapping[str, Any]) -> str:
    """Tells whether what is said of the rows was changed by hand; the rows have a fingerprint of their own."""
    return blake2b(json.dumps(packed, sort_keys=True).encode(), digest_size=16).hexdigest()


def _check_cuts(splits: Splits) -> None:
    """What the other checks take for granted."""
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
    """Steps from each number to the next, in as few bytes as they take: rows that ascend pack very small."""
    steps = np.diff(numbers, prepend=0)
    most = int(np.abs(steps).max(initial=0))
    width = next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if most <= np.iinfo(kind).max)
    return steps.astype(width)


def from_steps(steps: NDArray[Any]) -> NDArray[np.intp]:
    """The row numbers that steps stand for."""
    if steps.ndim != 1 or steps.dtype.kind != "i":
        raise ValueError("row numbers must be whole numbers")
    numbers = np.cumsum(steps, dtype=np.intp)
    numbers.setflags(write=False)
    return numbers
