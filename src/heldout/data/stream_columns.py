"""Checks the columns of a stream: one is the target, and all others are numbers without missing values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import ColumnError, TargetError, did_you_mean
from heldout.base.words import listed
from heldout.task.arrays import refuse_twice

_ROW_LABELS = re.compile(r"__index_level_\d+__")  # how pandas saves an index without a name


def feature_columns(where: str, names: list[str], target: Any, *, other_types: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of X: all but the target. `where` names the data in errors.

    `other_types` holds the type of each column that is not a number.
    """
    if not isinstance(target, str):
        raise TargetError(
            f"The target of a stream is named: target='y', say; not {type(target).__name__}. "
            f"The columns of {where} are {listed(list(map(repr, names)), 5)}."
        )
    if target not in names:
        raise TargetError(f"y={target!r} is no column of {where}. {did_you_mean(target, names)}")
    refuse_twice(names, where)
    columns = tuple(name for name in names if name != target and not _ROW_LABELS.fullmatch(name))
    if not columns:
        raise ColumnError(f"{where} has no column beside the target {target!r} to learn from.")
    others = [f"{name!r} ({other_types[name]})" for name in columns if name in other_types]
    if others:
        raise ColumnError(
            f"These columns of {where} are no plain numbers: {listed(others, 5)}. A stream takes numbers; turn them "
            "into numbers, leave them out, or load the data."
        )
    return columns


def refuse_missing(missing: NDArray[np.bool_], name: str, start: int, *, target: bool) -> None:
    """Raise an error if a column of a chunk has missing values; `start` is the number of the chunk's first row."""
    if not missing.any():
        return
    row = start + int(np.argmax(missing))
    if target:
        raise TargetError(f"The target {name!r} is missing in row {row}. Drop or fill such rows.")
    raise ColumnError(
        f"Column {name!r} is missing in row {row}. A stream takes no missing values: fill them in, drop these rows, or "
        "load the data."
    )
