"""Given: rows that someone else chose to hold out, such as a benchmark's own test set."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.registered import registered
from heldout.base.rowkeys import Rows
from heldout.splits.checks import checked, partition_repeats
from heldout.splits.drawn import Recipe, Splits, cuts_of
from heldout.splits.strategy import FrozenStrategy
from heldout.task import Task
from heldout.task.arrays import as_array, is_missing
from heldout.task.roles import label_codes

NEVER_HELD = -1


@dataclass(frozen=True, slots=True, repr=False)
class RowNumbers:
    """Whole numbers in the order given. `mask_length` is the length of the boolean mask they came from, or None."""

    raw: bytes
    mask_length: int | None = None

    @classmethod
    def of(cls, values: Any, *, who: str) -> RowNumbers:
        """Read row numbers or a boolean mask; raise a SplitError for anything else."""
        numbers = np.asarray(values)
        if numbers.ndim != 1:
            raise SplitError(f"{who}: row numbers must be a flat sequence, but have the shape {numbers.shape}.")
        if numbers.dtype == bool:
            return cls(np.flatnonzero(numbers).astype(np.intp).tobytes(), len(numbers))
        if len(numbers) and not np.issubdtype(numbers.dtype, np.integer):
            raise SplitError(
                f"{who}: row numbers must be whole numbers or a boolean mask, but are {numbers.dtype}. "
                "Row numbers count from 0; names of an index do not serve."
            )
        return cls(numbers.astype(np.intp).tobytes())

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The row numbers, read-only."""
        return np.frombuffer(self.raw, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.raw) // np.dtype(np.intp).itemsize

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"

    def refuse_other_length(self, n: int, *, who: str) -> None:
        """Raise a SplitError if the numbers came from a mask whose length is not `n`."""
        if self.mask_length not in (None, n):
            raise SplitError(f"{who}: the boolean mask has {self.mask_length} entries, but the task has {n} rows.")


@dataclass(frozen=True, slots=True)
class FoldLabels:
    """The number of the part that holds out each row of the task, or NEVER_HELD; and the number of parts."""

    codes: RowNumbers
    parts: int

    def __repr__(self) -> str:
        return f"<{self.parts} folds of {len(self.codes)} rows>"


@registered
@dataclass(frozen=True, slots=True, repr=False)
class Given(FrozenStrategy):
    """Parts that are given, not drawn, in row numbers of the whole task.

    Parameters
    ----------
    rows : array of int or bool
        The rows to hold out, as row numbers counted from 0 or as a mask. One part.
    folds : sequence, optional
        Instead of `rows`: a label for each row of the task. Each distinct label is one part, in sorted order.
        Rows labelled None, NaN or with a negative whole number are never held out.

    Examples
    --------
    >>> Given([3, 4, 5])
    Given(<3 rows>)
    >>> Given(folds=["a", "b", "a", None])
    Given(folds=<2 folds of 4 rows>)
    """

    rows: Any = None
    _: KW_ONLY
    folds: Any = None

    inner_ok_under_partition: ClassVar[bool] = False
    seeded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.folds is None):
            raise SplitError("Given takes the rows to hold out, or folds=labels: one of them, and not both.")
        if self.rows is not None and not isinstance(self.rows, RowNumbers):
            self._keep(rows=RowNumbers.of(self.rows, who="Given"))
        if self.folds is not None and not isinstance(self.folds, FoldLabels):
            self._keep(folds=_fold_labels(self.folds))
        if (len(self.rows) if self.rows is not None else self.folds.parts) == 0:
            raise SplitError("Given has no rows to hold out. Name at least one.")

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return the given parts as :class:`~heldout.splits.drawn.Splits`. `seed` has no effect."""
        who = repr(self)
        held, sizes = given_parts(self, task.size)
        self._refuse_outsiders(held, rows, task.size, who)
        words = f"{len(held)} {task.row_name} given" if self.rows is not None else f"{len(sizes)} folds given"
        repeats = partition_repeats(rows, held, cuts_of(sizes))
        recipe = Recipe(kind="given", words=words, partition=repeats == 1, grouped=task.groups is not None)
        return checked(task, Splits.from_sizes(rows, held, sizes, recipe), who=who)

    def _refuse_outsiders(self, held: Rows, rows: Rows, n: int, who: str) -> None:
        outside = held[(held < 0) | (held >= n)]
        if len(outside):
            raise SplitError(f"{who}: there is no row {outside[0]}. The task has {n} rows, counted from 0.")
        missing = held[~np.isin(held, rows)] if len(rows) < n else held[:0]
        if len(missing):
            raise SplitError(
                f"{who}: row {missing[0]} is held out by the level above, so it cannot be held out here too "
                f"({len(missing)} such rows). Row numbers are those of the whole task: use rows of its training part, "
                "or a strategy that draws, such as KFold or Holdout."
            )


def given_parts(given: Given, n: int) -> tuple[Rows, NDArray[np.intp]]:
    """Return the held-out rows of all parts, ascending within each, and the part sizes. The task has `n` rows."""
    if given.rows is not None:
        given.rows.refuse_other_length(n, who=repr(given))
        return np.sort(given.rows.numbers), np.asarray([len(given.rows)], dtype=np.intp)
    codes = given.folds.codes.numbers
    if len(codes) != n:
        raise SplitError(f"{given!r}: there are {len(codes)} fold labels, but the task has {n} rows.")
    held = np.flatnonzero(codes != NEVER_HELD)
    return held[np.argsort(codes[held], kind="stable")], np.bincount(codes[held])


def _fold_labels(labels: Any) -> FoldLabels:
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise SplitError(f"Given: folds must be a label for each row, but is {labels!r}.")
    values = as_array(labels, cells=True)
    if values.ndim != 1 or any(isinstance(label, list) for label in values):
        raise SplitError("Given: folds must be a flat sequence, one label for each row.")
    codes = np.full(len(values), NEVER_HELD, dtype=np.intp)
    if values.dtype.kind in "iuf":
        held = ~(np.isnan(values) | ((values < 0) & (values == np.trunc(values))))
        names, codes[held] = np.unique(values[held], return_inverse=True)
        return FoldLabels(RowNumbers.of(codes, who="Given"), len(names))
    held = np.array([not _is_never_held(label) for label in values], dtype=bool)
    codes[held], labels_held = label_codes(values[held].tolist())
    return FoldLabels(RowNumbers.of(codes, who="Given"), len(labels_held))


def _is_never_held(label: Any) -> bool:
    whole = isinstance(label, Integral) or (isinstance(label, float) and label.is_integer())
    return is_missing(label) or (whole and label < 0)
