"""H609: samples the rows of two parts, so that a classifier can try to tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heldout.audit.check_table import Codes, Column, Floats, Table
from heldout.base.rowkeys import derive

MOST_ROWS = 3_000  # of each part
FEWEST_ROWS = 40
MOST_COLUMNS = 200
MOST_LEVELS = 200  # as categories; more are left out
LEAST_DIFFERENCE = 0.05  # of the chance that a test row has the larger value, from one half


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoParts:
    """Equally many rows of the training part and the test part, as numeric columns."""

    X: Floats
    tested: NDArray[np.intp]  # 1 in rows of the test part
    categories: list[int]  # which columns are codes
    names: list[str]


def two_parts(table: Table) -> TwoParts | None:
    """Sample rows of both parts; None if they are too small, or if no test part was given."""
    if table.held is None:
        return None
    rows = _balanced(table, table.held)
    if rows is None:
        return None
    columns = [column for column in table.columns if _may_tell(column)][:MOST_COLUMNS]
    blocks = [column.numbers[rows][:, None] for column in columns] + [table.responses[rows]]
    names = [column.name for column in columns] + ["the target"] * table.responses.shape[1]
    categories = [position for position, column in enumerate(columns) if column.kind == "category"]
    held = table.held[table.rows[rows]].astype(np.intp)
    return TwoParts(X=np.hstack(blocks), tested=held, categories=categories, names=names)


def differing(parts: TwoParts) -> list[str]:
    """Return the columns that differ most, by the probability that a test row has the larger value; largest first."""
    differences: dict[str, float] = {}
    for name, values in zip(parts.names, parts.X.T, strict=True):
        present = ~np.isnan(values)
        tested = parts.tested[present] == 1
        if tested.sum() < FEWEST_ROWS / 2 or (~tested).sum() < FEWEST_ROWS / 2:
            continue
        ranks = rankdata(values[present])
        larger = (ranks[tested].mean() - (tested.sum() + 1) / 2) / (~tested).sum()
        difference = abs(float(larger) - 0.5)
        if difference >= LEAST_DIFFERENCE:
            differences[name] = max(difference, differences.get(name, 0.0))
    return sorted(differences, key=lambda name: -differences[name])


def _may_tell(column: Column) -> bool:
    """Return whether to compare a column. Dates and texts are left out: they differ between any successive parts."""
    if column.kind == "category":
        return 1 < column.distinct <= MOST_LEVELS
    return column.kind == "number" and column.distinct > 1


def _balanced(table: Table, held: NDArray[np.bool_]) -> Codes | None:
    """Return equally many rows of each part in random order, one per group if groups are declared; None if too few."""
    rng = np.random.default_rng(derive(table.seed, "parts"))
    places = np.arange(len(table), dtype=np.intp)
    if table.task.groups is not None:
        places = np.unique(table.task.groups[table.rows], return_index=True)[1].astype(np.intp)
    tested = held[table.rows[places]]
    size = min(int(tested.sum()), int((~tested).sum()), MOST_ROWS)
    if size < FEWEST_ROWS:
        return None
    chosen = [rng.choice(places[mask], size=size, replace=False) for mask in (~tested, tested)]
    return rng.permutation(np.concatenate(chosen)).astype(np.intp)
