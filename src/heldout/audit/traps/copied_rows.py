"""H601 and H602: rows that are equal, or nearly equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from heldout.audit.check_table import Codes, Column, Floats, Table, class_codes
from heldout.audit.row_views import equal_pairs
from heldout.audit.trap import ERROR, INFO, WARNING, Trap, plural
from heldout.base.rowkeys import derive
from heldout.base.words import listed
from heldout.task.arrays import is_pandas
from heldout.task.hashing import row_hashes

LEAST_SHARE = 0.01  # of the rows
Words = NDArray[np.uint64]


def same_rows(table: Table, columns: Sequence[Column]) -> Codes:
    """Return a code for each row of the task. Rows equal in every one of the columns and in the target share one."""
    task, hashes, places = table.task, table.task.row_hashes, [column.position for column in columns]
    if len(places) < (task.n_columns or 1):
        if not places:
            return np.arange(task.size, dtype=np.intp)
        X = task.X.iloc[:, places] if is_pandas(task.X, "DataFrame") else task.X[:, places]
        hashes = row_hashes(X, task.y)
    ordered = np.sort(hashes[:, 0])
    if (ordered[1:] != ordered[:-1]).all():
        return np.arange(task.size, dtype=np.intp)
    return np.unique(hashes[:, 0], return_inverse=True)[1].astype(np.intp)


def find_same_rows(table: Table, codes: Codes, identifiers: list[Trap], columns: Sequence[Column]) -> list[Trap]:
    """Report equal rows that may be on both sides of a split."""
    task = table.task
    copies = len(codes) - int(codes.max()) - 1
    if not copies or _within_groups(codes, task.groups):
        return []
    share = copies / task.size
    by_chance = _by_chance(table, columns)
    names = ", ".join(sorted(name for trap in identifiers for name in trap.columns))
    apart = f", columns that look like identifiers aside ({names})" if identifiers else ""
    verb = "repeats" if copies == 1 else "repeat"
    seen = f"{plural(copies, 'row')} of {task.size:,} ({share:.2%}) {verb} another row{apart}"
    severity = WARNING if share >= LEAST_SHARE else INFO
    evidence = {"copies": copies, "share": share, "by_chance": by_chance}
    instead = ""
    held = np.zeros(task.size, dtype=bool) if table.held is None else table.held
    straddling = int(np.isin(codes[held], codes[~held]).sum())  # test rows with a copy among the training rows
    if straddling:
        of_test = straddling / int(held.sum())
        are = "is" if straddling == 1 else "are"
        seen += f"; {plural(straddling, 'test row')} ({of_test:.2%}) {are} in training too"
        severity = ERROR if of_test >= LEAST_SHARE else WARNING
        evidence["straddling"] = straddling
        instead = "Take them out of the training part, or out of the test part."
    if by_chance:
        seen += "; with so few different values rows meet by chance, so these need not be copies"
        severity = INFO
    return [Trap(code="H601", severity=severity, seen=f"{seen}.", evidence=evidence, instead=instead)]


def cell_words(table: Table, columns: Sequence[Column]) -> Words:
    """Return random words (columns × rows), one per value of a column or the target: equal rows have equal sums."""
    rng = np.random.default_rng(derive(table.seed, "cells"))
    codes = [column.codes for column in columns]
    codes.append(class_codes(table.task.y[table.rows]))
    words = np.empty((len(codes), len(table)), dtype=np.uint64)
    for position, one in enumerate(codes):
        dictionary = rng.integers(0, 2**64, size=int(one.max()) + 2, dtype=np.uint64)
        words[position] = dictionary[one + 1]  # -1, a gap, takes the first
    return words


def chance_meetings(words: Words, sums: Words, *, beside: Words | None = None) -> float:
    """Bound how many pairs of rows with equal sums may have arisen by chance.

    Among pairs that agree in all columns but one, chance makes as many agree in that one too as among any two rows, or
    more if columns depend on each other. Also, if chance makes pairs that agree in everything, it makes more pairs that
    differ in one column. `beside` is the words of a column left out of the sums; None leaves none out.
    """
    pairs = equal_pairs(sums)
    everything = sums.size * (sums.size - 1) / 2
    expected = differing = 0.0
    for word in words:
        if word is beside:
            continue
        one = equal_pairs(sums - word) - pairs
        differing += one
        if one > 0 and (meet := equal_pairs(word) / everything) < 0.9:
            expected = max(expected, 6 * one * meet / (1 - meet))
    return max(expected, differing)


def _by_chance(table: Table, columns: Sequence[Column]) -> bool:
    """Return whether the equal pairs in the sample may have arisen by chance; False if the sample has none."""
    words = cell_words(table, columns)
    sums = words.sum(axis=0, dtype=np.uint64)
    pairs = equal_pairs(sums)
    return pairs > 0 and chance_meetings(words, sums) >= pairs


def _within_groups(codes: Codes, groups: Codes | None) -> bool:
    """Return whether equal rows are always in one group, and so on one side of any split."""
    if groups is None:
        return False
    return len(np.unique(codes * (int(groups.max()) + 1) + groups)) == int(codes.max()) + 1


NEIGHBOURS = 8  # with the row itself left out
A_ROW, A_TABLE = 1e-3, 1e-6  # p-values for one row to be so near, and for so many such rows in a table
FEWEST_ROWS, FEWEST_COLUMNS, FEWEST_WORDS, FEWEST_PAIRS = 50, 2, 5, 5
MOST_AT_ONE_VALUE = 0.05  # of the rows, in a column whose distances count
ALIKE = 0.05  # standard deviations that other numbers may differ by
_MOST_LEFT_OUT = 10
_WORK = 2e9  # rows asked × rows × columns
_MOST_COLUMNS = 100
_UPPER = 0.8  # quantile of the distance ratios that estimates the dimension; copies affect only the low ones

Pairs = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearRows:
    """Pairs of nearly equal rows of the task, the number of rows searched, and how near the pairs are."""

    pairs: Pairs  # two columns
    asked: int
    rows: int  # how many of the asked are near another
    words: str


def near_rows(table: Table, columns: Sequence[Column]) -> list[NearRows]:
    """Find rows that differ in one column only, and rows that are very near one another."""
    if len(table) < FEWEST_ROWS:
        return []
    words = cell_words(table, columns)
    found = (_all_but_one(table, columns, words), _by_distance(table, columns, words))
    return [near for near in found if near is not None]


def cost_of_near_rows(table: Table) -> float:
    """Return the operations that the search for near rows takes: sorts of every column, and distances."""
    n, columns = len(table), len(table.columns)
    return n * columns * (200.0 + asked_rows(n, columns))


def asked_rows(rows: int, columns: int) -> int:
    """Return for how many rows the nearest ones are looked for."""
    return int(min(rows, max(500, _WORK / (rows * max(1, columns)))))


def find_near_rows(table: Table, found: list[NearRows]) -> list[Trap]:
    """Report nearly equal rows, of all kinds together, unless the declared groups keep them together."""
    groups = table.task.groups
    apart = [near for near in found if groups is None or (groups[near.pairs[:, 0]] != groups[near.pairs[:, 1]]).any()]
    if not apart:
        return []
    words = [f"{near.rows:,} of {near.asked:,} rows ({near.rows / near.asked:.2%}) {near.words}" for near in apart]
    severity = WARNING if max(near.rows / near.asked for near in apart) >= LEAST_SHARE else INFO
    evidence = {"rows": [near.rows for near in apart], "asked": [near.asked for near in apart]}
    return [Trap(code="H602", severity=severity, seen=f"{'; '.join(words)}.", evidence=evidence)]


def _all_but_one(table: Table, columns: Sequence[Column], words: Words) -> NearRows | None:
    """Find rows that agree in all columns but one, the target included; None if chance may explain them."""
    names = [repr(column.name) for column in columns] + ["the target"]
    if len(words) < FEWEST_WORDS:
        return None
    sums = words.sum(axis=0, dtype=np.uint64)
    same = equal_pairs(sums)
    counts = np.array([equal_pairs(sums - word) for word in words]) - same
    found: dict[str, Pairs] = {}
    for position in np.argsort(-counts)[:_MOST_LEFT_OUT]:
        rest = sums - words[position]
        if counts[position] >= FEWEST_PAIRS and chance_meetings(words, rest, beside=words[position]) < counts[position]:
            found[names[position]] = _pairs_of(rest, sums)
    if not found:
        return None
    pairs = np.unique(np.vstack(list(found.values())), axis=0)
    told = f"differ from another in a single column ({listed(list(found), 3)})"
    return NearRows(pairs=table.rows[pairs], asked=len(table), rows=len(np.unique(pairs)), words=told)


def _pairs_of(rest: Words, sums: Words) -> Pairs:
    """Return pairs of rows that are equal except in one column: each row with the next such one."""
    order = np.argsort(rest, kind="stable")
    first, second = order[:-1], order[1:]
    near = (rest[first] == rest[second]) & (sums[first] != sums[second])
    return np.sort(np.column_stack([first[near], second[near]]), axis=1)


def _by_distance(table: Table, columns: Sequence[Column], words: Words) -> NearRows | None:
    """Find rows far nearer to their nearest neighbour than to the eighth, with the other columns alike."""
    places = [position for position, column in enumerate(columns) if _is_spread(column)][:_MOST_COLUMNS]
    if len(places) < FEWEST_COLUMNS:
        return None
    sums = words[places].sum(axis=0, dtype=np.uint64)
    kept = np.sort(np.unique(sums, return_index=True)[1])  # exact copies are reported by H601
    points = np.column_stack([_scaled(columns[position])[kept] for position in places])
    if len(points) < FEWEST_ROWS:
        return None
    asked = asked_rows(*points.shape)
    distances, neighbours = _nearest(points, asked)
    near = too_near(distances)
    for position, column in enumerate(columns):
        if position not in places:
            near &= _alike(column, kept[:asked], kept[neighbours])
    rows = int(near.sum())
    if rows < 3 or binom.sf(rows - 1, asked, A_ROW) > A_TABLE:
        return None
    pairs = np.column_stack([kept[np.flatnonzero(near)], kept[neighbours[near]]])
    told = "have a neighbour far nearer than chance brings rows together"
    return NearRows(pairs=table.rows[pairs], asked=asked, rows=rows, words=told)


def _is_spread(column: Column) -> bool:
    """Return whether a column is a number without very common values, which would bring rows together."""
    return column.kind == "number" and column.distinct > 20 and column.counts.max() <= MOST_AT_ONE_VALUE * len(column)


def _alike(column: Column, first: Codes, second: Codes) -> NDArray[np.bool_]:
    """Return where two rows have the same category, or nearly the same number. Dates may differ."""
    if column.kind == "date" or column.distinct < 2:
        return np.ones(len(first), dtype=bool)
    if column.kind != "number":
        return np.asarray(column.codes[first] == column.codes[second])
    apart = np.abs(column.numbers[first] - column.numbers[second])
    limit = ALIKE * float(column.numbers[column.present].std())
    gaps = ~column.present[first] & ~column.present[second]
    return (apart <= limit) | gaps  # a missing value matches only a missing value


def _scaled(column: Column) -> Floats:
    values = column.numbers[column.present]
    filled = np.where(column.present, column.numbers, np.median(values))
    return np.asarray((filled - values.mean()) / values.std())


def _nearest(points: Floats, asked: int) -> tuple[Floats, Codes]:
    """Return the ascending distances of the first `asked` rows to their nearest neighbours, and the nearest of each."""
    from sklearn.neighbors import NearestNeighbors

    reach = min(NEIGHBOURS, len(points) - 1)
    search = NearestNeighbors(n_neighbors=reach + 1, algorithm="brute").fit(points)
    numbers = search.kneighbors(points[:asked], return_distance=False)
    own = numbers == np.arange(asked)[:, None]
    own[~own.any(axis=1), -1] = True
    others = numbers[~own].reshape(asked, reach)
    # Differences are squared, since ‖a‖² + ‖b‖² − 2a·b loses the digits of the nearest.
    gaps = np.sqrt(((points[:asked, None, :] - points[others]) ** 2).sum(axis=2))
    order = np.argsort(gaps, axis=1)
    return np.take_along_axis(gaps, order, axis=1), others[np.arange(asked), order[:, 0]].astype(np.intp)


def too_near(distances: Floats) -> NDArray[np.bool_]:
    """Return a mask of the rows whose nearest neighbour is nearer than chance allows once in a thousand rows.

    If rows are spread evenly around a row in d dimensions, let the nearest of k neighbours enclose a share of the
    volume that the k-th encloses. This share has the distribution Beta(1, k - 1). The dimension d is estimated so that
    this holds at an upper quantile.
    """
    k = distances.shape[1]
    ratios = np.clip(distances[:, 0] / np.maximum(distances[:, -1], 1e-300), 1e-12, 1.0)
    share = 1 - (1 - _UPPER) ** (1 / (k - 1))
    upper = float(np.quantile(ratios, _UPPER))
    if upper >= 1:
        return np.zeros(len(ratios), dtype=bool)
    dimension = log(share) / log(upper)
    limit = 1 - (1 - A_ROW) ** (1 / (k - 1))
    return np.asarray(ratios**dimension < limit)
