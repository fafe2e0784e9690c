"""What a task is made of, piece by piece: a fingerprint of each, so that two tasks that differ can be told where."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.task.cells import cell_digests, digest_value
from heldout.task.containers import is_frame

if TYPE_CHECKING:
    from heldout.task.task import Task

ABSENT = "-"


def task_pieces(task: Task) -> dict[str, str]:
    """A short digest for each piece of a task; `ABSENT` for a role that was not declared.

    >>> from heldout.task import declare
    >>> task_pieces(declare([[1.0], [2.0]], [0.5, 1.5], classification=False))["groups"]
    '-'
    """
    names = tuple(task.X.columns) if is_frame(task.X) else task.n_columns
    return {
        "rows": str(len(task)),
        "columns": digest_value(names).hex(),
        "y": _digest(task.y),
        "kind": "classes" if task.classification else "numbers",
        "values": _digest(task.row_hashes),
        "groups": ABSENT if task.groups is None else _digest(task.groups) + _digest(cell_digests(task.group_names)),
        "time": _digest(task.time) + ("" if task.time_end is None else _digest(task.time_end)),
        "sample_weight": _digest(task.weight),
        "strata": _digest(task.strata),
    }


def _digest(values: np.ndarray[Any, Any] | None) -> str:
    if values is None:
        return ABSENT
    text = values.dtype.kind in "OUS"  # told by value: how wide an array of texts is says nothing
    digest = blake2b(f"{'text' if text else values.dtype.kind}{values.shape}".encode(), digest_size=8)
    if text:
        values = cell_digests(values.ravel().tolist())
    digest.update(np.ascontiguousarray(values).view(np.uint8).data)
    return digest.hexdigest()
