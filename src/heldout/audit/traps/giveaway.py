"""H604: a column that gives the target away."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.audit.traps.association import Skill, skill_of
from heldout.audit.traps.columns import Column, Floats
from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import ERROR, WARNING, Trap

FEWEST_ROWS = 30
FULLY, NEARLY, ALONE = 0.98, 0.95, 0.9  # how much one column explains
HALF = 0.5  # of that, all others together explain less
MOST_LEVELS = 0.2  # values by rows: categories with more of them are names, not properties
_ROWS_OF_OTHERS = 4_000
_MOST_OTHERS = 100


def find_giveaways(table: Table, *, aside: set[str]) -> list[Trap]:
    """A trap for each column that tells the target too well; `aside` are columns explained otherwise."""
    skills = {
        column.name: skill_of(column, table.responses)
        for column in table.columns
        if column.name not in aside and _speaks(column, table)
    }
    good = {name: skill for name, skill in skills.items() if skill.low >= ALONE}
    if not good:
        return []
    needs_others = any(skill.low < NEARLY for skill in good.values())
    others = _skill_of_others(table, aside | set(good)) if needs_others else 0.0
    return [trap for name, skill in good.items() if (trap := _trap(name, skill, others)) is not None]


def _speaks(column: Column, table: Table) -> bool:
    if column.kind not in ("number", "category") or len(column.order) < max(FEWEST_ROWS, 0.05 * len(table)):
        return False
    if column.kind == "category" and column.distinct > MOST_LEVELS * len(column.order):
        return False
    return column.distinct > 1


def _trap(name: str, skill: Skill, others: float) -> Trap | None:
    beside = ""
    if skill.low < NEARLY:
        if others >= HALF * skill.value:
            return None
        beside = f", and all other columns together {_percent(max(others, 0.0))}"
    seen = f"Column {name!r} alone explains {_percent(skill.value)} of the target{beside}."
    severity = ERROR if skill.low >= FULLY else WARNING
    evidence = {"explained": skill.value, "low": skill.low}
    return Trap(code="H604", severity=severity, seen=seen, columns=(name,), evidence=evidence)


def _skill_of_others(table: Table, aside: set[str]) -> float:
    """How much of the target all other columns explain together, by boosting on one half, tested on the other."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    columns = [c for c in table.columns if c.name not in aside and c.kind in ("number", "category") and c.distinct > 1]
    if not columns:
        return 0.0
    rows = slice(0, _ROWS_OF_OTHERS)  # the rows of a table stand in a random order
    X = np.column_stack([column.numbers[rows] for column in columns[:_MOST_OTHERS]])
    Y = table.responses[rows]
    half = len(Y) // 2
    lost = base = 0.0
    for output in Y.T:
        model: Any = HistGradientBoostingRegressor(max_iter=60, min_samples_leaf=10, random_state=table.seed)
        predicted: Floats = model.fit(X[:half], output[:half]).predict(X[half:])
        lost += float(((output[half:] - predicted) ** 2).sum())
        base += float(((output[half:] - output[:half].mean()) ** 2).sum())
    return 1 - lost / base if base > 0 else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
