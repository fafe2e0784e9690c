"""BBC-CV: against a plain loop, what it must not depend on, and its known answer."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heldout.base.errors import OptionError
from heldout.risk.selection import bbc, drawn_counts


def plain_bbc(losses, *, resamples, seed, units=None, weights=None):
    """The same by loops over draws, candidates and columns, on the draws that the seed gives."""
    units = np.arange(losses.shape[1]) if units is None else np.asarray(units)
    weights = np.ones(losses.shape[1]) if weights is None else np.asarray(weights)
    names = np.unique(units)
    drawn = drawn_counts(np.random.default_rng(seed), resamples, len(names))
    scores = []
    for counts in drawn:
        times = dict(zip(names, counts, strict=True))
        inside = np.array([times[unit] for unit in units]) * weights
        outside = np.array([times[unit] == 0 for unit in units]) * weights
        means = [np.sum(row * inside) / inside.sum() for row in losses]
        chosen = losses[int(np.argmin(means))]
        scores.append(np.sum(chosen * outside) / outside.sum())
    return np.array(scores)


@pytest.mark.parametrize("units", [None, [0, 0, 1, 2, 2, 2, 3, 4, 5, 5]])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_what_plain_loops_give(units, weighted):
    chance = np.random.default_rng(7)
    losses = chance.random((6, 10))
    weights = chance.random(10) + 0.1 if weighted else None
    scores = plain_bbc(losses, resamples=40, seed=3, units=units, weights=weights)
    found = bbc(losses, resamples=40, seed=3, units=None if units is None else np.array(units), weights=weights)
    assert found.value == pytest.approx(scores.mean(), rel=1e-12)
    assert found.interval.low == pytest.approx(np.quantile(scores, 0.025), rel=1e-12)
    assert found.interval.high == pytest.approx(np.quantile(scores, 0.975), rel=1e-12)


def test_what_counts_for_nothing_is_not_drawn():
    """Else a draw could leave out nothing but such rows, and be scored on no weight at all."""
    losses, weights = np.random.default_rng(0).random((3, 6)), np.array([1.0, 0.0, 2.0, 0.0, 0.0, 1.0])
    found = bbc(losses, resamples=50, weights=weights)
    same = bbc(losses[:, weights > 0], resamples=50, weights=weights[weights > 0])
    assert (found.value, found.interval) == (same.value, same.interval)
    grouped = bbc(losses, resamples=50, weights=weights, units=np.array([0, 1, 2, 1, 1, 0]))
    assert np.isfinite([grouped.value, grouped.interval.low, grouped.interval.high]).all()


def test_draws_made_in_blocks_follow_the_same_rule(monkeypatch):
    losses = np.random.default_rng(0).random((5, 12))
    whole = bbc(losses, resamples=60)
    monkeypatch.setattr(sys.modules["heldout.risk.selection"], "BLOCK", 12 * 7)  # the function has its name too
    cut = bbc(losses, resamples=60)
    assert cut.value == pytest.approx(whole.value, rel=1e-12)
    assert (cut.interval.low, cut.interval.high) == pytest.approx((whole.interval.low, whole.interval.high), rel=1e-12)


def test_no_row_that_was_drawn_scores_and_groups_are_drawn_whole():
    for counts in drawn_counts(np.random.default_rng(0), 200, 3):
        assert (counts == 0).any()
        assert counts.sum() == 3
    # In a group all losses are equal, so a group that were cut would let the choice see what it is scored on.
    groups = np.repeat(np.arange(4), 5)
    losses = np.repeat(np.eye(4), 5, axis=1)  # candidate c is wrong on group c alone
    scores = plain_bbc(losses, resamples=50, seed=0, units=groups)
    assert bbc(losses, resamples=50, seed=0, units=groups).value == pytest.approx(scores.mean())


@settings(max_examples=30, deadline=None)
@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(2, 12)), elements=st.floats(-5, 5)), st.integers(0, 9))
def test_it_stays_within_the_losses_and_is_ordered_and_higher_levels_contain_lower(losses, seed):
    found = bbc(losses, resamples=30, seed=seed, level=0.9)
    wider = bbc(losses, resamples=30, seed=seed, level=0.99)
    assert losses.min() - 1e-9 <= found.interval.low <= found.interval.high <= losses.max() + 1e-9
    assert wider.interval.low <= found.interval.low
    assert found.interval.high <= wider.interval.high
    assert wider.value == found.value


def test_with_one_candidate_there_is_no_optimism_to_take_off():
    losses = np.random.default_rng(5).random((1, 400))
    assert bbc(losses, resamples=400).value == pytest.approx(losses.mean(), abs=0.005)


@pytest.mark.parametrize("losses", [np.ones((3, 1)), np.array([[1.0, np.nan]]), np.ones(4), np.empty((0, 4))])
def test_what_it_cannot_take_is_refused(losses):
    with pytest.raises(OptionError, match="BBC-CV"):
        bbc(losses)


def test_known_answer_best_of_500_on_20_rows():
    """Accuracies from Beta(9, 6): the best cross-validation number is .161 too good, BBC-CV .032 too bad."""
    chance = np.random.default_rng(1)
    too_good, too_bad = [], []
    for study in range(400):
        error = 1 - chance.beta(9, 6, 500)
        losses = (chance.random((500, 20)) < error[:, None]).astype(float)
        means = losses.mean(axis=1)
        chosen = int(np.argmin(means))
        too_good.append(error[chosen] - means[chosen])
        too_bad.append(bbc(losses, resamples=150, seed=study).value - error[chosen])
    for found, known in ((too_good, 0.161), (too_bad, 0.032)):
        assert abs(np.mean(found) - known) < 3 * np.std(found) / np.sqrt(len(found))
    assert np.mean(too_good) > 0.14
    assert 0.01 < np.mean(too_bad) < 0.06
