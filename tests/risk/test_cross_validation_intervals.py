"""Intervals over several parts: their formulas, and what each of them is an interval of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_records import folds, folds_of_rows, in_halves
from scipy.stats import f, norm, t

from heldout.risk.estimate_risk import choose_method
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.bayle import bayle
from heldout.risk.intervals.conservative_z import conservative_z, half_means
from heldout.risk.intervals.five_by_two import combined_f, five_by_two_t_interval
from heldout.risk.intervals.method import wilson_ends
from heldout.risk.intervals.t_intervals import corrected_t
from heldout.risk.widening import PLAIN

TEN = np.random.default_rng(0).normal(0.2, 0.05, size=10)


def ends(interval):
    return interval.low, interval.high


def test_corrected_t_is_nadeau_and_bengios():
    losses = np.array([0.3, 0.1, 0.7, 0.2, 0.25])
    interval = corrected_t(losses, test_ratio=0.25, level=0.95)
    scale = np.sqrt(losses.var(ddof=1) * (1 / 5 + 0.25))
    low, high = t.interval(0.95, 4, loc=losses.mean(), scale=scale)
    assert ends(interval) == (pytest.approx(low), pytest.approx(high))


def test_repeats_do_not_shrink_the_corrected_t_towards_the_naive_one():
    losses = np.random.default_rng(0).normal(size=10)
    half = [
        corrected_t(np.tile(losses, repeats), test_ratio=1 / 9, level=0.95).high - losses.mean()
        for repeats in (1, 10, 1000)
    ]
    floor = 1.96 * losses.std() * np.sqrt(1 / 9)
    naive = 1.96 * losses.std() / np.sqrt(10_000)
    assert half[0] > half[1] > half[2] > 0.999 * floor > 10 * naive


def test_the_ratio_is_of_the_rows_recorded():
    record = folds([0.1, 0.2, 0.4], held=20, train=40)
    found = METHODS["corrected-t"].interval(record, 0.25, 0.95)
    expected = corrected_t(record.fold_losses, test_ratio=0.5, level=0.95, centre=0.25)
    assert found == expected


def with_sample(parts, *, of, **changed):
    """Folds whose rows are known of a sample alone, a share `of` of them."""
    sample = replace(folds_of_rows(parts, **changed), share=of)
    sizes = (sample.held_sizes / of).astype(int)
    return replace(sample, row_losses=None, held_sizes=sizes, share=1.0, sample=sample)


def test_a_sample_has_the_error_of_all_the_rows_it_stands_for():
    rows = np.random.default_rng(0).normal(3.0, 1.0, size=(5, 200)) ** 2
    every = METHODS["rows"].interval(folds_of_rows(rows), 10.0, 0.95)
    some = METHODS["rows"].interval(with_sample(rows, of=0.25), 10.0, 0.95)
    assert some.high - 10.0 == pytest.approx((every.high - 10.0) / 2, rel=0.02)
    assert some.method == every.method.replace("over rows", "over sampled rows")


@pytest.mark.parametrize("wrong", [0, 1, 40])
def test_the_errors_of_all_rows_tell_more_than_those_of_a_sample(wrong):
    rows = np.zeros((5, 200))
    rows.flat[:wrong] = 1.0
    about = {"loss": "zero_one", "low": 0.0, "high": 1.0, "family": "zero_one"}
    found = METHODS["rows"].interval(with_sample(rows, of=0.1, **about), 0.01, 0.95)
    assert ends(found) == pytest.approx(wilson_ends(0.01, 10_000 / PLAIN**2, norm.ppf(0.975)), rel=1e-9)


def test_one_test_set_has_no_interval_from_a_sample():
    record = with_sample([[1.0, 2.0, 3.0]], of=0.1)
    assert METHODS["rows"].refusal(record) is not None


def test_stratified_folds_have_an_interval_from_a_sample():
    record = with_sample([[1.0, 2.0, 3.0], [2.0, 5.0, 1.0]], of=0.1, stratified=True)
    assert choose_method(record).key == "rows"
    assert isinstance(choose_method(replace(record, sample=None)), str)


def test_bayle_is_its_two_formulas():
    parts = [np.array([0.1, 0.3, 0.2]), np.array([0.9, 0.4, 0.6])]
    rows = np.concatenate(parts)
    z = norm.ppf(0.95)
    for within, sigma in (
        (False, np.sqrt(np.mean((rows - rows.mean()) ** 2))),
        (True, np.sqrt(np.mean([part.var(ddof=1) for part in parts]))),
    ):
        half = z * sigma / np.sqrt(6)
        found = bayle(parts, level=0.9, within=within)
        assert ends(found) == (pytest.approx(rows.mean() - half), pytest.approx(rows.mean() + half))
        key = "bayle-within" if within else "bayle"
        assert METHODS[key].interval(folds_of_rows(parts), rows.mean(), 0.9) == found


def test_bayle_of_stratified_folds_promises_less():
    record = folds_of_rows([[0.1, 0.2], [0.4, 0.3]], stratified=True)
    assert METHODS["bayle"].interval(record, 0.25, 0.9).guarantee == "heuristic"


def test_bayle_covers_the_mean_risk_of_the_fold_predictors():
    """The learner predicts the mean of its rows; its risk is known, and so is that of each fold predictor."""
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(500):
        y = rng.normal(size=100)
        blocks = y.reshape(10, 10)
        fitted = (y.sum() - blocks.sum(axis=1)) / 90
        found = bayle(list((blocks - fitted[:, None]) ** 2), level=0.9)
        missed += not found.low <= np.mean(1 + fitted**2) <= found.high
    # .120 over 10,000 samples: squared errors lean right, and 100 rows are not infinitely many.
    assert 0.1 - 3 * np.sqrt(0.1 * 0.9 / 500) < missed / 500 < 0.12 + 3 * np.sqrt(0.12 * 0.88 / 500)


def test_five_by_two_is_as_wide_as_its_two_tests_say():
    spread = np.sum((TEN[::2] - TEN[1::2]) ** 2 / 2)
    low, high = ends(five_by_two_t_interval(TEN, level=0.95))
    assert (low + high) / 2 == pytest.approx(TEN.mean())
    assert high - TEN.mean() == pytest.approx(t.ppf(0.975, 5) * np.sqrt(spread / 5))
    low, high = ends(combined_f(TEN, level=0.95))
    assert high - TEN.mean() == pytest.approx(np.sqrt(f.ppf(0.95, 10, 5) * spread / 5))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_combined_f_rejects_every_risk_outside_the_interval(level):
    spread = np.sum((TEN[::2] - TEN[1::2]) ** 2 / 2)
    low, high = ends(combined_f(TEN, level=level))
    for risk in (low - 1e-9, high + 1e-9):
        assert np.sum((TEN - risk) ** 2) / (2 * spread) > f.ppf(level, 10, 5)


def test_conservative_z_is_its_formula():
    halves = half_means(TEN[:8], np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    assert halves.tolist() == TEN[:8].reshape(4, 2).mean(axis=1).reshape(2, 2).tolist()
    sigma = np.sqrt(np.sum((halves[:, 0] - halves[:, 1]) ** 2) / (2 * len(halves)))
    found = conservative_z(halves, level=0.95)
    assert found.high - halves.mean() == pytest.approx(norm.ppf(0.975) * sigma)


def test_conservative_z_estimates_the_variance_of_a_half_without_bias():
    rng = np.random.default_rng(2)
    squares = [
        ((i := conservative_z(rng.normal(0, 0.3, size=(5, 2)), level=0.95)).high - i.low) ** 2 for _ in range(2000)
    ]
    squares = np.array(squares) / (2 * norm.ppf(0.975)) ** 2
    assert squares.mean() == pytest.approx(0.09, abs=4 * squares.std() / np.sqrt(2000))
    record = in_halves(np.tile(TEN, 2))
    value = float(record.fold_losses.mean())
    assert METHODS["conservative-z"].interval(record, value, 0.9).method == "conservative Z"
