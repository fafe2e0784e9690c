"""The contract of a strategy: what must hold of the splits it draws, from any task and any of its rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from heldout.splits.drawn import Splits
from heldout.splits.strategy import Strategy
from heldout.task import Task


def check_strategy(strategy: Any, task: Task, *, whole_task_only: bool = False) -> None:
    """Assert the contract on all rows of the task and, unless it names rows of the whole task, on some of them."""
    assert isinstance(strategy, Strategy)
    assert isinstance(strategy.inner_ok_under_partition, bool)
    some = np.setdiff1d(task.all_rows, task.all_rows[::7])
    for rows in (task.all_rows,) if whole_task_only else (task.all_rows, some):
        splits = strategy.draw(task, rows, seed=3)
        _check_parts(splits, rows)
        _check_roles(splits, task)
        _check_values(strategy, splits)
        _check_drawn_alike(strategy, splits, task, rows)


def _check_parts(splits: Splits, rows: Any) -> None:
    """Parts are of these rows, not empty, and no row is on both sides."""
    assert splits.rows.tolist() == rows.tolist()
    assert len(splits) >= 1
    assert splits.held_sizes.tolist() == [len(splits.held_rows(part)) for part in range(len(splits))]
    assert splits.train_sizes.tolist() == [len(splits.train_rows(part)) for part in range(len(splits))]
    for part in range(len(splits)):
        train, held = splits.train_rows(part), splits.held_rows(part)
        assert len(train) > 0
        assert len(held) > 0
        assert len(set(held)) == len(held)
        assert not set(train) & set(held)
        assert set(train) | set(held) <= set(rows)
    if splits.recipe.partition:
        each = len(splits) // splits.recipe.repeats
        for repeat in range(splits.recipe.repeats):
            held = np.concatenate([splits.held_rows(repeat * each + part) for part in range(each)])
            assert sorted(held) == rows.tolist()


def _check_roles(splits: Splits, task: Task) -> None:
    """Groups never straddle; a strategy that is timed never trains on the future of what it tests."""
    for part in range(len(splits)):
        train, held = splits.train_rows(part), splits.held_rows(part)
        if task.groups is not None:
            assert not set(task.groups[train]) & set(task.groups[held])
        if task.time is not None and splits.recipe.kind in ("forward", "holdout"):
            assert (task.time if task.time_end is None else task.time_end)[train].max() < task.time[held].min()


def _check_values(strategy: Any, splits: Splits) -> None:
    """Splits cannot be written into; strategies and splits travel and stay what they are."""
    assert splits.recipe.words
    for numbers in (splits.rows, splits.held, splits.held_cuts, splits.train, splits.train_cuts):
        assert numbers is None or not numbers.flags.writeable
    assert pickle.loads(pickle.dumps(splits)).fingerprint == splits.fingerprint
    assert repr(pickle.loads(pickle.dumps(strategy))) == repr(strategy)


def _check_drawn_alike(strategy: Any, splits: Splits, task: Task, rows: Any) -> None:
    """The same seed draws the same rows, also from a strategy that has drawn before, and chance needs the seed."""
    assert strategy.draw(task, rows, seed=3).fingerprint == splits.fingerprint
    others = {strategy.draw(task, rows, seed=seed).fingerprint for seed in range(20, 26)}
    if not splits.recipe.drawn:
        assert others == {splits.fingerprint}
