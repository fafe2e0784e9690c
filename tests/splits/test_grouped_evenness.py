"""How near folds of whole groups come to the class shares of all rows, beside scikit-learn's StratifiedGroupKFold."""

from __future__ import annotations

import sys
import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.model_selection import StratifiedGroupKFold

from heldout.splits import Holdout, KFold, Resample

TASKS = 200
SIZES = {
    "even": lambda rng, count: np.full(count, rng.integers(2, 12)),
    "uniform": lambda rng, count: rng.integers(1, 20, count),
    "geometric": lambda rng, count: rng.geometric(0.15, count),
    "heavy tail": lambda rng, count: np.maximum(1, rng.lognormal(1.5, 1, count).astype(int)),
}
CLASSES = {"one class a group, nearly": 0.3, "mixed": 2.0, "alike": 50.0}
KINDS = list(product(SIZES, CLASSES))


def random_grouped(kind, rng):
    """A number of folds, and groups and classes of rows: two to eight classes, as unequal as chance has it."""
    sizes, alike = SIZES[kind[0]], CLASSES[kind[1]]
    k, classes = int(rng.integers(2, 9)), int(rng.integers(2, 9))
    count = int(rng.integers(2 * k, 14 * k))
    base = rng.dirichlet(np.full(classes, 2.0))
    shares = rng.dirichlet(base * classes * alike + 1e-3, count)
    groups = np.repeat(np.arange(count), sizes(rng, count))
    y = (rng.random(len(groups))[:, None] > shares.cumsum(axis=1)[groups]).sum(axis=1).clip(0, classes - 1)
    order = rng.permutation(len(groups))
    return k, groups[order], y[order]


def farthest(y, folds):
    """The largest |fold share − overall share| over folds and classes, and how much the largest fold is too large."""
    classes = int(y.max()) + 1
    overall = np.bincount(y, minlength=classes) / len(y)
    shares = [np.bincount(y[held], minlength=classes) / len(held) for held in folds]
    return np.abs(np.array(shares) - overall).max(), max(map(len, folds)) * len(folds) / len(y) - 1


def theirs(k, groups, y, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        splitter = StratifiedGroupKFold(k, shuffle=True, random_state=seed)
        return [held for _, held in splitter.split(y, y, groups)]


def ours(make_task, k, groups, y, seed):
    splits = KFold(k, stratify=True).draw(make_task(len(y), y=y, groups=groups), np.arange(len(y)), seed=seed)
    return [splits.held_rows(part) for part in range(k)]


def table_of(found):
    lines = [
        f"{TASKS} random grouped tasks: the largest |fold share − overall share|, and by how much the largest fold is",
        "over n/K rows. The mean of each; `won` is where heldout's share is no farther.",
        f"{'group sizes':12} {'classes':26} {'tasks':>5}   {'heldout':>8} {'sklearn':>8} {'won':>5}   {'size':>6} "
        f"{'sklearn':>8}",
    ]
    for (sizes, classes), rows in found.items():
        values = np.array(rows)
        won = np.mean(values[:, 0] <= values[:, 2] + 1e-12)
        mine, over, other, other_over = values.mean(axis=0)
        lines.append(
            f"{sizes:12} {classes:26} {len(values):5}   {mine:8.4f} {other:8.4f} {won:5.0%}   {over:6.1%} "
            f"{other_over:8.1%}"
        )
    return "\n".join(lines)


def test_shares_are_no_farther_than_those_of_stratified_group_kfold(make_task, capsys):
    rng = np.random.default_rng(6)
    found = {kind: [] for kind in KINDS}
    for number in range(TASKS):
        kind = KINDS[number % len(KINDS)]
        k, groups, y = random_grouped(kind, rng)
        y = np.unique(y, return_inverse=True)[1]
        folds = ours(make_task, k, groups, y, number), theirs(k, groups, y, number)
        found[kind].append([*farthest(y, folds[0]), *farthest(y, folds[1])])
    every = np.concatenate([np.array(rows) for rows in found.values()])
    with capsys.disabled():
        sys.stdout.write("\n" + table_of({**found, ("all", ""): every}) + "\n")
    assert len(every) == TASKS
    mine, over, other, other_over = every.mean(axis=0)
    assert mine <= other
    assert over <= other_over


def test_many_like_groups_are_dealt_exactly_evenly(make_task):
    groups, y = np.repeat(np.arange(100), 4), np.tile([0, 0, 0, 1], 100)
    for fold in ours(make_task, 10, groups, y, 3):
        assert np.bincount(y[fold]).tolist() == [30, 10]


def test_one_large_group_is_made_up_for_by_small_ones(make_task):
    groups = np.concatenate([np.zeros(50, dtype=int), np.arange(1, 51)])
    y = np.tile([0, 1], 50)
    sizes = sorted(map(len, ours(make_task, 2, groups, y, 0)))
    assert sizes == [50, 50]


@pytest.mark.parametrize("strategy", [Holdout(0.25, stratify=True), Resample(6, 0.25, stratify=True)])
def test_held_out_groups_have_the_share_of_each_class(make_task, strategy):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(120), rng.integers(2, 12, 120))
    y = (rng.random(len(groups)) < rng.random(120)[groups]).astype(int)
    task = make_task(len(y), y=y, groups=groups)
    splits = strategy.draw(task, task.all_rows, seed=1)
    for part in range(len(splits)):
        held = splits.held_rows(part)
        np.testing.assert_allclose(np.bincount(y[held]) / np.bincount(y), 0.25, atol=0.01)
    assert len({splits.held_rows(part).tobytes() for part in range(len(splits))}) == len(splits)


def test_few_groups_are_still_drawn_anew(make_task):
    """Twelve groups of twelve patterns: the nearest deal of all would be the same each time."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(12), rng.integers(5, 30, 12))
    y = (rng.random(len(groups)) < rng.random(12)[groups]).astype(int)
    task = make_task(len(y), y=y, groups=groups)
    sets = Resample(20, 0.3, stratify=True).draw(task, task.all_rows, seed=0)
    assert len({sets.held_rows(part).tobytes() for part in range(20)}) >= 8
    repeated = KFold(3, repeats=10, stratify=True).draw(task, task.all_rows, seed=0)
    assert len({repeated.held_rows(part).tobytes() for part in range(30)}) >= 12
