"""Sums of training sets: for which of them rows are read, and which come from adding and subtracting other sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from heldout.base.rowkeys import Rows
from heldout.kernels.step import Work, remember
from heldout.kernels.sums.dataset import ChunkReader, Dataset, Shift
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.threads import Spread
from heldout.splits.drawn import Splits
from heldout.study.study import TrainRef


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Holds the sums of one set of rows: products of [x − shift, y − shift, 1], or Σ(x − shift) and Σ(x − shift)².

    Each class may have its own. `whole` holds the sums from which these were subtracted: their size tells how many
    digits are left.
    """

    kind: str = "products"  # or "squares" or "totals": see Layout
    grams: Floats  # of the dataset's shape
    counts: NDArray[np.int64]  # rows in each class
    weights: Floats  # sums of row weights in each class
    shift: Shift
    plain: Floats | None = None  # classes × 2 × columns: unweighted Σx and Σx², where rows have weights
    whole: Sums | None = None

    @property
    def reach(self) -> Floats:
        """Sums of squares (or totals) before rows were subtracted, which bound the errors: classes × width."""
        grams = self._before.grams
        return np.asarray(np.einsum("sii->si", grams)) if self.kind == "products" else grams[:, -1]

    @property
    def weights_reach(self) -> Floats:
        """Sums of weights before rows were subtracted: classes."""
        return self._before.weights

    @property
    def plain_reach(self) -> Floats | None:
        return None if self._before.plain is None else self._before.plain[:, 1]

    @property
    def _before(self) -> Sums:
        return self if self.whole is None else self.whole


def sum_rows(data: Dataset, rows: Rows, shift: Shift | None = None) -> Sums:
    """Return the sums of these rows, read in chunks of a fixed size."""
    shift = data.shift if shift is None else shift
    kind = data.layout.kind
    if sparse.issparse(data.X):
        return _totals_of_sparse(data, rows, shift)
    grams = np.empty(data.shape) if kind == "products" else np.zeros(data.shape)
    plain = None if data.weight is None or kind == "totals" else np.zeros((data.class_count, 2, data.X.shape[1]))
    counts, weights = np.zeros(data.class_count, dtype=np.int64), np.zeros(data.class_count)
    reader = ChunkReader(data, min(data.chunk, len(rows)))
    for code, members in enumerate(data.by_class(rows)):
        counts[code] = len(members)
        if not len(members):
            grams[code] = 0.0
        class_shift = shift.x[code] if shift.x.ndim == 2 else shift.x
        for start in range(0, len(members), data.chunk):
            chunk = members[start : start + data.chunk]
            x = reader.read(chunk, class_shift)
            weight = None if data.weight is None else data.weight[chunk]
            weights[code] += len(chunk) if weight is None else weight.sum()
            if plain is not None:
                _add_squares(plain[code], x, None, reader)
            if kind == "products":
                rest = _targets_and_one(data, chunk, shift)
                if weight is not None:
                    root = np.sqrt(weight)[:, None]
                    x, rest = reader.times(x, root), rest * root
                _add_products(grams[code], x, rest, first=start == 0)
            else:
                _add_squares(grams[code], x, weight, reader)
    return Sums(kind=kind, grams=grams, counts=counts, weights=weights, shift=shift, plain=plain)


def _totals_of_sparse(data: Dataset, rows: Rows, shift: Shift) -> Sums:
    by_class = data.by_class(rows)
    order, counts = np.concatenate(by_class), np.array([len(members) for members in by_class], dtype=np.int64)
    weight = np.ones(len(order)) if data.weight is None else data.weight[order]
    cuts = np.concatenate([[0], np.cumsum(counts)])
    pick: Any = sparse.csr_array((weight, order, cuts), shape=(len(counts), data.X.shape[0]))
    totals = np.asarray((pick @ data.X).toarray(), dtype=np.float64)[:, None]
    weights = np.asarray(pick.sum(axis=1), dtype=np.float64).ravel()
    return Sums(kind="totals", grams=totals, counts=counts, weights=weights, shift=shift)


def _targets_and_one(data: Dataset, rows: Rows, shift: Shift) -> Floats:
    columns = np.ones((len(rows), data.Y.shape[1] + 1))
    np.subtract(data.Y.take(rows, axis=0), shift.y, out=columns[:, :-1])
    return columns


def _add_products(gram: Floats, x: Floats, rest: Floats, *, first: bool) -> None:
    columns = x.shape[1]
    for left, right, to in (
        (x, x, gram[:columns, :columns]),
        (x, rest, gram[:columns, columns:]),
        (rest, rest, gram[columns:, columns:]),
    ):
        if first:  # written where it belongs, which spares passes over all of it
            np.matmul(left.T, right, out=to)
        else:
            to += left.T @ right
    gram[columns:, :columns] = gram[:columns, columns:].T


def _add_squares(table: Floats, x: Floats, weight: Floats | None, reader: ChunkReader) -> None:
    weight = np.ones(len(x)) if weight is None else weight
    table[0] += weight @ x
    if len(table) > 1:
        table[1] += weight @ reader.squares(x)


def plus(left: Sums, right: Sums) -> Sums:
    """Return the sums of the rows of both."""
    return _combined(np.add, left, right)


def minus(whole: Sums, part: Sums) -> Sums:
    """Return the sums of the rows of `whole` that are not in `part`."""
    return replace(_combined(np.subtract, whole, part), whole=whole if whole.whole is None else whole.whole)


def _combined(operation: Any, left: Sums, right: Sums) -> Sums:
    return replace(
        left,
        grams=operation(left.grams, right.grams),
        counts=operation(left.counts, right.counts),
        weights=operation(left.weights, right.weights),
        plain=None if left.plain is None or right.plain is None else operation(left.plain, right.plain),
    )


PIECE_CHUNKS = 4  # chunks of rows summed by one thread where a total has no blocks of its own
AT_A_TIME = 8  # pieces of a total in memory together


class RowSet(NamedTuple):
    """The held-out or the training rows of a part, or a slice of all rows of a splits."""

    side: str  # "held", "train" or "slice"
    splits: str
    start: int  # the part, or where the slice begins
    stop: int = 0


class TrainingSums:
    """Computes the sums of training sets, and keeps those of blocks and totals within the memory limit.

    How a training set's sums are computed depends on the study's splits alone, never on what is kept, so that a resumed
    study has the same bits.
    """

    def __init__(self, work: Work, data: Dataset, spread: Spread) -> None:
        self._work, self._data, self._spread = work, data, spread
        self._wholes: dict[bytes, str] | None = None
        self._whole_sizes: set[int] = set()
        self._ways: dict[TrainRef, tuple[str, str]] = {}
        self._pieces_of: dict[str, list[RowSet]] = {}
        self._totals: dict[str, Sums] = {}  # of the training sets that were prepared, kept or not
        self._digests: dict[RowSet, bytes] = {}

    @property
    def nbytes(self) -> int:
        """Bytes that the sums of one set of rows take."""
        return int(8 * np.prod(self._data.shape))

    def of(self, ref: TrainRef) -> Sums:
        """Return the sums of one training set that was prepared. Threads may call this, since it starts none."""
        way, name = self._way(ref)
        if way == "total":
            return self._totals[name]
        if way == "rest":
            return minus(self._totals[ref.splits], self._read(RowSet("held", ref.splits, ref.part)))
        return self._read(RowSet("train", ref.splits, ref.part))

    def about_own_means(self, rows: Rows) -> Sums:
        """Return the sums of these rows about their own means, from the rows, with no sums subtracted."""
        return sum_rows(self._data, rows, self._data.own_shift(rows))

    def total(self, name: str) -> Sums:
        """Return the sums of all rows of one splits."""
        kept = self._kept(self._all_rows(name))
        if kept is not None:
            return kept
        total: Sums | None = None
        pieces = self._pieces(name)
        for start in range(0, len(pieces), AT_A_TIME):
            for sums in self._spread(self._read, pieces[start : start + AT_A_TIME]):
                total = sums if total is None else plus(total, sums)
        assert total is not None, "a splits has rows"
        self._keep(self._all_rows(name), total)
        return total

    def prepare(self, refs: Sequence[TrainRef]) -> None:
        """Compute the sums that these training sets need, on threads, as far as there is memory to keep them."""
        ways = [(ref, *self._way(ref)) for ref in refs]
        totals = list(dict.fromkeys([name or ref.splits for ref, way, name in ways if way != "apart"]))
        wanted: dict[bytes, RowSet] = {}
        room = self._room()
        for rows in self._needed(ways, totals):
            if room > 0 and self._kept(rows) is None and wanted.setdefault(self._digest(rows), rows) is rows:
                room -= self.nbytes
        for rows, sums in zip(wanted.values(), self._spread(self.sum, list(wanted.values())), strict=True):
            self._keep(rows, sums)
        self._totals = {name: self.total(name) for name in totals}

    def sum(self, rows: RowSet) -> Sums:
        """Return the sums of a set of rows, computed from the rows."""
        return sum_rows(self._data, self._rows(rows))

    def _needed(self, ways: Sequence[tuple[TrainRef, str, str]], totals: Sequence[str]) -> Iterator[RowSet]:
        for name in totals:
            if self._kept(self._all_rows(name)) is None:
                yield from (piece for piece in self._pieces(name) if piece.side == "held")
        for ref, way, _ in ways:
            if way == "apart":
                yield RowSet("train", ref.splits, ref.part)
            elif way == "rest" and self._work.splits[ref.splits].held_sizes[ref.part] > 1:
                yield RowSet("held", ref.splits, ref.part)

    def _way(self, ref: TrainRef) -> tuple[str, str]:
        """Return how a training set's sums are computed, and for "total" the name of the splits.

        "apart" reads the training rows. "total" takes all rows of a splits. "rest" subtracts the held-out rows from all
        rows of its own splits.
        """
        return remember(self._ways, ref, lambda: self._find_way(ref))

    def _find_way(self, ref: TrainRef) -> tuple[str, str]:
        splits = self._work.splits[ref.splits]
        if splits.train is not None:
            return "apart", ""
        wholes = self._whole_named()
        if int(splits.train_sizes[ref.part]) in self._whole_sizes:
            whole = wholes.get(self._digest(RowSet("train", ref.splits, ref.part)))
            if whole is not None:
                return "total", whole
        if not covers(splits) and int(splits.train_sizes.sum()) <= len(splits.rows) + len(splits.held):
            return "apart", ""
        return "rest", ""

    def _whole_named(self) -> dict[bytes, str]:
        """Return the names of splits by the digest of all their rows.

        All rows of an inner splits are a training set of the outer splits, which then takes their total.
        """
        if self._wholes is None:
            self._wholes = {}
            several = len(self._work.splits) > 1
            for name, splits in self._work.splits.items() if several else ():
                if splits.train is None and covers(splits):
                    self._wholes.setdefault(self._digest(self._all_rows(name)), name)
                    self._whole_sizes.add(len(splits.rows))
        return self._wholes

    def _all_rows(self, name: str) -> RowSet:
        return RowSet("slice", name, 0, len(self._work.splits[name].rows))

    def _pieces(self, name: str) -> list[RowSet]:
        return remember(self._pieces_of, name, lambda: self._cut(name))

    def _cut(self, name: str) -> list[RowSet]:
        """Return the row sets whose sums make a total: its blocks, or slices of about one size if blocks are small."""
        splits, count = self._work.splits[name], len(self._work.splits[name].rows)
        blocks = int(np.searchsorted(splits.held_cuts, count)) if covers(splits) else count
        least = self._data.width if self._data.layout.kind == "products" else 32
        if count >= blocks * least:
            return [RowSet("held", name, part) for part in range(blocks)]
        size = -(-count // -(-count // (PIECE_CHUNKS * self._data.chunk)))
        return [RowSet("slice", name, start, min(start + size, count)) for start in range(0, count, size)]

    def _read(self, rows: RowSet) -> Sums:
        single = rows.side == "held" and self._work.splits[rows.splits].held_sizes[rows.start] == 1
        kept = None if single else self._kept(rows)
        return self.sum(rows) if kept is None else kept

    def _rows(self, rows: RowSet) -> Rows:
        splits = self._work.splits[rows.splits]
        if rows.side == "slice":
            return splits.rows[rows.start : rows.stop]
        if rows.side == "held":
            return splits.held[splits.held_cuts[rows.start] : splits.held_cuts[rows.start + 1]]
        return splits.train_rows(rows.start)

    def _digest(self, rows: RowSet) -> bytes:
        if rows not in self._digests:
            content = self._rows(rows).astype(np.int32 if self._work.task.size < 1 << 31 else np.int64)
            self._digests[rows] = blake2b(content.data, digest_size=16).digest()
        return self._digests[rows]

    def _kept(self, rows: RowSet) -> Sums | None:
        kept: Sums | None = self._work.products.get((self._data.layout, self._digest(rows)))
        return kept

    def _keep(self, rows: RowSet, sums: Sums) -> None:
        key = (self._data.layout, self._digest(rows))
        if key not in self._work.products and self._room() > 0:
            self._work.products[key] = sums
            self._work.products["bytes of sums"] = self._work.products.get("bytes of sums", 0) + self.nbytes

    def _room(self) -> int:
        return int(self._work.room // 4 - self._work.products.get("bytes of sums", 0))


def covers(splits: Splits) -> bool:
    """Return whether the parts of the first repeat hold out every row once."""
    return splits.recipe.partition and len(splits.held) >= len(splits.rows)
