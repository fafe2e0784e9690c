"""What a pass over a stream does to each chunk: sums products for each cell, or predicts its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import InputError, TargetError
from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows, derive
from heldout.engine.stream_source import Source
from heldout.kernels.statistics.family import Family, Fits
from heldout.kernels.statistics.gather import Layout, Products, Statistics, products_of
from heldout.kernels.sums.dataset import Shift
from heldout.kernels.sums.rounding import Floats
from heldout.losses import Loss, row_losses
from heldout.losses.rows import squared_rows
from heldout.splits.cells import Codes
from heldout.task.hashing import row_hashes
from heldout.task.stream import Chunk, Stream

SAMPLE_NUMBERS = 1 << 20  # of the rows that are kept for a spot check
WATCHED_NUMBERS = 1 << 22  # of the watched rows that are kept whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Rows kept in memory during a pass over all rows, to check the statistics and to estimate the spread of losses."""

    X: Floats
    y: NDArray[Any]
    cells: Codes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Watched:
    """Holds test rows for the ledger: their numbers, their feature hashes, and the values of a sample of them."""

    numbers: NDArray[np.int64]
    content: NDArray[np.uint64]
    X: Floats
    y: NDArray[Any]


Columns = TypeVar("Columns", Sample, Watched)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathered:
    """The results of the first pass."""

    statistics: Statistics
    sample: Sample
    watched: Watched | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Piece:
    """The results of one chunk."""

    products: Products
    sample: Sample
    watched: Watched | None
    rows: tuple[int, int]  # the first and the last


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Gather:
    """Sums the products of one chunk and samples its rows. It can be pickled for the stream's workers."""

    layout: Layout
    rows: int
    seed: int
    watched: Rows | None

    def __call__(self, chunk: Chunk, cells: Codes, codes: Codes | None) -> _Piece:
        watched = None
        if self.watched is not None:
            watched = self._marks(chunk, np.flatnonzero(np.isin(cells, self.watched)))
        return _Piece(
            products=products_of(chunk, cells, codes, self.layout),
            sample=self._some_rows(chunk, cells),
            watched=watched,
            rows=(chunk.start, chunk.start + len(chunk) - 1),
        )

    def _marks(self, chunk: Chunk, rows: Rows) -> Watched:
        X, y = _matrix(chunk, rows), chunk.y[rows]
        content = row_hashes(X, np.zeros(len(rows)))[:, 0]
        share = WATCHED_NUMBERS / (self.rows * X.shape[1])
        kept = slice(None) if share >= 1 else content < np.uint64(share * 2.0**64)
        return Watched(numbers=chunk.start + rows.astype(np.int64), content=content, X=X[kept], y=y[kept])

    def _some_rows(self, chunk: Chunk, cells: Codes) -> Sample:
        """Return this chunk's share of the sample, drawn by the seed."""
        columns = len(chunk.columns)
        wanted = sample_size(self.rows, columns)
        count = (chunk.start + len(chunk)) * wanted // self.rows - chunk.start * wanted // self.rows
        random = np.random.default_rng([derive(self.seed, "sample"), chunk.start])
        places = np.sort(random.permutation(len(chunk))[:count])
        return Sample(X=_matrix(chunk, places), y=chunk.y[places], cells=cells[places])


def sample_size(rows: int, columns: int) -> int:
    """Return how many rows are kept in memory during a pass over all rows."""
    return min(rows, max(SAMPLE_NUMBERS // columns, 8 * columns + 1_000))


def gather(source: Source, *, shift: Shift | None = None) -> Gathered:
    """Make one pass that sums products for each cell, samples rows, and hashes those in watched cells."""
    shift = source.shift if shift is None else shift
    layout = Layout(cells=source.plan.cells, classes=source.task.classes, shift=shift)
    do = _Gather(layout=layout, rows=source.stream.rows, seed=source.plan.seed, watched=source.watched)
    total, samples, seen = layout.empty(), list[Sample](), list[Watched]()
    for piece in source.each(do):
        total.add(piece.products)
        _refuse_not_finite(total, piece.rows, source.stream)
        samples.append(piece.sample)
        if piece.watched is not None:
            seen.append(piece.watched)
    watched = _joined(seen) if seen else None
    return Gathered(statistics=total.as_statistics(layout), sample=_joined(samples), watched=watched)


def _joined(parts: Sequence[Columns]) -> Columns:
    """Concatenate the rows of all parts."""
    names = [field.name for field in fields(parts[0])]
    return replace(parts[0], **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _matrix(chunk: Chunk, rows: Rows | slice) -> Floats:
    return np.stack([np.asarray(column[rows], dtype=np.float64) for column in chunk.columns], axis=1)


def _refuse_not_finite(total: Products, rows: tuple[int, int], stream: Stream) -> None:
    bad = total.not_finite()
    if not bad:
        return
    where = f"in rows {rows[0]:,} to {rows[1]:,} of {stream.name!r}"
    names = [stream.columns[place] for place in bad if place < len(stream.columns)]
    if not names:
        raise TargetError(f"The target is NaN or infinite {where}. Drop or correct such rows.")
    shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    raise InputError(
        f"These columns hold NaN, infinity or numbers too large to square {where}: {shown}. A stream takes no missing "
        "values: fill them in, drop these rows, or load the data."
    )


Solved = tuple[Family, Fits, Sequence[int]]  # a family, its predictors, and the places that are asked


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ask:
    """Predictors to evaluate on the rows of some cells."""

    held: Rows  # cells
    solved: Sequence[Solved]
    losses: tuple[Loss, ...]
    keep: bool = False  # results of single rows too, of a single predictor


@dataclass(kw_only=True, eq=False)
class Tally:
    """Accumulates, chunk by chunk, the losses of the predictors of one `Ask`, in their order."""

    sums: Floats  # predictors × losses
    count: int = 0
    failed: dict[int, Exception] = field(default_factory=dict)
    rows: list[NDArray[np.int64]] = field(default_factory=list)
    y: list[NDArray[Any]] = field(default_factory=list)
    predicted: list[NDArray[Any]] = field(default_factory=list)
    losses: list[Floats] = field(default_factory=list)  # losses × rows

    @classmethod
    def empty(cls, ask: Ask) -> Tally:
        return cls(sums=np.zeros((sum(len(places) for _, _, places in ask.solved), len(ask.losses))))

    def add(self, other: Tally) -> None:
        """Add the results of a later chunk."""
        self.sums += other.sums
        self.count += other.count
        self.failed = other.failed | self.failed
        for name in ("rows", "y", "predicted", "losses"):
            getattr(self, name).extend(getattr(other, name))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _AskChunk:
    """Asks the predictors about the held-out rows of one chunk. It can be pickled for the stream's workers."""

    asks: Sequence[Ask]
    held: NDArray[np.bool_]  # asks × cells

    def __call__(self, chunk: Chunk, cells: Codes, codes: Codes | None) -> list[Tally]:
        X, found = _matrix(chunk, slice(None)), []
        for ask, held in zip(self.asks, self.held, strict=True):
            rows = np.flatnonzero(held[cells])
            tally = Tally.empty(ask)
            if len(rows):
                _ask(ask, tally, X[rows], chunk.y[rows])
            if ask.keep:
                tally.rows.append(chunk.start + rows)
            found.append(tally)
        return found


def ask_rows(source: Source, asks: Sequence[Ask]) -> list[Tally]:
    """Make one pass in which every predictor is evaluated on its held-out rows."""
    tallies = [Tally.empty(ask) for ask in asks]
    held = np.zeros((len(asks), source.plan.cells), dtype=bool)
    for number, ask in enumerate(asks):
        held[number, ask.held] = True
    for found in source.each(_AskChunk(asks=asks, held=held)):
        for tally, more in zip(tallies, found, strict=True):
            tally.add(more)
    return tallies


def _ask(ask: Ask, tally: Tally, X: Floats, y: NDArray[Any]) -> None:
    number = -1
    tally.count += len(y)
    for _, fits, places in ask.solved:
        answers = fits.respond(X, ask.losses)
        for place in places:
            number += 1
            one = answers[place]
            if one is None:
                continue
            try:
                found = np.stack([_losses_of_rows(loss, y, one) for loss in ask.losses])
            except Exception as error:  # a loss that cannot be taken fails its own predictor alone
                tally.failed[number] = error
                continue
            tally.sums[number] += found.sum(axis=1)
            if ask.keep:
                tally.y.append(y)
                tally.predicted.append(np.asarray(one.predict))
                tally.losses.append(found)


def _losses_of_rows(loss: Loss, y: NDArray[Any], responses: Responses) -> Floats:
    """Return the loss of each row; squared errors if the loss is of whole sets and derives from them."""
    found = row_losses(loss, y, responses)
    return squared_rows(y, responses) if found is None else found
