"""The table that is checked: its columns and its target in the rows that are looked at, and the roles of all rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heldout.audit.traps.columns import Codes, Column, Floats, read_column
from heldout.base.rowkeys import Rows
from heldout.splits import Splits
from heldout.task import Task
from heldout.task.containers import is_sparse, take_rows

MOST_CELLS = 5_000_000  # rows × columns that are looked at, where the rows are many
FEWEST_ROWS = 2_000  # are looked at in any case, however many the columns
MOST_OUTPUTS = 20  # of a target; the rarer classes are taken together


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Columns and target in the rows that are looked at, which stand in a random order.

    Equal values that are sorted then stand in a random order too, so that the order of the file tells nothing.
    """

    task: Task
    rows: Rows  # which rows of the task are looked at, in a random order
    columns: tuple[Column, ...]
    splits: Splits | None  # the test parts, where they were asked for
    given: bool  # they were given by row, not drawn
    seed: int
    _moments: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)  # of columns in all rows

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def sampled(self) -> bool:
        """Whether some rows are not looked at."""
        return len(self.rows) < len(self.task)

    @cached_property
    def responses(self) -> Floats:
        """The target in the rows looked at, centred: a column a class, or the ranks of a number, between -½ and ½."""
        return as_responses(self.task.y[self.rows], classification=self.task.classification)

    @cached_property
    def held(self) -> NDArray[np.bool_] | None:
        """Which rows of the task are in a test part that was given; None where no part was, or all rows take turns."""
        if not self.given or self.splits is None or self.splits.recipe.partition:
            return None
        held = np.zeros(len(self.task), dtype=bool)
        held[self.splits.held] = True
        return held

    def whole(self, column: Column) -> Column:
        """The same column in all rows of the task, in their own order."""
        return read_column(self.task.X, column.place)

    def moments(self, column: Column) -> tuple[float, float]:
        """The mean and the standard deviation of a column over all rows of the task that have a value."""
        if column.place not in self._moments:
            whole = self.whole(column) if self.sampled else column
            values = whole.numbers[whole.present]
            self._moments[column.place] = float(values.mean()), float(values.std())
        return self._moments[column.place]


def open_table(task: Task, *, most_rows: int, splits: Splits | None, given: bool, seed: int) -> Table:
    """Read the columns of a task, in a sample of its rows where they are many."""
    width = task.n_columns or 1
    most = min(most_rows, max(FEWEST_ROWS, MOST_CELLS // width))
    rows = np.random.default_rng(seed).permutation(len(task))[:most].astype(np.intp)
    part = take_rows(task.X, rows)
    if isinstance(part, np.ndarray):
        part = np.asfortranarray(part)  # columns are read one by one
    elif is_sparse(part):
        part = part.tocsc()
    columns = [read_column(part, place) for place in range(width)]
    return Table(task=task, rows=rows, columns=tuple(columns), splits=splits, given=given, seed=seed)


def as_responses(y: NDArray[Any], *, classification: bool) -> Floats:
    """A target as centred columns: an indicator a class, or the rank of each number.

    >>> as_responses(np.array([3.0, 1.0, 900.0, 4.0]), classification=False).ravel().tolist()
    [-0.125, -0.375, 0.375, 0.125]
    """
    outputs = y if y.ndim == 2 else y[:, None]
    blocks = []
    for output in outputs.T[:MOST_OUTPUTS]:
        if classification:
            _, codes = np.unique(output, return_inverse=True)
            common = np.argsort(-np.bincount(codes), kind="stable")[:MOST_OUTPUTS]
            blocks.append((codes[:, None] == common).astype(np.float64))
        else:
            blocks.append(rankdata(output.astype(np.float64))[:, None] / len(output))
    joined = np.hstack(blocks)
    centred: Floats = joined - joined.mean(axis=0)
    return centred


def class_codes(y: NDArray[Any]) -> Codes:
    """A code for each distinct target, rows of several outputs taken as one."""
    if y.ndim == 2:
        return np.unique(y.astype(str), axis=0, return_inverse=True)[1].ravel().astype(np.intp)
    return np.unique(y, return_inverse=True)[1].astype(np.intp)
