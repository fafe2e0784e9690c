"""A pass over rows with predictors at hand: for losses that statistics do not tell, and for results of single rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.engine.streaming.source import Source
from heldout.kernels.statistics.family import Family, Fits
from heldout.kernels.sums.rounding import Floats
from heldout.losses import Loss, row_losses
from heldout.losses.rows import squared_rows
from heldout.splits.cells import Codes
from heldout.task.stream import Chunk

Solved = tuple[Family, Fits, Sequence[int]]  # a family, its predictors, and the places that are asked


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ask:
    """Predictors to ask on the rows of some cells."""

    held: Rows  # cells
    solved: Sequence[Solved]
    losses: tuple[Loss, ...]
    keep: bool = False  # results of single rows too, of a single predictor


@dataclass(kw_only=True, eq=False)
class Tally:
    """What an ask has found so far, a place for each predictor in the order asked."""

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
        """Add what a later chunk found."""
        self.sums += other.sums
        self.count += other.count
        self.failed = other.failed | self.failed
        for name in ("rows", "y", "predicted", "losses"):
            getattr(self, name).extend(getattr(other, name))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _AskChunk:
    """What is done to a chunk; sent to workers where the stream has any."""

    asks: Sequence[Ask]
    held: NDArray[np.bool_]  # asks × cells

    def __call__(self, chunk: Chunk, cells: Codes, codes: Codes | None) -> list[Tally]:
        X = np.empty((len(chunk), len(chunk.columns)))
        for place, column in enumerate(chunk.columns):
            X[:, place] = column
        found = []
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
    """One pass that asks every predictor on the rows it was held out for."""
    tallies = [Tally.empty(ask) for ask in asks]
    held = np.zeros((len(asks), source.deal.cells), dtype=bool)
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
    """Row losses; for a loss of whole sets that squared errors tell, those."""
    found = row_losses(loss, y, responses)
    return squared_rows(y, responses) if found is None else found
