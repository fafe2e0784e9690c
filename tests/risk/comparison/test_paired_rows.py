"""Paired rows: against the formula, groups and weights, counts that are few, and rows held out several times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from heldout.risk.comparison.paired_rows import NAME, spread_of_rows
from heldout.risk.comparison.pairs import compare_records, mcnemar
from heldout.risk.record import PooledScore, Record


def parts_of(losses, rows, **changed):
    """A record of parts that hold out these rows, whose losses are looked up by row."""
    losses = np.asarray(losses, dtype=float)
    held = tuple(np.asarray(part) for part in rows)
    plain = {"loss": "zero_one", "sign": 1, "low": 0.0, "high": 1.0, "kind": "kfold", "partition": True}
    values = tuple(losses[part] for part in held)
    return Record(
        fold_losses=np.array([part.mean() for part in values]),
        row_losses=values,
        rows=held,
        train_sizes=np.array([len(losses) - len(part) for part in held]),
        held_sizes=np.array([len(part) for part in held]),
        **{**plain, **changed},
    )


def paired_rows(differences, *, level=0.95, **known):
    return spread_of_rows(differences, **known).interval(level, method=NAME)


def paired_rows_p(differences, **known):
    return spread_of_rows(differences, **known).p()


def folds_of(n, k):
    return np.array_split(np.arange(n), k)


def test_paired_rows_are_a_t_test_of_differences_made_wider():
    d = np.random.default_rng(0).normal(0.1, 1, 40)
    half = 1.3 * stats.t.ppf(0.95, 39) * d.std(ddof=1) / np.sqrt(40)
    found = paired_rows(d, level=0.9)
    assert (found.low, found.high) == pytest.approx((d.mean() - half, d.mean() + half), rel=1e-12)
    assert paired_rows_p(d, kappa=1.0) == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-12)
    assert paired_rows_p(d) > paired_rows_p(d, kappa=1.0)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_the_unit_of_the_loss_does_not_matter(scale):
    d = np.random.default_rng(1).normal(0.3, 1, 30)
    assert paired_rows_p(scale * d) == pytest.approx(paired_rows_p(d))


def test_groups_are_counted_and_not_their_rows():
    rng = np.random.default_rng(0)
    means, groups = rng.normal(0.4, 1, 12), np.repeat(np.arange(12), 5)
    assert paired_rows_p(means[groups], kappa=1.0, units=groups) == pytest.approx(stats.ttest_1samp(means, 0).pvalue)


def test_whole_weights_are_rows_seen_so_often_but_no_more_independent():
    rng = np.random.default_rng(0)
    d, weights = rng.normal(0.2, 1, 25), rng.integers(1, 4, 25).astype(float)
    often = np.repeat(np.arange(25), weights.astype(int))
    weighed, seen = paired_rows(d, weights=weights), paired_rows(d[often], units=often)
    assert (weighed.low, weighed.high) == pytest.approx((seen.low, seen.high))


def test_counts_of_right_and_wrong_are_never_surer_than_one_test_set():
    """An interval from few rows that differ would be narrower than McNemar's exact test allows."""
    for n in (5, 8, 12, 20, 100):
        for a in range(1, min(n, 14) + 1):
            for b in range(min(n - a, a) + 1):
                d = np.concatenate([np.ones(a), -np.ones(b), np.zeros(n - a - b)])
                exact, p = mcnemar((d > 0).astype(float), (d < 0).astype(float)), paired_rows_p(d)
                if p <= 0.1 and exact >= 1e-4:
                    assert p >= exact, (n, a, b)
                interval = paired_rows(d)
                assert interval.low <= d.mean() <= interval.high
                assert interval.high - interval.low > 1 / n


def test_counts_are_those_of_bonett_and_price():
    n, a, b = 50, 9, 3
    d = np.concatenate([np.ones(a), -np.ones(b), np.zeros(n - a - b)])
    p1, p2 = (a + 1) / (n + 2), (b + 1) / (n + 2)
    error = np.sqrt((p1 + p2 - (p1 - p2) ** 2) / (n + 1))  # with n + 1 for n + 2, as a sample deviation has
    half = stats.t.ppf(0.975, n - 1) * error
    found = paired_rows(d, kappa=1.0)
    assert (found.low, found.high) == pytest.approx((p1 - p2 - half, p1 - p2 + half), rel=1e-12)


def test_repeats_do_not_narrow_the_interval():
    rng = np.random.default_rng(0)
    once = rng.normal(0.2, 1, 60)
    rows = np.tile(np.arange(60), 5)
    parts = np.repeat(np.arange(5), 60)
    one = spread_of_rows(once)
    same = spread_of_rows(np.tile(once, 5), units=rows, parts=parts)
    assert (same.error, same.freedom) == pytest.approx((one.error, one.freedom))
    noisy = spread_of_rows(np.tile(once, 5) + rng.normal(0, 1, 300), units=rows, parts=parts)
    assert noisy.error == pytest.approx(1.3 * np.sqrt(2 / 60), rel=0.1)  # the spread of single differences


def test_stratified_folds_whose_means_agree_make_no_narrow_interval():
    """Every fold has the same difference, as stratification brings about, and the rows do not."""
    first, second = np.tile([1.0, 1.0, 0.0, 0.0], 25), np.tile([0.0, 1.0, 0.0, 0.0], 25)
    records = {name: parts_of(v, folds_of(100, 5), stratified=True) for name, v in (("a", first), ("b", second))}
    (pair,) = compare_records(records)
    assert pair.difference.method == "paired rows"
    assert pair.difference.high - pair.difference.low > 2 * 1.96 * np.sqrt(0.25 * 0.75 / 100)


def test_more_rows_than_folds_find_what_folds_cannot():
    """The corrected t has as many degrees of freedom as folds, less one."""
    rng = np.random.default_rng(3)
    first = rng.random(200) ** 2
    second = first + 0.05 + rng.normal(0, 0.2, 200)
    records = {n: parts_of(v, folds_of(200, 5), high=np.inf, loss="squared") for n, v in (("a", first), ("b", second))}
    (rows,), (folds,) = compare_records(records), compare_records(records, interval="corrected-t")
    assert rows.difference.value == folds.difference.value
    assert folds.difference.method == "corrected t"
    assert rows.difference.high - rows.difference.low < 0.8 * (folds.difference.high - folds.difference.low)


def test_two_that_lose_the_same_on_every_row_are_said_to():
    record = parts_of(np.tile([0.0, 1.0], 20), folds_of(40, 4))
    (pair,) = compare_records({"a": record, "b": record})
    assert (pair.p, pair.difference.low) == (1.0, None)
    assert "lost the same on all 40 rows" in pair.sentence


def test_right_against_wrong_on_every_row_has_an_interval():
    records = {name: parts_of(np.full(20, v), folds_of(20, 4)) for name, v in (("a", 0.0), ("b", 1.0))}
    (pair,) = compare_records(records)
    assert -1 <= pair.difference.low < pair.difference.high < 0


def test_rows_that_are_not_named_are_not_taken_for_different_ones():
    record = parts_of(np.tile([0.0, 1.0], 20), [*folds_of(40, 4), *folds_of(40, 4)], repeats=2)
    other = replace(record, row_losses=tuple(1 - rows for rows in record.row_losses))
    nameless = {name: replace(one, rows=None) for name, one in (("a", record), ("b", other))}
    assert "which row is which" in compare_records(nameless)[0].sentence
    assert compare_records({"a": record, "b": other})[0].difference.low is not None


def test_holm_adjusts_the_p_values_of_paired_rows():
    rng = np.random.default_rng(0)
    base = rng.random(80)
    records = {
        name: parts_of(base + shift + rng.normal(0, 0.1, 80), folds_of(80, 5), high=np.inf, loss="squared")
        for name, shift in (("a", 0.0), ("b", 0.04), ("c", 0.2))
    }
    pairs = compare_records(records)
    assert [pair.p_method for pair in pairs] == ["paired rows"] * 3
    order = sorted(pairs, key=lambda pair: pair.p)
    assert order[0].p_holm == pytest.approx(min(1, 3 * order[0].p))
    assert order[2].p_holm == pytest.approx(max(order[2].p, order[1].p_holm))


def test_scores_of_whole_sets_pair_what_rows_add_to_them():
    rng = np.random.default_rng(0)
    blank = replace(parts_of(np.zeros(60), folds_of(60, 5)), row_losses=None, family="r2", low=-1.0, high=np.inf)
    adds = [rng.normal(size=60) for _ in range(2)]
    adds = [one - one.mean() for one in adds]
    first, second = (
        replace(blank, pooled=PooledScore(value=v, influence=tuple(np.split(one, 5))), fold_losses=np.full(5, v))
        for v, one in zip((-0.6, -0.4), adds, strict=True)
    )
    (pair,) = compare_records({"a": first, "b": second})
    half = 1.3 * stats.t.ppf(0.975, 59) * (adds[0] - adds[1]).std(ddof=1) / np.sqrt(60)
    assert pair.difference.value == pytest.approx(-0.2)
    assert pair.difference.high - pair.difference.low == pytest.approx(2 * half)
    assert pair.p_method == "paired rows"
    one_set = [
        replace(
            r,
            fold_losses=r.fold_losses[:1],
            held_sizes=np.array([60]),
            train_sizes=np.array([90]),
            pooled=PooledScore(value=r.pooled.value, influence=(np.concatenate(r.pooled.influence),)),
            rows=None,
        )
        for r in (first, second)
    ]
    (alone,) = compare_records(dict(zip("ab", one_set, strict=True)))
    assert alone.difference.high - alone.difference.low == pytest.approx(2 * half / 1.3)  # no fit shares rows
