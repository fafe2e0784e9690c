"""Bates–Hastie–Tibshirani: against a plain loop written from the formula, its limits, and what it needs."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.base.errors import OptionError
from heldout.risk.intervals.bht import Repetition, bht


def plain_loop(repetitions, level):
    """Algorithm by algorithm: a and b of each fold, then the mean squared error, the bias, and the ends."""
    a_list, b_list, inner_errors, fold_errors, deviations = [], [], [], [], []
    for one in repetitions:
        k, n = len(one.folds), sum(len(fold) for fold in one.folds)
        for i in range(k):
            others = [j for j in range(k) if j != i]
            rows = sum(len(one.folds[j]) for j in others)
            inner = sum(one.inner[i][j] * len(one.folds[j]) for j in others) / rows
            outer = sum(one.folds[i]) / len(one.folds[i])
            variance = sum((e - outer) ** 2 for e in one.folds[i]) / (len(one.folds[i]) - 1)
            a_list.append((inner - outer) ** 2)
            b_list.append(variance / len(one.folds[i]))
            inner_errors.append(inner)
            fold_errors.append(outer)
        every = [e for fold in one.folds for e in fold]
        mean = sum(every) / n
        deviations.append(sqrt(sum((e - mean) ** 2 for e in every) / (n - 1)))
    mse = (sum(a_list) / len(a_list) - sum(b_list) / len(b_list)) * (k - 1) / k
    sd = sum(deviations) / len(deviations)
    se = min(max(sqrt(max(mse, 0)), sd / sqrt(n)), sqrt(k) * sd / sqrt(n))
    ncv, cv = sum(inner_errors) / len(inner_errors), sum(fold_errors) / len(fold_errors)
    centre = ncv - (1 + (k - 2) / k) * (ncv - cv)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    return centre - z * se, centre + z * se


def repetitions_of(seed, *, k, times, spread=0.5):
    chance = np.random.default_rng(seed)
    sizes = chance.integers(4, 9, size=k)
    return [
        Repetition(
            folds=tuple(chance.normal(chance.normal(0, spread), 1, size) for size in sizes),
            inner=chance.normal(0.3, 0.2, (k, k)),
        )
        for _ in range(times)
    ]


@pytest.mark.parametrize("k", [3, 5, 10])
@pytest.mark.parametrize("spread", [0.0, 0.5, 5.0])
def test_it_is_what_a_plain_loop_gives(k, spread):
    repetitions = repetitions_of(k, k=k, times=4, spread=spread)
    interval = bht(repetitions, level=0.9).interval
    assert (interval.low, interval.high) == pytest.approx(plain_loop(repetitions, 0.9), rel=1e-10)


def test_the_standard_error_stays_between_the_naive_one_and_root_k_times_it():
    k, folds = 4, (np.array([0.0, 1.0] * 5),) * 4
    naive = np.std(np.concatenate(folds), ddof=1) / sqrt(40)
    least = bht([Repetition(folds=folds, inner=np.full((k, k), 0.5))], level=0.95)
    most = bht([Repetition(folds=folds, inner=np.full((k, k), 50.0))], level=0.95)
    assert least.se == pytest.approx(naive)
    assert most.se == pytest.approx(sqrt(k) * naive)


def test_the_centre_is_the_risk_at_all_rows_where_it_falls_like_one_over_the_rows():
    """With a + b/m at m = n(K−2)/K and n(K−1)/K, the bias correction gives a + b/n exactly."""
    n, k, a, b = 60, 5, 1.0, 12.0
    block = n // k
    at_two, at_one = a + b / (n - 2 * block), a + b / (n - block)
    jitter = np.tile([-0.1, 0.1], block // 2)
    folds = tuple(at_one + jitter for _ in range(k))
    found = bht([Repetition(folds=folds, inner=np.full((k, k), at_two))], level=0.95)
    assert found.centre == pytest.approx(a + b / n)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(3, 6))
def test_higher_levels_contain_lower_and_order_does_not_matter(seed, k):
    repetitions = repetitions_of(seed, k=k, times=2)
    narrow, wide = bht(repetitions, level=0.8), bht(repetitions, level=0.95)
    assert wide.interval.low <= narrow.interval.low <= narrow.interval.high <= wide.interval.high
    turned = [Repetition(folds=tuple(fold[::-1] for fold in one.folds), inner=one.inner) for one in repetitions[::-1]]
    again = bht(turned, level=0.8).interval
    assert (again.low, again.high) == pytest.approx((narrow.interval.low, narrow.interval.high))


@pytest.mark.parametrize("scale", [1e290, 1e-290])
def test_the_unit_of_the_loss_does_not_matter(scale):
    plain = repetitions_of(0, k=4, times=2)
    scaled = [Repetition(folds=tuple(scale * f for f in one.folds), inner=scale * one.inner) for one in plain]
    assert bht(scaled, level=0.9).se == pytest.approx(scale * bht(plain, level=0.9).se)


def test_what_it_needs():
    two = Repetition(folds=(np.ones(3), np.ones(3)), inner=np.ones((2, 2)))
    three = Repetition(folds=(np.ones(3),) * 3, inner=np.ones((3, 3)))
    single = Repetition(folds=(np.ones(3), np.ones(1), np.ones(3)), inner=np.ones((3, 3)))
    for repetitions in ([], [two], [two, three]):
        with pytest.raises(OptionError, match="at least three"):
            bht(repetitions, level=0.95)
    with pytest.raises(OptionError, match="at least two rows"):
        bht([single], level=0.95)
