"""The sums of training sets: which rows are read for them, and which come by adding and subtracting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.ridge.design import Design, Floats
from heldout.kernels.ridge.sums import Sums, minus, plus, sum_rows
from heldout.kernels.step import Work
from heldout.kernels.threads import Spread
from heldout.splits.drawn import Splits
from heldout.study.study import TrainRef

PIECE_CHUNKS = 4  # chunks of rows summed by one thread where a total has no blocks of its own
AT_A_TIME = 8  # pieces of a total in memory together


class Held(NamedTuple):
    """The held-out rows of one part."""

    splits: str
    part: int
    side: str = "held"  # named tuples compare as tuples: this tells a held-out side from a training side


class Whole(NamedTuple):
    """All rows of one splits."""

    splits: str


class Slice(NamedTuple):
    """Some rows of one splits, by their places among all."""

    splits: str
    start: int
    stop: int
    side: str = "slice"


RowSet = TrainRef | Held | Whole | Slice


class Bank:
    """Sums of blocks and totals, kept as products while they fit a share of the budget.

    How the sums of a training set are made depends on the study's splits alone, never on what is kept, so that
    a study taken up again has the same bits.
    """

    def __init__(self, work: Work, design: Design, key: Any, spread: Spread) -> None:
        self._work, self._design, self._key, self._spread = work, design, key, spread
        self._wholes: dict[bytes, str] | None = None
        self._ways: dict[TrainRef, tuple[str, str]] = {}
        self._made_of: dict[str, list[RowSet]] = {}
        self._whole_sizes: set[int] = set()
        self._ready: dict[str, Sums] = {}  # totals of the training sets at hand, kept or not
        self._digests: dict[RowSet, bytes] = {}

    def sums_of(self, ref: TrainRef, out: Floats | None = None) -> Sums:
        """The sums of one training set that was read ahead. Threads may call this: it spreads nothing.

        A difference is written into `out` where that is given; what is there already is not copied.
        """
        way, name = self._way(ref)
        if way == "total":
            return self._ready[name]
        if way == "rest":
            return minus(self._ready[ref.splits], self._read(Held(ref.splits, ref.part)), out)
        return self._read(ref)

    def ready_total(self, name: str) -> Sums:
        """The sums of all rows of one splits, which were read ahead."""
        return self._ready[name]

    def has_small_blocks(self, ref: TrainRef) -> bool:
        """Whether a training set is the rest of a splits whose total is made without the sums of its blocks."""
        return self._way(ref)[0] == "rest" and not isinstance(self._pieces(ref.splits)[0], Held)

    def total_of(self, name: str) -> Sums:
        """The sums of all rows of one splits."""
        whole = Whole(name)
        found = self._found(whole)
        if found is not None:
            return found
        total: Sums | None = None
        pieces = self._pieces(name)
        for start in range(0, len(pieces), AT_A_TIME):
            for made in self._spread(self._read, pieces[start : start + AT_A_TIME]):
                total = made if total is None else plus(total, made)
        assert total is not None, "a splits has rows"
        self._keep(whole, total)
        return total

    def read_ahead(self, refs: Sequence[TrainRef], totals: Sequence[str] = ()) -> None:
        """Make the sums that these training sets need, spread over threads, as far as they may be kept.

        `totals` names splits of which the sums of all rows will be asked for.
        """
        wanted: dict[bytes, RowSet] = {}
        room = self._room()
        for rows in self._needs(refs):
            if room > 0 and self._found(rows) is None and wanted.setdefault(self._digest(rows), rows) is rows:
                room -= self.bytes_of_sums
        for rows, made in zip(wanted.values(), self._spread(self.make, list(wanted.values())), strict=True):
            self._keep(rows, made)
        self._ready = {name: self.total_of(name) for name in dict.fromkeys((*self._totals(refs), *totals))}

    def _totals(self, refs: Sequence[TrainRef]) -> list[str]:
        ways = ((ref, *self._way(ref)) for ref in refs)
        return list(dict.fromkeys(name or ref.splits for ref, way, name in ways if way != "apart"))

    def _needs(self, refs: Sequence[TrainRef]) -> Iterator[RowSet]:
        for ref in refs:
            way, _ = self._way(ref)
            if way == "apart":
                yield ref
            elif way == "rest":
                yield Held(ref.splits, ref.part)
        for name in self._totals(refs):
            if self._found(Whole(name)) is None:
                yield from (piece for piece in self._pieces(name) if isinstance(piece, Held))

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
                    self._wholes.setdefault(self._digest(Whole(name)), name)
                    self._whole_sizes.add(len(splits.rows))
        return self._wholes

    def _pieces(self, name: str) -> list[RowSet]:
        """What a total is added up from."""
        if name not in self._made_of:
            self._made_of[name] = self._find_pieces(name)
        return self._made_of[name]

    def _find_pieces(self, name: str) -> list[RowSet]:
        """Blocks, or pieces of a fixed size where blocks are small."""
        splits = self._work.splits[name]
        whole = len(splits.rows)
        if covers(splits):
            blocks = int(np.searchsorted(splits.held_cuts, whole))
            if whole >= blocks * self._design.width:
                return [Held(name, part) for part in range(blocks)]
        count = -(-whole // (PIECE_CHUNKS * self._design.chunk))
        size = -(-whole // count)  # of about one size, which threads share fairly
        return [Slice(name, start, min(start + size, whole)) for start in range(0, whole, size)]

    def _read(self, rows: RowSet) -> Sums:
        found = self._found(rows)
        return self.make(rows) if found is None else found

    def make(self, rows: RowSet) -> Sums:
        """The sums over these rows, made from the rows."""
        return sum_rows(self._design, self._rows(rows))

    def _rows(self, rows: RowSet) -> Rows:
        splits = self._work.splits[rows.splits]
        if isinstance(rows, Whole):
            return splits.rows
        if isinstance(rows, Slice):
            return splits.rows[rows.start : rows.stop]
        return splits.held_rows(rows.part) if isinstance(rows, Held) else splits.train_rows(rows.part)

    def _digest(self, rows: RowSet) -> bytes:
        if rows not in self._digests:
            content = self._rows(rows).astype(np.int32 if len(self._work.task) < 1 << 31 else np.int64)
            self._digests[rows] = blake2b(content.data, digest_size=16).digest()
        return self._digests[rows]

    def _found(self, rows: RowSet) -> Sums | None:
        found: Sums | None = self._work.products.get((self._key, self._digest(rows)))
        return found

    def _keep(self, rows: RowSet, sums: Sums) -> None:
        key = (self._key, self._digest(rows))
        if key not in self._work.products and self._room() > 0:
            self._work.products[key] = sums
            spent = self._work.products.get("ridge/bytes", 0)
            self._work.products["ridge/bytes"] = spent + self.bytes_of_sums

    def _room(self) -> int:
        return int(self._work.room // 4 - self._work.products.get("ridge/bytes", 0))

    @property
    def bytes_of_sums(self) -> int:
        """What the sums of one set of rows take."""
        return int(self._design.width**2 * 8 * self._design.strata_count)


def covers(splits: Splits) -> bool:
    """Whether the parts of the first repeat hold out every row once."""
    return splits.recipe.partition and len(splits.held) >= len(splits.rows)
