"""The sums of training sets: which rows are read for them, and which come by adding and subtracting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.ridge.design import Design
from heldout.kernels.ridge.sums import Sums, minus, plus, sum_rows
from heldout.kernels.step import Work
from heldout.splits.drawn import Splits
from heldout.study.panels import TrainRef

Spread = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]  # a map over threads, in order


class Bank:
    """Sums of blocks and totals, kept as products while they fit a share of the budget.

    How the sums of a training set are made depends on the study's splits alone, never on what is kept, so that
    a study taken up again has the same bits.
    """

    def __init__(self, work: Work, design: Design, key: Any, spread: Spread) -> None:
        self._work, self._design, self._key, self._spread = work, design, key, spread
        self._wholes: dict[bytes, str] | None = None

    def sums_of(self, ref: TrainRef) -> Sums:
        """The sums of one training set."""
        way, name = self._way(ref)
        if way == "total":
            return self._total(name)
        if way == "rest":
            return minus(self._total(ref.splits), self._block(self._work.splits[ref.splits].held_rows(ref.part)))
        return self._block(self._work.train_rows(ref))

    def total_of(self, name: str) -> Sums:
        """The sums of all rows of one splits."""
        return self._total(name)

    def read_ahead(self, refs: Iterable[TrainRef]) -> None:
        """Make the sums that these training sets need, spread over threads, as far as they may be kept."""
        wanted: dict[bytes, Rows] = {}
        room = self._room()
        for rows in self._needs(refs):
            key = _digest(rows)
            if key not in wanted and (self._key, key) not in self._work.products and room > 0:
                wanted[key] = rows
                room -= self._bytes()
        for key, made in zip(wanted, self._spread(self._make, list(wanted.values())), strict=True):
            self._keep(key, made)
        for ref in refs:
            way, name = self._way(ref)
            if way != "apart":
                self._total(name if way == "total" else ref.splits)

    def _needs(self, refs: Iterable[TrainRef]) -> Iterable[Rows]:
        totals: dict[str, None] = {}
        for ref in refs:
            way, name = self._way(ref)
            if way == "apart":
                yield self._work.train_rows(ref)
                continue
            totals.setdefault(name if way == "total" else ref.splits)
            if way == "rest":
                yield self._work.splits[ref.splits].held_rows(ref.part)
        for name in totals:
            splits = self._work.splits[name]
            if (self._key, _digest(splits.rows)) not in self._work.products:
                yield from self._pieces(splits)

    def _way(self, ref: TrainRef) -> tuple[str, str]:
        splits = self._work.splits[ref.splits]
        if splits.train is not None:
            return "apart", ""
        if len(self._work.splits) > 1:
            whole = self._whole_named().get(_digest(self._work.train_rows(ref)))
            if whole is not None:
                return "total", whole
        if not _covers(splits) and int(splits.train_sizes.sum()) <= len(splits.rows) + len(splits.held):
            return "apart", ""
        return "rest", ""

    def _whole_named(self) -> dict[bytes, str]:
        """The splits whose rows all together are the training set of another: inner splits, of an outer part."""
        if self._wholes is None:
            self._wholes = {}
            for name, splits in self._work.splits.items():
                if splits.train is None and _covers(splits):
                    self._wholes.setdefault(_digest(splits.rows), name)
        return self._wholes

    def _total(self, name: str) -> Sums:
        splits = self._work.splits[name]
        key = _digest(splits.rows)
        found = self._work.products.get((self._key, key))
        if found is not None:
            return found  # type: ignore[no-any-return]
        first, *others = self._pieces(splits)
        total = self._block(first)
        for rows in others:
            total = plus(total, self._block(rows))
        self._keep(key, total)
        return total

    def _pieces(self, splits: Splits) -> list[Rows]:
        """What a total is added up from: its blocks, or all rows at once where blocks are small."""
        whole = len(splits.rows)
        if not _covers(splits):
            return [splits.rows]
        blocks = int(np.searchsorted(splits.held_cuts, whole))
        if whole < blocks * self._design.width:
            return [splits.rows]
        return [splits.held_rows(part) for part in range(blocks)]

    def _block(self, rows: Rows) -> Sums:
        key = _digest(rows)
        found = self._work.products.get((self._key, key))
        return self._make(rows) if found is None else found

    def _make(self, rows: Rows) -> Sums:
        return sum_rows(self._design, rows)

    def _keep(self, key: bytes, sums: Sums) -> None:
        if self._room() > 0:
            self._work.products[self._key, key] = sums
            spent = self._work.products.get("ridge/bytes", 0)
            self._work.products["ridge/bytes"] = spent + self._bytes()

    def _room(self) -> int:
        return int(self._work.budget // 4 - self._work.products.get("ridge/bytes", 0))

    def _bytes(self) -> int:
        return int(self._design.width**2 * 8 * self._design.strata_count)


def _covers(splits: Splits) -> bool:
    """Whether the parts of the first repeat hold out every row once."""
    return splits.recipe.partition and len(splits.held) >= len(splits.rows)


def _digest(rows: Rows) -> bytes:
    return blake2b(np.ascontiguousarray(rows).tobytes(), digest_size=16).digest()
