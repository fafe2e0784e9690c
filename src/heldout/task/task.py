"""The task: X, y and the roles of rows, declared once and obeyed at every level of splitting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Hashes, Rows, index_hashes, key_of
from heldout.task.containers import Kind, container_kind, take_rows
from heldout.task.hashing import row_hashes, target_hashes, task_fingerprint


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """Made by :func:`heldout.task.declare.declare`, which checks it; values are read-only from then on.

    `X` stays in the container the user gave (numpy, scipy sparse, pandas, polars, or a 1-d array of
    objects such as texts), so that learners see the feature names and types they expect.
    """

    row_name: ClassVar[str] = "rows"  # what a row stands for, in descriptions of splits

    X: Any
    y: NDArray[Any]  # (n,) or (n, outputs)
    classification: bool  # the learner predicts classes, so zero-one is the natural loss and strata are the classes
    groups: NDArray[np.intp] | None = None  # codes 0..G-1
    group_names: tuple[Any, ...] = ()  # what the codes stand for
    time: NDArray[Any] | None = None  # numbers or datetime64: when a row was seen, or when its outcome begins
    time_end: NDArray[Any] | None = None  # when its outcome ends, where it spans an interval; in the type of `time`
    weight: NDArray[np.float64] | None = None
    strata: NDArray[np.intp] | None = None  # codes; None means the classes of y, where there are any
    columns: tuple[str, ...] | None = None  # names, where X has them
    frame: str = "pandas"  # which library result tables are made with: "pandas" or "polars"

    @cached_property
    def size(self) -> int:
        """The number of rows."""
        return len(self.y)

    def __len__(self) -> int:
        return self.size

    @cached_property
    def container(self) -> Kind:
        """The kind of container that X is."""
        return container_kind(self.X)

    @cached_property
    def n_columns(self) -> int | None:
        """How many columns X has, or None for a sequence of objects."""
        shape: tuple[int, ...] = self.X.shape
        return int(shape[1]) if len(shape) > 1 else None

    @cached_property
    def classes(self) -> NDArray[Any] | None:
        """The sorted labels of a single-output classification target, else None."""
        return np.unique(self.y) if self.classification and self.y.ndim == 1 else None

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What kernels worked out about this task and will ask again, by keys of their own; it is not pickled."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "memo"}

    @cached_property
    def all_rows(self) -> Rows:
        rows = np.arange(self.size, dtype=np.intp)
        rows.setflags(write=False)
        return rows

    @cached_property
    def row_hashes(self) -> Hashes:
        """A 128-bit hash of each row's content (X and y): what seeds depend on."""
        return row_hashes(self.X, self.y)

    @cached_property
    def index_hashes(self) -> Hashes:
        """A 128-bit hash of each row's number: what tells row sets of this task apart."""
        return index_hashes(self.size)

    @cached_property
    def fingerprint(self) -> str:
        """32 hex digits for the content of the whole task, roles and row order included."""
        return task_fingerprint(self)

    def content_key(self, rows: Rows) -> int:
        """The key of the content of these rows, whatever their numbers: equal in any task that holds them."""
        return key_of(self.row_hashes, rows)

    def target_key(self, rows: Rows) -> int:
        """The key of the targets of these rows, whatever their numbers and their columns."""
        return key_of(target_hashes(self.y[rows]), np.arange(len(rows)))

    def take(self, rows: Rows) -> Any:
        """A private copy of these rows of X, in the user's own container."""
        return take_rows(self.X, rows)
