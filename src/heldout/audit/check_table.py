"""The table to check: a sample of rows, with columns as numbers and codes and the target as centred columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from heldout.base.rowkeys import Rows
from heldout.splits import Splits
from heldout.task import Task
from heldout.task.arrays import as_array, column, container_kind, is_sparse, take_rows
from heldout.task.column_kinds import BEYOND_FLOATS, is_prose, look_like_dates

Kind = Literal["number", "date", "category", "text"]
Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

MOST_CELLS = 5_000_000  # rows × columns that are looked at, where the rows are many
FEWEST_ROWS = 2_000  # always checked, even with many columns
MOST_ROWS = 100_000  # more are sampled
MOST_OUTPUTS = 20  # of a target; the rarer classes are taken together
MOST_STEPS = 0.2  # distinct values per row: numbers with more are treated as continuous, not as levels
_LARGEST, _SHIFT = 1e100, 700  # larger numbers are divided by 2**700, so that their squares do not overflow; and back
_NANOSECONDS_A_DAY = 86_400e9
_BLOCK = 1_000_000  # numbers that are looked at together
_LOOK_UP = 50  # operations for each number of a column that is looked up in all rows
_FIRST_DATE, _LAST_DATE = 1900_01_01, 2100_12_31


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """The values of one column in the sampled rows."""

    name: str
    position: int  # in X
    kind: Kind
    numbers: Floats  # numbers, dates as days, levels as codes; NaN where missing
    whole: bool  # every number present is a whole one
    words: float = 0.0  # how many words a typical value has, for categories and text

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """A mask of the rows with a value."""
        return ~np.isnan(self.numbers)

    @cached_property
    def order(self) -> Codes:
        """The rows with a value, sorted by value. Equal values are in no particular order."""
        order = np.argsort(self.numbers)  # NaN goes last
        return order[: int(self.present.sum())]

    @cached_property
    def sorted_codes(self) -> Codes:
        """The codes 0, 1, … of the values in `order`."""
        values = self.numbers[self.order]
        return np.concatenate([[0], np.cumsum(values[1:] != values[:-1])]).astype(np.intp)[: len(values)]

    @cached_property
    def codes(self) -> Codes:
        """A code for each row, ascending with the value; -1 if it is missing."""
        codes = np.full(len(self.numbers), -1, dtype=np.intp)
        codes[self.order] = self.sorted_codes
        return codes

    @cached_property
    def counts(self) -> Codes:
        """The number of rows with each value."""
        return np.bincount(self.sorted_codes)

    @property
    def distinct(self) -> int:
        """The number of different values."""
        return len(self.counts) if len(self.order) else 0

    @property
    def continuous(self) -> bool:
        """Whether this is a number or date with too many values to treat each as a level."""
        return self.kind in ("number", "date") and self.distinct > max(10, MOST_STEPS * len(self.order))


def read_column(X: Any, position: int) -> Column:
    """Read the column of X at this position.

    >>> read_column(np.array([[1.0, 5.0], [2.0, 5.5], [2.0, 6.0]]), 0).codes.tolist()
    [0, 1, 1]
    """
    return read_columns(X, [position])[0]


def read_columns(X: Any, positions: Sequence[int]) -> list[Column]:
    """Read several columns of X, all numeric ones at once."""
    kind = container_kind(X)
    if kind == "objects":
        return [interpret(X, name="the text", position=0)]
    named = [(str(X.columns[one]) if kind in ("pandas", "polars") else f"column {one}", one) for one in positions]
    if kind == "sparse":
        return _numeric(X[:, positions].toarray().T, named)
    if kind == "array" and X.dtype.kind in "biuf":
        return _numeric(X.T[positions], named, lambda one: X[:, one])
    plain = [(name, one) for name, one in named if kind == "pandas" and _is_numeric(X.dtypes.iloc[one])]
    block = X.iloc[:, [one for _, one in plain]].to_numpy(dtype=np.float64).T if plain else np.empty((0, len(X)))
    read = {column.position: column for column in _numeric(block, plain, lambda one: X.iloc[:, one].to_numpy())}
    for name, one in named:
        if one not in read:
            read[one] = interpret(X[:, one] if kind == "array" else as_array(column(X, one)), name=name, position=one)
    return [read[one] for one in positions]


def in_blocks(columns: Sequence[Column], rows: int) -> Iterator[Sequence[Column]]:
    """Yield so many columns at a time that their values in these rows are not too many."""
    width = max(1, _BLOCK // max(1, rows))
    yield from (columns[start : start + width] for start in range(0, len(columns), width))


def _is_numeric(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def interpret(values: NDArray[Any], *, name: str, position: int) -> Column:
    """Make a column from values, by their type; texts by their content.

    >>> interpret(np.array(["2024-01-31", "2024-02-01", None], dtype=object), name="day", position=0).kind
    'date'
    """
    if values.dtype.kind in "biuf":
        return _numeric(values[None], [(name, position)], lambda _: values)[0]
    if values.dtype.kind in "mM":
        dated = values.dtype.kind == "M"
        days = _days(values, "datetime64[ns]" if dated else "timedelta64[ns]")
        return Column(name=name, position=position, kind="date" if dated else "number", numbers=days, whole=False)
    cells = values.astype(object)
    if cells.ndim > 1:
        cells = np.fromiter(map(str, cells), dtype=object, count=len(cells))
    nested = any(isinstance(cell, list | tuple | np.ndarray | dict) for cell in cells[:100])
    missing = np.zeros(len(cells), dtype=bool) if nested else np.asarray(pd.isna(cells), dtype=bool)
    types = set(map(type, cells[~missing]))
    if types and all(issubclass(kind, int | float | np.number | np.bool_) for kind in types):
        numbers = np.full(len(cells), np.nan)
        try:
            numbers[~missing] = cells[~missing].astype(np.float64)
            return _numeric(numbers[None], [(name, position)], lambda _: np.array(cells.tolist()))[0]
        except OverflowError:
            pass  # whole numbers of hundreds of digits are names, not amounts
    return _texts(cells, missing, name, position)


def _numeric(
    block: NDArray[Any], named: Sequence[tuple[str, int]], exact: Callable[[int], NDArray[Any]] | None = None
) -> list[Column]:
    """Make columns from the rows of a block of numbers; `named` holds the name and the position of each.

    `exact` returns the column at a position as it was: integers that no float holds are names, not amounts.
    """
    numbers = np.ascontiguousarray(block, dtype=np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        numbers = np.where(finite, numbers, np.nan)
    low, high = np.fmin.reduce(numbers, axis=1), np.fmax.reduce(numbers, axis=1)
    most = np.maximum(np.abs(low), np.abs(high))
    for far, shift in ((most > _LARGEST, -_SHIFT), ((most < 1 / _LARGEST) & (most > 0), _SHIFT)):
        if far.any():
            numbers = np.where(far[:, None], np.ldexp(numbers, shift), numbers)
    whole = np.asarray(finite.any(axis=1))
    for few in (slice(0, 32), slice(32, None)):  # most columns of fractions show in a few rows
        some = numbers[whole, few]
        whole[whole] = ((some == np.trunc(some)) | ~finite[whole, few]).all(axis=1)
    columns = []
    for place, (name, position) in enumerate(named):
        if exact is not None and whole[place] and max(-low[place], high[place]) >= BEYOND_FLOATS:
            cells = exact(position)
            if cells.dtype.kind in "iu":
                columns.append(_texts(cells.astype(object), np.zeros(len(cells), dtype=bool), name, position))
                continue
        values, kind = numbers[place], "number"
        written = whole[place] and low[place] >= _FIRST_DATE and high[place] <= _LAST_DATE
        if written and _are_written_dates(values[finite[place]]):
            # As days, near enough to keep their order and their steps.
            values, kind = values // 10_000 * 372 + values // 100 % 100 * 31 + values % 100, "date"
        is_whole = bool(whole[place]) and kind == "number"
        columns.append(Column(name=name, position=position, kind=kind, numbers=values, whole=is_whole))  # type: ignore[arg-type]
    return columns


def _are_written_dates(values: Floats) -> bool:
    """Return whether integers from _FIRST_DATE to _LAST_DATE are dates written as 20240131."""
    month, day = values // 100 % 100, values % 100
    within = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return len(values) > 10 and bool(within.all()) and len(np.unique(values)) > 10


def _days(values: NDArray[Any], unit: str) -> Floats:
    missing = np.isnat(values)
    days = values.astype(unit).astype(np.int64) / _NANOSECONDS_A_DAY
    days[missing] = np.nan
    return days


def _texts(cells: NDArray[Any], missing: NDArray[np.bool_], name: str, position: int) -> Column:
    if set(map(type, cells[~missing])) <= {str}:
        written = cells.copy()
        written[missing] = None
    else:
        written = np.array([None if gap else str(cell) for cell, gap in zip(cells, missing, strict=True)], dtype=object)
    codes, levels = pd.factorize(written)
    dates = _as_dates(levels)
    if dates is not None:
        days = np.append(dates, np.nan)[codes]
        return Column(name=name, position=position, kind="date", numbers=days, whole=False)
    numbers = np.where(codes < 0, np.nan, codes.astype(np.float64))
    words = float(np.median([len(level.split()) for level in levels[:1000]])) if len(levels) else 0.0
    kind: Kind = "text" if is_prose(words, len(levels), int(np.count_nonzero(codes >= 0))) else "category"
    return Column(name=name, position=position, kind=kind, numbers=numbers, whole=True, words=words)


def _as_dates(levels: Any) -> Floats | None:
    if not len(levels) or not look_like_dates(levels[:20]):
        return None
    dates = pd.to_datetime(pd.Series(levels), format="ISO8601", errors="coerce", utc=True)
    if dates.isna().any():
        return None
    return _days(dates.dt.tz_localize(None).to_numpy(), "datetime64[ns]")


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Columns and target in the sampled rows, which are in a random order.

    Sorting thus leaves equal values in a random order too, so that the order of the file has no influence.
    """

    task: Task
    rows: Rows  # which rows of the task are looked at, in a random order
    columns: tuple[Column, ...]
    splits: Splits | None  # the test parts, where they were asked for
    given: bool  # they were given by row, not drawn
    seed: int
    allowance: float = np.inf  # operations for each question that takes more than a look at every column

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def sampled(self) -> bool:
        """Whether some rows were left out of the sample."""
        return len(self.rows) < self.task.size

    @cached_property
    def responses(self) -> Floats:
        """The centred target in the sampled rows: class indicators, or the ranks of a number divided by their count."""
        return as_responses(self.outputs, classification=self.task.classification)

    @cached_property
    def held(self) -> NDArray[np.bool_] | None:
        """A mask of the task's rows in a given test part; None if parts were drawn, or if they partition the rows."""
        if not self.given or self.splits is None or self.splits.recipe.partition:
            return None
        held = np.zeros(self.task.size, dtype=bool)
        held[self.splits.held] = True
        return held

    @cached_property
    def outputs(self) -> NDArray[Any]:
        """The target in the sampled rows as numbers, a column each output; texts are coded."""
        y = self.task.y[self.rows]
        y = y if y.ndim == 2 else y[:, None]
        coded = y.dtype.kind not in "biuf"
        return np.column_stack([np.unique(one, return_inverse=True)[1] for one in y.T]) if coded else y

    @property
    def responses_are_all(self) -> bool:
        """Whether no output of the target is left out of the responses."""
        return bool(self.outputs.shape[1] <= MOST_OUTPUTS)

    @cached_property
    def class_counts(self) -> list[int]:
        """How many different values each output has."""
        return [len(np.unique(output)) for output in self.outputs.T]

    @property
    def whole_columns(self) -> int:
        """How many columns a check may look up in all rows."""
        return int(min(10_000, max(2, self.allowance / (_LOOK_UP * self.task.size))))

    def affords(self, operations: float) -> bool:
        """Return whether so many floating-point operations may be spent on a question of its own."""
        return operations <= self.allowance

    def whole(self, column: Column) -> Column:
        """Return this column in all rows of the task. If the table is not sampled, it is returned as it is."""
        return read_column(self.task.X, column.position) if self.sampled else column


def rows_to_look_at(columns: int) -> int:
    """Return how many rows of so many columns are looked at, where no study limits them."""
    return max(FEWEST_ROWS, MOST_CELLS // max(1, columns))


def open_table(
    task: Task, *, rows: int, columns: Sequence[int], splits: Splits | None, given: bool, seed: int
) -> Table:
    """Read these columns of a task in so many rows, drawn at random."""
    drawn = np.random.default_rng(seed).permutation(task.size)[:rows].astype(np.intp)
    part = take_rows(task.X, drawn)
    if is_sparse(part):
        part = part.tocsc()
    read = tuple(read_columns(part, columns))
    return Table(task=task, rows=drawn, columns=read, splits=splits, given=given, seed=seed)


def as_responses(y: NDArray[Any], *, classification: bool) -> Floats:
    """Convert a target to centred columns: one indicator per class, or the rank of each number.

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
    """Return a code for each distinct target. The outputs of one row count together as one value."""
    if y.ndim == 2:
        return np.unique(y.astype(str), axis=0, return_inverse=True)[1].ravel().astype(np.intp)
    return np.unique(y, return_inverse=True)[1].astype(np.intp)
