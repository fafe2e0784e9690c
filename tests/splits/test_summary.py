"""The summary of drawn splits against counts made by hand, and by brute force over every combination of roles."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.base.errors import HeldoutError
from heldout.splits import Forward, Given, Holdout, KFold, LeaveOneOut, Recipe, Resample, Splits
from heldout.splits.summary import summarise_splits
from heldout.task import Task


def drawn(task, strategy, seed=0):
    splits = strategy.draw(task, task.all_rows, seed=seed)
    return splits, summarise_splits(task, splits)


def test_rows_groups_and_shares_by_hand(make_task):
    task = make_task(8, y=list("aabbaabb"), groups=[0, 0, 1, 1, 2, 2, 3, 3])
    _, summary = drawn(task, Given(folds=[0, 0, 0, 0, 1, 1, -1, -1]))
    columns = {name: list(map(int, values)) for name, values in summary.parts.items()}
    assert columns == {
        "part": [0, 1],
        "repeat": [0, 0],
        "train_rows": [4, 6],
        "held_rows": [4, 2],
        "unused_rows": [0, 0],
        "buffer_rows": [0, 0],
        "effective_train": [4, 6],
        "train_groups": [2, 3],
        "held_groups": [2, 1],
    }
    shares = list(zip(*summary.shares.values(), strict=True))
    assert shares == [
        (0, "train", "a", 2, 0.5, 0.5),
        (0, "train", "b", 2, 0.5, 0.5),
        (1, "train", "a", 2, 2 / 6, 0.5),
        (1, "train", "b", 4, 4 / 6, 0.5),
        (0, "held", "a", 2, 0.5, 0.5),
        (0, "held", "b", 2, 0.5, 0.5),
        (1, "held", "a", 2, 1.0, 0.5),
        (1, "held", "b", 0, 0.0, 0.5),
    ]
    assert summary.totals["held_deviation"] == {"points": 50.0, "part": 1, "of": "class 'a'"}


def test_rows_that_a_buffer_takes_are_told_from_those_that_are_later_or_before_a_window(make_task):
    task = make_task(12, time=np.arange(12))
    _, plain = drawn(task, Forward(3))
    assert plain.parts["unused_rows"].tolist() == [6, 3, 0]
    assert plain.parts["buffer_rows"].tolist() == [0, 0, 0]
    _, buffered = drawn(task, Forward(3, buffer=2))
    assert buffered.parts["train_rows"].tolist() == [1, 4, 7]
    assert buffered.parts["buffer_rows"].tolist() == [2, 2, 2]
    _, sliding = drawn(task, Forward(3, window=2, buffer=1))
    assert sliding.parts["train_rows"].tolist() == [2, 2, 2]
    assert sliding.parts["buffer_rows"].tolist() == [1, 1, 1]
    _, blocks = drawn(task, KFold(3, buffer=1, embargo=1))
    assert blocks.parts["unused_rows"].tolist() == blocks.parts["buffer_rows"].tolist() == [2, 3, 1]
    assert blocks.totals["buffer_mean"] == 2.0


def test_with_groups_too_only_the_buffer_is_counted_as_one(make_task):
    """Three groups on each of twelve days: a block has other groups in it, and its groups have other days."""
    task = make_task(36, time=np.repeat(np.arange(12), 3), groups=np.tile(["a", "b", "c"], 12))
    splits, summary = drawn(task, Forward(3, buffer="1"))
    assert len(splits) == 9
    assert (summary.parts["buffer_rows"] == 2).all()  # the two other groups, on the day before the block
    _, plain = drawn(task, Forward(3))
    assert (plain.parts["buffer_rows"] == 0).all()
    assert (plain.parts["unused_rows"] > 0).all()


def test_times_of_both_sides(make_task):
    days = np.datetime64("2024-01-01") + np.array([5, 4, 3, 2, 1, 0])
    task = make_task(6, time=days)
    _, summary = drawn(task, KFold(3))
    assert [str(day) for day in summary.parts["held_from"]] == ["2024-01-01", "2024-01-03", "2024-01-05"]
    assert [str(day) for day in summary.parts["held_to"]] == ["2024-01-02", "2024-01-04", "2024-01-06"]
    assert [str(day) for day in summary.parts["train_from"]] == ["2024-01-03", "2024-01-01", "2024-01-01"]
    assert [str(day) for day in summary.parts["train_to"]] == ["2024-01-06", "2024-01-06", "2024-01-04"]


def test_weights_that_differ_make_the_training_size_smaller(make_task):
    task = make_task(4, weight=np.array([1.0, 1.0, 1.0, 3.0]))
    _, summary = drawn(task, Given([0]))
    assert summary.parts["train_rows"].tolist() == [3]
    assert summary.parts["effective_train"].tolist() == pytest.approx([25 / 11])
    pairs = Splits.from_pairs(task.all_rows, [(np.array([1, 3]), np.array([0]))], Recipe(kind="given", words="by hand"))
    assert summarise_splits(task, pairs).parts["effective_train"].tolist() == pytest.approx([16 / 10])


def test_repeats_are_numbered_and_rows_named_twice_are_one_row(make_task):
    _, summary = drawn(make_task(9), KFold(3, repeats=2))
    assert summary.parts["repeat"].tolist() == [0, 0, 0, 1, 1, 1]
    task = make_task(4)
    bootstrap = Splits.from_pairs(task.all_rows, [(np.array([2, 0, 2]), np.array([1]))], Recipe(kind="given", words=""))
    assert summarise_splits(task, bootstrap).parts["unused_rows"].tolist() == [1]


def test_labels_and_bins_have_shares_where_they_were_kept(make_task):
    chance = np.random.default_rng(0)
    numbers = make_task(60)
    _, summary = drawn(numbers, KFold(3, stratify=True))
    assert summary.totals["strata"] == "bins"
    assert abs(summary.totals["held_deviation"]["points"]) < 2
    labels = Task(X=np.zeros((60, 1)), y=chance.integers(0, 2, size=(60, 3)), classification=True)
    splits, summary = drawn(labels, KFold(3, stratify=True))
    assert summary.totals["strata"] == "labels"
    for part in range(3):
        held = [row for row in zip(*summary.shares.values(), strict=True) if row[:2] == (part, "held")]
        assert [row[3] for row in held] == labels.y[splits.held_rows(part)].sum(axis=0).tolist()


STRATEGIES = st.sampled_from(
    [
        KFold(3),
        KFold(2, repeats=2),
        KFold(3, buffer=1),
        Holdout(0.3),
        Holdout(0.3, buffer=1),
        Resample(3),
        Forward(2),
        Forward(2, buffer=1),
        Forward(2, window=3),
        LeaveOneOut(),
    ]
)


@settings(max_examples=60, deadline=None)
@given(strategy=STRATEGIES, seed=st.integers(0, 99), n=st.integers(12, 40), roles=st.sets(st.sampled_from("gtwc")))
def test_every_count_is_what_brute_force_says(strategy, seed, n, roles):
    chance = np.random.default_rng(seed)
    groups = chance.integers(0, 6, n) if "g" in roles else None
    task = Task(
        X=np.zeros((n, 1)),
        y=chance.integers(0, 2, n) if "c" in roles else chance.normal(size=n),
        classification="c" in roles,
        groups=None if groups is None else np.unique(groups, return_inverse=True)[1],
        time=chance.permutation(n) if "t" in roles else None,
        weight=chance.uniform(0.5, 2, n) if "w" in roles else None,
    )
    try:
        splits = strategy.draw(task, task.all_rows, seed=seed)
    except HeldoutError:
        return  # what is refused, and how, is tested elsewhere
    parts = summarise_splits(task, splits).parts
    for part in range(len(splits)):
        train, held = splits.train_rows(part), splits.held_rows(part)
        rest = np.setdiff1d(task.all_rows, np.concatenate([train, held]))
        assert parts["train_rows"][part] == len(train)
        assert parts["held_rows"][part] == len(held)
        assert parts["unused_rows"][part] == len(rest)
        assert parts["buffer_rows"][part] <= len(rest)
        if getattr(strategy, "buffer", None) is None:
            assert parts["buffer_rows"][part] == 0
        if task.groups is not None:
            assert parts["train_groups"][part] == len(set(task.groups[train]))
            assert parts["held_groups"][part] == len(set(task.groups[held]))
        if task.time is not None:
            for name, rows in (("train", train), ("held", held)):
                assert parts[f"{name}_from"][part] == task.time[rows].min()
                assert parts[f"{name}_to"][part] == task.time[rows].max()
        if task.weight is not None:
            w = task.weight[train]
            assert parts["effective_train"][part] == pytest.approx(w.sum() ** 2 / (w**2).sum())


def test_leave_one_out_is_counted_without_making_its_training_sides(make_task):
    task = make_task(20_000, time=np.arange(20_000)[::-1], y=np.tile([0, 1], 10_000))
    splits = LeaveOneOut().draw(task, task.all_rows, seed=0)
    began = perf_counter()
    summary = summarise_splits(task, splits)
    assert perf_counter() - began < 5  # 4·10⁸ training rows would take much longer
    assert (summary.parts["train_rows"] == 19_999).all()


def test_outcomes_that_overlap_a_block_are_counted_as_a_buffers_rows(make_task):
    """Each outcome takes two days more, so two rows before a block reach into it, and it reaches over two after it."""
    days = np.arange(12)
    task = make_task(12, time=days, time_end=days + 2)
    _, forward = drawn(task, Forward(3))
    assert forward.parts["buffer_rows"].tolist() == [2, 2, 2]
    _, blocks = drawn(task, KFold(3))
    assert blocks.parts["buffer_rows"].tolist() == [2, 4, 2]
