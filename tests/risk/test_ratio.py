"""The ratio of jackknives: against a plain loop written from the formula, its limits, its shapes, and what it needs."""

from __future__ import annotations

from math import exp, inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from heldout.base.errors import OptionError
from heldout.risk.intervals.bht import Repetition, ratio, variance_ratio


def plain_loop(repetitions):
    """s²/n, V_J and V_0, each a mean over repetitions."""
    rows, refitted, kept = [], [], []
    for one in repetitions:
        k, n = len(one.folds), sum(len(fold) for fold in one.folds)
        means = [sum(fold) / len(fold) for fold in one.folds]
        for found, losses in ((refitted, one.inner), (kept, [means] * k)):
            without = [sum(losses[i][j] for j in range(k) if j != i) / (k - 1) for i in range(k)]
            middle = sum(without) / k
            found.append((k - 1) / k * sum((theta - middle) ** 2 for theta in without))
        every = [e for fold in one.folds for e in fold]
        rows.append(sum((e - sum(every) / n) ** 2 for e in every) / (n - 1) / n)
    return np.mean(rows), np.mean(refitted), np.mean(kept)


def repetitions_of(seed, *, k, times, spread=0.8):
    chance = np.random.default_rng(seed)
    sizes = chance.integers(4, 9, size=k)
    return [
        Repetition(
            folds=tuple(chance.gamma(2.0, size=size) for size in sizes),
            inner=2 + chance.normal(0, spread / (k - 1), k)[:, None] + chance.normal(0, 0.1, (k, k)),
        )
        for _ in range(times)
    ]


def ends(repetitions, *, value=2.0, low=0.0, high=inf, level=0.9):
    found = ratio(repetitions, value=value, low=low, high=high, level=level)
    assert (found.method, found.guarantee) == ("ratio of jackknives", "heuristic")
    return found.low, found.high


@pytest.mark.parametrize("k", [3, 5, 10])
def test_it_is_what_a_plain_loop_gives(k):
    repetitions = repetitions_of(k, k=k, times=4)
    squared, refitted, kept = plain_loop(repetitions)
    assert 1 < refitted / kept < k  # neither limit hides a mistake
    assert variance_ratio(repetitions) == pytest.approx(refitted / kept, rel=1e-10)
    n = sum(len(fold) for fold in repetitions[0].folds)
    half = stats.t.ppf(0.95, n - 1) * sqrt(squared * refitted / kept)
    assert ends(repetitions, low=-inf) == pytest.approx((2 - half, 2 + half), rel=1e-10)
    assert ends(repetitions, high=9.0) == pytest.approx((2 - half, 2 + half), rel=1e-10)
    on_log_scale = (1 + exp(-half), 1 + exp(half))  # of a loss that is at least 1, and 2 in the mean
    assert ends(repetitions, low=1.0) == pytest.approx(on_log_scale, rel=1e-10)


def test_the_variances_are_averaged_before_their_ratio_is_taken():
    one, other = repetitions_of(1, k=5, times=1, spread=1.2), repetitions_of(2, k=5, times=1, spread=0.8)
    each = [variance_ratio(some) for some in (one, other)]
    (_, first, second), (_, third, fourth) = plain_loop(one), plain_loop(other)
    together = variance_ratio([*one, *other])
    assert together == pytest.approx((first + third) / (second + fourth))
    assert together != pytest.approx(np.mean(each), rel=1e-3)


def test_the_ratio_stays_between_1_and_the_number_of_blocks():
    folds = tuple(np.array([0.0, 1.0]) + mean for mean in (0.1, 0.5, 0.3, 0.2))
    alike = Repetition(folds=folds, inner=np.full((4, 4), 0.3))
    apart = Repetition(folds=folds, inner=np.repeat([[0.0], [9.0], [0.0], [9.0]], 4, axis=1))
    assert variance_ratio([alike]) == 1
    assert variance_ratio([apart]) == 4
    level = Repetition(folds=(np.array([0.1, 0.2]),) * 4, inner=apart.inner)  # V_0 is 0
    assert variance_ratio([level]) == 4
    rounded = Repetition(folds=(np.array([0.1, 0.2]), np.array([0.3, 1e-17])) * 2, inner=alike.inner + 1e-17)
    assert variance_ratio([rounded]) == 1  # both are 0 but for rounding


def test_right_and_wrong_get_wilsons_interval_with_fewer_rows():
    chance = np.random.default_rng(0)
    folds = tuple((chance.random(30) < 0.2).astype(float) for _ in range(5))
    inner = 0.2 + chance.normal(0, 0.04, 5)[:, None] + np.zeros((5, 5))
    repetition = Repetition(folds=folds, inner=inner)
    widened = variance_ratio([repetition])
    assert 1 < widened < 5
    share, rows, z = float(np.mean(folds)), 150 / widened, stats.norm.ppf(0.95)
    for end in ends([repetition], value=share, high=1.0):
        assert abs(share - end) == pytest.approx(z * sqrt(end * (1 - end) / rows))  # Wilson's ends solve this
    scores = Repetition(folds=tuple(fold - 1 for fold in folds), inner=inner - 1)
    moved = ends([scores], value=share - 1, low=-1.0, high=0.0)
    assert moved == pytest.approx([end - 1 for end in ends([repetition], value=share, high=1.0)])
    none_wrong = Repetition(folds=(np.zeros(10),) * 3, inner=np.zeros((3, 3)))
    low, high = ends([none_wrong], value=0.0, high=1.0)
    assert low == 0
    assert 0.05 < high < 0.1  # 30 rows without an error


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(3, 6))
def test_higher_levels_contain_lower_and_order_does_not_matter(seed, k):
    repetitions = repetitions_of(seed, k=k, times=2)
    narrow, wide = ends(repetitions, level=0.8), ends(repetitions, level=0.95)
    assert wide[0] <= narrow[0] <= 2 <= narrow[1] <= wide[1]
    turned = [Repetition(folds=one.folds[::-1], inner=one.inner[::-1, ::-1]) for one in repetitions[::-1]]
    assert ends(turned, level=0.8) == pytest.approx(narrow)


@pytest.mark.parametrize("scale", [1e290, 1e-290])
@pytest.mark.parametrize("low", [0.0, -inf])
def test_the_unit_of_the_loss_does_not_matter(scale, low):
    plain = repetitions_of(0, k=4, times=2)
    scaled = [Repetition(folds=tuple(scale * f for f in one.folds), inner=scale * one.inner) for one in plain]
    found = ends(scaled, value=2 * scale, low=low)
    assert np.array(found) / scale == pytest.approx(ends(plain, low=low))


def test_what_it_needs():
    two = Repetition(folds=(np.ones(3), np.ones(3)), inner=np.ones((2, 2)))
    three = Repetition(folds=(np.ones(3),) * 3, inner=np.ones((3, 3)))
    for repetitions in ([], [two], [two, three]):
        with pytest.raises(OptionError, match=r"ratio of jackknives needs repetitions.*at least three"):
            variance_ratio(repetitions)
