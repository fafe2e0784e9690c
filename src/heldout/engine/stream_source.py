"""A stream with what its passes need: the assignment of rows to cells, and what the target is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import InputError, TargetError
from heldout.base.rowkeys import Rows
from heldout.engine.progress import Progress
from heldout.kernels.sums.dataset import Shift
from heldout.splits.cells import CellPlan, Codes
from heldout.task.stream import Chunk, Stream, StreamedTask

AHEAD = 2  # chunks read before they are asked for
Item = TypeVar("Item")
Found = TypeVar("Found")
Do = Callable[[Chunk, Codes, Codes | None], Found]  # with the cell of each row, and its class where there are any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """A stream, its task, and how its rows are assigned to cells."""

    stream: Stream
    task: StreamedTask
    plan: CellPlan
    shift: Shift  # what the first rows suggest
    watched: Rows | None = None  # cells whose rows must be told apart: a test set that a ledger knows
    on_rows: Callable[[int], None] | None = None  # told how many more rows have passed

    def each(self, do: Do[Found]) -> Iterator[Found]:
        """Make one pass, and yield the result of `do` for each chunk, in order. Workers of the stream may run it."""
        plan, classes = self.plan, self.task.classes
        work = ChunkWork(do=do, rows=_RowsOf(plan=plan, name=self.stream.name, classes=classes))
        seen = 0
        for found, size in self._spread(work):
            seen += size
            if self.on_rows is not None:
                self.on_rows(size)
            yield found
        if seen != self.stream.rows:
            raise InputError(
                f"{self.stream.name!r} said it had {self.stream.rows:,} rows, but {seen:,} were read. "
                "It seems to have changed meanwhile; run the study again."
            )

    def _spread(self, work: ChunkWork[Found]) -> Iterator[tuple[Found, int]]:
        spread = getattr(self.stream, "spread", None)
        if spread is not None:
            counts = spread(CountClasses(rows=work.rows)) if self.plan.stratified else None
            for found, size, _ in spread(work, counts):
                yield found, size
            return
        passed: Codes | None = None
        for chunk in read_ahead(self.stream.chunks()):
            found, size, passed = work(chunk, passed)
            yield found, size


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _RowsOf:
    """Assigns the rows of a chunk to cells. It holds no stream, so it can be sent to workers."""

    plan: CellPlan
    name: str
    classes: NDArray[Any] | None

    @property
    def kinds(self) -> int:
        return len(self.classes) if self.plan.stratified and self.classes is not None else 1

    def codes(self, chunk: Chunk) -> Codes | None:
        return None if self.classes is None else class_codes(chunk.y, self.classes, self.name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChunkWork(Generic[Found]):
    """Assigns a chunk's rows to cells and calls `do`.

    Returns its result, the number of rows, and how many rows of each kind have passed so far.
    """

    do: Do[Found]
    rows: _RowsOf

    def __call__(self, chunk: Chunk, before: Codes | None) -> tuple[Found, int, Codes]:
        plan, codes = self.rows.plan, self.rows.codes(chunk)
        strata = codes if plan.stratified else None
        cells, passed = plan.assign(chunk.start, len(chunk), strata, kinds=self.rows.kinds, before=before)
        return self.do(chunk, cells, codes), len(chunk), passed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountClasses:
    """Counts the rows of each class in a chunk. Workers need the earlier counts, since rows take cells in turn."""

    rows: _RowsOf

    def __call__(self, chunk: Chunk, before: Codes | None = None) -> Codes:
        codes = self.rows.codes(chunk)
        assert codes is not None, "only classes are counted"
        return np.bincount(codes, minlength=self.rows.kinds).astype(np.int64)


def class_codes(y: NDArray[Any], classes: NDArray[Any], name: str) -> Codes:
    """Return the position of each label in the classes that were found before."""
    codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    if not (classes[codes] == y).all():
        raise TargetError(f"The target of {name!r} has a class that it had not before. It seems to have changed.")
    return codes.astype(np.int64)


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items in order. A thread reads the next ones while the caller works on the last."""
    end: Any = object()
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(next, items, end) for _ in range(AHEAD))
        while (item := coming.popleft().result()) is not end:
            coming.append(reader.submit(next, items, end))
            yield item


STEPS = 100  # of one pass, on the bar


class Meter:
    """Counts rows that pass as hundredths of the planned passes."""

    def __init__(self, progress: Progress, *, rows: int, passes: int) -> None:
        self._progress, self._rows, self._seen = progress, rows, 0
        self._most = STEPS * passes
        progress.expect_rounds(self._most, "reading the data")

    def __call__(self, rows: int) -> None:
        """Record that `rows` more rows have passed."""
        self._seen += rows
        reached = min(self._most, self._seen * STEPS // self._rows)  # a pass that was not planned shows nothing
        while self._progress.done < reached:
            self._progress.end_round(failed=False)
