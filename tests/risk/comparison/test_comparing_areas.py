"""Differences of areas under the ROC curve: DeLong's placements, over folds, groups and weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from heldout.risk.comparison.paired_rows import difference_record, spread_of
from heldout.risk.comparison.pairs import compare_records
from heldout.risk.intervals.auc import area_influences, placements
from heldout.risk.record import PooledScore, Record


def pairs_of(truth, scores):
    """Which positive (a row each) is ranked above which negative (a column each)."""
    ones, zeros = scores[truth == 1], scores[truth == 0]
    return (ones[:, None] > zeros) + 0.5 * (ones[:, None] == zeros)


def area_of(truth, scores, weights):
    ones, zeros = weights[truth == 1], weights[truth == 0]
    return ones @ pairs_of(truth, scores) @ zeros / (ones.sum() * zeros.sum())


def record_of(scores, truth, *, groups=None, weights=None, **changed):
    """The record of one learner's areas: a list of scores and one of classes, an array a part."""
    truth = [np.asarray(part, dtype=float) for part in truth]
    sizes = np.array([len(part) for part in truth])
    cuts = np.cumsum(sizes)[:-1]
    area, influence = area_influences(scores, truth, weights, grouped=groups is not None)
    shares = [np.ones(size) for size in sizes] if weights is None else weights
    areas = [area_of(*part) for part in zip(truth, scores, shares, strict=True)]
    assert area == pytest.approx(np.average(areas, weights=None if weights is None else [w.sum() for w in weights]))
    plain = {"loss": "roc_auc", "sign": -1, "low": -1.0, "high": 0.0, "kind": "kfold", "family": "auc"}
    return Record(
        fold_losses=-np.array(areas),
        row_losses=None,
        weights=None if weights is None else tuple(weights),
        groups=None if groups is None else tuple(groups),
        grouped=groups is not None,
        rows=tuple(np.split(np.arange(sizes.sum()), cuts)),
        train_sizes=np.full(len(sizes), 100),
        held_sizes=sizes,
        pooled=PooledScore(value=-area, influence=tuple(-part for part in influence)),
        **{**plain, "partition": True, "stratified": True, **changed},
    )


def drawn(parts, ones, zeros, *, seed=0):
    rng = np.random.default_rng(seed)
    truth = [np.repeat([1.0, 0.0], [ones, zeros]) for _ in range(parts)]
    first = [y + rng.normal(size=len(y)) for y in truth]
    second = [s + 0.7 * rng.normal(size=len(s)) for s in first]
    return truth, first, second


def delong(truth, first, second):
    """The variance of the difference of two areas of the same rows, from the matrix of all pairs."""
    differences = pairs_of(truth, first) - pairs_of(truth, second)
    ones, zeros = differences.shape
    return np.var(differences.mean(axis=1)) / ones + np.var(differences.mean(axis=0)) / zeros


def compare_two(first, second, **options):
    (pair,) = compare_records({"a": first, "b": second}, **options)
    return pair


def error_of(first, second):
    return spread_of(difference_record(first, second)).error


@pytest.mark.parametrize("digits", [9, 0], ids=["distinct", "tied"])
def test_one_test_set_has_delongs_variance_of_the_difference(digits):
    truth, first, second = drawn(1, 40, 60)
    first, second = ([np.round(part, digits) for part in one] for one in (first, second))
    pair = compare_two(*(record_of(one, truth, kind="holdout") for one in (first, second)))
    error = np.sqrt(delong(truth[0], first[0], second[0]) * 100 / 99)
    areas = [roc_auc_score(truth[0], one[0]) for one in (first, second)]
    assert pair.difference.value == pytest.approx(areas[0] - areas[1])
    assert pair.p_method == pair.difference.method == "paired rows"
    half = (pair.difference.high - pair.difference.low) / 2
    assert 1.96 * error < half < 2.1 * error  # a t with fewer degrees of freedom than rows


def test_over_folds_areas_are_averaged_and_the_error_is_wider():
    truth, first, second = drawn(5, 30, 50)
    error = error_of(record_of(first, truth), record_of(second, truth))
    inside = np.sqrt(np.sum([delong(*part) for part in zip(truth, first, second, strict=True)])) / 5
    assert 1.3 * inside < error < 1.3 * 1.05 * inside


def test_rows_of_different_folds_are_never_ranked_together():
    """Each fold's scores have a scale of their own; an area of all rows together would hang on it."""
    truth, first, second = drawn(4, 10, 20)
    moved = [np.exp(part) + 100 * fold for fold, part in enumerate(first)]
    plain, other = (compare_two(record_of(one, truth), record_of(second, truth)) for one in (first, moved))
    assert plain.difference == other.difference
    assert plain.p == other.p


def test_few_positives_make_few_degrees_of_freedom():
    many, few = (
        spread_of(difference_record(record_of(first, truth), record_of(second, truth)))
        for truth, first, second in (drawn(5, 20, 20), drawn(5, 2, 38))
    )
    assert few.freedom < 15 < many.freedom


def test_one_pair_of_rows_that_differs_shows_nothing():
    truth, first, _ = drawn(1, 50, 50)
    ranks = [stats.rankdata(first[0])]
    order = np.argsort(ranks[0])
    swap = next(i for i in range(99) if truth[0][order[i]] != truth[0][order[i + 1]])
    other = [ranks[0].copy()]
    other[0][order[swap]], other[0][order[swap + 1]] = ranks[0][order[swap + 1]], ranks[0][order[swap]]
    pair = compare_two(*(record_of(one, truth, kind="holdout") for one in (ranks, other)))
    assert abs(pair.difference.value) == pytest.approx(1 / 2500)
    assert pair.p > 0.3


def test_folds_that_are_groups_vary_as_their_areas_do():
    truth, first, second = drawn(12, 8, 12)
    groups = [np.full(20, part) for part in range(12)]
    records = [record_of(one, truth, groups=groups) for one in (first, second)]
    areas = records[0].fold_losses - records[1].fold_losses
    assert error_of(*records) == pytest.approx(1.3 * np.std(areas, ddof=1) / np.sqrt(12))


def test_groups_are_counted_and_not_their_rows():
    truth, first, second = drawn(5, 6, 10)
    often = [[np.tile(part, 4) for part in one] for one in (truth, first, second)]
    groups = [np.tile(np.arange(16), 4) + 16 * part for part in range(5)]
    single = [np.arange(16) + 16 * part for part in range(5)]
    copied = [record_of(one, often[0], groups=groups) for one in often[1:]]
    once = [record_of(one, truth, groups=single) for one in (first, second)]
    assert error_of(*copied) == pytest.approx(error_of(*once))


def test_whole_weights_are_rows_seen_so_often():
    rng = np.random.default_rng(1)
    truth, first, _ = drawn(1, 15, 25)
    weights = rng.integers(1, 4, 40)
    often = np.repeat(np.arange(40), weights)
    scores = np.round(first[0], 1)
    weighed = placements(scores, truth[0], weights.astype(float))
    assert weighed[often] == pytest.approx(placements(scores[often], truth[0][often]))


def test_parts_count_as_much_as_their_rows_weigh():
    truth, first, second = drawn(3, 10, 10)
    weights = [np.full(20, w) for w in (1.0, 1.0, 1e-9)]
    records = [record_of(one, truth, weights=weights) for one in (first, second)]
    two = [record_of(one[:2], truth[:2], weights=weights[:2]) for one in (first, second)]
    assert error_of(*records) == pytest.approx(error_of(*two), rel=0.01)  # sixty rows instead of forty


def test_areas_that_have_no_spread_are_not_said_to_be_the_same():
    """One ranks every row right, the other none; no row tells how the difference would vary."""
    truth = [np.repeat([1.0, 0.0], 10) for _ in range(3)]
    right, constant = record_of(truth, truth), record_of([np.zeros(20)] * 3, truth)
    pair = compare_two(right, constant)
    assert (pair.difference.value, pair.difference.low, pair.p) == (0.5, None, None)
    assert "the difference is the same on all 60 rows" in pair.sentence
    assert "lost the same on all 60 rows" in compare_two(right, right).sentence


def discriminants(rng, share, *, rows=100, folds=5):
    """Records of least squares on either half of ten columns that are worth as much."""
    y = (np.arange(rows) < share * rows).astype(float)
    X = rng.normal(size=(rows, 10)) + 0.35 * y[:, None]
    order = rng.permutation(rows)
    order = order[np.argsort(y[order], kind="stable")]
    parts = [order[fold::folds] for fold in range(folds)]
    for columns in (slice(0, 5), slice(5, 10)):
        A, scores = np.column_stack([np.ones(rows), X[:, columns]]), []
        for held in parts:
            kept = np.setdiff1d(np.arange(rows), held)
            scores.append(A[held] @ np.linalg.lstsq(A[kept], y[kept], rcond=None)[0])
        yield record_of(scores, [y[held] for held in parts])


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_learners_that_are_worth_as_much_are_seldom_told_apart(share):
    """Two positives a fold: DeLong's variance of each fold alone told them apart in 16 % of these studies."""
    rng = np.random.default_rng(7)
    called = [compare_two(*discriminants(rng, share)).p <= 0.05 for _ in range(200)]
    assert np.mean(called) <= 0.08
