"""What must hold for every combination of groups, strata, time, repeats and buffer, at both levels.

The distances are measured here from the definition, each training row against each held-out row, and owe nothing to
how splits are drawn.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from heldout.base.errors import SplitError
from heldout.splits import Forward, Holdout, KFold, LeaveOneOut, Resample

SEEDS = st.integers(0, 2**32 - 1)
TIMES = ("none", "ties", "distinct", "dates", "spans")
TOO_SMALL = ("no training rows", "at least", "cannot stratify", "holds out a group or a time")
quick = settings(max_examples=10, deadline=None)


@st.composite
def roles(draw, *, grouped, stratified, time):
    """Keyword arguments of a task in which the roles named are declared."""
    n = draw(st.integers(40, 90))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    made = {"n": n}
    if stratified == "classes":
        made["y"] = random.integers(0, 2, n)
    elif stratified == "column":
        made["strata"] = random.integers(0, 2, n)
    if grouped:
        made["groups"] = random.integers(0, draw(st.integers(6, 16)), n)
    if time == "ties":
        made["time"] = random.integers(0, 15, n)
    elif time == "dates":
        made["time"] = np.datetime64("2024-01-01T00", "h") + random.integers(0, 24 * n, n)
    elif time != "none":
        made["time"] = random.permutation(n).astype(draw(st.sampled_from([np.int64, np.float64])))
    if time == "spans":
        made["time_end"] = made["time"] + random.integers(0, 5, n)
    return made


def distances(time):
    """Rows or a length of time, short enough that most draws have training rows left."""
    lengths = {"dates": ["12h", "2d"], "none": ["1d"]}.get(time, ["1", "2"])
    return st.sampled_from([None, 0, 1, 3, *lengths])


@st.composite
def asked(draw, *, time, repeats):
    """A strategy with any distances; `repeats` asks for one that draws more than once."""
    buffer, embargo = draw(distances(time)), draw(distances(time))
    if repeats:
        times = draw(st.integers(2, 3))
        return draw(
            st.sampled_from(
                [
                    KFold(2, repeats=times, buffer=buffer, embargo=embargo),
                    Resample(times, 0.3, buffer=buffer, embargo=embargo),
                ]
            )
        )
    window = draw(st.sampled_from([None, 10, "9d" if time == "dates" else "9"]))
    return draw(
        st.sampled_from(
            [
                KFold(3, buffer=buffer, embargo=embargo),
                Holdout(0.3, buffer=buffer),
                Forward(2, buffer=buffer, window=window),
                LeaveOneOut(),
            ]
        )
    )


def ends_of(task):
    return task.time if task.time_end is None else task.time_end


def too_near(task, level, pair, strategy):
    """Whether a training row is nearer to a held-out row than the strategy asks, where rows of `level` are counted."""
    train, held = pair
    start, end = task.time, ends_of(task)
    buffer, embargo = distance_of(strategy)
    before = end[train][:, None] < start[held][None, :]
    after = start[train][:, None] > end[held][None, :]
    for distance in together(buffer, embargo):
        after &= far(task, level, pair, distance, later=True)
    if buffer is not None:
        before &= far(task, level, pair, buffer, later=False)
    return not (before | after).all()


def together(buffer, embargo):
    """What must lie after a block: the sum of both where they are of one kind, else each of them."""
    both = [distance for distance in (buffer, embargo) if distance is not None]
    if len(both) < 2 or type(buffer) is not type(embargo):
        return both
    return [buffer + embargo] if isinstance(buffer, int) else [length_of(buffer) + length_of(embargo)]


def length_of(distance):
    if not isinstance(distance, str):
        return distance
    units = {"h": "h", "d": "D"}
    return np.timedelta64(int(distance[:-1]), units[distance[-1]]) if distance[-1] in units else float(distance)


def far(task, level, pair, distance, *, later):
    train, held = pair
    start, end = task.time, ends_of(task)
    if isinstance(distance, int):
        # Rows of the level that lie wholly beyond the one and before the other.
        marks, lower, upper = (
            (np.sort(start[level]), end[held][None, :], start[train][:, None])
            if later
            else (np.sort(end[level]), end[train][:, None], start[held][None, :])
        )
        return np.searchsorted(marks, upper) - np.searchsorted(marks, lower, side="right") >= distance
    gap = start[train][:, None] - end[held][None, :] if later else start[held][None, :] - end[train][:, None]
    return gap > length_of(distance)


def distance_of(strategy):
    return getattr(strategy, "buffer", None), getattr(strategy, "embargo", None)


def drawn(strategy, task, rows, seed):
    """Splits, or no example where a refusal says that this task is too small for what is asked."""
    try:
        return strategy.draw(task, rows, seed=seed)
    except SplitError as reason:
        event(str(reason)[:60])
        if not any(words in str(reason) for words in TOO_SMALL):
            raise
        assume(False)


def check_level(task, splits, strategy):
    level = splits.rows
    for i in range(len(splits)):
        train, held = splits.train_rows(i), splits.held_rows(i)
        assert len(train)
        assert len(held)
        assert len(set(train)) == len(train)
        assert set(train) | set(held) <= set(level)
        assert not set(train) & set(held)
        if task.groups is not None:
            assert not set(task.groups[train]) & set(task.groups[held])
        if task.time is not None:
            assert not too_near(task, level, (train, held), strategy)
            if isinstance(strategy, Forward | Holdout):
                assert ends_of(task)[train].max() < task.time[held].min()
    if isinstance(strategy, KFold | LeaveOneOut):
        assert splits.recipe.partition
        repeats = splits.recipe.repeats
        assert repeats == getattr(strategy, "repeats", 1)
        assert (np.sort(splits.held.reshape(repeats, -1), axis=1) == level).all()
        assert np.isin(np.arange(repeats) * len(level), splits.held_cuts).all()


COMBINATIONS = list(product((False, True), ("none", "classes", "column", "bins"), TIMES, (False, True)))


@pytest.mark.parametrize(("grouped", "stratified", "time", "repeats"), COMBINATIONS)
@quick
@given(st.data(), SEEDS)
def test_every_combination_holds_at_both_levels(make_task, grouped, stratified, time, repeats, data, seed):
    task = make_task(**data.draw(roles(grouped=grouped, stratified=stratified, time=time)))
    strategy = data.draw(asked(time=time, repeats=repeats))
    if stratified == "bins" and hasattr(strategy, "stratify") and (time == "none" or grouped):
        strategy = replace(strategy, stratify=True)  # of a target of numbers
    if time == "none" and (isinstance(strategy, Forward) or any(distance_of(strategy))):
        with pytest.raises(SplitError, match=r"the task has none|the task has no time"):
            strategy.draw(task, task.all_rows, seed=seed)
        return
    if time != "none" and not grouped and isinstance(strategy, KFold) and repeats:
        with pytest.raises(SplitError, match="would mix past and future"):
            strategy.draw(task, task.all_rows, seed=seed)
        return
    outer = drawn(strategy, task, task.all_rows, seed)
    check_level(task, outer, strategy)
    assert strategy.draw(task, task.all_rows, seed=seed).fingerprint == outer.fingerprint

    inside = KFold(2, buffer=strategy.buffer if time != "none" and hasattr(strategy, "buffer") else None)
    part = data.draw(st.integers(0, len(outer) - 1))
    inner = drawn(inside, task, outer.train_rows(part), seed)
    check_level(task, inner, inside)
    if time != "none":
        for i in range(len(inner)):
            for rows in (inner.train_rows(i), inner.held_rows(i)):
                assert not too_near(task, task.all_rows, (rows, outer.held_rows(part)), strategy)


@pytest.mark.parametrize(("grouped", "time"), list(product((False, True), TIMES[1:])))
@quick
@given(st.data(), SEEDS)
def test_a_draw_depends_on_its_rows_alone(make_task, grouped, time, data, seed):
    """Rows set apart as a task of their own are drawn from alike: what keeps `fit` on a fold and the study equal."""
    made = data.draw(roles(grouped=grouped, stratified="classes", time=time))
    task, strategy = make_task(**made), data.draw(asked(time=time, repeats=False))
    rows = np.sort(np.random.default_rng(seed).choice(len(task), len(task) - 4, replace=False))
    inner = drawn(strategy, task, rows, seed)
    alone = make_task(len(rows), **{name: value[rows] for name, value in made.items() if name != "n"})
    own = strategy.draw(alone, alone.all_rows, seed=seed)
    assert len(own) == len(inner)
    for i in range(len(own)):
        np.testing.assert_array_equal(inner.held_rows(i), rows[own.held_rows(i)])
        np.testing.assert_array_equal(inner.train_rows(i), rows[own.train_rows(i)])


@pytest.mark.parametrize("time", TIMES[1:])
@quick
@given(st.data(), SEEDS)
def test_the_order_of_the_rows_says_nothing_where_time_is_declared(make_task, time, data, seed):
    made = data.draw(roles(grouped=False, stratified="none", time=time))
    task, strategy = make_task(**made), data.draw(asked(time=time, repeats=False))
    splits = drawn(strategy, task, task.all_rows, seed)
    order = np.random.default_rng(seed).permutation(len(task))
    mixed = strategy.draw(
        make_task(len(task), **{name: value[order] for name, value in made.items() if name != "n"}),
        task.all_rows,
        seed=seed,
    )
    for i in range(len(splits)):
        assert sorted(order[mixed.held_rows(i)]) == splits.held_rows(i).tolist()
        assert sorted(order[mixed.train_rows(i)]) == splits.train_rows(i).tolist()
