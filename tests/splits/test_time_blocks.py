"""Blocks of time: buffers, embargoes, sliding windows, spans, and groups within blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn import model_selection as sk

from heldout.base.errors import SplitError
from heldout.splits import Forward, Holdout, KFold, LeaveOneOut, Resample
from heldout.task import declare

DAY = np.datetime64("2024-01-01", "D")


def drawn(strategy, task, seed=0):
    return strategy.draw(task, task.all_rows, seed=seed)


def sides(splits):
    return [(splits.train_rows(i).tolist(), splits.held_rows(i).tolist()) for i in range(len(splits))]


def shuffled(n, seed=1):
    return np.random.default_rng(seed).permutation(n)


@pytest.mark.parametrize(("n", "k", "gap", "most"), [(23, 5, 0, 4), (40, 4, 3, None), (41, 4, 3, 6), (60, 2, 10, 5)])
def test_forward_equals_sklearn_time_series_split(make_task, n, k, gap, most):
    splits = drawn(Forward(k, buffer=gap, window=most), make_task(n, time=np.arange(n)))
    expected = sk.TimeSeriesSplit(k, gap=gap, max_train_size=most).split(np.zeros(n))
    assert sides(splits) == [(train.tolist(), held.tolist()) for train, held in expected]


@pytest.mark.parametrize(
    "strategy", [KFold(4, buffer=3), KFold(4), Forward(4, window=9, buffer=2), Holdout(0.3, buffer=5)]
)
def test_rows_in_any_order_are_drawn_by_their_time(make_task, strategy):
    in_order = drawn(strategy, make_task(40, time=np.arange(40)))
    order = shuffled(40)
    mixed = drawn(strategy, make_task(40, time=order))
    assert [tuple(np.sort(order[side]).tolist() for side in pair) for pair in sides(mixed)] == [
        tuple(pair) for pair in sides(in_order)
    ]


def test_a_buffer_drops_rows_on_both_sides_of_a_block(make_task):
    splits = drawn(KFold(3, buffer=2), make_task(15, time=np.arange(15)))
    assert sides(splits) == [
        ([7, 8, 9, 10, 11, 12, 13, 14], [0, 1, 2, 3, 4]),
        ([0, 1, 2, 12, 13, 14], [5, 6, 7, 8, 9]),
        ([0, 1, 2, 3, 4, 5, 6, 7], [10, 11, 12, 13, 14]),
    ]
    assert splits.recipe.words == "3-fold, blocks in time order, buffer of 2 rows"
    assert splits.recipe.partition
    assert splits.recipe.timed


def test_an_embargo_is_further_distance_after_a_block(make_task):
    task = make_task(15, time=np.arange(15))
    after = drawn(KFold(3, embargo=2), task)
    assert sides(after)[1] == ([0, 1, 2, 3, 4, 12, 13, 14], [5, 6, 7, 8, 9])
    both = drawn(KFold(3, buffer=1, embargo=2), task)
    assert sides(both)[1] == ([0, 1, 2, 3, 13, 14], [5, 6, 7, 8, 9])
    mixed = drawn(KFold(3, buffer="1", embargo=2), task)
    assert sides(mixed) == sides(both)
    assert mixed.recipe.words.endswith("buffer of 1 units of time, embargo of 2 rows")


@pytest.mark.parametrize("unit", ["D", "h", "s", "ns"])
@pytest.mark.parametrize("strategy", [KFold, Forward, lambda k, **d: Holdout(0.2, **d)])
def test_on_one_row_a_day_days_and_rows_are_the_same(make_task, strategy, unit):
    days = (DAY + shuffled(50)).astype(f"datetime64[{unit}]")
    task = make_task(50, time=days)
    assert sides(drawn(strategy(3, buffer="7d"), task)) == sides(drawn(strategy(3, buffer=7), task))
    numbers = make_task(50, time=shuffled(50))
    assert sides(drawn(strategy(3, buffer="7"), numbers)) == sides(drawn(strategy(3, buffer=7), numbers))
    halves = make_task(50, time=shuffled(50) * 0.5)
    assert sides(drawn(strategy(3, buffer="3.5"), halves)) == sides(drawn(strategy(3, buffer=7), numbers))


def test_a_window_in_days_slides_with_the_block(make_task):
    task = make_task(50, time=DAY + np.arange(50))
    by_days = drawn(Forward(3, window="10d", buffer="2d"), task)
    assert sides(by_days) == sides(drawn(Forward(3, window=10, buffer=2), task))
    assert by_days.train_sizes.tolist() == [10, 10, 10]
    long = drawn(Forward(3, window="9999999d"), task)  # longer than dates of nanoseconds go
    assert sides(long) == sides(drawn(Forward(3), task))


def test_months_as_dates_have_their_first_day():
    months = np.datetime64("2024-01", "M") + np.arange(12)
    task = declare(np.zeros((12, 1)), np.arange(12.0), classification=False, time=months)
    assert sides(drawn(KFold(3, buffer="31d"), task))[1] == ([0, 1, 2, 9, 10, 11], [4, 5, 6, 7])
    # 30 days lie between April and May, 31 between August and September.
    assert sides(drawn(KFold(3, buffer="30d"), task))[1][0] == [0, 1, 2, 8, 9, 10, 11]


def test_a_window_that_leaves_nothing_to_train_on_is_named(make_task):
    days = np.datetime64("2024-01-01") + np.arange(12)
    with pytest.raises(
        SplitError, match=r"all others are not before its time or before its window. Use a longer window"
    ):
        drawn(Forward(2, window="1h"), make_task(12, time=days))


def test_rows_of_one_time_are_dropped_together(make_task):
    months = np.repeat(np.arange(6), 10)
    splits = drawn(KFold(3, buffer=1), make_task(60, time=months))
    assert set(months[splits.train_rows(1)]) == {0, 5}
    sliding = drawn(Forward(2, window=12, buffer=1), make_task(60, time=months))
    assert [sorted(set(months[sliding.train_rows(i)])) for i in range(2)] == [[0], [1, 2]]


def test_without_a_buffer_training_rows_stay_implied(make_task):
    task = make_task(20, time=shuffled(20))
    assert drawn(KFold(4), task).train is None
    assert drawn(KFold(4, buffer=0, embargo="0d"), task).train is None
    assert drawn(Holdout(0.2), task).train is None
    assert drawn(KFold(4, buffer=1), task).train is not None


def overlaps(task, train, held):
    start, end = task.time, task.time_end
    return [(t, h) for t in train for h in held if start[t] <= end[h] and start[h] <= end[t]]


@pytest.mark.parametrize("strategy", [KFold(4), Forward(4), Holdout(0.25), Resample(5, 0.2), LeaveOneOut()])
def test_rows_that_overlap_a_held_out_row_are_purged_and_no_others(make_task, strategy):
    start = shuffled(48)
    task = make_task(48, time=start, time_end=start + np.random.default_rng(2).integers(0, 7, 48))
    splits = drawn(strategy, task)
    assert "overlapping rows purged" in splits.recipe.words
    for train, held in sides(splits):
        assert not overlaps(task, train, held)
        later = strategy == Holdout(0.25) or isinstance(strategy, Forward)
        for row in set(range(48)) - set(train) - set(held):
            assert overlaps(task, [row], held) or (later and start[row] > start[held].min())


def test_spans_and_a_buffer_keep_both(make_task):
    start = np.arange(30)
    task = make_task(30, time=start, time_end=start + 3)
    train, held = sides(drawn(KFold(3, buffer="2", embargo="1"), task))[1]
    assert held == list(range(10, 20))
    assert train == [*range(5), *range(26, 30)]  # 4 ends at 7, with 8 and 9 between; 25 is within 22 + 2 + 1
    in_rows, _ = sides(drawn(KFold(3, buffer=2, embargo=1), task))[1]
    assert in_rows == train
    assert sides(drawn(Forward(2, buffer="2"), task))[0][0] == list(range(5))


def test_groups_and_time_test_a_fold_of_groups_in_a_block(make_task):
    months, customers = np.repeat(np.arange(12), 20), np.tile(np.arange(20), 12)
    task = make_task(240, time=months, groups=customers)
    for strategy, parts in ((KFold(3, buffer=1), 9), (Forward(3, buffer=1), 9), (KFold(3, repeats=2), 18)):
        splits = drawn(strategy, task)
        assert len(splits) == parts
        assert (splits.recipe.grouped, splits.recipe.timed, splits.recipe.drawn) == (True, True, True)
        for i in range(parts):
            train, held = splits.train_rows(i), splits.held_rows(i)
            assert not set(customers[train]) & set(customers[held])
            assert not set(months[train]) & set(range(months[held].min(), months[held].max() + 1))
    forward = drawn(Forward(3), task)
    assert all(months[forward.train_rows(i)].max() < months[forward.held_rows(i)].min() for i in range(9))
    assert sorted(forward.held) == [row for row in range(240) if months[row] >= 3]


def test_with_both_a_share_is_taken_of_time_and_of_groups(make_task):
    months, customers = np.repeat(np.arange(10), 20), np.tile(np.arange(20), 10)
    task = make_task(200, time=months, groups=customers)
    splits = drawn(Holdout(0.2), task)
    assert (set(months[splits.held]), len(set(customers[splits.held]))) == ({8, 9}, 4)
    assert len(splits.train_rows(0)) == 8 * 16
    assert splits.recipe.words == "hold-out of 8 of 200 rows, groups of the most recent 40"
    random = drawn(Resample(6, 0.2), task)
    for i in range(6):
        assert len(set(months[random.held_rows(i)])) == 2
        assert len(set(customers[random.held_rows(i)])) == 4
        assert random.train_sizes[i] == 8 * 16
    assert len({tuple(random.held_rows(i)) for i in range(6)}) > 1


def test_blocks_keep_classes_by_dealing_groups(make_task):
    months, customers = np.repeat(np.arange(8), 30), np.tile(np.arange(30), 8)
    task = make_task(240, time=months, groups=customers, y=np.asarray(customers % 10 == 0, dtype=int))
    plain = (KFold(3), Forward(3), Holdout(0.34), Resample(4, 0.34))
    assert not any(drawn(strategy, task).recipe.stratified for strategy in plain)
    declared = make_task(240, time=months, groups=customers, y=task.y, strata=task.y.astype(np.intp))
    asked = [(replace(strategy, stratify=True), task) for strategy in plain if not isinstance(strategy, Forward)]
    for strategy, one in [*asked, *((strategy, declared) for strategy in plain)]:
        splits = drawn(strategy, one)
        assert splits.recipe.stratified
        for i in range(len(splits)):
            assert np.mean(task.y[splits.held_rows(i)]) == pytest.approx(0.1, abs=0.01)
    assert not drawn(KFold(3, stratify=False), declared).recipe.stratified


def test_a_block_without_rows_of_a_fold_makes_no_part(make_task):
    time, groups = np.arange(24), np.arange(24) // 4  # each group lives in one stretch of time
    splits = drawn(KFold(3), make_task(24, time=time, groups=groups))
    assert sorted(splits.held) == list(range(24))
    assert len(splits) < 9
    single = drawn(Holdout(0.1), make_task(24, time=time, groups=groups))
    assert single.held.tolist() == [21, 22, 23]
    assert 20 not in single.train_rows(0)  # an earlier row of the group held out


def test_random_blocks_are_blocks_of_about_that_size(make_task):
    task = make_task(40, time=shuffled(40))
    splits = drawn(Resample(30, 8, buffer=2), task)
    assert splits.recipe.kind == "resample"
    begins = set()
    for i in range(30):
        times = np.sort(task.time[splits.held_rows(i)])
        assert times.tolist() == list(range(times[0], times[0] + 8))
        begins.add(times[0])
        missing = set(range(40)) - set(task.time[splits.train_rows(i)]) - set(times)
        assert missing == {t for t in range(times[0] - 2, times[-1] + 3) if 0 <= t < 40} - set(times)
    assert len(begins) > 10
    coarse = drawn(Resample(20, 0.9), make_task(30, time=np.repeat([0, 1, 2], 10)))
    assert set(coarse.held_sizes) == {20}


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (
            KFold(3, buffer=9),
            r"KFold\(3, buffer=9\): part 1 has no training rows. Of 20 rows at this level it holds out 7",
        ),
        (
            KFold(3, buffer="30"),
            r"too near it \(buffer of 30 units of time\). Use a smaller buffer, fewer or other parts or",
        ),
        (
            Forward(3, buffer=5),
            r"part 0 has no training rows.* not before its time or too near it \(buffer of 5 rows\)",
        ),
        (Holdout(0.2, buffer=16), "part 0 has no training rows"),
        (Resample(3, buffer=20), "part 0 has no training rows"),
        (KFold(3, buffer="7d"), "'7d' is a length of time in days or hours, but the task's time is plain numbers"),
        (KFold(3, embargo="7d"), "'7d' is a length of time in days or hours"),
        (Forward(3, window="7d"), "'7d' is a length of time in days or hours"),
        (KFold(3, repeats=2), "would mix past and future"),
        (KFold(3, shuffle=True), "would mix past and future"),
        (Resample(3, stratify=True), "cannot stratify blocks of time"),
        (KFold(21), "needs at least 21 rows"),
    ],
)
def test_refusals_in_time(make_task, strategy, message):
    with pytest.raises(SplitError, match=message):
        drawn(strategy, make_task(20, time=shuffled(20)))


def test_a_number_without_unit_is_refused_for_dates(make_task):
    task = make_task(20, time=DAY + np.arange(20))
    with pytest.raises(
        SplitError, match=r"'3' has no unit, but the task's time is dates. Write '3d' for days.*or 3 without"
    ):
        drawn(KFold(3, buffer="3"), task)


@pytest.mark.parametrize(
    "strategy",
    [
        KFold(3, buffer=1),
        KFold(3, embargo=1),
        KFold(3, shuffle=False, buffer="1d"),
        Holdout(buffer=1),
        Resample(3, buffer=1),
    ],
)
@pytest.mark.parametrize("roles", [{}, {"groups": np.arange(20) // 2}])
def test_a_buffer_needs_time(make_task, strategy, roles):
    with pytest.raises(
        SplitError, match=r"but the task has no time. Pass time=…; .* time=np.arange\(len\(y\)\) says so"
    ):
        drawn(strategy, make_task(20, **roles))


def test_numbers_of_rows_cannot_be_shares_of_both(make_task):
    task = make_task(40, time=np.arange(40), groups=np.arange(40) % 8)
    for strategy in (Holdout(rows=5), Resample(3, 5)):
        with pytest.raises(
            SplitError, match="names a number of rows, but with time and groups declared a share is taken"
        ):
            drawn(strategy, task)
    with pytest.raises(SplitError, match="needs at least 9 groups"):
        drawn(KFold(9), task)
    with pytest.raises(SplitError, match=r"part \d+ has no training rows.* in its groups"):
        drawn(KFold(2, buffer=19), task)


@pytest.mark.parametrize("first", [-(2**63), 2**63 - 30, -1.7e308])
@pytest.mark.parametrize("huge", [False, True])
def test_times_at_the_end_of_all_numbers_have_neighbours_too(make_task, first, huge):
    step = 1e306 if isinstance(first, float) else 1
    task = make_task(30, time=np.array([first + step * place for place in range(30)]))
    if huge:
        with pytest.raises(SplitError, match="part 0 has no training rows"):
            drawn(KFold(3, buffer="9" * 400), task)
        assert sides(drawn(Forward(2, window="9" * 400), task)) == sides(drawn(Forward(2), task))
    else:
        length = f"{int(2 * step)}"
        assert sides(drawn(KFold(3, buffer=length), task)) == sides(drawn(KFold(3, buffer=2), task))
        assert sides(drawn(KFold(3, buffer=length, embargo=1), task)) == sides(
            drawn(KFold(3, buffer=2, embargo=1), task)
        )
