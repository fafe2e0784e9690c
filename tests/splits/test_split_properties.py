"""What must hold for any task and any strategy, at both levels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from heldout.base.errors import SplitError
from heldout.splits import Forward, Holdout, KFold, LeaveOneOut, Resample
from heldout.splits.shared_blocks import shared_blocks

SEEDS = st.integers(0, 2**32 - 1)
quick = settings(max_examples=60, deadline=None)


@st.composite
def roles(draw, *, groups=None, time=None):
    """Keyword arguments of a task: its length, and classes, strata, groups and time where they are declared."""
    n = draw(st.integers(12, 60))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    made = {"n": n}
    if draw(st.booleans()):
        made["y"] = random.integers(0, draw(st.integers(2, 3)), n)
    if draw(st.booleans()):
        made["strata"] = random.integers(0, 2, n)
    if draw(st.booleans()) if groups is None else groups:
        made["groups"] = random.integers(0, draw(st.integers(6, 20)), n)
    elif draw(st.booleans()) if time is None else time:
        made["time"] = random.integers(0, draw(st.sampled_from([20, 10_000])), n)
    return made


def strategies_for(task):
    timed = [KFold(3), Holdout(0.3), LeaveOneOut(), Forward(3)]
    untimed = [KFold(3), KFold(3, repeats=2), KFold(3, shuffle=False), Holdout(0.3), Holdout(rows=4), Resample(3, 0.25)]
    unstratified = [KFold(4, stratify=False), Holdout(0.3, shuffle=False), Resample(3, stratify=False), LeaveOneOut()]
    return timed if task.time is not None else untimed + unstratified


def drawn(strategy, task, rows, seed):
    """Splits, or no example where the roles leave none: too few groups, classes too rare."""
    try:
        return strategy.draw(task, rows, seed=seed)
    except SplitError:
        assume(False)


@quick
@given(roles(), SEEDS, st.data())
def test_sides_never_share_a_row_or_a_group_at_either_level(make_task, made, seed, data):
    task = make_task(**made)
    strategy = st.sampled_from(strategies_for(task))
    outer = drawn(data.draw(strategy), task, task.all_rows, seed)
    part = data.draw(st.integers(0, len(outer) - 1))
    inner = drawn(data.draw(strategy), task, outer.train_rows(part), seed)
    for splits in (outer, inner):
        universe = set(splits.rows.tolist())
        for i in range(len(splits)):
            train, held = splits.train_rows(i), splits.held_rows(i)
            assert set(train) | set(held) <= universe
            assert not set(train) & set(held)
            assert len(train)
            assert len(held) == len(set(held))
            assert (np.diff(train) > 0).all()
            if task.groups is not None:
                assert not set(task.groups[train]) & set(task.groups[held])
            if splits.recipe.kind != "forward":
                assert set(train) | set(held) == universe
    assert not set(inner.rows) & set(outer.held_rows(part))


@quick
@given(roles(), SEEDS, st.sampled_from([KFold(3), KFold(4, repeats=3), KFold(3, shuffle=False), LeaveOneOut()]))
def test_a_partition_holds_each_row_out_once_a_repeat(make_task, made, seed, strategy):
    task = make_task(**made)
    splits = drawn(strategy, task, task.all_rows, seed)
    assert splits.recipe.partition
    parts = len(splits) // splits.recipe.repeats
    for repeat in range(splits.recipe.repeats):
        held = [splits.held_rows(i) for i in range(repeat * parts, (repeat + 1) * parts)]
        assert sorted(np.concatenate(held)) == list(range(len(task)))


@quick
@given(st.integers(4, 90), st.integers(2, 9), SEEDS, st.booleans())
def test_plain_blocks_differ_by_at_most_one_row(make_task, n, k, seed, shuffle):
    assume(k <= n)
    task = make_task(n)
    sizes = KFold(k, shuffle=shuffle).draw(task, task.all_rows, seed=seed).held_sizes
    assert sizes.max() - sizes.min() <= 1
    assert sizes.sum() == n


@quick
@given(roles(groups=False, time=False), SEEDS)
def test_strata_differ_by_at_most_one_row_between_blocks(make_task, made, seed):
    task = make_task(**made)
    labels = made.get("strata", made.get("y"))
    assume(labels is not None)
    splits = drawn(KFold(3), task, task.all_rows, seed)
    for label in np.unique(labels):
        counts = [int(np.sum(labels[splits.held_rows(i)] == label)) for i in range(3)]
        assert max(counts) - min(counts) <= 1


@quick
@given(roles(groups=False, time=True), SEEDS, st.integers(1, 6))
def test_forward_never_trains_on_the_future_nor_cuts_a_tie(make_task, made, seed, k):
    task = make_task(**made)
    splits = drawn(Forward(k), task, task.all_rows, seed)
    assert len(splits) == k
    for i in range(k):
        assert task.time[splits.train_rows(i)].max() < task.time[splits.held_rows(i)].min()
    assert len(np.unique(splits.held)) == len(splits.held)


@quick
@given(roles(groups=False, time=True), SEEDS)
def test_with_time_a_holdout_is_the_most_recent_rows(make_task, made, seed):
    task = make_task(**made)
    splits = drawn(Holdout(0.25), task, task.all_rows, seed)
    assert task.time[splits.train_rows(0)].max() < task.time[splits.held_rows(0)].min()


@quick
@given(roles(), SEEDS, st.data())
def test_the_same_seed_gives_the_same_splits(make_task, made, seed, data):
    task = make_task(**made)
    strategy = data.draw(st.sampled_from(strategies_for(task)))
    splits = drawn(strategy, task, task.all_rows, seed)
    again = strategy.draw(make_task(**made), np.arange(len(task)), seed=seed)
    assert splits.fingerprint == again.fingerprint
    assert not splits.held.flags.writeable


@pytest.mark.parametrize("strategy", [KFold(5), KFold(5, repeats=2), Holdout(0.2), Resample(3)])
@pytest.mark.parametrize("declared", [{}, {"y": np.tile([0, 1], 60)}, {"groups": np.arange(120) // 3}])
def test_another_seed_gives_other_splits(make_task, strategy, declared):
    task = make_task(120, **declared)
    prints = {strategy.draw(task, task.all_rows, seed=seed).fingerprint for seed in range(20)}
    assert len(prints) == 20


@quick
@given(roles(groups=False, time=False), SEEDS, st.data())
def test_a_draw_depends_on_its_rows_not_on_their_numbers(make_task, made, seed, data):
    """Rows set apart as a task of their own are drawn from alike: what keeps `fit` on a fold and the study equal."""
    task = make_task(**made)
    strategy = data.draw(st.sampled_from(strategies_for(task)))
    rows = np.sort(np.random.default_rng(seed).choice(len(task), len(task) - 4, replace=False))
    inner = drawn(strategy, task, rows, seed)
    alone = make_task(len(rows), **{name: value[rows] for name, value in made.items() if name != "n"})
    own = strategy.draw(alone, alone.all_rows, seed=seed)
    np.testing.assert_array_equal(inner.held, rows[own.held])
    np.testing.assert_array_equal(inner.held_cuts, own.held_cuts)


@quick
@given(st.integers(9, 40), st.integers(3, 6), SEEDS)
def test_shared_blocks_partition_the_training_rows(make_task, n, k, seed):
    task = make_task(n)
    outer = KFold(k).draw(task, task.all_rows, seed=seed)
    for part in range(k):
        inner = shared_blocks(outer, part)
        np.testing.assert_array_equal(np.sort(inner.held), outer.train_rows(part))
