"""Test rows as the ledger knows them: told apart row by row, across studies and across changes of the features."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.task import Task
from heldout.task.content import row_hashes

_TELLING_BITS = 64  # arrangements of a target that two tables do not share by chance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestRows:
    """Rows that were held out, with two identities each.

    The number of a row counts where both tables have the same target column, whatever their features: a new feature
    does not make a new test set. Elsewhere the content of a row counts, X and y together, so that the same rows are
    known in a table of their own too.
    """

    __test__: ClassVar[bool] = False  # no test class, for pytest

    table: str  # 32 hex digits of the target column; of the whole task where that tells too little, as 0, 0, 1, 1 does
    numbers: NDArray[np.int64]  # ascending
    content: NDArray[np.uint64]  # ascending hashes, each once
    key: str = field(init=False)  # 32 hex digits for these rows

    def __post_init__(self) -> None:
        digest = blake2b(digest_size=16)
        digest.update(self.table.encode())
        digest.update(self.numbers.astype("<i8").tobytes())
        digest.update(self.content.astype("<u8").tobytes())
        object.__setattr__(self, "key", digest.hexdigest())

    def __len__(self) -> int:
        return len(self.numbers)

    def shared_with(self, other: TestRows) -> int:
        """How many rows of these are among the others."""
        if self.key == other.key:
            return len(self)
        if self.table == other.table:
            return len(np.intersect1d(self.numbers, other.numbers, assume_unique=True))
        return len(np.intersect1d(self.content, other.content, assume_unique=True))


def rows_of_task(task: Task, rows: Rows) -> TestRows:
    """These rows of a task, as the ledger knows them.

    >>> from heldout.task import declare
    >>> X, y = np.eye(40), np.tile([0.5, 2, 1, 7], 10)
    >>> task, other = (declare(data, y, classification=False) for data in (X, X + 1))
    >>> first, second = rows_of_task(task, np.arange(5)), rows_of_task(other, np.arange(3, 9))
    >>> first.shared_with(second)
    2
    """
    content = np.unique(task.row_hashes[rows, 0])
    return TestRows(table=_table_key(task), numbers=np.unique(rows).astype(np.int64), content=content)


def _table_key(task: Task) -> str:
    """The digest of the target column in its order, where the order tells tables apart; else of all there is."""
    outputs = task.y if task.y.ndim == 2 else task.y[:, None]
    values = row_hashes(outputs, task.y)
    _, codes, counts = np.unique(values[:, 0], return_inverse=True, return_counts=True)
    bits = -float(np.sum(counts * np.log2(counts / len(codes))))
    if bits < _TELLING_BITS or _in_runs(codes, len(counts)) or _sorted(task.y):
        return task.fingerprint
    return blake2b(np.ascontiguousarray(values).astype("<u8").tobytes(), digest_size=16).hexdigest()


def _in_runs(codes: NDArray[np.intp], values: int) -> bool:
    """Whether equal targets stand together, as in data sorted by class: any table of such counts looks like this."""
    return int(np.count_nonzero(np.diff(codes))) + 1 == values < len(codes)


def _sorted(y: NDArray[Any]) -> bool:
    return y.ndim == 1 and y.dtype.kind in "biuf" and bool(np.all(y[1:] >= y[:-1]))
