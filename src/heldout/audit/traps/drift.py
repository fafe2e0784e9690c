"""H609: a classifier that tries to tell the rows of a given test part from its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heldout.audit.check_table import Codes, Column, Floats, Table
from heldout.audit.trap import INFO, WARNING, Trap, shown
from heldout.base.rowkeys import derive
from heldout.risk.intervals.binomial import clopper_pearson
from heldout.splits import Holdout
from heldout.study.study import TEST
from heldout.task import declare

MOST_ROWS = 3_000  # of each part
FEWEST_ROWS = 40
MOST_COLUMNS = 200
MOST_LEVELS = 200  # as categories; more are left out
LEAST_DIFFERENCE = 0.05  # of the chance that a test row has the larger value, from one half
LEVEL = 0.999  # of the interval, so that by chance it lies above one half once in two thousand cases
LARGE = 0.6  # accuracy of the classifier from which the finding is a warning
COST_OF_DRIFT = 2e8  # operations of its fit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoParts:
    """Equally many rows of the training part and the test part, as numeric columns."""

    X: Floats
    tested: NDArray[np.intp]  # 1 in rows of the test part
    categories: list[int]  # which columns are codes
    names: list[str]


def find_drift(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Return a trap H609 if a classifier can tell a given test part from its training part; else an empty list."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    parts = two_parts(table, columns)
    if parts is None:
        return []
    task = declare(parts.X, parts.tested, classification=True)
    splits = Holdout(0.5, stratify=False).draw(
        task, task.all_rows, seed=derive(table.seed, TEST, task.content_key(task.all_rows))
    )
    train, held = splits.train_rows(0), splits.held_rows(0)
    learner = HistGradientBoostingClassifier(
        max_iter=50, max_leaf_nodes=15, categorical_features=parts.categories or None, random_state=table.seed
    )
    wrong = learner.fit(parts.X[train], parts.tested[train]).predict(parts.X[held]) != parts.tested[held]
    risk = clopper_pearson(int(wrong.sum()), len(held), level=LEVEL)
    if risk.low is None or risk.high is None or risk.high >= 0.5:
        return []
    right, low, high = 1 - float(wrong.mean()), 1 - risk.high, 1 - risk.low
    names = differing(parts)
    most = f"; most different: {shown(names, 3)}" if names else ""
    seen = (
        f"A classifier tells rows of the test part from training rows {right:.1%} of the time "
        f"({100 * LEVEL:.4g}% interval {low:.1%} to {high:.1%}; 50% is chance){most}."
    )
    evidence = {"right": right, "low": low, "high": high, "level": LEVEL, "rows": len(parts.tested)}
    severity = WARNING if right >= LARGE else INFO
    columns_named = tuple(name for name in names[:3] if name != "the target")
    return [Trap(code="H609", severity=severity, seen=seen, columns=columns_named, evidence=evidence)]


def two_parts(table: Table, columns: Sequence[Column]) -> TwoParts | None:
    """Sample rows of both parts; None if they are too small, or if no test part was given."""
    if table.held is None:
        return None
    rows = _balanced(table, table.held)
    if rows is None:
        return None
    columns = [column for column in columns if _may_tell(column)][:MOST_COLUMNS]
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
