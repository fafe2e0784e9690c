"""The data as sums are made of them: which columns, targets and weights, and how rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.sums.data import class_codes
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.sums.shifts import CHUNK_NUMBERS, Shift, class_shifts, column_shift
from heldout.task.task import Task


class MatrixSource(Protocol):
    """How the matrix that is summed is made of a task, where it is not X as it is. Hashable."""

    def problem(self, task: Task) -> str:
        """Why it cannot be made, in words; "" if it can."""
        ...

    def make(self, task: Task) -> Any:
        """The matrix: dense, or sparse by rows."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which sums are kept. Equal layouts share them, whatever the kernel."""

    kind: str = "products"  # of columns, targets and one; "squares": Σx and Σx² alone; "totals": Σx alone
    matrix: MatrixSource | None = None  # None: X as it is
    places: tuple[int, ...] | None = None  # the columns of X that the model sees, in its order; None: all
    targets: str = ""  # "numbers", "signs" of ±1 for each class, or "" where sums need no targets
    by_class: bool = False  # whether each class has sums of its own
    class_weight: tuple[tuple[Any, float], ...] = ()  # fixed weights of classes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dataset:
    """The data as a layout reads them."""

    layout: Layout
    X: Any  # rows × columns: C order, any numeric type; or sparse by rows, for totals
    Y: Floats  # rows × targets
    shift: Shift
    weight: Floats | None = None  # of rows
    codes: NDArray[Any] | None = None  # classes of rows, where each class has sums of its own
    class_count: int = 1

    @property
    def width(self) -> int:
        """Columns, and where products are kept targets and the constant beside them."""
        more = self.Y.shape[1] + 1 if self.layout.kind == "products" else 0
        return max(1, int(self.X.shape[1] + more))

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the sums of one set of rows."""
        layers = {"products": self.width, "squares": 2, "totals": 1}[self.layout.kind]
        return (self.class_count, layers, self.width)

    @property
    def chunk(self) -> int:
        """Rows read at a time: fixed by the width, so that sums have the same bits whichever thread makes them."""
        return max(32, min(8192, CHUNK_NUMBERS // self.width))

    def by_class(self, rows: Rows) -> list[Rows]:
        """These rows, class by class, where classes have sums of their own."""
        if self.codes is None:
            return [rows]
        codes = self.codes[rows]
        cuts = np.cumsum(np.bincount(codes, minlength=self.class_count))[:-1]
        return list(np.split(rows[np.argsort(codes, kind="stable")], cuts))

    def own_shift(self, rows: Rows) -> Shift:
        """About the means of these rows, or of their classes."""
        if self.layout.kind == "totals":
            return self.shift
        if self.codes is None or self.layout.targets:
            return Shift(column_shift(self.X, rows), column_shift(self.Y, rows))
        return Shift(class_shifts(self.X, self.codes, rows, self.class_count), np.zeros(0))


def make_dataset(task: Task, layout: Layout, X: Any) -> Dataset:
    """The data of a task in this layout; X holds the layout's columns."""
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
        return np.empty((len(task), 0))
    if layout.targets == "numbers":
        return np.ascontiguousarray(task.y.reshape(len(task), -1), dtype=np.float64)
    assert task.classes is not None, "the driver has looked for classes"
    codes, count = class_codes(task), len(task.classes)
    if count == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(count), 1.0, -1.0)


class ChunkReader:
    """Reads rows as float64 less their shift, into memory that is used again: fresh memory costs more than the sums."""

    def __init__(self, data: Dataset, rows: int) -> None:
        self._X = data.X
        self._taken = np.empty((max(1, rows), data.X.shape[1]), dtype=data.X.dtype)
        self._changed = self._taken if data.X.dtype == np.float64 else np.empty(self._taken.shape)
        self._squares: Floats | None = None

    def read(self, rows: Rows, shift: Floats) -> Floats:
        """The columns of these rows less their shift; valid until the next call, and not to be written to.

        Rows that follow each other and need no change are read where they are.
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
        """What was read last, times a number for each row; it takes the place of what was read."""
        return np.multiply(x, factors, out=self._changed[: len(x)])

    def squares(self, x: Floats) -> Floats:
        if self._squares is None:
            self._squares = np.empty(self._changed.shape)
        return np.multiply(x, x, out=self._squares[: len(x)])


def _follow_each_other(rows: Rows) -> bool:
    return len(rows) > 0 and int(rows[-1]) - int(rows[0]) == len(rows) - 1 and bool((np.diff(rows) == 1).all())
