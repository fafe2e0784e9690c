"""H602: rows that are nearly the same."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from heldout.audit.traps.columns import Codes, Column, Floats
from heldout.audit.traps.same_rows import Words, cell_words, chance_meetings, equal_pairs
from heldout.audit.traps.table import Table
from heldout.audit.traps.trap import INFO, WARNING, Trap

NEIGHBOURS = 8  # with the row itself left out
A_ROW, A_TABLE = 1e-3, 1e-6  # how often chance brings a row, or so many rows of a table, that near
LEAST_SHARE = 0.01
FEWEST_ROWS, FEWEST_COLUMNS, FEWEST_WORDS, FEWEST_PAIRS = 50, 2, 5, 5
MOST_AT_ONE_VALUE = 0.05  # of the rows, in a column whose distances count
ALIKE = 0.05  # standard deviations that other numbers may differ by
_MOST_LEFT_OUT = 10
_WORK = 2e9  # rows asked × rows × columns
_MOST_COLUMNS = 100
_UPPER = 0.8  # which quantile of the distances tells the dimension: copies are at the lower end

Pairs = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearRows:
    """Pairs of rows of the task that are nearly the same, among how many rows that were looked at, and how near."""

    pairs: Pairs  # two columns
    asked: int
    rows: int  # how many of the asked are near another
    words: str


def near_rows(table: Table, *, aside: set[str]) -> list[NearRows]:
    """Rows that differ in one column, and rows that are near one another; `aside` are columns that tell rows apart."""
    if len(table) < FEWEST_ROWS:
        return []
    columns = [column for column in table.columns if column.name not in aside]
    words = cell_words(table, aside=aside)
    found = (_all_but_one(table, columns, words), _by_distance(table, columns, words))
    return [near for near in found if near is not None]


def find_near_rows(table: Table, found: list[NearRows]) -> list[Trap]:
    """One trap for all ways of being near, where groups that are declared do not hold the rows together."""
    groups = table.task.groups
    apart = [near for near in found if groups is None or _crosses(groups[near.pairs])]
    if not apart:
        return []
    shares = [near.rows / near.asked for near in apart]
    words = [
        f"{near.rows:,} of {near.asked:,} rows ({share:.2%}) {near.words}"
        for near, share in zip(apart, shares, strict=True)
    ]
    severity = WARNING if max(shares) >= LEAST_SHARE else INFO
    evidence = {"rows": [near.rows for near in apart], "asked": [near.asked for near in apart]}
    return [Trap(code="H602", severity=severity, seen=f"{'; '.join(words)}.", evidence=evidence)]


def _crosses(groups: Pairs) -> bool:
    return bool((groups[:, 0] != groups[:, 1]).any())


def _all_but_one(table: Table, columns: list[Column], words: Words) -> NearRows | None:
    """Rows that agree in all but one column, the target too; only where that hardly happens by chance."""
    names = [column.name for column in columns] + ["the target"]
    if len(words) < FEWEST_WORDS:
        return None
    sums = words.sum(axis=0, dtype=np.uint64)
    same = equal_pairs(sums)
    counts = np.array([equal_pairs(sums - word) for word in words]) - same
    found: dict[str, Pairs] = {}
    for place in np.argsort(-counts)[:_MOST_LEFT_OUT]:
        rest = sums - words[place]
        if counts[place] >= FEWEST_PAIRS and chance_meetings(words, rest, beside=words[place]) < counts[place]:
            found[names[place]] = _pairs_of(rest, sums)
    if not found:
        return None
    pairs = np.unique(np.vstack(list(found.values())), axis=0)
    which = ", ".join(name if name == "the target" else repr(name) for name in list(found)[:3])
    told = f"differ from another in a single column ({which}{', …' if len(found) > 3 else ''})"
    return NearRows(pairs=table.rows[pairs], asked=len(table), rows=len(np.unique(pairs)), words=told)


def _pairs_of(rest: Words, sums: Words) -> Pairs:
    """Each row with the next that is equal but for one column."""
    order = np.argsort(rest, kind="stable")
    first, second = order[:-1], order[1:]
    near = (rest[first] == rest[second]) & (sums[first] != sums[second])
    return np.sort(np.column_stack([first[near], second[near]]), axis=1)


def _by_distance(table: Table, columns: list[Column], words: Words) -> NearRows | None:
    """Rows whose nearest neighbour is far nearer than the eighth, in columns of numbers, all others being equal."""
    places = [place for place, column in enumerate(columns) if _is_spread(column)][:_MOST_COLUMNS]
    if len(places) < FEWEST_COLUMNS:
        return None
    sums = words[places].sum(axis=0, dtype=np.uint64)
    kept = np.sort(np.unique(sums, return_index=True)[1])  # copies are another matter
    points = np.column_stack([_scaled(columns[place])[kept] for place in places])
    if len(points) < FEWEST_ROWS:
        return None
    asked = int(min(len(points), max(500, _WORK / (len(points) * points.shape[1]))))
    distances, neighbours = _nearest(points, asked)
    near = too_near(distances)
    for place, column in enumerate(columns):
        if place not in places:
            near &= _alike(column, kept[:asked], kept[neighbours])
    rows = int(near.sum())
    if rows < 3 or binom.sf(rows - 1, asked, A_ROW) > A_TABLE:
        return None
    pairs = np.column_stack([kept[np.flatnonzero(near)], kept[neighbours[near]]])
    told = "have a neighbour far nearer than chance brings rows together"
    return NearRows(pairs=table.rows[pairs], asked=asked, rows=rows, words=told)


def _is_spread(column: Column) -> bool:
    """Whether a number has no value where many rows gather: there, they are near for no other reason."""
    return column.kind == "number" and column.distinct > 20 and column.counts.max() <= MOST_AT_ONE_VALUE * len(column)


def _alike(column: Column, first: Codes, second: Codes) -> NDArray[np.bool_]:
    """Where two rows hold the same category, or numbers that hardly differ; dates may differ."""
    if column.kind == "date" or column.distinct < 2:
        return np.ones(len(first), dtype=bool)
    if column.kind != "number":
        same: NDArray[np.bool_] = column.codes[first] == column.codes[second]
        return same
    apart = np.abs(column.numbers[first] - column.numbers[second])
    limit = ALIKE * float(column.numbers[column.present].std())
    gaps = ~column.present[first] & ~column.present[second]
    return (apart <= limit) | gaps  # a gap beside a number is no match


def _scaled(column: Column) -> Floats:
    values = column.numbers[column.present]
    filled = np.where(column.present, column.numbers, np.median(values))
    scaled: Floats = (filled - values.mean()) / values.std()
    return scaled


def _nearest(points: Floats, asked: int) -> tuple[Floats, Codes]:
    """Distances of the first rows to their nearest others, ascending, and which the nearest is."""
    from sklearn.neighbors import NearestNeighbors

    reach = min(NEIGHBOURS, len(points) - 1)
    search = NearestNeighbors(n_neighbors=reach + 1, algorithm="brute").fit(points)
    numbers = search.kneighbors(points[:asked], return_distance=False)
    own = numbers == np.arange(asked)[:, None]
    own[~own.any(axis=1), -1] = True
    others = numbers[~own].reshape(asked, reach)
    gaps = np.sqrt(((points[:asked, None, :] - points[others]) ** 2).sum(axis=2))  # sums of squares lose the nearest
    order = np.argsort(gaps, axis=1)
    return np.take_along_axis(gaps, order, axis=1), others[np.arange(asked), order[:, 0]].astype(np.intp)


def too_near(distances: Floats) -> NDArray[np.bool_]:
    """Rows whose nearest is nearer than chance allows once in a thousand rows.

    Where rows are spread evenly around a row in d dimensions, the nearest of k has a share of the volume that the
    k-th reaches to that is distributed as Beta(1, k - 1). The dimension is what makes that true in the upper part.
    """
    k = distances.shape[1]
    ratios = np.clip(distances[:, 0] / np.maximum(distances[:, -1], 1e-300), 1e-12, 1.0)
    share = 1 - (1 - _UPPER) ** (1 / (k - 1))
    upper = float(np.quantile(ratios, _UPPER))
    if upper >= 1:
        return np.zeros(len(ratios), dtype=bool)
    dimension = log(share) / log(upper)
    limit = 1 - (1 - A_ROW) ** (1 / (k - 1))
    near: NDArray[np.bool_] = ratios**dimension < limit
    return near
