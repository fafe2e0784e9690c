"""A race on tables whose every loss is known: what it runs, what it drops, and that the best survives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heldout.study.race import CandidateGroup, Race, RaceRule, begin, blocks, next_round, round_ends, weighed


def run(table, kind="exact", *, entrants=None, whole=(), order=None, low=0.0, high=1.0, level=0.05, weights=None):
    """Run a race on a table of candidates × parts: the cells that were run, and the race as it ended."""
    count, parts = table.shape
    entrants = [(candidate,) for candidate in range(count)] if entrants is None else entrants
    race = Race(
        rule=RaceRule(kind=kind, level=level),
        entrants=tuple(CandidateGroup(candidates=group) for group in entrants),
        order=tuple(range(parts)) if order is None else tuple(order),
        low=low,
        high=high,
        ratio=1.0 / max(1, parts - 1),
    )
    race, before = begin(weighed(race, weights), whole), None
    times = np.zeros(table.shape, dtype=int)
    while not race.over:
        asked = blocks(before, race)
        assert asked, "every round asks for something"
        for block in asked:
            times[np.ix_(block.candidates, block.parts)] += 1
        before, race = race, next_round(race, np.where(times, table, np.nan))
    assert times.max() <= 1, "no cell is run twice"
    return times.astype(bool), race


def chosen(table, ran):
    means = np.where(ran.all(axis=1), table.mean(axis=1), np.nan)
    return None if np.isnan(means).all() else int(np.nanargmin(means))


unbounded = st.tuples(st.integers(2, 12), st.integers(2, 20)).flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(0.0, 1e12))
)
tables = st.tuples(st.integers(2, 12), st.integers(2, 20)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([0.0, 0.1, 0.125, 0.3, 0.5, 0.9, 1.0]))
)


@settings(max_examples=100, deadline=None)
@given(tables)
def test_the_exact_race_chooses_as_the_whole_table_and_knows_every_tie(table):
    ran, _ = run(table)
    means = table.mean(axis=1)
    best = int(np.argmin(means))
    assert chosen(table, ran) == best
    assert ran[means == means[best]].all()


@settings(max_examples=100, deadline=None)
@given(unbounded)
def test_against_a_known_mean_a_loss_needs_no_largest_value(table):
    ran, _ = run(table, high=np.inf)
    means = table.mean(axis=1)
    best = int(np.argmin(means))
    assert chosen(table, ran) == best
    assert ran[means == means[best]].all()


@settings(max_examples=60, deadline=None)
@given(tables, st.data())
def test_failures_cannot_win_and_do_not_stop_the_race(table, data):
    table = table.copy()
    table[data.draw(arrays(bool, table.shape))] = np.nan
    ran, _ = run(table)
    means = table.mean(axis=1)
    whole = None if np.isnan(means).all() else int(np.nanargmin(means))
    assert chosen(table, ran) == whole


@settings(max_examples=60, deadline=None)
@given(tables, st.data())
def test_those_that_share_fits_run_together_and_those_of_a_kernel_at_once(table, data):
    count = len(table)
    cuts = sorted(data.draw(st.sets(st.integers(1, count - 1))))
    groups = [tuple(range(a, b)) for a, b in zip([0, *cuts], [*cuts, count], strict=True)]
    whole = [0] if len(groups) > 1 else []
    ran, _ = run(table, entrants=groups, whole=whole)
    for group in groups:
        assert (ran[list(group)] == ran[group[0]]).all()
    assert not whole or ran[list(groups[0])].all()
    assert chosen(table, ran) == int(np.argmin(table.mean(axis=1)))


@pytest.mark.parametrize("low", [-1.0, 0.0, 0.5])
def test_scores_turned_round_race_too(low):
    rng = np.random.default_rng(3)
    table = low + rng.random((30, 8)) ** np.linspace(0.2, 5, 30)[:, None]
    ran, _ = run(table, low=low, high=low + 1)
    assert chosen(table, ran) == int(np.argmin(table.mean(axis=1)))
    assert ran.mean() < 0.9


@settings(max_examples=100, deadline=None)
@given(tables, st.sampled_from([-1.0, 0.0, 0.5]), st.integers(0, 2**32 - 1))
def test_parts_count_as_much_as_they_weigh(table, low, seed):
    weights = np.random.default_rng(seed).lognormal(0, 2, table.shape[1])
    ran, race = run(low + table, low=low, high=low + 1, weights=weights)
    means = np.average(low + table, axis=1, weights=weights)
    assert ran[int(np.argmin(means))].all()
    assert ran[means <= means.min() + 1e-12].all()
    assert not race.called_off


def test_a_part_that_weighs_most_drops_those_that_lose_it():
    table = np.tile([[0.1], [0.6]], (1, 10))
    table[1, 0] = 0.0
    weights = np.append(100.0, np.ones(9))
    ran, _ = run(table, weights=weights)
    assert ran[1].all()  # 5.4 of 109 is less than 10.9 of 109
    ran, _ = run(np.where(np.arange(10) == 0, table[:, [1]], table), weights=weights)
    assert ran.sum(axis=1).tolist() == [10, 1]


def test_a_weighted_race_without_a_smallest_loss_is_not_called_off():
    table = np.random.default_rng(0).normal(size=(6, 12))
    table[0] -= 5
    ran, race = run(table, "paired", low=-np.inf, high=np.inf, weights=np.linspace(1, 3, 12))
    assert ran[0].all()
    assert not race.called_off


def test_a_candidate_that_cannot_win_is_dropped_as_soon_as_that_is_known():
    table = np.full((4, 10), 0.05)
    table[1:] = 0.6
    ran, _ = run(table)
    assert ran.sum(axis=1).tolist() == [10, 1, 1, 1]  # 0.6 / 10 is more than 0.05


def test_the_hardest_parts_come_first_once_a_mean_is_known():
    easy, hard = [0.0] * 6, [0.5] * 2
    table = np.array([[0.0, *easy, *hard], [0.125, *easy, *hard], [0.25, *easy, *hard]])
    ran, race = run(table)
    assert ran.sum(axis=1).tolist() == [9, 3, 3]
    assert race.order[:3] == (0, 7, 8)


def test_who_is_ahead_of_all_that_are_known_runs_on_before_the_others():
    table = np.full((40, 10), 0.4)
    table[0, 0] = table[1, 0] = 0.1  # promising, and no better afterwards
    table[7, 1:] = 0.05
    ran, _ = run(table)
    assert ran[[0, 1, 7]].all()
    assert ran[2:].sum(axis=1).max() == 10
    assert np.delete(ran, [0, 1, 7], axis=0).sum(axis=1).tolist() == [3] * 37  # 0.85 in all, and 0.4 each


def test_a_mean_that_is_not_finite_never_leads():
    rng = np.random.default_rng(6)
    table = np.linspace(1, 30, 12)[:, None] + 0.1 * rng.normal(size=(12, 10))
    table[0, 9], table[1, 0] = -np.inf, np.inf
    ran, _ = run(table, "paired", low=-np.inf, high=np.inf)
    assert ran[2].all()
    assert ran[1].sum() == 1


@pytest.mark.parametrize(
    ("kind", "parts", "high", "looks"),
    [
        ("exact", 10, 1.0, ()),
        ("hoeffding", 10, 1.0, (1, 2)),
        ("bernstein", 160, 1.0, (10, 20, 30, 40)),
        ("paired", 10, 1.0, (3, 4, 5)),
        ("paired", 6, np.inf, (3,)),
    ],
)
def test_chance_is_asked_only_while_parts_are_a_random_sample(kind, parts, high, looks):
    rng = np.random.default_rng(7)
    table = rng.random((20, parts)) * np.linspace(0.3, 1.0, 20)[:, None]
    order = tuple(rng.permutation(parts).tolist())
    _, race = run(table, kind, order=order, high=high)
    assert race.test_points == looks
    first = max(looks, default=1)
    assert race.order[:first] == order[:first]
    assert sorted(race.order) == list(range(parts))
    assert race.level == pytest.approx(0.05 / max(1, len(looks)) / (19 if kind == "paired" else 1))


def test_near_ties_survive():
    table = np.full((2, 5), 0.1)
    table[1, 4] += 1e-12
    assert run(table)[0].all()


def test_a_loss_outside_its_range_calls_the_race_off():
    table = np.full((3, 6), 0.1)
    table[1:] = 0.9
    table[0, 5] = 7.0
    ran, race = run(table)
    assert race.called_off
    assert ran.all()


@pytest.mark.parametrize(("least", "called_off"), [(-1e-17, False), (-1e-6, True)])
def test_rounding_below_the_smallest_loss_does_not_call_a_race_off(least, called_off):
    table = np.array([[0.01, least, 0.02, 0.01], [3.0, 4.0, 1e12, 2.0], [5.0, 4.0, 7.0, 8.0]])
    ran, race = run(table, high=np.inf)
    assert race.called_off == called_off
    assert ran.all() == called_off


@pytest.mark.parametrize("kind", ["hoeffding", "bernstein", "paired"])
def test_statistical_races_lose_the_best_at_most_as_often_as_they_say(kind):
    rng = np.random.default_rng(4)
    lost, skipped, times = 0, [], 150
    for _ in range(times):
        rates = np.linspace(0.3, 0.8, 12)
        table = (rng.random((12, 250)) < rates[:, None]).astype(float)
        ran, _ = run(table, kind, order=rng.permutation(250), level=0.1)
        lost += chosen(table, ran) != int(np.argmin(table.mean(axis=1)))
        skipped.append(1 - ran.mean())
    assert lost <= 0.1 * times
    assert np.mean(skipped) > np.mean([1 - run(table)[0].mean()])


@pytest.mark.parametrize("kind", ["hoeffding", "bernstein", "paired"])
def test_the_best_of_many_equals_is_lost_no_more_often(kind):
    rng = np.random.default_rng(8)
    lost, times = 0, 150
    for _ in range(times):
        table = (rng.random((30, 400)) < 0.2).astype(float)
        ran, _ = run(table, kind, order=rng.permutation(400), level=0.1)
        lost += not ran[int(np.argmin(table.mean(axis=1)))].all()
    assert lost <= 0.1 * times


def test_the_paired_race_takes_losses_without_bounds():
    rng = np.random.default_rng(5)
    table = np.linspace(-1, 40, 20)[:, None] + rng.normal(size=(20, 10))
    ran, _ = run(table, "paired", low=-np.inf, high=np.inf)
    assert chosen(table, ran) == int(np.argmin(table.mean(axis=1)))
    assert ran.mean() < 0.8


def test_rounds_depend_on_counts_alone():
    assert round_ends(2) == (1, 2)
    assert round_ends(16) == tuple(range(1, 17))
    assert len(round_ends(20_000)) == 16
    assert round_ends(20_000)[-1] == 20_000
