"""H601: rows that are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.audit.traps.columns import Codes
from heldout.audit.traps.table import Table, class_codes
from heldout.audit.traps.trap import ERROR, INFO, WARNING, Trap, plural
from heldout.base.seeds import derive
from heldout.task.containers import without_columns
from heldout.task.content import row_hashes

LEAST_SHARE = 0.01  # of the rows
Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SameRows:
    """Which rows of the task are equal, as a code for each row, and how many copies there are beyond the first."""

    codes: Codes
    copies: int


def same_rows(table: Table, *, identifiers: set[str]) -> SameRows:
    """Rows equal in every column and the target; columns that tell rows apart are left out."""
    task = table.task
    X = task.X
    if identifiers:
        places = [column.place for column in table.columns if column.name not in identifiers]
        if not places:
            return SameRows(codes=np.arange(len(task), dtype=np.intp), copies=0)
        named = task.columns is not None
        X = without_columns(X, identifiers) if named else X[:, places]
    hashes = (row_hashes(X, task.y) if identifiers else task.row_hashes)[:, 0]
    codes = np.unique(hashes, return_inverse=True)[1].astype(np.intp)
    return SameRows(codes=codes, copies=len(codes) - int(codes.max()) - 1)


def find_same_rows(table: Table, same: SameRows, *, identifiers: set[str]) -> list[Trap]:
    """One trap where rows are the same and may straddle a split."""
    task = table.task
    if not same.copies or _within_groups(same.codes, task.groups):
        return []
    share = same.copies / len(task)
    by_chance = _by_chance(table, identifiers)
    apart = f", columns that look like identifiers aside ({', '.join(sorted(identifiers))})" if identifiers else ""
    verb = "repeats" if same.copies == 1 else "repeat"
    seen = f"{plural(same.copies, 'row')} of {len(task):,} ({share:.2%}) {verb} another row{apart}"
    severity = WARNING if share >= LEAST_SHARE else INFO
    evidence = {"copies": same.copies, "share": share, "by_chance": by_chance}
    instead = ""
    straddling = _straddling(same.codes, table.held)
    if straddling:
        assert table.held is not None
        of_test = straddling / int(table.held.sum())
        seen += (
            f"; {plural(straddling, 'test row')} ({of_test:.2%}) {'is' if straddling == 1 else 'are'} in training too"
        )
        severity = ERROR if of_test >= LEAST_SHARE else WARNING
        evidence["straddling"] = straddling
        instead = "Take them out of the training part, or out of the test part."
    if by_chance:
        seen += "; with so few different values rows meet by chance, so these need not be copies"
        severity = INFO
    return [Trap(code="H601", severity=severity, seen=f"{seen}.", evidence=evidence, instead=instead)]


def cell_words(table: Table, *, aside: set[str]) -> Words:
    """A random word for each value of each column and of the target, a row a column: rows with equal sums are equal."""
    rng = np.random.default_rng(derive(table.seed, "cells"))
    codes = [column.codes for column in table.columns if column.name not in aside]
    codes.append(class_codes(table.task.y[table.rows]))
    words = np.empty((len(codes), len(table)), dtype=np.uint64)
    for place, one in enumerate(codes):
        dictionary = rng.integers(0, 2**64, size=int(one.max()) + 2, dtype=np.uint64)
        words[place] = dictionary[one + 1]  # -1, a gap, takes the first
    return words


def equal_pairs(sums: Words) -> float:
    """How many pairs of rows have the same sum."""
    ordered = np.sort(sums)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    counts = np.diff(np.append(starts, len(ordered))).astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())


def chance_meetings(words: Words, sums: Words, *, beside: Words | None = None) -> float:
    """How many pairs of rows with equal sums chance alone may have made.

    Of pairs that agree in all columns but one, chance lets as many agree in that one too as any two rows do, or more
    where columns go together; and where chance makes pairs that agree in everything, it makes more that differ in one.
    `beside` is a column that is left out of the sums.
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


def _by_chance(table: Table, identifiers: set[str]) -> bool:
    """Whether chance may have made the equal pairs; where a sample holds none, their values are many."""
    words = cell_words(table, aside=identifiers)
    sums = words.sum(axis=0, dtype=np.uint64)
    pairs = equal_pairs(sums)
    return pairs > 0 and chance_meetings(words, sums) >= pairs


def _within_groups(codes: Codes, groups: Codes | None) -> bool:
    """Whether rows that are the same are of one group, and so on one side of any split."""
    if groups is None:
        return False
    return len(np.unique(codes * (int(groups.max()) + 1) + groups)) == int(codes.max()) + 1


def _straddling(codes: Codes, held: NDArray[np.bool_] | None) -> int:
    """How many test rows of a given split have a copy among the training rows."""
    if held is None:
        return 0
    trained = np.zeros(int(codes.max()) + 1, dtype=bool)
    trained[codes[~held]] = True
    return int(trained[codes[held]].sum())
