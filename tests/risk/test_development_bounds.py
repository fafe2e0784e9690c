"""Development sets: the bound of the texts, intervals that hold together, and the known smallest of 100 errors."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.base.errors import OptionError
from heldout.risk.intervals.binomial import clopper_pearson
from heldout.risk.selection import development_bounds, simultaneous_intervals


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.sampled_from([0.8, 0.95]))
def test_counted_errors_get_clopper_pearson_at_a_share_of_the_level(errors, level):
    lows, highs, _ = simultaneous_intervals(np.array(errors) / 40, n=40, level=level)
    for low, high, count in zip(lows, highs, errors, strict=True):
        alone = clopper_pearson(count, 40, level=1 - (1 - level) / len(errors))
        assert low == pytest.approx(alone.low)
        assert high == pytest.approx(alone.high)


def test_accuracy_is_the_error_turned_round():
    errors = np.array([0.1, 0.3])
    found = development_bounds(errors, n=50, chosen=0, level=0.95)
    score = development_bounds(errors - 1, n=50, chosen=0, level=0.95, low=-1.0, high=0.0)
    assert score.chosen.low + 1 == pytest.approx(found.chosen.low)
    assert score.best.high + 1 == pytest.approx(found.best.high)
    assert score.gap == found.gap


def test_other_bounded_losses_get_hoeffding_scaled_by_their_range():
    means = np.array([2.0, 5.0, 4.0])
    found = development_bounds(means, n=200, chosen=0, level=0.9, low=0.0, high=10.0, counted=False)
    half = 10 * sqrt(log(2 * 3 / 0.1) / (2 * 200))
    assert (found.chosen.low, found.chosen.high) == (pytest.approx(2 - half), pytest.approx(2 + half))
    assert found.gap == pytest.approx(10 * sqrt(2 * log(2 * 3 / 0.1) / 200))
    assert found.chosen.method == "simultaneous Hoeffding"


def test_the_smallest_risk_of_the_family_is_bounded_by_every_candidate():
    found = development_bounds(np.array([0.2, 0.25, np.nan, 0.21]), n=100, chosen=0, level=0.95)
    lows, highs, _ = simultaneous_intervals(np.array([0.2, 0.25, np.nan, 0.21]), n=100, level=0.95)
    assert (found.best.low, found.best.high) == (np.nanmin(lows), np.nanmin(highs))


def test_all_intervals_hold_together_and_the_chosen_one_is_within_the_gap():
    """60 candidates, 80 rows: the plain interval of the chosen one misses often, the simultaneous one does not."""
    chance = np.random.default_rng(2)
    risks = chance.uniform(0.3, 0.4, 60)
    missed = plain_missed = beyond = 0
    for _ in range(300):
        means = chance.binomial(80, risks) / 80
        chosen = int(np.argmin(means))
        found = development_bounds(means, n=80, chosen=chosen, level=0.9)
        alone = clopper_pearson(round(means[chosen] * 80), 80, level=0.9)
        missed += not found.chosen.low <= risks[chosen] <= found.chosen.high
        missed += not found.best.low <= risks.min() <= found.best.high
        plain_missed += not alone.low <= risks[chosen] <= alone.high
        beyond += risks[chosen] - risks.min() > found.gap
    assert missed <= 0.1 * 300
    assert beyond <= 0.1 * 300
    assert plain_missed > 0.3 * 300


def test_known_answer_the_smallest_of_100_dev_errors():
    """1,000 rows and 100 predictors of risk .2 each: the smallest error is .1689 on average."""
    smallest = np.random.default_rng(0).binomial(1000, 0.2, size=(4000, 100)).min(axis=1) / 1000
    assert smallest.mean() == pytest.approx(0.1689, abs=3 * smallest.std() / sqrt(4000))
    found = {low: development_bounds(np.full(100, low), n=1000, chosen=0, level=0.95).chosen for low in set(smallest)}
    covered = np.mean([found[low].low <= 0.2 <= found[low].high for low in smallest])
    assert covered >= 0.95 - 3 * sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: development_bounds(np.array([0.2, 0.1]), n=9, chosen=0, level=0.9), "another was chosen"),
        (lambda: simultaneous_intervals(np.array([0.2]), n=9, level=0.9, high=np.inf), "bounded range"),
        (lambda: simultaneous_intervals(np.array([1.2]), n=9, level=0.9), "outside 0.0 to 1.0"),
        (lambda: simultaneous_intervals(np.array([0.2]), n=0, level=0.9), "rows and candidates"),
        (lambda: simultaneous_intervals(np.array([0.2]), n=9, level=1.0), "probability that the bound fails"),
    ],
)
def test_what_cannot_be_bounded_is_refused(ask, words):
    with pytest.raises(OptionError, match=words):
        ask()
