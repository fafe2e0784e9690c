"""Intervals from one test set: known answers, other people's code, and what they say of weights and groups."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from made_records import grouped, one_test_set, zero_one
from scipy.stats import binom, binomtest, bootstrap, norm, t

from heldout.risk.intervals import METHODS
from heldout.risk.intervals.betting import RUNGS, betting, betting_p, halve, lower_end, stakes_of
from heldout.risk.intervals.binomial import clopper_pearson, wilson
from heldout.risk.intervals.bootstrap import bca, bootstrap_t, resampled_means
from heldout.risk.intervals.bounded import hoeffding, hoeffding_half_width, maurer_pontil
from heldout.risk.intervals.method import standardised
from heldout.risk.intervals.resampling import orient
from heldout.risk.intervals.t_intervals import cluster_t, student


def ends(interval):
    return interval.low, interval.high


def coverage(interval_of, n, p):
    counts = np.arange(n + 1)
    hit = [low <= p <= high for low, high in map(interval_of, counts)]
    return float(binom.pmf(counts, n, p) @ np.array(hit, dtype=float))


def wald(n):
    def interval(k):
        half = norm.ppf(0.975) * np.sqrt(k / n * (1 - k / n) / n)
        return k / n - half, k / n + half

    return interval


# 0/1 losses


@pytest.mark.parametrize(("n", "p", "known"), [(50, 0.02, 0.6354), (100, 0.05, 0.8775)])
def test_the_textbook_interval_has_the_coverage_that_clopper_pearson_is_there_to_mend(n, p, known):
    assert coverage(wald(n), n, p) == pytest.approx(known, abs=5e-5)
    assert coverage(lambda k: ends(clopper_pearson(int(k), n, level=0.95)), n, p) >= 0.95


def test_clopper_pearson_has_its_known_coverage():
    found = coverage(lambda k: ends(clopper_pearson(int(k), 100, level=0.95)), 100, 0.05)
    assert found == pytest.approx(0.9826, abs=5e-5)


@pytest.mark.parametrize("n", [1, 7, 50])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_clopper_pearson_never_covers_less_than_it_says(n, level):
    intervals = [ends(clopper_pearson(k, n, level=level)) for k in range(n + 1)]
    for p in np.linspace(0, 1, 101):
        assert coverage(lambda k: intervals[k], n, p) >= level - 1e-12


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 10), (10, 10), (3, 17), (999, 1000)])
def test_proportions_are_scipys(k, n, level):
    exact, score = (binomtest(k, n).proportion_ci(level, method=method) for method in ("exact", "wilson"))
    assert ends(clopper_pearson(k, n, level=level)) == (pytest.approx(exact.low), pytest.approx(exact.high))
    assert ends(wilson(k, n, level=level)) == (pytest.approx(score.low), pytest.approx(score.high))


def test_accuracy_is_one_less_the_zero_one_loss():
    errors = np.array([0, 1, 0, 0, 1, 0, 0.0])
    for key in ("clopper-pearson", "wilson", "betting", "hoeffding", "maurer-pontil", "student"):
        plain = METHODS[key].interval(zero_one(errors), errors.mean(), 0.9)
        turned = METHODS[key].interval(zero_one(errors - 1, low=-1.0, high=0.0), errors.mean() - 1, 0.9)
        assert ends(turned) == (pytest.approx(plain.low - 1), pytest.approx(plain.high - 1))


# Bounded losses


@pytest.mark.parametrize(("half", "rows"), [(0.05, 738), (0.02, 4612), (0.01, 18445)])
def test_hoeffding_needs_the_known_number_of_rows(half, rows):
    assert hoeffding_half_width(rows, level=0.95) <= half < hoeffding_half_width(rows - 1, level=0.95)
    interval = hoeffding(np.full(rows, 0.5), level=0.95)
    assert interval.high - 0.5 == pytest.approx(half, rel=1e-3)


def test_maurer_pontil_is_its_formula():
    x = np.array([0.1, 0.4, 0.4, 0.9])
    half = np.sqrt(2 * x.var(ddof=1) * log(4 / 0.1) / 4) + 7 * log(4 / 0.1) / (3 * 3)
    assert ends(maurer_pontil(x, level=0.9)) == (pytest.approx(x.mean() - half), pytest.approx(x.mean() + half))


def plain_betting(x, level, m):
    """Whether the mean m is kept: the formula, row by row, for losses in the order given."""
    n, delta = len(x), 1 - level
    up = down = 1.0
    deviations, total = 0.25, 0.5
    for seen, one in enumerate(x, start=1):
        stake = np.sqrt(2 * log(2 / delta) / (n * deviations / seen))
        up *= 1 + min(stake, 0.5 / m) * (one - m)
        down *= 1 - min(stake, 0.5 / (1 - m)) * (one - m)
        if max(up, down) / 2 >= 1 / delta:
            return False
        total += one
        deviations += (one - total / (seen + 1)) ** 2
    return True


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(
    "losses", [np.random.default_rng(1).beta(2, 5, 60), (np.arange(80) % 9 == 0).astype(float), np.full(30, 0.25)]
)
def test_betting_is_its_formula_to_a_millionth_and_rounded_outward(losses, level):
    interval = betting(losses, level=level, seed=7)
    drawn = orient(np.sort(losses) - 0.5, seed=7, purpose="betting")
    x = 0.5 + np.random.default_rng(drawn.seed).permutation(drawn.values)
    x = 1 - x if drawn.turned else x
    assert drawn.seed == interval.seed
    for end, outside in ((interval.low, -1e-12), (interval.high, 1e-12)):
        if 0 < end < 1:
            assert not plain_betting(x, level, end + outside)
            assert plain_betting(x, level, end - np.sign(outside) * 1e-6)


@pytest.mark.parametrize("losses", [np.repeat([0.0, 1.0], [10, 36]), np.repeat([0.5, 0.0, 0.9, 0.01], [14, 6, 27, 8])])
def test_betting_is_nested_though_its_bets_are_sized_for_the_level(losses):
    """In an order where the formula alone would give a higher level the larger lower end."""
    levels = np.sort([*np.linspace(0.02, 0.999, 60), *RUNGS, 0.99995])
    assert (np.diff([lower_end(losses, level) for level in levels]) <= 0).all()
    alone = [halve(losses, stakes_of(losses, level), log(2 / (1 - level))) for level in levels]
    assert (np.diff(alone) > 1e-6).any()


def test_betting_covers_and_is_shorter_than_the_other_bounds():
    rng = np.random.default_rng(3)
    samples = rng.beta(1, 9, size=(400, 200))
    intervals = [betting(x, level=0.9) for x in samples]
    missed = np.mean([not i.low <= 0.1 <= i.high for i in intervals])
    assert missed <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 400)
    widths = [
        np.mean([i.high - i.low for i in many])
        for many in (
            intervals,
            [maurer_pontil(x, level=0.9) for x in samples[:50]],
            [hoeffding(x, level=0.9) for x in samples[:50]],
        )
    ]
    assert widths[0] < 0.5 * min(widths[1:])


def test_the_betting_p_value_rejects_what_the_interval_leaves_out():
    x = np.random.default_rng(2).beta(2, 2, 90) * 0.8
    interval = betting(x, level=0.95)
    for mean in (interval.low - 1e-6, interval.high + 1e-6):
        assert betting_p(x, level=0.95, mean=mean) <= 0.05
    for mean in (interval.low + 1e-6, x.mean(), interval.high - 1e-6):
        assert betting_p(x, level=0.95, mean=mean) > 0.05


# Any losses


def test_student_is_the_textbooks():
    losses = np.array([0.3, 0.1, 0.7, 0.2])
    interval = student(losses, level=0.9)
    low, high = t.interval(0.9, 3, loc=losses.mean(), scale=losses.std(ddof=1) / 2)
    assert ends(interval) == (pytest.approx(low), pytest.approx(high))
    assert interval.guarantee == "asymptotic"


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bca_is_scipys_on_the_same_resamples(level):
    losses = np.random.default_rng(4).exponential(size=50)
    interval = bca(losses, level=level)
    ordered, mean, scale = standardised(losses)
    drawn = orient(ordered, seed=0, purpose="bca")
    means = resampled_means(drawn.values, seed=drawn.seed) * (-1 if drawn.turned else 1) * scale + mean
    plain = bootstrap((losses,), np.mean, n_resamples=2, rng=0, method="percentile")
    plain.bootstrap_distribution = means
    theirs = bootstrap(
        (losses,), np.mean, n_resamples=0, bootstrap_result=plain, confidence_level=level, method="BCa"
    ).confidence_interval
    assert ends(interval) == (pytest.approx(theirs.low, rel=1e-6), pytest.approx(theirs.high, rel=1e-6))


def test_bootstrap_t_agrees_with_a_plain_loop():
    losses = np.random.default_rng(5).exponential(size=60)
    rng, n = np.random.default_rng(6), len(losses)
    stars = []
    for _ in range(20_000):
        star = rng.choice(losses, n)
        stars.append((star.mean() - losses.mean()) / (star.std(ddof=1) / np.sqrt(n)))
    error = losses.std(ddof=1) / np.sqrt(n)
    upper, lower = np.quantile(stars, [0.975, 0.025])
    interval = bootstrap_t(losses, level=0.95)
    assert interval.low == pytest.approx(losses.mean() - upper * error, abs=0.15 * error)
    assert interval.high == pytest.approx(losses.mean() - lower * error, abs=0.3 * error)


def test_bootstrap_t_leans_as_the_losses_do_and_covers_better_than_student():
    rng = np.random.default_rng(7)
    samples = rng.lognormal(size=(300, 25))
    truth = np.exp(0.5)
    hits = {
        name: np.mean([i.low <= truth <= i.high for i in map(make, samples)])
        for name, make in (
            ("bootstrap", lambda x: bootstrap_t(x, level=0.95)),
            ("student", lambda x: student(x, level=0.95)),
        )
    }
    assert hits["bootstrap"] > hits["student"] + 0.02


def test_losses_that_are_all_the_same_have_no_width_by_resampling():
    for made in (bootstrap_t(np.full(30, 0.1), level=0.95), bca(np.full(30, 0.1), level=0.95)):
        assert ends(made) == (0.1, 0.1)


def test_levels_beyond_the_resamples_are_stretched():
    losses = np.random.default_rng(8).exponential(size=40)
    widths = [bootstrap_t(losses, level=level).high for level in (0.999, 0.9995, 0.99999)]
    assert widths[0] < widths[1] < widths[2]


# Groups and weights


def test_equal_groups_are_counted_by_their_means():
    rows, groups = np.random.default_rng(9).random(12), np.repeat(np.arange(4), 3)
    means = rows.reshape(4, 3).mean(axis=1)
    mixed = np.random.default_rng(10).permutation(12)
    record = grouped(rows[mixed], groups[mixed], low=0.0, high=1.0)
    for key, plain in (("betting", betting), ("hoeffding", hoeffding), ("student", student)):
        found = METHODS[key].interval(record, rows.mean(), 0.9)
        assert ends(found) == (pytest.approx(plain(means, level=0.9).low), pytest.approx(plain(means, level=0.9).high))
    rows_alone = METHODS["hoeffding"].interval(zero_one(rows), rows.mean(), 0.9)
    assert found.high - found.low > 0
    assert METHODS["hoeffding"].interval(record, rows.mean(), 0.9).high > rows_alone.high


def test_the_cluster_t_is_student_without_groups_and_weights_and_with_groups_of_one_size():
    rows = np.random.default_rng(11).random(12)
    for level in (0.8, 0.99):
        assert ends(cluster_t(rows, level=level)) == pytest.approx(ends(student(rows, level=level)))
        groups = np.repeat(np.arange(4), 3)
        means = rows.reshape(4, 3).mean(axis=1)
        assert ends(cluster_t(rows, level=level, groups=groups)) == pytest.approx(ends(student(means, level=level)))


def test_a_weight_of_two_is_a_group_of_two_equal_rows():
    rows, weights = np.array([0.3, 0.9, 0.1, 0.4]), np.array([2.0, 1.0, 2.0, 1.0])
    repeated = np.repeat(rows, weights.astype(int))
    groups = np.repeat(np.arange(4), weights.astype(int))
    weighted = cluster_t(rows, level=0.95, weights=weights)
    assert ends(weighted) == pytest.approx(ends(cluster_t(repeated, level=0.95, groups=groups)))
    record = one_test_set(rows, weights=(7 * weights,))
    assert ends(METHODS["cluster-t"].interval(record, np.average(rows, weights=weights), 0.95)) == pytest.approx(
        ends(weighted)
    )


def test_rows_of_no_weight_do_not_count():
    rows, weights = np.array([0.3, 0.9, 0.1, 77.0]), np.array([1.0, 1.0, 1.0, 0.0])
    assert ends(cluster_t(rows, level=0.95, weights=weights)) == pytest.approx(ends(student(rows[:3], level=0.95)))


def test_groups_widen_an_interval_that_takes_rows_for_independent():
    rng = np.random.default_rng(12)
    missed = {"cluster": 0, "rows": 0}
    for _ in range(300):
        sizes = rng.integers(1, 9, size=25)
        rows = np.repeat(rng.normal(size=25), sizes) + 0.3 * rng.normal(size=sizes.sum())
        groups = np.repeat(np.arange(25), sizes)
        for name, made in (
            ("cluster", cluster_t(rows, level=0.95, groups=groups)),
            ("rows", student(rows, level=0.95)),
        ):
            missed[name] += not made.low <= 0 <= made.high
    assert missed["cluster"] / 300 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert missed["rows"] / 300 > 0.3
