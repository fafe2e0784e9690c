"""Saved splits: a strategy that returns splits drawn before, for the same task only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.checks import checked
from heldout.splits.drawn import Splits
from heldout.task import Task
from heldout.task.arrays import is_frame
from heldout.task.hashing import cell_digests, digest_value

ABSENT = "-"
ROLES = ("groups", "time", "sample_weight", "strata")


def task_pieces(task: Task) -> dict[str, str]:
    """Return a short digest of each piece of a task; `ABSENT` for a role that was not declared.

    >>> from heldout.task import declare
    >>> task_pieces(declare([[1.0], [2.0]], [0.5, 1.5], classification=False))["groups"]
    '-'
    """
    names = tuple(task.X.columns) if is_frame(task.X) else task.n_columns
    return {
        "rows": str(task.size),
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
    text = values.dtype.kind in "OUS"  # hashed by value, since the width of a text dtype has no meaning
    digest = blake2b(f"{'text' if text else values.dtype.kind}{values.shape}".encode(), digest_size=8)
    if text:
        values = cell_digests(values.ravel().tolist())
    digest.update(np.ascontiguousarray(values).view(np.uint8).data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskIdentity:
    """Fingerprints of the task that splits were drawn from."""

    fingerprint: str
    pieces: Mapping[str, str]

    @classmethod
    def of(cls, task: Task) -> TaskIdentity:
        """Return the identity of this task."""
        return cls(fingerprint=task.fingerprint, pieces=task_pieces(task))

    def refuse_other(self, task: Task, *, who: str) -> None:
        """Raise a SplitError that says what differs, if the task is another one."""
        if task.fingerprint != self.fingerprint:
            raise SplitError(
                f"{who} were drawn from another task: {'; '.join(self.differences(task))}. Pass the data they were "
                "drawn from, with the same roles, or draw new splits."
            )

    def differences(self, task: Task) -> tuple[str, ...]:
        """Describe how this task differs; empty if it is the same."""
        if task.fingerprint == self.fingerprint:
            return ()
        then, now = self.pieces, task_pieces(task)
        if then.get("rows") != now["rows"]:
            return (f"it had {then.get('rows')} rows, this one has {now['rows']}",)
        other = {piece for piece, digest in now.items() if then.get(piece) != digest}
        words = {
            "columns": "X has other columns",
            "kind": f"y was taken as {then.get('kind')}, here as {now['kind']}",
            "y": "y has other values, or in another order",
            "values": "X has other values, or in another order",
            **{role: _role_words(role, then.get(role, ABSENT), now[role]) for role in ROLES},
        }
        if other & {"columns", "y"}:
            other -= {"values"}
        return tuple(text for piece, text in words.items() if piece in other) or ("columns of X have other types",)


def _role_words(role: str, then: str, now: str) -> str:
    was, has = ("were", "have") if role in ("groups", "strata") else ("was", "has")
    if then == ABSENT:
        return f"{role} {was} not declared then"
    if now == ABSENT:
        return f"{role} {was} declared then, and not here"
    return f"{role} {has} other values"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SavedSplits:
    """Splits together with the identity of the task they were drawn from."""

    splits: Splits
    origin: TaskIdentity

    inner_ok_under_partition: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"<{len(self.splits)} parts drawn before: {self.splits.recipe.words}>"

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return the saved splits, or raise if they were drawn from another task. `seed` has no effect."""
        who = f"These splits ({self.splits.recipe.words})"
        if len(rows) < task.size:
            raise SplitError(
                f"{who} are of all rows, so they cannot split the training part of a level above. Use them as test=, "
                "or a strategy that draws, such as KFold or Holdout, as validation=."
            )
        self.origin.refuse_other(task, who=who)
        return checked(task, self.splits, who=who)
