"""Heavy tails: the note fires on losses without a variance, and seldom on others."""

from __future__ import annotations

import numpy as np
import pytest
from made_records import folds, folds_of_rows, one_test_set, zero_one

from heldout.risk.tails import heavy_from, heavy_tails, tail_weight

RNG = np.random.default_rng(0)


def fires(samples):
    return np.mean([heavy_tails(one_test_set(x**2, low=0.0)) is not None for x in samples])


@pytest.mark.parametrize("n", [20, 40, 100, 400])
def test_squares_of_normal_errors_seldom_fire(n):
    assert fires(RNG.normal(size=(1000, n))) < 0.09


@pytest.mark.parametrize(("n", "most"), [(100, 0.88), (400, 0.9), (2000, 0.9)])
def test_squares_of_heavy_errors_mostly_do(n, most):
    assert fires(RNG.standard_t(3, size=(500, n))) > most


def test_losses_with_a_variance_are_left_alone_once_rows_are_many():
    assert fires(RNG.laplace(size=(300, 2000))) < 0.05
    absolute = [one_test_set(np.abs(x), low=0.0) for x in RNG.standard_t(3, size=(300, 200))]
    assert np.mean([heavy_tails(record) is not None for record in absolute]) < 0.05


def test_tail_weight_does_not_depend_on_the_unit():
    x = RNG.exponential(size=50)
    assert tail_weight(1e200 * x) == pytest.approx(tail_weight(x))
    assert tail_weight(1e-200 * x) == pytest.approx(tail_weight(x))
    assert tail_weight(np.zeros(3)) == 1.0


def test_the_mark_grows_with_the_rows():
    assert heavy_from(20) == heavy_from(100) == 4.0 < heavy_from(101)


def test_the_note_says_what_it_saw():
    note = heavy_tails(one_test_set([0.1] * 39 + [100.0], low=0.0))
    assert note.startswith("The 'squared' losses have heavy tails: the largest loss makes up 96% of the sum of 40")
    parts = [[0.1] * 19 + [50.0], [0.1] * 19 + [60.0]] * 3
    assert "the 2 largest losses make up" in heavy_tails(folds_of_rows(parts, low=0.0))


@pytest.mark.parametrize(
    "record",
    [
        zero_one([0.0] * 39 + [1.0]),
        one_test_set([0.0] * 9 + [1.0], low=0.0),
        one_test_set([0.0] * 39 + [1.0]),
        one_test_set([0.0] * 40, low=0.0),
        folds([0.1, 0.2]),
    ],
)
def test_there_is_no_note_on_bounded_losses_few_rows_or_scores_of_sets(record):
    assert heavy_tails(record) is None
