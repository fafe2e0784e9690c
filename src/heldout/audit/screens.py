"""Screens all columns of a table at once for what the checks look for, so that a clean table costs little.

A screen is a condition that every column with the trap fulfils and few others do. It decides nothing: the checks look
at the columns that it leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from heldout.audit.check_table import MOST_STEPS, Codes, Column, Floats, Table, in_blocks

Mask = NDArray[np.bool_]
_ROUGH = 1.2  # of the mean squared step between sorted neighbours, over the variance; 2 for an unrelated target
_SKILL = 0.85  # of levels; a column that gives the target away has 0.9
_EXACT = 1e-9
DIGITS = 1e-6  # how near the mean is to 0 and the deviation to 1; files are rounded
NEAR = 8.0  # standard errors that a sample of the rows may be away
WAYS = STANDARD, NORMED, ROBUST, RANGED = (
    "mean 0 and standard deviation 1",
    "mean 0 and norm 1",
    "median 0 and quartiles 1 apart",
    "the range from 0 to 1",
)


def screen(table: Table) -> dict[str, list[Column]]:
    """Return the columns that each check has to look at, by the number of its findings."""
    suspects: dict[str, list[Column]] = {}
    for columns in in_blocks(table.columns, len(table)):
        for code, mask in _screen_block(table, columns):
            suspects.setdefault(code, []).extend(columns[place] for place in np.flatnonzero(mask).tolist())
    return suspects


def _screen_block(table: Table, columns: Sequence[Column]) -> Iterator[tuple[str, Mask]]:
    n = len(table)
    numbers = np.stack([column.numbers for column in columns])
    kinds = np.array([column.kind for column in columns])
    whole = np.array([column.whole for column in columns])
    number, text = kinds == "number", kinds == "text"
    coded = whole & (number | (kinds == "category"))
    order = np.argsort(numbers, axis=1)
    values = np.take_along_axis(numbers, order, axis=1)
    present = n - np.isnan(values).sum(axis=1)
    starts = _starts(values, present)
    distinct = starts.sum(axis=1) - 1
    several = distinct - (starts[:, :-1] & starts[:, 1:]).sum(axis=1)  # values of more than one row
    repeated = present - distinct + several  # rows that share their value
    fine = (number | (kinds == "date")) & (distinct > np.maximum(10, MOST_STEPS * present))
    varied = distinct > 1
    yield "H610", distinct <= 1
    yield "H607", (kinds == "date") & varied
    yield "H603", coded & (distinct == present) & (present >= np.maximum(20, 0.5 * n))
    groups = coded & (distinct >= 10) & (present >= 0.5 * n) & (present <= 100 * distinct)
    yield "H606", groups & ((repeated > 0) if table.sampled else (repeated >= 0.3 * present) & (several >= 10))
    yield "H611", (present < n) & (present > 0)
    measured, of = number & ~whole & (present >= 20), moments(values, present)
    yield "H612", measured & (distinct > 10) & (scalings(values, present, of, sampled=table.sampled) >= 0)
    yield "H614", measured & fine & (distinct > 20) & (present == n) & is_centred(of, present, sampled=table.sampled)
    least = min(n, max(5, int(0.005 * present.min())))  # rows at the commonest value
    yield "H613", number & (distinct > 20) & (values[:, least - 1 :] == values[:, : n + 1 - least]).any(axis=1)
    yield "H615", number & (distinct >= 3) & (distinct <= n / 2)
    rough = np.full(len(columns), np.inf)  # for the one output that is nearest
    gives = np.zeros(len(columns), dtype=bool)
    if fine.any():
        rough[fine], gives[fine] = roughness(table.responses, order[fine], present[fine])
    level = ~fine & ~text & varied
    steps = np.zeros(len(columns), dtype=bool)
    if level.any():
        category = kinds[level] == "category"
        gives[level], steps[level] = spread_in_levels(table, order[level], starts[level], present[level], category)
    speaks = number | ((kinds == "category") & (distinct <= MOST_STEPS * present))
    yield "H604", gives & speaks & varied & (present >= max(30, 0.05 * n))
    yield "H605", (rough <= _ROUGH) | steps if table.responses_are_all else ~text & varied


def _starts(values: Floats, present: Codes) -> Mask:
    """Return where each different value begins in sorted rows, and where the missing ones do, or the row's end."""
    c, n = values.shape
    starts = np.ones((c, n + 1), dtype=bool)
    np.not_equal(values[:, 1:], values[:, :-1], out=starts[:, 1:n])
    if (present < n).any():
        starts &= np.arange(n + 1) <= present[:, None]
    return starts


def moments(numbers: Floats, present: Codes) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of each row of numbers, without missing values."""
    if (present == numbers.shape[1]).all():
        return numbers.mean(axis=1), numbers.std(axis=1)
    count = np.maximum(present, 1)
    mean = np.nansum(numbers, axis=1) / count
    return mean, np.sqrt(np.nansum((numbers - mean[:, None]) ** 2, axis=1) / count)


def is_centred(of: tuple[Floats, Floats], present: Codes, *, sampled: bool) -> NDArray[np.bool_]:
    """Return which means are 0, by the moments of all rows; in a sample, which may be."""
    mean, deviation = of
    return np.asarray(np.abs(mean) <= deviation * (NEAR / np.sqrt(np.maximum(present, 1)) if sampled else DIGITS))


def scalings(ordered: Floats, present: Codes, of: tuple[Floats, Floats], *, sampled: bool) -> Codes:
    """Return the place in WAYS of the scaling that sorted columns show, -1 for none; in a sample, one they may show.

    `of` are their moments.
    """
    rows, last, count = np.arange(len(ordered)), np.maximum(present - 1, 0), np.maximum(present, 2)
    units = (of[1], of[1] * np.sqrt(count / (count - 1)))
    unit = sampled | (np.min([np.abs(one - 1) for one in units], axis=0) <= DIGITS)
    normed = np.abs(of[1] * np.sqrt(count) - 1) <= DIGITS
    centred = is_centred(of, present, sampled=sampled)
    low, middle, high = (_quantile(ordered, share * last, last) for share in (0.25, 0.5, 0.75))
    near = NEAR / np.sqrt(count) if sampled else _EXACT
    robust = (np.abs(middle) <= near) & (np.abs(high - low - 1) <= near)
    first, final = ordered[:, 0], ordered[rows, last]
    ranged = (first >= 0) & (final <= 1) & (sampled | ((first == 0) & (final == 1)))
    return np.select([centred & unit, centred & normed, ranged, robust], [0, 1, 3, 2], -1)


def _quantile(ordered: Floats, at: Floats, last: Codes) -> Floats:
    rows, below = np.arange(len(ordered)), np.floor(at).astype(np.intp)
    low, high = ordered[rows, below], ordered[rows, np.minimum(below + 1, last)]
    return np.asarray(low + (at - below) * (high - low))


def roughness(responses: Floats, order: Codes, present: Codes) -> tuple[Floats, Mask]:
    """Return how much the target steps between sorted neighbours, least of all outputs; and where that is small in all.

    A mean over neighbours that explains 0.9 of the target leaves steps of at most 0.82 of its variance.
    """
    n = order.shape[1]
    inside = None if (present == n).all() else np.arange(n) < present[:, None]
    steps, spreads, least = np.zeros(len(order)), np.zeros(len(order)), np.full(len(order), np.inf)
    for response in responses.T:
        sorted_by = response[order]
        step = np.diff(sorted_by, axis=1) ** 2
        if inside is None:
            spread = np.full(len(order), float((response**2).sum()))
        else:
            step = np.where(inside[:, 1:], step, 0.0)
            sorted_by = np.where(inside, sorted_by, 0.0)
            spread = (sorted_by**2).sum(axis=1) - sorted_by.sum(axis=1) ** 2 / np.maximum(present, 1)
        total = step.sum(axis=1)
        least = np.minimum(least, total / np.maximum(spread, 1e-300))
        steps, spreads = steps + total, spreads + spread
    return least, steps <= _ROUGH * spreads


def spread_in_levels(table: Table, order: Codes, starts: Mask, present: Codes, category: Mask) -> tuple[Mask, Mask]:
    """Return which columns of few values may give the target away, and which may be it, in other words or in steps."""
    c, n = order.shape
    first = np.flatnonzero(starts[:, :n])
    owner, place = np.divmod(first, n)
    counts = np.diff(first, append=c * n)
    known = place < present[owner]

    def summed(values: Floats) -> Floats:
        return np.bincount(owner[known], weights=values[known], minlength=c).astype(np.float64)

    lost, spread, steps = np.zeros(c), np.zeros(c), np.zeros(c, dtype=bool)
    left = np.where(counts > 1, (counts / np.maximum(counts - 1, 1)) ** 2, 0.0)  # of a level's spread, by leave-one-out
    for response in table.responses.T:
        sorted_by = response[order].ravel()
        sums, squares = np.add.reduceat(sorted_by, first), np.add.reduceat(sorted_by**2, first)
        lost = lost + summed(left * (squares - sums**2 / counts))
        spread = spread + summed(squares) - summed(sums) ** 2 / np.maximum(present, 1)
        if not table.task.classification:
            low, high = np.minimum.reduceat(sorted_by, first), np.maximum.reduceat(sorted_by, first)
            next_to = known[:-1] & known[1:] & (owner[:-1] == owner[1:])
            not_rising = np.bincount(owner[:-1], weights=next_to & (high[:-1] > low[1:]), minlength=c)
            not_falling = np.bincount(owner[:-1], weights=next_to & (low[:-1] < high[1:]), minlength=c)
            apart = summed(high - low) <= np.ptp(response) * (1 + 1e-9)
            steps |= np.where(category, apart, (not_rising == 0) | (not_falling == 0))
    gives = lost <= (1 - _SKILL) * spread
    if table.task.classification:
        written = np.isin(starts.sum(axis=1) - 1, table.class_counts)  # one value a class
        steps = written & (gives | (table.task.y.ndim > 1))
    return gives, steps
