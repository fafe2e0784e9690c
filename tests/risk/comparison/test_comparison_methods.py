"""Each method of comparison against scipy, statsmodels, baycomp and hand-made numbers."""

from __future__ import annotations

import baycomp
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from heldout.base.errors import InputError
from heldout.risk.comparison.over_datasets import critical_distance, friedman, nemenyi, permuted_ranks
from heldout.risk.comparison.pairs import holm, mcnemar, permutation_p
from heldout.risk.comparison.sentences import correlated_t, signed_rank
from heldout.risk.intervals.betting import betting, betting_p
from heldout.risk.intervals.five_by_two import five_by_two_f
from heldout.risk.intervals.t_intervals import corrected_t, corrected_t_p, student_p


def normal(seed, size, mean=0.0):
    return np.random.default_rng(seed).normal(mean, 1.0, size)


@pytest.mark.parametrize("seed", range(5))
def test_the_paired_t_is_scipys(seed):
    first, second = normal(seed, 12, 0.3), normal(seed + 100, 12)
    assert student_p(first - second) == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-12)


def test_the_corrected_t_is_the_paired_t_with_a_wider_error():
    first, second = normal(0, 10, 0.5), normal(1, 10)
    t = stats.ttest_rel(first, second).statistic * np.sqrt((1 / 10) / (1 / 10 + 1 / 9))
    assert corrected_t_p(first - second, test_ratio=1 / 9) == pytest.approx(2 * stats.t.sf(abs(t), 9), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_corrected_t_interval_ends_at_zero_where_its_level_is_one_less_p(seed):
    differences = normal(seed, 10, 0.4)
    p = corrected_t_p(differences, test_ratio=0.25)
    interval = corrected_t(differences, test_ratio=0.25, level=1 - p)
    assert min(abs(interval.low), abs(interval.high)) < 1e-9


def test_no_difference_at_all_has_p_one():
    assert corrected_t_p(np.zeros(5), test_ratio=0.25) == student_p(np.zeros(5)) == 1.0
    assert five_by_two_f(np.zeros(10)) == 1.0


@pytest.mark.parametrize("seed", range(6))
def test_mcnemar_is_the_binomial_test_and_statsmodels(seed):
    rng = np.random.default_rng(seed)
    first, second = (rng.random(60) < 0.3).astype(float), (rng.random(60) < 0.15 + 0.05 * seed).astype(float)
    found = mcnemar(first, second)
    table = [[int(np.sum((first == i) & (second == j))) for j in (0, 1)] for i in (0, 1)]
    only_first, only_second = table[1][0], table[0][1]
    assert found == pytest.approx(stats.binomtest(only_first, only_first + only_second, 0.5).pvalue, rel=1e-10)
    assert found == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, rel=1e-10)


def test_mcnemar_of_equal_predictions_is_one():
    assert mcnemar(np.ones(5), np.ones(5)) == 1.0


@pytest.mark.parametrize("count", [1, 2, 5, 15])
def test_holm_is_statsmodels(count):
    p = np.random.default_rng(count).random(count) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], rel=1e-12)


def test_holm_of_nothing_is_nothing():
    assert holm([]) == []


@pytest.mark.parametrize(("folds", "runs"), [(10, 1), (10, 10), (5, 2)])
@pytest.mark.parametrize("rope", [0.0, 0.05])
def test_the_correlated_t_is_baycomps(folds, runs, rope):
    first, second = normal(3, folds * runs, 0.80) / 20, normal(4, folds * runs, 0.82) / 20
    theirs = baycomp.CorrelatedTTest.probs(first, second, rope=rope, runs=runs)
    # Their scores are greater where better and taken second less first: so are our losses, with the sign turned.
    found = correlated_t(first - second, test_ratio=1 / (folds - 1), rope=rope)
    ours = (found.right, found.left) if rope == 0 else (found.right, found.rope, found.left)
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("value", "rope", "expected"), [(0, 0, (0.5, 0, 0.5)), (0, 0.1, (0, 1, 0)), (-1, 0.1, (1, 0, 0))]
)
def test_the_correlated_t_without_spread(value, rope, expected):
    found = correlated_t(np.full(4, float(value)), test_ratio=0.5, rope=rope)
    assert (found.left, found.rope, found.right) == expected


@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_the_signed_rank_is_baycomps_up_to_chance(rope):
    differences = np.random.default_rng(0).normal(-0.01, 0.03, 14)
    draws = 20_000
    theirs = baycomp.SignedRankTest.probs(np.zeros(14), differences, rope=rope, nsamples=draws, random_state=1)
    found = signed_rank(differences, rope=rope, seed=0, draws=draws)
    ours = (found.left, found.right) if rope == 0 else (found.left, found.rope, found.right)
    four_errors = 4 * np.sqrt(2) * 0.5 / np.sqrt(draws)
    assert ours == pytest.approx(theirs, abs=four_errors)
    assert 0.05 < ours[0] < 0.98  # so that the comparison could fail


def test_the_signed_rank_depends_on_its_seed_alone():
    differences = normal(0, 8)
    assert signed_rank(differences, rope=0.1, seed=5) == signed_rank(differences, rope=0.1, seed=5)
    assert signed_rank(differences, rope=0.1, seed=5) != signed_rank(differences, rope=0.1, seed=6)


DIFFERENCES = np.array([0.04, 0.02, 0.03, 0.05, 0.01, 0.03, 0.04, 0.04, 0.02, 0.05])


def test_five_by_two_is_alpaydins():
    pairs = DIFFERENCES.reshape(5, 2)
    spreads = ((pairs - pairs.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    assert five_by_two_f(DIFFERENCES) == pytest.approx(stats.f.sf((pairs**2).sum() / (2 * spreads.sum()), 10, 5))


def test_alpaydins_f_does_not_hang_on_the_order_of_folds():
    swapped = DIFFERENCES.reshape(5, 2)[::-1, ::-1].ravel()
    assert five_by_two_f(swapped) == pytest.approx(five_by_two_f(DIFFERENCES), rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_friedman_is_scipys(ties):
    losses = np.random.default_rng(0).random((9, 4))
    losses = np.round(losses, 1) if ties else losses
    theirs = stats.friedmanchisquare(*losses.T)
    found = friedman(losses)
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-10)
    assert found.mean_ranks == pytest.approx(stats.rankdata(losses, axis=1).mean(axis=0))


def test_friedman_of_learners_that_always_tie():
    assert friedman(np.ones((4, 3))).p == 1.0
    assert nemenyi(np.ones((4, 3))).tolist() == np.ones((3, 3)).tolist()


@pytest.mark.parametrize(("learners", "q"), [(2, 1.960), (3, 2.344), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_critical_distance_has_the_published_quantiles(learners, q):
    datasets = 12
    error = np.sqrt(learners * (learners + 1) / (6 * datasets))
    assert critical_distance(learners, datasets, level=0.95) / error == pytest.approx(q, abs=6e-4)


def test_nemenyi_rejects_where_mean_ranks_are_a_critical_distance_apart():
    losses = np.tile([0.1, 0.2, 0.3], (6, 1))
    p = nemenyi(losses)
    level = 1 - p[0, 2]
    assert critical_distance(3, 6, level=level) == pytest.approx(2.0, rel=1e-6)
    assert np.array_equal(p, p.T)
    assert p[0, 1] == pytest.approx(p[1, 2])
    assert p[0, 1] > p[0, 2]


def test_shuffled_ranks_of_two_learners_are_a_sign_test():
    losses = np.tile([0.1, 0.2], (6, 1))
    found = permuted_ranks(losses, seed=0)
    exact = 2 * 0.5**6
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact / 9999))
    assert found.pairs[0, 1] == found.p


def test_ranks_need_complete_losses():
    with pytest.raises(InputError, match="A loss is missing"):
        friedman(np.array([[1.0, np.nan], [1.0, 2.0]]))
    with pytest.raises(InputError, match="at least 2 datasets"):
        nemenyi(np.array([[1.0, 2.0]]))


def test_the_permutation_p_counts_ties_and_failures_against_the_learner():
    shuffled = np.array([0.5, 0.1 + 1e-13, 0.2, np.nan])
    assert permutation_p(0.1, shuffled) == 3 / 5
    assert permutation_p(0.05, np.full(99, 0.5)) == 0.01


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", [0.9, 0.95, 0.98])
def test_the_betting_p_never_rejects_less_than_the_betting_interval_does(seed, level):
    rng = np.random.default_rng(seed)
    scaled = np.clip(rng.normal(0.5 + 0.04 * seed, 0.2, 80), 0, 1)
    interval, p = betting(scaled, level=level), betting_p(scaled, level=level)
    if not interval.low <= 0.5 <= interval.high:
        assert p <= 1 - level
    if p <= (1 - level) / 10:
        assert not interval.low <= 0.5 <= interval.high


def rejections(p_of, times=400, level=0.05):
    count = sum(p_of(np.random.default_rng(seed)) <= level for seed in range(times))
    return count / times - 3 * np.sqrt(level * (1 - level) / times)  # less three Monte-Carlo errors


def test_exchangeable_learners_are_rarely_told_apart():
    """Losses of rows that are alike for both learners: each test must stay below its level."""

    def zero_one(rng):
        easy = rng.random((2, 60)) < rng.beta(1, 3, 60)
        return easy.astype(float)

    assert rejections(lambda rng: mcnemar(*zero_one(rng))) <= 0.05
    assert rejections(lambda rng: student_p(np.subtract(*rng.normal(size=(2, 40))))) <= 0.05
    assert rejections(lambda rng: betting_p((1 + np.subtract(*zero_one(rng))) / 2, level=0.95)) <= 0.05
    assert rejections(lambda rng: permutation_p(rng.random(), rng.random(19))) <= 0.05
    assert rejections(lambda rng: friedman(rng.random((12, 4))).p) <= 0.05
    assert rejections(lambda rng: nemenyi(rng.random((12, 3))).min(), times=200) <= 0.05


def test_learners_that_differ_are_told_apart():
    """The same tests reject where they should, so that staying below the level is no feat of silence."""
    rng = np.random.default_rng(0)
    worse, better = (rng.random(200) < 0.5).astype(float), (rng.random(200) < 0.2).astype(float)
    assert mcnemar(worse, better) < 0.001
    assert betting_p((1 + worse - better) / 2, level=0.95) < 0.05
    assert student_p(normal(0, 40, 1.0)) < 0.001
    assert nemenyi(rng.random((12, 3)) + np.array([0, 2, 4])).min() < 0.001
