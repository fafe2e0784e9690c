"""Spans that overlap: found by the definition, and refused in splits that come from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import model_selection as sk

from heldout.base.errors import SplitError
from heldout.splits import Given, as_strategy
from heldout.splits.checks import overlapping

START = np.array([0, 5, 10, 15])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_row_overlaps_where_it_shares_an_instant_with_a_held_out_one(make_task, seed):
    random = np.random.default_rng(seed)
    start = random.integers(0, 40, 20)
    task = make_task(20, time=start, time_end=start + random.integers(0, 9, 20))
    train, held = np.split(random.permutation(20), [12])
    instants = [set(range(a, b + 1)) for a, b in zip(task.time, task.time_end, strict=True)]
    expected = [any(instants[t] & instants[h] for h in held) for t in train]
    assert overlapping(task, train, held).tolist() == expected


@pytest.mark.parametrize(
    "strategy", [Given([2, 3]), Given(folds=[0, 0, 1, 1]), as_strategy(sk.KFold(2)), as_strategy([([0, 1], [2, 3])])]
)
def test_splits_from_elsewhere_must_leave_overlapping_rows_out(make_task, strategy):
    apart = make_task(4, time=START, time_end=START + 4)
    assert len(strategy.draw(apart, apart.all_rows, seed=0))
    touching = make_task(4, time=START, time_end=START + 5)
    with pytest.raises(
        SplitError, match=r"part 0 trains on row \d, whose time overlaps that of a held-out row \(1 such"
    ):
        strategy.draw(touching, touching.all_rows, seed=0)


def test_pairs_can_leave_them_out(make_task):
    task = make_task(4, time=START, time_end=START + 5)
    splits = as_strategy([([0], [2, 3])]).draw(task, task.all_rows, seed=0)
    assert splits.train_rows(0).tolist() == [0]
