"""False alarms of the rules on rows and blocks, counted on data where nothing is wrong, and what they do find."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from heldout.risk.uneven import FALSE_ALARM, FALSE_TREND, chance_of_rise, far_level

DRAWS = {
    "errors": lambda rng, n: (rng.random(n) < 0.15) * 1.0,
    "squares": lambda rng, n: rng.normal(size=n) ** 2,
    "heavy": lambda rng, n: rng.standard_t(4, size=n) ** 2,
}


@pytest.mark.parametrize("kind", DRAWS)
def test_a_far_part_is_as_rare_as_stated_where_rows_are_exchangeable(kind: str) -> None:
    codes, found = np.repeat(np.arange(5), 60), 0
    for seed in range(3_000):
        found += far_level(DRAWS[kind](np.random.default_rng(seed), 300), [codes], seed=seed) is not None
    assert found <= 3_000 * FALSE_ALARM + 3 * np.sqrt(3_000 * FALSE_ALARM)  # of a count: three standard deviations


def test_false_alarms_of_many_columns_together_are_as_rare() -> None:
    found = 0
    for seed in range(1_500):
        rng = np.random.default_rng(seed)
        columns = [rng.integers(0, levels, 200) for levels in (2, 3, 4, 6, 8, 2, 3, 4)]
        found += far_level((rng.random(200) < 0.3) * 1.0, columns, seed=seed) is not None
    assert found <= 1_500 * FALSE_ALARM + 3 * np.sqrt(1_500 * FALSE_ALARM)


def test_one_far_level_is_found_and_named_with_its_losses() -> None:
    rng = np.random.default_rng(0)
    sites, sexes = rng.integers(0, 4, 400), rng.integers(0, 2, 400)
    losses = rng.normal(size=400) ** 2 + 3.0 * (sites == 2)
    found = far_level(losses, [sexes, sites], seed=0)
    assert found is not None
    assert (found.column, found.level) == (1, 2)
    assert found.mean == pytest.approx(losses[sites == 2].mean())
    assert found.rest == pytest.approx(losses[sites != 2].mean())


def test_one_wild_row_makes_no_part_far_and_small_differences_do_not_matter() -> None:
    losses = np.ones(500) + np.random.default_rng(0).normal(size=500) * 0.1
    codes = np.repeat(np.arange(5), 100)
    losses[7] = 1e6
    assert far_level(losses, [codes], seed=0) is None
    rng = np.random.default_rng(0)
    many = rng.normal(size=50_000)
    many[:10_000] += 0.1  # ten standard errors, a tenth of a standard deviation
    assert far_level(many, [np.repeat(np.arange(5), 10_000)], seed=0) is None


def test_rows_without_a_level_and_losses_without_spread_are_no_trouble() -> None:
    codes = np.r_[np.full(50, -1), np.repeat([0, 1], 25)]
    assert far_level(np.ones(100), [codes], seed=0) is None
    assert far_level(np.arange(100.0), [], seed=0) is None
    assert far_level(np.arange(100.0), [codes], seed=0) is not None


def test_the_chance_of_a_rise_is_the_share_of_all_orders() -> None:
    values = np.array([1.0, 2.0, 4.0, 3.0, 5.0])
    orders = [sum(a > b for a, b in itertools.combinations(order, 2)) for order in itertools.permutations(range(5))]
    assert chance_of_rise(values) == pytest.approx(np.mean(np.array(orders) <= 1))
    assert chance_of_rise(np.ones(5)) == pytest.approx(1.0)  # ties are no rise


def test_five_blocks_must_rise_without_a_break_and_ten_may_break() -> None:
    rng = np.random.default_rng(0)
    alarms = np.mean([chance_of_rise(rng.normal(size=6)) <= FALSE_TREND for _ in range(20_000)])
    assert alarms <= FALSE_TREND
    assert chance_of_rise(np.arange(5.0)) <= FALSE_TREND < chance_of_rise(np.array([0.0, 2, 1, 3, 4]))
    assert chance_of_rise(np.array([0.0, 2, 1, 3, 4, 6, 5, 7, 8, 9])) <= FALSE_TREND
