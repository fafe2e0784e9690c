"""Drawn splits: the rows that a strategy selected for one task. They are immutable and have a fingerprint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows

MOST_NUMBERS = 1 << 27  # training rows named in all, a gigabyte


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Describes how splits were drawn, for estimates and reports."""

    kind: str  # "kfold", "loo", "holdout", "resample", "forward", "given", "shared", "foreign"
    words: str  # for people: "5-fold, stratified, shuffled"
    repeats: int = 1
    partition: bool = False  # within each repeat every row of `rows` is held out exactly once
    stratified: bool = False
    grouped: bool = False
    timed: bool = False
    drawn: bool = False  # random numbers were used
    buffer: int | str | None = None  # as strategy.as_distance writes it
    embargo: int | str | None = None
    smaller: bool = False  # the training sides of other splits, cut down for a learning curve


@dataclass(frozen=True, kw_only=True, eq=False)
class Splits:
    """Parts of one set of rows, each with a training side and a held-out side, as row numbers of the whole task.

    Held-out rows are concatenated in `held`, and `held_cuts` says where each part begins. `train` is None if every part
    trains on all of `rows` except those it holds out. Leave-one-out of n rows thus takes memory for n numbers, not n².
    """

    rows: Rows  # ascending: what the splits were drawn from
    held: Rows
    held_cuts: Rows  # len(parts) + 1
    recipe: Recipe
    train: Rows | None = None
    train_cuts: Rows | None = None
    buffered: Rows | None = None  # per part: rows dropped for a buffer; None if there are none

    @cached_property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.held_cuts) - 1

    def __len__(self) -> int:
        return self.parts

    def held_rows(self, part: int) -> Rows:
        return self.held[self.held_cuts[part] : self.held_cuts[part + 1]]

    def train_rows(self, part: int) -> Rows:
        if self.train is not None and self.train_cuts is not None:
            return self.train[self.train_cuts[part] : self.train_cuts[part + 1]]
        keep = np.ones(len(self.rows), dtype=bool)
        keep[np.searchsorted(self.rows, self.held_rows(part))] = False
        return self.rows[keep]

    @cached_property
    def held_sizes(self) -> Rows:
        return np.diff(self.held_cuts)

    def held_sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum `values`, one number per row of the task, over the held-out rows of each part."""
        return np.asarray(np.add.reduceat(values[self.held], self.held_cuts[:-1]), dtype=np.float64)

    def train_sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum `values`, one number per row of the task, over the training rows of each part."""
        if self.train is None or self.train_cuts is None:
            return np.asarray(values[self.rows].sum() - self.held_sums(values), dtype=np.float64)
        return np.asarray(np.add.reduceat(values[self.train], self.train_cuts[:-1]), dtype=np.float64)

    @cached_property
    def train_sizes(self) -> Rows:
        if self.train_cuts is not None:
            return np.diff(self.train_cuts)
        return len(self.rows) - self.held_sizes

    @cached_property
    def fingerprint(self) -> str:
        """Return a hash of the rows of every part, in order, as 32 hex digits."""
        digest = blake2b(digest_size=16)
        for numbers in (self.rows, self.held_cuts, self.held, self.train_cuts, self.train):
            digest.update(b"-" if numbers is None else np.ascontiguousarray(numbers, dtype="<i8").tobytes())
            digest.update(b"|")
        return digest.hexdigest()

    @classmethod
    def from_sizes(cls, rows: Rows, held: Rows, sizes: Rows, recipe: Recipe) -> Splits:
        """Make splits from concatenated held-out rows and the size of each part. Every part trains on all others."""
        return cls(rows=_frozen(rows), held=_frozen(held), held_cuts=cuts_of(sizes), recipe=recipe)

    @classmethod
    def from_pairs(cls, rows: Rows, pairs: Sequence[tuple[Rows | None, Rows]], recipe: Recipe) -> Splits:
        """Make splits from pairs (training rows, held-out rows). None as training rows means all others."""
        held, held_cuts = _end_to_end([h for _, h in pairs])
        if all(t is None for t, _ in pairs):
            return cls(rows=_frozen(rows), held=held, held_cuts=held_cuts, recipe=recipe)
        whole = [np.setdiff1d(rows, h) if t is None else t for t, h in pairs]
        train, train_cuts = _end_to_end(whole)
        return cls(
            rows=_frozen(rows), held=held, held_cuts=held_cuts, recipe=recipe, train=train, train_cuts=train_cuts
        )


def _frozen(numbers: Rows) -> Rows:
    numbers = np.ascontiguousarray(numbers, dtype=np.intp)
    if numbers.flags.writeable:
        numbers = numbers.copy()
        numbers.setflags(write=False)
    return numbers


def _end_to_end(parts: Sequence[Rows]) -> tuple[Rows, Rows]:
    return _frozen(np.concatenate(parts) if parts else np.empty(0, np.intp)), cuts_of([len(p) for p in parts])


def cuts_of(sizes: Sequence[int] | Rows) -> Rows:
    """Return the offsets of concatenated parts of these sizes: where each begins, and where the last ends."""
    return _frozen(np.concatenate([[0], np.cumsum(sizes)]))
