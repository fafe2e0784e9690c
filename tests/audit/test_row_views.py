"""Test rows are recognised however their table was changed, and independent test sets are not taken for each other."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from heldout.audit.test_rows import rows_of_task
from heldout.task import declare

ROWS, TESTED = 200, 70


def made(kind, seed=0, rows=ROWS):
    """A table drawn from a population, its target, and its test rows."""
    chance = np.random.default_rng(seed)
    X = {
        "normal": lambda: chance.normal(size=(rows, 3)),
        "many": lambda: chance.normal(size=(rows, 40)),
        "heavy": lambda: chance.standard_cauchy((rows, 4)),
        "mixed": lambda: np.c_[chance.normal(size=(rows, 3)), chance.integers(0, 4, (rows, 3))],
        "whole numbers": lambda: chance.integers(0, 10, (rows, 8)).astype(float),
        "few values": lambda: chance.integers(0, 5, (rows, 5)).astype(float),
        "yes or no": lambda: (chance.random((rows, 16)) < np.linspace(0.2, 0.8, 16)).astype(float),
        "one decimal": lambda: chance.normal(size=(rows, 3)).round(1),
        "copies": lambda: np.repeat(chance.normal(size=(rows, 1)).round(1), 5, axis=1) * np.arange(1, 6),
        "answers that agree": lambda: (2 + chance.normal(size=(rows, 1)) + 0.7 * chance.normal(size=(rows, 8))).round(),
        "one column": lambda: chance.normal(size=(rows, 1)),
        "numbered": lambda: np.c_[np.arange(rows), 3 + 7 * np.arange(rows), chance.normal(size=rows).round(1)],
    }[kind]()
    return X, chance.integers(0, 2, rows), np.sort(chance.permutation(rows)[:TESTED])


def known(X, y, test, classification=True):
    return rows_of_task(declare(X, y, classification=classification), np.asarray(test))


def without(X, y, test, row):
    kept = np.flatnonzero(np.arange(len(y)) != row)
    return X[kept], y[kept], np.flatnonzero(np.isin(kept, test))


def shuffled(X, y, test):
    order = np.random.default_rng(7).permutation(len(y))
    return X[order], y[order], np.flatnonzero(np.isin(order, test))


NOISE = np.random.default_rng(8).normal(size=(ROWS, 3))
CHANGES = {
    "labels flipped": lambda X, y, test: (X, 1 - y, test),
    "labels renamed": lambda X, y, test: (X, np.where(y == y.max(), 3, 17), test),
    "another target": lambda X, y, test: (X, np.random.default_rng(6).integers(0, 2, len(y)), test),
    "rows in another order": shuffled,
    "a column scaled": lambda X, y, test: (np.c_[X[:, :-1], 3 - 2.54 * X[:, -1]], y, test),
    "standardised": lambda X, y, test: ((X - X.mean(axis=0)) / X.std(axis=0), y, test),
    "in single precision": lambda X, y, test: (X.astype(np.float32), y, test),
    "rounded": lambda X, y, test: (X.round(2), y, test),
    "columns in another order": lambda X, y, test: (X[:, ::-1], y, test),
    "a column added": lambda X, y, test: (np.c_[X[:, :1], NOISE[: len(y), :1], X[:, 1:]], y, test),
    "columns added": lambda X, y, test: (np.c_[X, NOISE[: len(y)]], y, test),
    "a column dropped": lambda X, y, test: (X[:, 1:], y, test),
    "a test row dropped": lambda X, y, test: without(X, y, test, test[3]),
    "an outlier dropped": lambda X, y, test: without(X, y, test, int(X[:, 0].argmax())),
    "a training row dropped": lambda X, y, test: without(X, y, test, int(np.setdiff1d(np.arange(len(y)), test)[0])),
}
# What a table of few-valued columns cannot be recognised after, because chance gives as many equal rows.
TOO_FEW = ("columns added", "columns in another order", "a column dropped")


@pytest.mark.parametrize("kind", ["normal", "many", "heavy", "mixed"])
@pytest.mark.parametrize("change", CHANGES)
def test_rows_are_known_after_any_one_or_two_changes(kind, change):
    start = made(kind)
    first = known(*start)
    missed = []
    for other in CHANGES:
        both = CHANGES[change](*start)
        if other != change:
            both = CHANGES[other](*both)
        if not first.shared_with(known(*both)):
            missed.append(other)
    assert missed == []


@pytest.mark.parametrize("kind", ["whole numbers", "few values", "yes or no", "one decimal"])
@pytest.mark.parametrize("change", CHANGES)
def test_rows_of_few_values_are_known_after_one_change_and_in_another_order(kind, change):
    start = made(kind)
    first = known(*start)
    assert first.shared_with(known(*CHANGES[change](*start)))
    if change not in TOO_FEW:
        assert first.shared_with(known(*shuffled(*CHANGES[change](*start))))


@pytest.mark.parametrize(
    "kind",
    [
        "normal",
        "many",
        "heavy",
        "mixed",
        "whole numbers",
        "few values",
        "yes or no",
        "one decimal",
        "copies",
        "answers that agree",
        "one column",
        "numbered",
    ],
)
@pytest.mark.parametrize("rows", [TESTED, ROWS])
def test_independent_test_sets_of_one_population_share_nothing(kind, rows):
    sets = [known(*made(kind, seed, rows)) for seed in range(1, 25)]
    assert sum(one.shared_with(other) > 0 for one, other in combinations(sets, 2)) == 0


def test_another_part_of_the_same_rows_shares_nothing_and_an_overlap_does():
    X, y, _ = made("normal")
    order = np.random.default_rng(1).permutation(ROWS)
    changed = np.c_[NOISE[:, 0], 2 * X + 5][order], y[order]
    first = known(X, y, np.arange(0, 100))
    assert first.shared_with(known(*changed, np.flatnonzero(order >= 100))) == 0
    about = first.shared_with(known(*changed, np.flatnonzero((order >= 70) & (order < 160))))
    assert 20 <= about <= 30


def test_one_shared_row_is_enough_where_its_cells_are_as_they_were():
    X, y, _ = made("normal")
    few = np.array([7, *np.flatnonzero(y != y[7])[:2]])
    alone = known(X[few], y[few], [0])
    assert alone.shared_with(known(X, 1 - y, [7, 9])) == 1
    assert alone.shared_with(known(X, 1 - y, [8, 9])) == 0


@pytest.mark.parametrize("factor", [3.0, -0.5])
def test_a_measured_target_is_known_up_to_its_unit(factor):
    X, _, test = made("yes or no")
    y = np.random.default_rng(3).normal(size=ROWS)
    first = known(X, y, test, classification=False)
    assert first.shared_with(known(NOISE, factor * y + 2, test, classification=False)) == TESTED  # other features
    assert first.shared_with(known(*shuffled(X, factor * y + 2, test), classification=False)) > TESTED / 2


def test_classes_are_known_under_any_names():
    _, _, test = made("normal")
    chance = np.random.default_rng(3)
    y = chance.integers(0, 3, ROWS)
    first = known(NOISE, y, test)
    for names in permutations(["a", "b", "c"]):
        assert first.shared_with(known(chance.normal(size=(ROWS, 2)), np.array(names)[y], test)) == TESTED


@pytest.mark.parametrize("y", [np.tile([0, 1], 100), np.repeat([0, 1, 2], [60, 70, 70]), np.arange(ROWS) % 7])
def test_a_target_with_a_rule_names_no_table(y):
    chance = np.random.default_rng(3)
    one, other = (known(chance.normal(size=(ROWS, 2)), y, np.arange(50)) for _ in range(2))
    assert one.shared_with(other) == 0


def test_frames_with_texts_and_holes_are_known_too():
    chance = np.random.default_rng(5)

    def frame():
        table = pd.DataFrame(chance.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
        table["town"] = chance.choice(["Ulm", "Bonn", "Kiel"], ROWS)
        table.loc[chance.integers(0, ROWS, 20), "b"] = np.nan
        return table

    y, test = chance.integers(0, 2, ROWS), np.arange(TESTED)
    first, second = frame(), frame()
    order = chance.permutation(ROWS)
    changed = first.assign(a=first["a"] * 9 - 1, new=NOISE[:, 0])[["town", "new", "c", "a", "b"]].iloc[order]
    where = np.flatnonzero(order < TESTED)
    assert known(first, y, test).shared_with(known(changed, 1 - y[order], where))
    assert known(first, y, test).shared_with(known(second, y[::-1], test)) == 0


def test_sparse_tables_and_texts_are_known_too():
    chance = np.random.default_rng(5)
    dense = chance.normal(size=(ROWS, 100)) * (chance.random((ROWS, 100)) < 0.1)
    y, test = chance.integers(0, 2, ROWS), np.arange(TESTED)
    first = known(csr_array(dense), y, test)
    scaled = dense[::-1] * np.linspace(1, 2, 100)
    assert first.shared_with(known(csr_array(scaled), y[::-1], ROWS - 1 - test))
    assert first.shared_with(known(csr_array(chance.permuted(dense, axis=0)), y[::-1], test)) == 0
    texts = np.array([f"text {number}" for number in chance.integers(0, 10**9, ROWS)], dtype=object)
    assert known(texts, y, test).shared_with(known(texts[::-1], 1 - y[::-1], ROWS - 1 - test)) == TESTED


ODD = {
    "infinities": lambda chance: np.c_[NOISE, np.where(chance.random(ROWS) < 0.1, np.inf, 1.0)],
    "a column of holes": lambda chance: np.c_[NOISE, np.full(ROWS, np.nan)],
    "one value": lambda chance: np.ones((ROWS, 2)),
    "booleans": lambda chance: chance.random((ROWS, 3)) < 0.5,
    "large whole numbers": lambda chance: chance.integers(0, 2**63, (ROWS, 2), dtype=np.uint64),
    "huge": lambda chance: NOISE * 5e307,
    "tiny": lambda chance: NOISE * 1e-310,
    "objects": lambda chance: np.array([[1.5, "a", None]] * ROWS, dtype=object),
    "half precision": lambda chance: NOISE.astype(np.float16),
    "more columns than rows": lambda chance: chance.normal(size=(ROWS, 300)),
    "dates": lambda chance: pd.DataFrame({"day": pd.date_range("2020", periods=ROWS), "never": [pd.NaT] * ROWS}),
    "pandas": lambda chance: pd.DataFrame(
        {"c": pd.Categorical(chance.choice(["a", "b"], ROWS)), "i": pd.array([None, 1] * 100, dtype="Int64")}
    ),
    "polars": lambda chance: pl.DataFrame({"x": NOISE[:, 0], "t": ["a", "b"] * 100, "i": [None, 1] * 100}),
}


@pytest.mark.parametrize("kind", ODD)
def test_any_table_is_known_by_its_numbers(kind):
    chance = np.random.default_rng(1)
    X, y = ODD[kind](chance), chance.integers(0, 2, ROWS)
    assert known(X, y, np.arange(20)).shared_with(known(X, 1 - y, np.arange(15, 30))) == 5
    assert known(X, y, np.arange(20)).shared_with(known(X, 1 - y, np.arange(20, 30))) == 0


def test_large_tables_are_kept_small():
    chance = np.random.default_rng(0)
    X, y = chance.normal(size=(20_000, 50)), chance.integers(0, 2, 20_000)
    rows = known(X, y, np.arange(0, 20_000, 2))
    first, *others = rows.views
    assert len(first.tokens) == 10_000
    assert max(len(view.tokens) for view in others) < 6_000
    changed = known(np.c_[2 * X[::-1], y[:, None]], chance.integers(0, 2, 20_000), np.arange(1, 20_000, 2))
    assert 7_000 < rows.shared_with(changed) <= 10_000
