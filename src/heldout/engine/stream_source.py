"""A stream with all that its passes need to know: how rows are dealt into cells, and what the target is."""

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
from heldout.kernels.sums.shifts import Shift
from heldout.splits.cells import Codes, Deal, Dealer
from heldout.task.stream import Chunk, Stream, StreamedTask

AHEAD = 2  # chunks read before they are asked for
Item = TypeVar("Item")
Found = TypeVar("Found")
Do = Callable[[Chunk, Codes, Codes | None], Found]  # with the cell of each row, and its class where there are any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """A stream, its task, and how its rows are dealt into cells."""

    stream: Stream
    task: StreamedTask
    deal: Deal
    shift: Shift  # what the first rows suggest
    stratified: bool  # cells get an even share of each class
    watched: Rows | None = None  # cells whose rows must be told apart: a test set that a ledger knows
    on_rows: Callable[[int], None] | None = None  # told how many more rows have passed

    def each(self, do: Do[Found]) -> Iterator[Found]:
        """One pass: what `do` makes of each chunk, in order; where the stream has workers, made by them."""
        dealing = Dealing(do=do, source=_Dealt.of(self))
        seen = 0
        for found, size in self._spread(dealing):
            seen += size
            if self.on_rows is not None:
                self.on_rows(size)
            yield found
        if seen != self.stream.rows:
            raise InputError(
                f"{self.stream.name!r} said it had {self.stream.rows:,} rows, but {seen:,} were read. "
                "It seems to have changed meanwhile; run the study again."
            )

    def _spread(self, dealing: Dealing[Found]) -> Iterator[tuple[Found, int]]:
        spread = getattr(self.stream, "spread", None)
        if spread is not None:
            counts = spread(Counting(source=dealing.source)) if self.stratified else None
            for found, size, _ in spread(dealing, counts):
                yield found, size
            return
        dealt: Codes | None = None
        for chunk in read_ahead(self.stream.chunks()):
            found, size, dealt = dealing(chunk, dealt)
            yield found, size


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Dealt:
    """What it takes to deal the rows of a chunk, without the stream: it is sent to workers."""

    deal: Deal
    rows: int
    name: str
    classes: NDArray[Any] | None
    stratified: bool

    @classmethod
    def of(cls, source: Source) -> _Dealt:
        return cls(
            deal=source.deal,
            rows=source.stream.rows,
            name=source.stream.name,
            classes=source.task.classes,
            stratified=source.stratified,
        )

    @property
    def strata(self) -> int:
        return len(self.classes) if self.stratified and self.classes is not None else 1

    def codes(self, chunk: Chunk) -> Codes | None:
        return None if self.classes is None else class_codes(chunk.y, self.classes, self.name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dealing(Generic[Found]):
    """Deal the rows of a chunk, then do something with them: what came of it, the rows, and all dealt so far."""

    do: Do[Found]
    source: _Dealt

    def __call__(self, chunk: Chunk, dealt: Codes | None) -> tuple[Found, int, Codes]:
        own = self.source
        codes = own.codes(chunk)
        dealer = Dealer(own.deal, own.rows, own.strata, dealt)
        cells = dealer.deal(chunk.start, codes if own.stratified else None, len(chunk))
        return self.do(chunk, cells, codes), len(chunk), dealer.dealt


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counting:
    """Count the rows of each class in a chunk: workers must know how many came before, since they take turns."""

    source: _Dealt

    def __call__(self, chunk: Chunk, dealt: Codes | None = None) -> Codes:
        codes = self.source.codes(chunk)
        assert codes is not None, "only classes are counted"
        return np.bincount(codes, minlength=self.source.strata).astype(np.int64)


def class_codes(y: NDArray[Any], classes: NDArray[Any], name: str) -> Codes:
    """The place of each label among the classes that were found before."""
    codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    if not (classes[codes] == y).all():
        raise TargetError(f"The target of {name!r} has a class that it had not before. It seems to have changed.")
    return codes.astype(np.int64)


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, read in a thread of its own while the last one is worked on."""
    end: Any = object()
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(next, items, end) for _ in range(AHEAD))
        while (item := coming.popleft().result()) is not end:
            coming.append(reader.submit(next, items, end))
            yield item


STEPS = 100  # of one pass, on the bar


class Meter:
    """Counts rows that pass as hundredths of the passes that are planned."""

    def __init__(self, progress: Progress, *, rows: int, passes: int) -> None:
        self._progress, self._rows, self._seen = progress, rows, 0
        self._most = STEPS * passes
        progress.expect_rounds(self._most)

    def __call__(self, rows: int) -> None:
        """So many more rows have passed."""
        self._seen += rows
        reached = min(self._most, self._seen * STEPS // self._rows)  # a pass that was not planned shows nothing
        while self._progress.done < reached:
            self._progress.end_round(failed=False)
