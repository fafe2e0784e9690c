"""The sums of training sets: which rows are read for them, and which come by adding and subtracting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.bayes.data import Data
from heldout.kernels.bayes.sums import Sums, minus, plus, sum_rows
from heldout.kernels.ridge.bank import covers
from heldout.kernels.step import Work
from heldout.kernels.threads import Spread
from heldout.study.study import TrainRef

PIECE_CHUNKS = 4  # chunks of rows summed by one thread where a total has no blocks of its own
SPENT = "bayes/bytes"


class Left(NamedTuple):
    """The held-out rows of one part."""

    splits: str
    part: int
    side: str = "held"  # named tuples compare as tuples: this tells a held-out side from a training side


class Slice(NamedTuple):
    """Some rows of one splits, by their places among all."""

    splits: str
    start: int
    stop: int
    side: str = "slice"


RowSet = TrainRef | Left | Slice


class Bank:
    """Sums of blocks and totals, kept as products while they fit a share of the room.

    How the sums of a training set are made depends on the study's splits alone, never on what is kept, so that a study
    taken up again has the same bits.
    """

    def __init__(self, work: Work, data: Data, key: Any, spread: Spread) -> None:
        self._work, self._data, self._key, self._spread = work, data, key, spread
        self._wholes: dict[bytes, str] | None = None
        self._whole_sizes: set[int] = set()
        self._ways: dict[TrainRef, tuple[str, str]] = {}
        self._digests: dict[RowSet, bytes] = {}
        self._ready: dict[str, Sums] = {}  # totals of the training sets at hand

    def sums_of(self, ref: TrainRef) -> Sums:
        """The sums of one training set that was read ahead. Threads may call this: it spreads nothing."""
        way, name = self._way(ref)
        if way == "total":
            return self._ready[name]
        if way == "rest":
            return minus(self._ready[ref.splits], self._read(Left(ref.splits, ref.part)))
        return self._read(ref)

    def sums_apart(self, ref: TrainRef) -> Sums:
        """The sums of the training rows themselves, about their own means: nothing is subtracted."""
        rows = self._work.train_rows(ref)
        sums = sum_rows(self._data, rows)
        if self._data.norms is not None:
            return sums
        with np.errstate(divide="ignore", invalid="ignore"):
            means = sums.shifts + sums.table[0] / sums.weights[:, None]
        return sum_rows(self._data, rows, means)

    def read_ahead(self, refs: Sequence[TrainRef]) -> None:
        """Make the sums that these training sets need, spread over threads, as far as they may be kept."""
        wanted: dict[bytes, RowSet] = {}
        totals = self._totals(refs)
        room = self._room()
        for rows in self._needs(refs, totals):
            digest = self._digest(rows)
            if room > 0 and self._found(digest) is None and wanted.setdefault(digest, rows) is rows:
                room -= self.bytes_of_sums
        for digest, made in zip(wanted, self._spread(self._make, list(wanted.values())), strict=True):
            self._keep(digest, made)
        self._ready = {name: self._total(name) for name in totals}

    @property
    def bytes_of_sums(self) -> int:
        """What the sums of one set of rows take."""
        return int(8 * self._data.layers * len(self._data.classes) * max(1, self._data.columns))

    def _total(self, name: str) -> Sums:
        key = b"total of " + name.encode()
        found = self._found(key)
        if found is None:
            pieces = self._pieces(name)
            found = self._read(pieces[0])
            for piece in pieces[1:]:
                found = plus(found, self._read(piece))
            self._keep(key, found)
        return found

    def _totals(self, refs: Sequence[TrainRef]) -> list[str]:
        ways = ((ref, *self._way(ref)) for ref in refs)
        return list(dict.fromkeys(name or ref.splits for ref, way, name in ways if way != "apart"))

    def _needs(self, refs: Sequence[TrainRef], totals: Sequence[str]) -> Iterator[RowSet]:
        for name in totals:
            if self._found(b"total of " + name.encode()) is None:
                yield from self._pieces(name)
        for ref in refs:
            way, _ = self._way(ref)
            if way == "apart":
                yield ref
            elif way == "rest" and self._work.splits[ref.splits].held_sizes[ref.part] > 1:
                yield Left(ref.splits, ref.part)

    def _way(self, ref: TrainRef) -> tuple[str, str]:
        """How a training set's sums are made: read "apart", the "total" of a splits, or the "rest" of its own."""
        if ref not in self._ways:
            self._ways[ref] = self._find_way(ref)
        return self._ways[ref]

    def _find_way(self, ref: TrainRef) -> tuple[str, str]:
        splits = self._work.splits[ref.splits]
        if splits.train is not None:
            return "apart", ""
        wholes = self._whole_named()
        if int(splits.train_sizes[ref.part]) in self._whole_sizes:
            whole = wholes.get(self._digest(ref))
            if whole is not None:
                return "total", whole
        if not covers(splits) and int(splits.train_sizes.sum()) <= len(splits.rows) + len(splits.held):
            return "apart", ""
        return "rest", ""

    def _whole_named(self) -> dict[bytes, str]:
        """The splits whose rows all together are the training set of another: inner splits, of an outer part."""
        if self._wholes is None:
            self._wholes = {}
            several = len(self._work.splits) > 1
            for name, splits in self._work.splits.items() if several else ():
                if splits.train is None and covers(splits):
                    self._wholes.setdefault(_digest_of(splits.rows), name)
                    self._whole_sizes.add(len(splits.rows))
        return self._wholes

    def _pieces(self, name: str) -> list[RowSet]:
        """What a total is added up from: its blocks, or pieces of a fixed size where blocks are small."""
        splits = self._work.splits[name]
        whole = len(splits.rows)
        size = PIECE_CHUNKS * self._data.chunk
        if covers(splits):
            blocks = int(np.searchsorted(splits.held_cuts, whole))
            if whole >= 32 * blocks:
                return [Left(name, part) for part in range(blocks)]
        return [Slice(name, start, min(start + size, whole)) for start in range(0, whole, size)]

    def _read(self, rows: RowSet) -> Sums:
        found = None if self._single(rows) else self._found(self._digest(rows))
        return self._make(rows) if found is None else found

    def _single(self, rows: RowSet) -> bool:
        return isinstance(rows, Left) and self._work.splits[rows.splits].held_sizes[rows.part] == 1

    def _make(self, rows: RowSet) -> Sums:
        return sum_rows(self._data, self._rows(rows))

    def _rows(self, rows: RowSet) -> Rows:
        splits = self._work.splits[rows.splits]
        if isinstance(rows, Slice):
            return splits.rows[rows.start : rows.stop]
        return splits.held_rows(rows.part) if isinstance(rows, Left) else splits.train_rows(rows.part)

    def _digest(self, rows: RowSet) -> bytes:
        if rows not in self._digests:
            self._digests[rows] = _digest_of(self._rows(rows))
        return self._digests[rows]

    def _found(self, digest: bytes) -> Sums | None:
        found: Sums | None = self._work.products.get((self._key, digest))
        return found

    def _keep(self, digest: bytes, sums: Sums) -> None:
        key = (self._key, digest)
        if key not in self._work.products and self._room() > 0:
            self._work.products[key] = sums
            self._work.products[SPENT] = self._work.products.get(SPENT, 0) + self.bytes_of_sums

    def _room(self) -> int:
        return int(self._work.room // 4 - self._work.products.get(SPENT, 0))


def _digest_of(rows: Rows) -> bytes:
    return blake2b(np.ascontiguousarray(rows, dtype=np.int64).data, digest_size=16).digest()
