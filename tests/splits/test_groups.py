"""Dealing whole groups: equal to the plain greedy deal, settled by exchanges, and memory linear in the rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.splits import groups as groups_module
from heldout.splits.groups import deal_groups, exchange_for_shares, exchange_groups, fill_up, loads_of
from heldout.splits.strata import Strata

LEVELS = st.lists(st.floats(-50, 50), min_size=1, max_size=12)


def strata_like(codes):
    return Strata(codes=codes, positions=np.arange(len(codes)), values=range(int(codes.max()) + 1), word="class")


def random_groups(seed, groups=40, classes=3):
    rng = np.random.default_rng(seed)
    of_group = np.repeat(np.arange(groups), rng.geometric(0.2, groups))
    return of_group, rng.integers(0, classes, len(of_group))


def unevenness(groups, codes, parts, k):
    """The sum that a deal makes small, from its definition."""
    sizes = np.bincount(codes)
    table = np.array([np.bincount(codes[parts[groups] == part], minlength=len(sizes)) for part in range(k)])
    by_class = ((table - sizes / k) ** 2 / sizes).sum()
    return by_class + 0.25 * ((table.sum(axis=1) - len(codes) / k) ** 2).sum() / len(codes)


@settings(max_examples=200, deadline=None)
@given(LEVELS, st.integers(1, 60))
def test_filling_up_is_pouring_unit_by_unit(levels, count):
    slow = np.array(levels)
    for _ in range(count):
        slow[np.argmin(slow)] += 1
    units = fill_up(np.array(levels), count)
    assert units.sum() == count
    np.testing.assert_allclose(np.sort(np.array(levels) + units), np.sort(slow), atol=2e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_every_part_has_a_group_and_no_exchange_is_left_that_helps(seed, k):
    groups, codes = random_groups(seed, groups=14)
    parts = deal_groups(loads_of(groups, strata_like(codes)), k, seed=seed)
    assert set(parts.tolist()) == set(range(k))
    reached = unevenness(groups, codes, parts, k)
    counts = np.bincount(parts, minlength=k)
    for group in range(14):
        for part in range(k):
            if counts[parts[group]] > 1:
                other = parts.copy()
                other[group] = part
                assert unevenness(groups, codes, other, k) >= reached - 1e-9
        for second in range(group):
            other = parts.copy()
            other[[group, second]] = parts[[second, group]]
            assert unevenness(groups, codes, other, k) >= reached - 1e-9


def test_exchanges_only_make_parts_more_even():
    groups, codes = random_groups(3)
    loads = loads_of(groups, strata_like(codes))
    parts = np.random.default_rng(0).integers(0, 4, 40)
    gaps = np.repeat(-loads.totals[:, None] / 4, 4, axis=1)
    for group, part in enumerate(parts):
        columns, amounts = loads.of(group)
        gaps[columns, part] += amounts
    assert unevenness(groups, codes, parts, 4) == pytest.approx((gaps**2).sum())
    settled = exchange_groups(loads, parts, gaps, np.arange(40))
    assert unevenness(groups, codes, settled, 4) < unevenness(groups, codes, parts, 4) / 10
    fixed = exchange_groups(loads, parts, gaps, np.arange(20))
    np.testing.assert_array_equal(fixed[20:], parts[20:])


def test_no_free_groups_no_exchange():
    groups, codes = random_groups(3)
    loads = loads_of(groups, strata_like(codes))
    parts = np.arange(40) % 4
    np.testing.assert_array_equal(exchange_groups(loads, parts, np.zeros((4, 4)), np.arange(0)), parts)


def test_the_seed_decides_and_without_one_there_is_no_chance():
    groups, codes = random_groups(5, groups=60)
    loads = loads_of(groups, strata_like(codes))
    np.testing.assert_array_equal(deal_groups(loads, 5, seed=1), deal_groups(loads, 5, seed=1))
    assert (deal_groups(loads, 5, seed=1) != deal_groups(loads, 5, seed=2)).any()
    np.testing.assert_array_equal(deal_groups(loads, 5, seed=None), deal_groups(loads, 5, seed=None))


def test_equal_groups_are_told_by_their_cargo():
    groups, codes = np.repeat(np.arange(4), 3), np.array([0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1])
    likeness = loads_of(groups, strata_like(codes)).likeness
    assert likeness[0] == likeness[1] == likeness[3] != likeness[2]


def test_loads_are_the_table_of_groups_and_strata_without_its_zeros():
    groups, codes = random_groups(7, groups=30, classes=4)
    loads = loads_of(groups, strata_like(codes))
    rows = np.zeros((30, 5))
    np.add.at(rows, (groups, codes), 1)
    np.add.at(rows, (groups, 4), 1)
    amounts = rows / np.sqrt(rows.sum(axis=0))
    amounts[:, 4] *= np.sqrt(groups_module.WEIGHT_OF_SIZE)
    for group in range(30):
        columns, own = loads.of(group)
        np.testing.assert_array_equal(columns, np.flatnonzero(amounts[group]))
        np.testing.assert_allclose(own, amounts[group, columns], rtol=1e-12)
    np.testing.assert_allclose(loads.weights, (amounts**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(loads.totals, amounts.sum(axis=0), rtol=1e-12)


def test_a_share_is_met_by_exchanges_and_all_of_one_side_is_never_taken():
    groups, codes = random_groups(11, groups=50, classes=2)
    loads = loads_of(groups, strata_like(codes))
    taken = exchange_for_shares(loads, np.arange(10), 0.3, seed=0, again=False)
    shares = np.bincount(codes[np.isin(groups, taken)]) / np.bincount(codes)
    np.testing.assert_allclose(shares, 0.3, atol=0.02)
    for share in (0.0001, 0.9999):
        some = exchange_for_shares(loads, np.arange(10), share, seed=0, again=False)
        assert 1 <= len(some) <= 49


@pytest.mark.parametrize("classes", [3, 2000])
def test_memory_is_linear_in_the_rows(classes):
    """Bytes a row do not grow with the rows, nor with groups × classes."""
    peaks = []
    for n in (20_000, 80_000):
        rng = np.random.default_rng(0)
        groups = np.unique(rng.integers(0, n // 10, n), return_inverse=True)[1]
        codes = np.unique(rng.integers(0, min(classes, n // 20), n), return_inverse=True)[1]
        tracemalloc.start()
        deal_groups(loads_of(groups, strata_like(codes)), 10, seed=0)
        peaks.append(tracemalloc.get_traced_memory()[1] / n)
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 400
