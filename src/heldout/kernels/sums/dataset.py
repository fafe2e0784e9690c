"""The data from which sums are computed: which columns, targets and weights, and how rows are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.step import remember
from heldout.kernels.sums.rounding import Floats, Refuse
from heldout.task.task import Task


def matrix_of(task: Task) -> NDArray[Any]:
    """Return X as a C-ordered matrix; an array that already is one is not copied."""
    kind = task.container
    if kind == "array":
        return np.ascontiguousarray(task.X)
    wanted = np.float32 if np.result_type(*column_types(task)) == np.float32 else np.float64
    values = task.X.to_numpy() if kind == "polars" else task.X.to_numpy(dtype=wanted)
    return np.ascontiguousarray(values, dtype=wanted)


def data_problem(task: Task) -> str:
    """Return why X is not a dense, finite matrix of numbers, in words; "" if it is. The first call reads X once."""
    return remember(task.memo, "data problem", lambda: _data_problem(task))


def _data_problem(task: Task) -> str:
    try:
        for kind in column_types(task):
            if kind.kind not in "biuf" or kind == np.float16 or kind.itemsize > 8:
                return f"X is of type {kind}; only float64, float32, whole numbers and booleans are read"
    except Refuse as reason:
        return str(reason)
    total = matrix_of(task).sum(axis=0, dtype=np.float64)  # a single pass with no temporary as large as X
    return "" if np.isfinite(total).all() else "X has missing or infinite values"


def class_codes(task: Task) -> NDArray[np.intp]:
    """Return the position of each row's class among the sorted classes."""
    assert task.classes is not None, "only tasks of one class a row have class codes"
    classes = task.classes
    return remember(task.memo, "class codes", lambda: np.searchsorted(classes, task.y).astype(np.intp))


def smallest_class(task: Task) -> int:
    """Return the number of rows of the smallest class."""
    return remember(task.memo, "smallest class", lambda: int(np.bincount(class_codes(task)).min()))


def labels_of(task: Task) -> NDArray[Any]:
    """Return the classes as scikit-learn stores them: strings have the narrowest dtype that holds them."""
    assert task.classes is not None, "only tasks of one class a row have labels"
    return np.asarray(task.classes.tolist()) if task.classes.dtype.kind in "UO" else task.classes


def numeric_type(task: Task, places: tuple[int, ...] | None, *, first_of_polars: bool) -> np.dtype[Any]:
    """Return float32 where scikit-learn computes and answers in float32, else float64.

    `places` are the columns that the model sees; None means all. scikit-learn does not look at the types of polars
    columns beforehand: a step that accepts both precisions (`first_of_polars`) then converts to the first it accepts,
    float64.
    """
    if task.container == "polars" and first_of_polars:
        return np.dtype(np.float64)
    kinds = column_types(task)
    seen = np.result_type(*(kinds if places is None or len(kinds) == 1 else [kinds[j] for j in places]))
    return np.dtype(np.float32) if seen == np.float32 else np.dtype(np.float64)


def column_types(task: Task) -> list[np.dtype[Any]]:
    """Return the dtype of each column, or of the whole array. Raise Refuse if X is no dense table of numbers."""
    kind = task.container
    if kind == "sparse":
        raise Refuse("X is sparse; the statistics are made of dense columns")
    if kind == "objects":
        raise Refuse("X is no table of numbers")
    if kind == "array":
        return [task.X.dtype]
    types: list[np.dtype[Any]] = []
    for name, dtype in zip(task.X.columns, task.X.dtypes, strict=True):
        plain = _plain_type(dtype)
        if plain is None:
            raise Refuse(f"column {name!r} of X is of type {dtype}, not a plain number")
        types.append(np.dtype(np.float64) if plain.kind == "b" else plain)  # frames with booleans are read as float64
    return types


def _plain_type(dtype: Any) -> np.dtype[Any] | None:
    if isinstance(dtype, np.dtype):
        return dtype if dtype.kind in "biuf" else None
    if hasattr(dtype, "is_numeric") and hasattr(dtype, "is_decimal"):  # polars
        name = str(dtype).lower()
        return np.dtype(name) if dtype.is_numeric() and not dtype.is_decimal() and name in np.sctypeDict else None
    return np.dtype(bool) if str(dtype) == "Boolean" else None


CHUNK_NUMBERS = 1 << 17  # of one chunk of rows: a megabyte, which stays in a core's cache
SAMPLED_ROWS = 256  # rows that show the spread of columns, and that most columns are not constant


class Shift(NamedTuple):
    """Holds the offset that is subtracted from columns and targets. It changes rounding errors alone.

    A constant column is shifted by its own value, so that exact zeros are left.
    """

    x: Floats  # columns, or classes × columns
    y: Floats


def column_shift(values: NDArray[Any], rows: Rows | None) -> Floats:
    """Return the offset to subtract from each column: about its mean, or the value of a constant column.

    The offset is 0 if the mean is within one standard deviation of 0: such a column loses no digits as it is, and if no
    column is shifted, every chunk saves a pass. For all rows (None) the mean of a sample is enough. For given rows,
    whose products lost digits about that offset, it is their own mean.
    """
    count = len(values) if rows is None else len(rows)
    places = np.arange(0, count, max(1, count // SAMPLED_ROWS))
    with np.errstate(over="ignore", invalid="ignore"):
        sample = values.take(places if rows is None else rows[places], axis=0).astype(np.float64)
        if rows is None:
            shift = sample.mean(axis=0)
        else:
            shift = np.sum([chunk.sum(axis=0, dtype=np.float64) for chunk in _chunks(values, rows)], axis=0) / count
        shift[np.abs(shift) <= sample.std(axis=0)] = 0.0
    first = sample[0]
    constant = np.flatnonzero((sample == first).all(axis=0))
    for chunk in _chunks(values, rows) if len(constant) else ():
        constant = constant[(chunk[:, constant] == first[constant]).all(axis=0)]
    shift[constant] = first[constant]
    return np.asarray(shift)


def class_shifts(X: NDArray[Any], codes: NDArray[Any], rows: Rows | None, count: int) -> Floats:
    """Return the mean of each column in each class, or its exact value if it is constant there."""
    shifts = np.zeros((count, X.shape[1]))
    codes = codes if rows is None else codes[rows]
    for code in range(count):
        members = np.flatnonzero(codes == code)
        if not len(members):
            continue
        members = members if rows is None else rows[members]
        first = X[members[0]].astype(np.float64)
        offset, constant = np.zeros(X.shape[1]), np.ones(X.shape[1], dtype=bool)
        for chunk in _chunks(X, members):
            away = chunk - first  # nothing but zeros where a column is constant
            constant &= ~away.any(axis=0)
            offset += away.sum(axis=0, dtype=np.float64)
        shifts[code] = np.where(constant, first, first + offset / len(members))
    return shifts


def _chunks(values: NDArray[Any], rows: Rows | None) -> Iterator[NDArray[Any]]:
    if rows is None:
        yield values
        return
    size = max(32, CHUNK_NUMBERS // max(1, values.shape[1]))
    for start in range(0, len(rows), size):
        yield values.take(rows[start : start + size], axis=0)


class MatrixSource(Protocol):
    """Declares how the matrix that is summed is made of a task, if it is not X itself. Hashable."""

    def problem(self, task: Task) -> str:
        """Return why the matrix cannot be made, in words; "" if it can."""
        ...

    def make(self, task: Task) -> Any:
        """Return the matrix: dense, or sparse by rows."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Declares which sums are kept. Kernels with equal layouts share them."""

    kind: str = "products"  # of columns, targets and one; "squares": Σx and Σx² alone; "totals": Σx alone
    matrix: MatrixSource | None = None  # None: X as it is
    places: tuple[int, ...] | None = None  # the columns of X that the model sees, in its order; None: all
    targets: str = ""  # "numbers", "signs" of ±1 for each class, or "" where sums need no targets
    by_class: bool = False  # whether each class has sums of its own
    class_weight: tuple[tuple[Any, float], ...] = ()  # fixed weights of classes


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """Holds the data as a layout reads them."""

    layout: Layout
    X: Any  # rows × columns: C order, any numeric type; or sparse by rows, for totals
    Y: Floats  # rows × targets
    shift: Shift
    weight: Floats | None = None  # of rows
    codes: NDArray[Any] | None = None  # classes of rows, where each class has sums of its own
    class_count: int = 1

    @cached_property
    def width(self) -> int:
        """Number of columns; where products are kept, with the targets and the constant."""
        more = self.Y.shape[1] + 1 if self.layout.kind == "products" else 0
        return max(1, int(self.X.shape[1] + more))

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the sums of one set of rows."""
        layers = {"products": self.width, "squares": 2, "totals": 1}[self.layout.kind]
        return (self.class_count, layers, self.width)

    @cached_property
    def chunk(self) -> int:
        """Number of rows read at a time, from the width alone, so that sums have the same bits on every thread."""
        return max(32, min(8192, CHUNK_NUMBERS // self.width))

    def by_class(self, rows: Rows) -> list[Rows]:
        """Return these rows in one array for each class if classes have their own sums, else in one array."""
        if self.codes is None:
            return [rows]
        codes = self.codes[rows]
        cuts = np.cumsum(np.bincount(codes, minlength=self.class_count))[:-1]
        return list(np.split(rows[np.argsort(codes, kind="stable")], cuts))

    def own_shift(self, rows: Rows) -> Shift:
        """Return the offset that centres these rows, or each class of them. Totals keep the common offset."""
        if self.layout.kind == "totals":
            return self.shift
        if self.codes is None or self.layout.targets:
            return Shift(column_shift(self.X, rows), column_shift(self.Y, rows))
        return Shift(class_shifts(self.X, self.codes, rows, self.class_count), np.zeros(0))


def make_dataset(task: Task, layout: Layout, X: Any) -> Dataset:
    """Return the data of a task in this layout; X holds the layout's columns."""
    count, weight = 1, task.weight
    codes: NDArray[Any] | None = None
    if layout.by_class or layout.class_weight:
        assert task.classes is not None, "the driver has looked for classes"
        codes = class_codes(task)
        if layout.class_weight:
            places = {label: place for place, label in enumerate(task.classes.tolist())}
            by_class = np.ones(len(task.classes))
            for label, value in layout.class_weight:
                by_class[places[label]] = value
            weight = by_class[codes] if weight is None else weight * by_class[codes]
        narrow = np.int16 if len(task.classes) < 1 << 15 else np.int64  # 16-bit numbers sort ten times as fast
        codes, count = (codes.astype(narrow), len(task.classes)) if layout.by_class else (None, 1)
    Y = _targets(task, layout)
    if layout.kind == "products":
        shift = Shift(column_shift(X, None), column_shift(Y, None) if Y.shape[1] else np.zeros(0))
    elif layout.kind == "totals":
        shift = Shift(np.zeros(X.shape[1]), np.zeros(0))
    else:
        assert codes is not None, "sums of squares alone are kept by class"
        shift = Shift(class_shifts(X, codes, None, count), np.zeros(0))
    return Dataset(layout=layout, X=X, Y=Y, shift=shift, weight=weight, codes=codes, class_count=count)


def _targets(task: Task, layout: Layout) -> Floats:
    if not layout.targets:
        return np.empty((task.size, 0))
    if layout.targets == "numbers":
        return np.ascontiguousarray(task.y.reshape(task.size, -1), dtype=np.float64)
    assert task.classes is not None, "the driver has looked for classes"
    codes, count = class_codes(task), len(task.classes)
    if count == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(count), 1.0, -1.0)


class ChunkReader:
    """Reads rows as float64 less their shift into a reused buffer, since new memory costs more than the sums."""

    def __init__(self, data: Dataset, rows: int) -> None:
        self._X = data.X
        self._taken = np.empty((max(1, rows), data.X.shape[1]), dtype=data.X.dtype)
        self._changed = self._taken if data.X.dtype == np.float64 else np.empty(self._taken.shape)
        self._squares: Floats | None = None

    def read(self, rows: Rows, shift: Floats) -> Floats:
        """Return these rows less their shift. The result is valid until the next call and must not be written to.

        Consecutive rows that need no change are returned as a view of X.
        """
        shifts = bool(shift.any())
        if self._X.dtype == np.float64 and not shifts and _follow_each_other(rows):
            view: Floats = self._X[int(rows[0]) : int(rows[-1]) + 1]
            view.flags.writeable = False
            return view
        taken, changed = self._taken[: len(rows)], self._changed[: len(rows)]
        np.take(self._X, rows, axis=0, out=taken, mode="clip")  # "clip" writes straight into `taken`
        if shifts or taken.dtype != np.float64:
            np.subtract(taken, shift, out=changed)
        return changed

    def times(self, x: Floats, factors: Floats) -> Floats:
        """Return what was read last, with each row multiplied by its factor, in the same buffer."""
        return np.multiply(x, factors, out=self._changed[: len(x)])

    def squares(self, x: Floats) -> Floats:
        if self._squares is None:
            self._squares = np.empty(self._changed.shape)
        return np.multiply(x, x, out=self._squares[: len(x)])


def read_chunks(data: Dataset, rows: Rows, shift: Floats, size: int | None = None) -> Iterator[tuple[slice, Floats]]:
    """Yield these rows in chunks, less their shift, each with its slice of the rows; valid until the next."""
    size = data.chunk if size is None else size
    reader = ChunkReader(data, min(size, len(rows)))
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        yield slice(start, start + len(chunk)), reader.read(chunk, shift)


def _follow_each_other(rows: Rows) -> bool:
    return len(rows) > 0 and int(rows[-1]) - int(rows[0]) == len(rows) - 1 and bool((np.diff(rows) == 1).all())
