"""H604, H605 and H611: columns that reveal the target, copies of it, and missing values that reveal it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import chi2

from heldout.audit.association import Skill, skill_of
from heldout.audit.check_table import Codes, Column, Floats, Table, class_codes
from heldout.audit.trap import ERROR, INFO, WARNING, Trap

FULLY, NEARLY, ALONE = 0.98, 0.95, 0.9  # how much one column explains
HALF = 0.5  # the other columns together must explain less than this share of it
_ROWS_OF_OTHERS = 4_000
_MOST_OTHERS = 100
_FIT_OF_OTHERS = 1e8  # operations of boosting, an output


def find_giveaways(table: Table, columns: Sequence[Column], others: Sequence[Column]) -> list[Trap]:
    """Report each column that predicts the target too well. `others` are all that may predict it honestly."""
    skills = {column.name: skill_of(column, table.responses) for column in columns}
    good = {name: skill for name, skill in skills.items() if skill.low >= ALONE}
    if not good:
        return []
    together = _skill_of_others(table, others, good) if any(skill.low < NEARLY for skill in good.values()) else 0.0
    return [trap for name, skill in good.items() if (trap := _giveaway(name, skill, together)) is not None]


def _giveaway(name: str, skill: Skill, others: float) -> Trap | None:
    beside = ""
    severity = ERROR if skill.low >= FULLY else WARNING
    if skill.low < NEARLY:
        if others >= HALF * skill.value:
            return None
        beside = f", and all other columns together {_percent(max(others, 0.0))}"
    explained = _percent(skill.value)
    seen = f"Column {name!r} alone explains {explained} of the target{beside}."
    evidence = {"explained": skill.value, "low": skill.low}
    return Trap(code="H604", severity=severity, seen=seen, columns=(name,), evidence=evidence, told=explained)


def _skill_of_others(table: Table, others: Sequence[Column], good: Collection[str]) -> float:
    """Return the R² of all other columns together, by fitting on one half of the rows and testing on the other.

    The fit is boosting, or least squares on ranks where boosting is not afforded.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression

    columns = [c for c in others if c.name not in good and c.kind in ("number", "category") and c.distinct > 1]
    if not columns:
        return 0.0
    rows = slice(0, _ROWS_OF_OTHERS)  # the rows of a table stand in a random order
    boosted = table.affords(_FIT_OF_OTHERS * table.responses.shape[1])
    columns = columns[:_MOST_OTHERS]
    X = np.column_stack([column.numbers[rows] if boosted else column.codes[rows] for column in columns])
    Y = table.responses[rows]
    half = len(Y) // 2
    lost = base = 0.0
    for output in Y.T:
        model: Any = LinearRegression()
        if boosted:
            model = HistGradientBoostingRegressor(max_iter=60, min_samples_leaf=10, random_state=table.seed)
        predicted: Floats = model.fit(X[:half], output[:half]).predict(X[half:])
        lost += float(((output[half:] - predicted) ** 2).sum())
        base += float(((output[half:] - output[:half].mean()) ** 2).sum())
    return 1 - lost / base if base > 0 else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


FEWEST_COMPARED, MOST_WORDS = 10, 20  # rows; categories of one target each that may be words for it
_LOG_CHANCE = -log(1e9)  # log of the largest chance at which an order counts as no accident
_EXACT = 1e-9


def find_copies(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each column that is the target, an invertible function of it, or a step function of it."""
    traps = []
    for column in columns:
        for number, output in enumerate(table.outputs.T):
            words = _relation(column, output, classification=table.task.classification)
            if words is not None:
                which = "the target" if table.task.y.ndim == 1 else f"output {number} of the target"
                seen = f"Column {column.name!r} {words.format(which)} in every row that was looked at."
                told = _IN_SHORT[words]
                traps.append(Trap(code="H605", severity=ERROR, seen=seen, columns=(column.name,), told=told))
                break
    return traps


_RECODED, _STEPS, _EQUAL = "writes {} in other words, one value a class,", "cuts {} into steps", "equals {}"
_LINE, _RISES, _FALLS = (
    "is {} times a number plus a number",
    "rises with {}, without exception,",
    "falls with {}, without exception,",
)
_IN_SHORT = {
    _RECODED: "in other words",
    _STEPS: "in steps",
    _EQUAL: "equal",
    _LINE: "on another scale",
    _RISES: "rises with it",
    _FALLS: "falls with it",
}


def _relation(column: Column, output: NDArray[Any], *, classification: bool) -> str | None:
    order, codes = column.order, column.sorted_codes
    if len(order) < FEWEST_COMPARED or column.distinct < 2 or column.kind == "text":
        return None
    if classification:
        return _recoded(codes, class_codes(output[order]))
    return _functional(column, output[order].astype(np.float64))


def _recoded(codes: Codes, classes: Codes) -> str | None:
    """Describe the relation if values and classes correspond one to one; None otherwise, or if it may be chance."""
    levels, labels = int(codes.max()) + 1, int(classes.max()) + 1
    if levels != labels or labels < 2 or len(np.unique(codes * labels + classes)) != levels:
        return None
    chance = _log_orders(codes) + float(gammaln(levels + 1))
    return _RECODED if chance < _LOG_CHANCE else None


def _functional(column: Column, y: Floats) -> str | None:
    """Describe the relation if the target is monotone in the values, or if the values cut it into steps; else None."""
    codes = column.sorted_codes
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    low, high = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    chance = _log_orders(codes) + float(gammaln(_ties(y)))
    if column.kind == "category":
        order = np.argsort(low, kind="stable")
        low, high = low[order], high[order]
        chance += float(gammaln(column.distinct + 1))
        if column.distinct > MOST_WORDS and (low == high).all():
            return None  # groups that have one target each
    if chance > _LOG_CHANCE or low[0] == high[-1]:
        return None
    rises, falls = bool((high[:-1] <= low[1:]).all()), bool((low[:-1] >= high[1:]).all())
    if not (rises or falls):
        return None
    if column.kind == "category" or column.distinct < len(np.unique(y)) / 2:
        return _STEPS
    values = column.numbers[column.order]
    if np.array_equal(values, y):
        return _EQUAL
    scaled = values / np.abs(values).max(), y / np.abs(y).max()  # so that no square is too large
    if abs(abs(float(np.corrcoef(*scaled)[0, 1])) - 1) < _EXACT:
        return _LINE
    return _RISES if rises else _FALLS


def _log_orders(codes: Codes) -> float:
    """Return the log probability that rows in a random order fall into these levels in this order."""
    counts = np.bincount(codes)
    return float(gammaln(counts + 1).sum() - gammaln(counts.sum() + 1))


def _ties(y: Floats) -> int:
    """Return one more than the count of the most frequent target. Rows of equal target may stand in any order."""
    return int(np.unique(y, return_counts=True)[1].max()) + 1


FALSE_ALARM = 1e-4  # for a whole table
FEWEST_GAPS = 5
NEARLY_ALL, MUCH, LITTLE = 0.9, 0.1, 0.01  # of the target, explained by gaps


def find_telling_gaps(table: Table, columns: Sequence[Column]) -> list[Trap]:
    """Report each column whose missing values go with the target; if none, the number of missing values per row."""
    gaps = np.array([~column.present for column in columns]).reshape(len(columns), len(table))
    kept = (gaps.sum(axis=1) >= FEWEST_GAPS) & (gaps.sum(axis=1) <= len(table) - FEWEST_GAPS)
    names, masks = [column.name for column, one in zip(columns, kept, strict=True) if one], gaps[kept]
    if not names:
        return []
    tests = len(names) + (len(names) > 1)
    traps = []
    for name, mask, explained in zip(names, masks, _explained(masks, table.responses, tests), strict=True):
        if explained > 0:
            words = f"Whether column {name!r} is missing ({mask.mean():.1%} of the rows) explains"
            traps.append(_telling_gap(words, explained, (name,)))
    if len(names) > 1 and not traps:
        counts = masks.sum(axis=0)
        many = counts > np.median(counts)
        explained = float(_explained(many[None], table.responses, tests)[0]) if many.any() else 0.0
        if explained > 0:
            words = f"Whether a row has more gaps than most ({many.mean():.1%} of the rows) explains"
            traps.append(_telling_gap(words, explained, tuple(names)))
    return traps


def _explained(masks: NDArray[np.bool_], responses: Floats, tests: int) -> Floats:
    """Return the share of the target's variance that each mask explains; 0 if it is small or may be chance.

    Each output has a test of two means (for classes, the chi-squared test of a two-by-two table). The smallest p-value
    is multiplied by the number of outputs and of tests.
    """
    n, gaps = masks.shape[1], masks.sum(axis=1)[:, None]
    sums = masks.astype(np.float64) @ responses
    difference = sums / gaps - (responses.sum(axis=0) - sums) / (n - gaps)
    between = gaps * (n - gaps) / n * difference**2
    spread = (responses**2).sum(axis=0)
    if not spread.all():
        return np.zeros(len(masks))
    p = chi2.sf((between / spread).max(axis=1) * (n - 1), 1) * len(spread) * tests
    value = between.sum(axis=1) / spread.sum()
    return np.where((p < FALSE_ALARM) & (value >= LITTLE), value, 0.0)


def _telling_gap(words: str, explained: float, columns: tuple[str, ...]) -> Trap:
    severity = ERROR if explained >= NEARLY_ALL else WARNING if explained >= MUCH else INFO
    told = _percent(explained)
    evidence = {"explained": float(explained)}
    return Trap(
        code="H611",
        severity=severity,
        seen=f"{words} {told} of the target.",
        columns=columns,
        evidence=evidence,
        told=told,
    )
