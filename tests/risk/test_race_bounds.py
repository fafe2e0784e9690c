"""The bounds that races drop candidates by, against tables whose every mean is known."""

from __future__ import annotations

import numpy as np
import pytest

from heldout.risk.race_bounds import bernstein_low, exact_low, hoeffding_low, share_unknown, surely_worse


def test_the_exact_bound_is_never_above_the_mean_and_meets_it_at_the_end():
    rng = np.random.default_rng(0)
    table = rng.random((200, 9))
    for n in range(1, 10):
        assert (exact_low(table[:, :n], parts=9, low=0.0) <= table.mean(axis=1) + 1e-15).all()
    assert np.allclose(exact_low(table, parts=9, low=0.0), table.mean(axis=1))
    assert exact_low(np.array([[-0.9]]), parts=2, low=-1.0) == pytest.approx(-0.95)


@pytest.mark.parametrize("low", [hoeffding_low, bernstein_low])
@pytest.mark.parametrize("table", ["rows", "parts", "lumps"])
def test_bounds_hold_with_their_level_over_random_orders(low, table):
    rng = np.random.default_rng(1)
    made = {
        "rows": (rng.random(60) < 0.3).astype(float),
        "parts": np.clip(rng.normal(0.3, 0.05, 60), 0, 1),
        "lumps": np.r_[np.zeros(57), 1.0, 1.0, 1.0],
    }[table]
    for n in (5, 30, 50, 59):
        orders = np.array([rng.permutation(made)[:n] for _ in range(4_000)])
        missed = np.mean(low(orders, parts=60, span=1.0, level=0.2) > made.mean() + 1e-12)
        assert missed <= 0.2


def test_bernstein_is_narrower_where_parts_agree_and_there_are_many():
    same = np.full((1, 4_000), 0.3)
    how = {"parts": 40_000, "span": 1.0, "level": 0.01}
    assert bernstein_low(same, **how) > hoeffding_low(same, **how)
    few = same[:, :20]
    assert bernstein_low(few, **how) < hoeffding_low(few, **how)


def test_nothing_is_unknown_once_all_is_run():
    assert share_unknown(10, 10) == 0.0
    assert hoeffding_low(np.full((1, 10), 0.4), parts=10, span=1.0, level=1e-9) == pytest.approx(0.4)


def test_the_paired_test_wants_variation_and_three_parts():
    leader = np.array([0.1, 0.2, 0.15, 0.12, 0.18])
    worse = leader + np.array([0.3, 0.31, 0.29, 0.3, 0.305])
    how = {"ratio": 0.25, "level": 0.01}
    assert surely_worse(worse[None], leader, **how).all()
    assert not surely_worse(worse[None, :2], leader[:2], **how).any()
    assert not surely_worse(leader[None] + 0.3, leader, **how).any()  # the same difference everywhere: nobody knows
    assert not surely_worse(leader[None] - 0.3, leader, **how).any()
    assert not surely_worse(worse[None], leader, ratio=0.25, level=1e-12).any()


def test_the_paired_test_keeps_its_level_on_independent_parts():
    rng = np.random.default_rng(2)
    differences = rng.normal(size=(20_000, 8))
    assert np.mean(surely_worse(differences, np.zeros(8), ratio=0.0, level=0.02)) == pytest.approx(0.02, abs=0.004)
    assert np.mean(surely_worse(differences, np.zeros(8), ratio=0.25, level=0.02)) < 0.01
