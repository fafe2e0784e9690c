"""Assigns the rows of a stream to a few buckets of even size. Splits are drawn from buckets instead of rows.

The buckets are called cells here. They are sets of rows, and not the cells (candidate, training rows, held-out rows) of
a panel.

Rows go to cells at random as they pass. A union of cells that does not depend on the data is therefore as good as one
drawn row by row: every K-fold of cells is a shuffled K-fold of rows. The number of cells does not grow with the number
of rows. Sums over rows are kept for each cell, and adding them gives the sums of every part at every level.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import lcm
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits
from heldout.splits.given import Given, given_parts
from heldout.splits.holdout import Holdout
from heldout.splits.kfold import KFold
from heldout.splits.resample import Resample
from heldout.splits.shared_blocks import SharedBlocks
from heldout.splits.strategy import is_positive
from heldout.task import Task

Codes = NDArray[np.int64]
SHARES = 100  # cells for shares of the rows: whole percents come out even
MOST_CELLS = 10_000
LEAST_IN_GIVEN = 20  # cells of each given part, at least, where there is something to choose inside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellPlan:
    """Describes how the rows of a stream are assigned to cells: `count` cells for each family of rows.

    If the test set is given by row numbers, each of its parts is a family, and the remaining rows are another.
    Otherwise there is one family. The cells of family f have the numbers from f·count on.
    """

    rows: int
    count: int
    seed: int
    families: int = 1
    family_of: NDArray[np.int32] | None = None  # of each row; None where there is one family
    in_order: bool = False  # cells are stretches of neighbouring rows
    stratified: bool = False  # every cell gets an even share of each class

    @property
    def cells(self) -> int:
        return self.count * self.families

    def assign(
        self, start: int, size: int, classes: Codes | None = None, *, kinds: int = 1, before: Codes | None = None
    ) -> tuple[Codes, Codes]:
        """Return the cell of each of `size` rows from row `start` on, and the number of rows of each kind so far.

        A kind is a family or, with `classes` (codes below `kinds`), a class within a family. The rows of a kind take
        the cells in turn, so `before` says how many of each kind came before these rows; None counts as zero of each.
        """
        if self.in_order:
            return np.arange(start, start + size, dtype=np.int64) * self.count // self.rows, np.zeros(1, np.int64)
        family = np.zeros(size, dtype=np.int64) if self.family_of is None else self.family_of[start : start + size]
        kind = family.astype(np.int64) * kinds + (0 if classes is None else classes)
        if before is None:
            before = np.zeros(self.families * kinds, dtype=np.int64)
        if len(before) == 1:
            before = np.array([start])  # with a single kind, workers need not count the rows before their chunk
        order = np.random.default_rng([self.seed, start]).permutation(size)
        by_kind = order[np.argsort(kind[order], kind="stable")]
        counts = np.bincount(kind, minlength=len(before))
        number = np.arange(size) - np.repeat(np.cumsum(counts) - counts, counts)  # of a row within its kind
        # Each kind begins at a different cell; otherwise the odd rows of all kinds would gather in the first cells.
        turns = np.repeat(np.arange(len(before)) * 7919 + before, counts) + number
        cells = np.empty(size, dtype=np.int64)
        cells[by_kind] = turns % self.count
        return kind // kinds * self.count + cells, before + counts

    def as_drawn(self, strategy: Any) -> Any:
        """Translate a strategy to cells: drop stratification (cells are balanced) and map given rows to families."""
        if isinstance(strategy, Given):
            family = np.repeat(np.arange(self.families), self.count)
            if strategy.rows is not None:
                return Given(np.flatnonzero(family == 0))
            return Given(folds=np.where(family < strategy.folds.parts, family, -1))
        return replace(strategy, stratify=False) if hasattr(strategy, "stratify") else strategy

    def task(self, key: int) -> Task:
        """Return a task with one row per cell, from which strategies draw splits. `key` identifies the stream."""
        cells = np.arange(self.cells, dtype=np.uint64)
        X = np.stack([np.full(self.cells, key & ((1 << 64) - 1), dtype=np.uint64), cells], axis=1)
        return _TaskOfCells(X=X, y=np.zeros(self.cells), classification=False)


class _TaskOfCells(Task):
    """A task in which each row stands for one cell (a bucket of rows) of a stream."""

    row_name: ClassVar[str] = "cells of rows"


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSplits(Splits):
    """Splits whose units are cells, with sizes that count the rows in the cells."""

    cell_sizes: Rows

    @classmethod
    def of(cls, splits: Splits, cell_sizes: Rows, *, stratified: bool) -> CellSplits:
        """Wrap splits of cells, given the rows in each cell; `stratified` says that cells have even class shares."""
        values = {field.name: getattr(splits, field.name) for field in fields(Splits)}
        recipe = splits.recipe
        if stratified and recipe.drawn:
            recipe = replace(recipe, stratified=True, words=f"{recipe.words}, stratified")
        return cls(**(values | {"recipe": recipe}), cell_sizes=cell_sizes)

    @cached_property
    def held_sizes(self) -> Rows:
        return np.array([int(self.cell_sizes[self.held_rows(part)].sum()) for part in range(len(self))], dtype=np.intp)

    @cached_property
    def train_sizes(self) -> Rows:
        return np.array([int(self.cell_sizes[self.train_rows(part)].sum()) for part in range(len(self))], dtype=np.intp)


def plan_cells(test: Any, validation: Any, *, rows: int, seed: int, classification: bool) -> CellPlan:
    """Choose the number of cells for these strategies: as few as give every part its share. None: no validation."""
    _refuse(test, inside=False)
    if validation is not None:
        _refuse(validation, inside=True)
    orders = {_in_order(strategy) for strategy in (test, validation)} - {None}
    if len(orders) > 1:
        raise SplitError(
            f"test={test!r} and validation={validation!r}: in a stream either every level is shuffled or none is. "
            "Give both the same shuffle=."
        )
    in_order, families, family_of = orders == {True}, 1, None
    outer, inside = _parts(test), _parts(validation)
    if isinstance(test, Given):
        if in_order:
            raise SplitError(f"validation={validation!r} cannot be in row order beside given rows in a stream.")
        family_of, families = _given_families(test, rows)
        count = 1 if validation is None else inside * max(1, -(-LEAST_IN_GIVEN // inside))
    else:
        count = lcm(outer, inside) if SHARES in (outer, inside) else outer * inside
        if any(getattr(strategy, "repeats", 1) > 1 for strategy in (test, validation)):
            count *= max(1, -(-SHARES // count))
    _refuse_many(count * families, rows)
    return CellPlan(
        rows=rows,
        count=count,
        seed=seed,
        families=families,
        family_of=family_of,
        in_order=in_order,
        stratified=_is_stratified(test, validation, classification=classification),
    )


def _is_stratified(test: Any, validation: Any, *, classification: bool) -> bool:
    """Return whether to spread classes evenly over cells: a level asks for it, or leaves it to "auto"."""
    for strategy in (test, validation):
        if getattr(strategy, "stratify", False) is True and not classification:
            raise SplitError(f"{strategy!r} was asked to stratify, but the target is a number. Pass stratify=False.")
        if _in_order(strategy) and classification and strategy.stratify is not False:
            raise SplitError(f"{strategy!r} would stratify in row order, which a stream cannot. Add stratify=False.")
    return classification and any(getattr(each, "stratify", False) is not False for each in (test, validation))


def _parts(strategy: Any) -> int:
    """Return into how many cells this level must divide the rows."""
    if isinstance(strategy, KFold):
        return strategy.k
    return SHARES if isinstance(strategy, Holdout | Resample) else 1


def _in_order(strategy: Any) -> bool | None:
    if strategy is None or isinstance(strategy, Given | SharedBlocks):
        return None
    return getattr(strategy, "shuffle", None) is False


def _refuse(strategy: Any, *, inside: bool) -> None:
    allowed = (KFold, Holdout, Resample, SharedBlocks if inside else Given)
    if type(strategy) not in allowed:
        names = ", ".join(kind.__name__ for kind in allowed)
        raise SplitError(
            f"{strategy!r} needs random access to rows, which a stream does not give. Use {names}, or load the data."
        )
    if any(is_positive(getattr(strategy, name, None)) for name in ("buffer", "embargo")):
        raise SplitError(f"{strategy!r} keeps rows apart in time, which a stream does not take. Load the data.")
    if isinstance(strategy, Holdout) and strategy.rows is not None:
        raise SplitError(f"{strategy!r} counts rows; a stream holds out shares. Use Holdout(0.2).")
    if isinstance(strategy, Resample) and not isinstance(strategy.held_out, float):
        raise SplitError(f"{strategy!r} counts rows; a stream holds out shares. Use Resample({strategy.times}, 0.2).")


def _refuse_many(cells: int, rows: int) -> None:
    if cells > MOST_CELLS:
        raise SplitError(
            f"These splits would cut the stream into {cells:,} cells of rows, more than {MOST_CELLS:,}. Use fewer "
            "folds."
        )
    if cells > rows:
        raise SplitError(
            f"These splits cut a stream into {cells} cells of rows, but it has {rows} rows. Load the data: they are "
            "small."
        )


def _given_families(test: Given, rows: int) -> tuple[NDArray[np.int32], int]:
    """Return the family of each row and the number of families. Parts come first, then rows that are never held out."""
    held, sizes = given_parts(test, rows)
    if len(outside := held[(held < 0) | (held >= rows)]):
        raise SplitError(f"{test!r}: there is no row {outside[0]}. The stream has {rows} rows, counted from 0.")
    family = np.full(rows, len(sizes), dtype=np.int32)
    family[held] = np.repeat(np.arange(len(sizes)), sizes)
    return family, len(sizes) + (len(held) < rows)
