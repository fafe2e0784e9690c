"""Assigns the rows of a stream to a few cells of even size, so that splits are drawn of cells instead of rows.

Rows are dealt at random as they pass, so a union of cells that does not depend on the data is as good as one drawn
row by row: every K-fold of cells is a shuffled K-fold of rows. Splits of cells are small whatever the number of rows,
and sums over rows, kept for each cell, are the sums of every part of every level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.distances import is_none
from heldout.splits.drawn import Splits
from heldout.splits.given import Given
from heldout.splits.holdout import Holdout
from heldout.splits.kfold import KFold
from heldout.splits.resample import Resample
from heldout.splits.shared_blocks import SharedBlocks
from heldout.task import Task

Codes = NDArray[np.int64]
SHARES = 100  # cells for shares of the rows: whole percents come out even
MOST_CELLS = 10_000
BESIDE_GIVEN = 20  # cells of each given part, at least, where there is something to choose inside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Deal:
    """How rows are dealt into cells: `count` cells of each family of rows. Without a given split there is one family.

    Cells of family f are numbered from f·count on.
    """

    count: int
    families: int
    seed: int
    in_order: bool = False  # cells are stretches of neighbouring rows
    given: NDArray[np.int32] | None = None  # the family of each row

    @property
    def cells(self) -> int:
        return self.count * self.families


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSplits(Splits):
    """Splits of cells, which count the rows in them."""

    cell_sizes: Rows

    @cached_property
    def held_sizes(self) -> Rows:
        return np.array([int(self.cell_sizes[self.held_rows(part)].sum()) for part in range(len(self))], dtype=np.intp)

    @cached_property
    def train_sizes(self) -> Rows:
        return np.array([int(self.cell_sizes[self.train_rows(part)].sum()) for part in range(len(self))], dtype=np.intp)


def count_rows(splits: Splits, cell_sizes: Rows, *, stratified: bool) -> CellSplits:
    """Splits of cells as splits that count rows, in their words too. `stratified` says how rows were dealt."""
    values = {field.name: getattr(splits, field.name) for field in fields(Splits)}
    recipe = splits.recipe
    words = recipe.words if recipe.kind == "kfold" else recipe.words.replace(" rows", " cells of rows")
    if stratified and recipe.drawn:
        recipe = replace(recipe, stratified=True, words=f"{words}, stratified")
    else:
        recipe = replace(recipe, words=words)
    return CellSplits(**(values | {"recipe": recipe}), cell_sizes=cell_sizes)


def plan_deal(test: Any, validation: Any, *, rows: int, seed: int) -> Deal:
    """The cells that these strategies need: as few as let every part have its share."""
    _refuse(test, inside=False)
    if validation is not None:
        _refuse(validation, inside=True)
    orders = {_in_order(strategy) for strategy in (test, validation)} - {None}
    if len(orders) > 1:
        raise SplitError(
            f"test={test!r} and validation={validation!r}: in a stream either every level is shuffled or none is. "
            "Give both the same shuffle=."
        )
    in_order = orders == {True}
    if isinstance(test, Given):
        if in_order:
            raise SplitError(f"validation={validation!r} cannot be in row order beside given rows in a stream.")
        given, families = _given_families(test, rows)
        inside = _parts(validation)
        count = 1 if validation is None else inside * max(1, -(-BESIDE_GIVEN // inside))
        return _checked(Deal(count=count, families=families, seed=seed, given=given), rows)
    outer, inside = _parts(test), _parts(validation)
    shares = {outer, inside} & {SHARES}
    count = lcm(outer, inside) if shares else outer * inside
    if any(getattr(strategy, "repeats", 1) > 1 for strategy in (test, validation)):
        count *= max(1, -(-SHARES // count))
    return _checked(Deal(count=count, families=1, seed=seed, in_order=in_order), rows)


def deals_strata(test: Any, validation: Any, *, classification: bool) -> bool:
    """Whether classes are spread evenly over cells: where a level that draws wants it, or leaves it to "auto"."""
    for strategy in (test, validation):
        if getattr(strategy, "stratify", False) is True and not classification:
            raise SplitError(f"{strategy!r} was asked to stratify, but the target is a number. Pass stratify=False.")
        if _in_order(strategy) and classification and strategy.stratify is not False:
            raise SplitError(f"{strategy!r} would stratify in row order, which a stream cannot. Add stratify=False.")
    wants = [getattr(strategy, "stratify", False) is not False for strategy in (test, validation)]
    return classification and any(wants)


def of_cells(strategy: Any, deal: Deal) -> Any:
    """The strategy as it draws cells: classes are spread when rows are dealt, and given rows are whole families."""
    if isinstance(strategy, Given):
        labels = np.repeat(np.arange(deal.families), deal.count)
        if strategy.rows is not None:
            return Given(np.flatnonzero(labels == 0))
        return Given(folds=np.where(labels < len(strategy.folds.names), labels, -1))
    return replace(strategy, stratify=False) if hasattr(strategy, "stratify") else strategy


class Dealer:
    """Deals rows as they pass, in order. `strata` are codes that every cell of a family gets an even share of."""

    def __init__(self, deal: Deal, rows: int, strata: int = 1, dealt: Codes | None = None) -> None:
        self._deal, self._rows, self._strata = deal, rows, strata
        self._dealt = np.zeros(deal.families * strata, dtype=np.int64) if dealt is None else dealt.copy()

    def deal(self, start: int, strata: Codes | None, size: int) -> Codes:
        """The cell of each row from `start` on."""
        deal = self._deal
        if deal.in_order:
            return np.arange(start, start + size, dtype=np.int64) * deal.count // self._rows
        order = np.random.default_rng([deal.seed, start]).permutation(size)
        if deal.given is None and strata is None:
            cells = np.empty(size, dtype=np.int64)
            cells[order] = np.arange(start, start + size) % deal.count
            return cells
        kinds = self._kinds(start, strata, size)
        cells = np.empty(size, dtype=np.int64)
        cells[order] = self._in_turn(kinds[order])
        return np.asarray(kinds // self._strata * deal.count + cells, dtype=np.int64)

    @property
    def dealt(self) -> Codes:
        """How many rows of each kind, a family and a stratum, were dealt so far."""
        return self._dealt

    def _kinds(self, start: int, strata: Codes | None, size: int) -> Codes:
        given = self._deal.given
        family = np.zeros(size, dtype=np.int64) if given is None else given[start : start + size].astype(np.int64)
        return np.asarray(family * self._strata + (0 if strata is None else strata), dtype=np.int64)

    def _in_turn(self, kinds: Codes) -> Codes:
        """Rows of each kind take the cells in turn, going on where the last chunk ended."""
        turns = np.empty(len(kinds), dtype=np.int64)
        counts = np.bincount(kinds, minlength=len(self._dealt))
        by_kind = np.argsort(kinds, kind="stable")
        ends = np.cumsum(counts)
        for kind in np.flatnonzero(counts).tolist():
            members = by_kind[ends[kind] - counts[kind] : ends[kind]]
            # Kinds begin at cells of their own, or the odd rows of all of them would meet in the first cells.
            turns[members] = kind * 7919 + self._dealt[kind] + np.arange(len(members))
        self._dealt += counts
        return np.asarray(turns % self._deal.count)


def rows_of_cells(deal: Deal, rows: int, chunks: Iterator[tuple[int, Codes | None, int]], strata: int) -> list[Rows]:
    """The row numbers of each cell, for those who hold all rows: chunks are (start, strata, size) as they passed."""
    dealer = Dealer(deal, rows, strata)
    labels = np.concatenate([dealer.deal(start, codes, size) for start, codes, size in chunks])
    return [np.flatnonzero(labels == cell) for cell in range(deal.cells)]


def _parts(strategy: Any) -> int:
    """Cells that this level wants the rows in."""
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
    if not all(is_none(getattr(strategy, name, None)) for name in ("buffer", "embargo")):
        raise SplitError(f"{strategy!r} keeps rows apart in time, which a stream does not take. Load the data.")
    if getattr(strategy, "rows", None) is not None and isinstance(strategy, Holdout):
        raise SplitError(f"{strategy!r} counts rows; a stream holds out shares. Use Holdout(0.2).")
    if isinstance(strategy, Resample) and not isinstance(strategy.held_out, float):
        raise SplitError(f"{strategy!r} counts rows; a stream holds out shares. Use Resample({strategy.times}, 0.2).")


def _given_families(test: Given, rows: int) -> tuple[NDArray[np.int32], int]:
    """The family of each row: the parts in order, then the rows that no part holds out, if any."""
    if test.rows is not None:
        numbers = test.rows.numbers
        test.rows.refuse_other_length(rows, who=repr(test))
        outside = numbers[(numbers < 0) | (numbers >= rows)]
        if len(outside):
            raise SplitError(f"{test!r}: there is no row {outside[0]}. The stream has {rows} rows, counted from 0.")
        codes = np.ones(rows, dtype=np.int32)
        codes[numbers] = 0
        return codes, 2
    codes = test.folds.codes.numbers.astype(np.int32)
    if len(codes) != rows:
        raise SplitError(f"{test!r}: there are {len(codes)} fold labels, but the stream has {rows} rows.")
    parts = len(test.folds.names)
    codes[codes < 0] = parts
    return codes, parts + int((codes == parts).any())


def _checked(deal: Deal, rows: int) -> Deal:
    if deal.cells > MOST_CELLS:
        raise SplitError(
            f"These splits would cut the stream into {deal.cells:,} cells of rows, more than {MOST_CELLS:,}. "
            "Use fewer folds."
        )
    if deal.cells > rows:
        raise SplitError(
            f"These splits cut a stream into {deal.cells} cells of rows, but it has {rows} rows. "
            "Load the data: they are small."
        )
    return deal


def cell_task(deal: Deal, key: int) -> Task:
    """A task with a row a cell, which strategies draw from: told apart by the stream it stands for."""
    cells = np.arange(deal.cells, dtype=np.uint64)
    X = np.stack([np.full(deal.cells, key & ((1 << 64) - 1), dtype=np.uint64), cells], axis=1)
    return Task(X=X, y=np.zeros(deal.cells), classification=False)
