"""SharedBlocks: the outer folds' other blocks as inner folds."""

from __future__ import annotations

import numpy as np
import pytest

from heldout.base.errors import SplitError
from heldout.splits import Holdout, KFold, LeaveOneOut, Resample, SharedBlocks, as_strategy
from heldout.splits.shared_blocks import refuse_unshareable, shared_blocks


def test_inner_blocks_are_the_other_outer_blocks_and_training_sets_are_shared(make_task):
    task = make_task(23)
    outer = KFold(4).draw(task, task.all_rows, seed=1)
    inner = [shared_blocks(outer, i) for i in range(4)]
    for i in range(4):
        others = [j for j in range(4) if j != i]
        np.testing.assert_array_equal(inner[i].rows, outer.train_rows(i))
        assert inner[i].train is None
        for place, j in enumerate(others):
            np.testing.assert_array_equal(inner[i].held_rows(place), outer.held_rows(j))
            back = [b for b in range(4) if b != j].index(i)
            np.testing.assert_array_equal(inner[i].train_rows(place), inner[j].train_rows(back))
    assert (inner[0].recipe.kind, inner[0].recipe.partition) == ("shared", True)
    assert inner[0].recipe.words == "the 3 other blocks of the outer splits"


def test_repeats_share_within_themselves(make_task):
    task = make_task(9)
    outer = KFold(3, repeats=2).draw(task, task.all_rows, seed=1)
    inner = shared_blocks(outer, 4)
    assert inner.recipe.repeats == 1
    np.testing.assert_array_equal(inner.held_rows(0), outer.held_rows(3))
    np.testing.assert_array_equal(inner.held_rows(1), outer.held_rows(5))


def test_leave_one_out_and_pairs_that_partition_can_be_shared(make_task):
    task = make_task(4)
    inner = shared_blocks(LeaveOneOut().draw(task, task.all_rows, seed=0), 2)
    assert [inner.held_rows(i).tolist() for i in range(3)] == [[0], [1], [3]]
    pairs = as_strategy([([2, 3, 1], [0]), ([0, 2, 3], [1]), ([0, 1], [2, 3])]).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="train on all others"):
        shared_blocks(pairs, 0)


def test_alone_it_refuses(make_task):
    with pytest.raises(
        SplitError, match=r"no blocks of its own: it takes those of an outer partition.*test=KFold\(5\)"
    ):
        SharedBlocks().draw(make_task(9), np.arange(9), seed=0)
    assert repr(SharedBlocks()) == "SharedBlocks()"


@pytest.mark.parametrize("strategy", [Holdout(0.3), Resample(5)])
def test_outer_splits_that_do_not_partition_are_refused(make_task, strategy):
    outer = strategy.draw(make_task(9), np.arange(9), seed=0)
    for share in (lambda: shared_blocks(outer, 0), lambda: refuse_unshareable(outer)):
        with pytest.raises(SplitError, match=r"hold out every row once.*hold-out.*Use test=KFold"):
            share()


def test_two_blocks_are_too_few(make_task):
    outer = KFold(2, repeats=2).draw(make_task(8), np.arange(8), seed=0)
    with pytest.raises(SplitError, match="at least 3 outer blocks, but there are 2"):
        shared_blocks(outer, 0)
