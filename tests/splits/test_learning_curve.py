"""Thinned splits: nested training sides, held-out sides as they were, roles obeyed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.base.errors import SplitError
from heldout.splits import Forward, KFold
from heldout.splits.checks import checked
from heldout.splits.learning_curve import smaller_training_sets
from heldout.task import declare

X = np.arange(80.0).reshape(40, 2)
Y = np.linspace(0, 1, 40)


def sides(splits, part):
    return splits.train_rows(part).tolist(), splits.held_rows(part).tolist()


@given(st.integers(0, 50), st.integers(2, 5), st.lists(st.floats(0.1, 0.9), min_size=1, max_size=3))
def test_smaller_training_sides_lie_inside_larger_ones_and_inside_the_part(seed, k, shares):
    task = declare(X, Y, classification=False)
    outer = KFold(k).draw(task, task.all_rows, seed=seed)
    shares = sorted(shares)
    thin = checked(task, smaller_training_sets(task, outer, shares, seed=seed), who="thinned")
    assert len(thin) == k * len(shares)
    for part in range(k):
        whole, held = sides(outer, part)
        before: set[int] = set()
        for place, share in enumerate(shares):
            train, same = sides(thin, place * k + part)
            assert same == held
            assert train == sorted(train)
            assert len(train) == round(share * len(whole))
            assert before <= set(train) <= set(whole)
            before = set(train)


def test_groups_stay_whole():
    groups = np.repeat(np.arange(10), 4)
    task = declare(X, Y, classification=False, groups=groups)
    outer = KFold(5).draw(task, task.all_rows, seed=0)
    thin = smaller_training_sets(task, outer, (0.3, 0.6), seed=0)
    for part in range(len(thin)):
        train = thin.train_rows(part)
        assert all(np.count_nonzero(groups[train] == group) == 4 for group in groups[train])
    assert set(np.diff(thin.train_cuts)) == {8, 16}  # at most the share, in whole groups


def test_strata_keep_their_shares():
    labels = np.repeat([0, 1], [30, 10])
    task = declare(X, labels, classification=True)
    outer = KFold(5).draw(task, task.all_rows, seed=0)
    thin = smaller_training_sets(task, outer, (0.25, 0.5), seed=0)
    for part in range(len(thin)):
        train = thin.train_rows(part)
        assert np.count_nonzero(labels[train]) == len(train) // 4


def test_with_time_the_latest_rows_stay():
    task = declare(X, Y, classification=False, time=np.arange(40))
    outer = Forward(3).draw(task, task.all_rows, seed=0)
    thin = smaller_training_sets(task, outer, (0.5,), seed=0)
    for part in range(3):
        whole = outer.train_rows(part)
        assert thin.train_rows(part).tolist() == whole[-round(0.5 * len(whole)) :].tolist()


def test_sizes_may_be_numbers_of_rows_and_must_be_smaller():
    task = declare(X, Y, classification=False)
    outer = KFold(4).draw(task, task.all_rows, seed=0)
    assert smaller_training_sets(task, outer, (7, 12), seed=0).train_sizes.tolist() == [7] * 4 + [12] * 4
    for size in (30, 0.001):
        with pytest.raises(SplitError, match="below those of the study"):
            smaller_training_sets(task, outer, (size,), seed=0)
