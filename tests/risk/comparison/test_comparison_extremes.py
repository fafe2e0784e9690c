"""Comparisons of groups, of ties by rounding, of huge losses, and of learners trained on different numbers of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_records import folds, grouped
from scipy.stats import ttest_1samp

from heldout.risk.comparison.over_datasets import rank_over_datasets
from heldout.risk.comparison.pairs import compare_records
from heldout.risk.intervals.five_by_two import five_by_two_f, five_by_two_mean


def test_groups_are_counted_by_the_p_value_as_by_the_interval():
    """Rows of a group that repeat each other are one draw: counted as eight they would show what is not there."""
    chance = np.random.default_rng(0)
    means, labels = chance.normal(0.5, 1.0, 8), np.repeat(np.arange(8), 8)
    (pair,) = compare_records({"a": grouped(means[labels], labels), "b": grouped(np.zeros(64), labels)})
    assert pair.p_method == "Student"
    assert pair.p == pytest.approx(ttest_1samp(means, 0).pvalue)
    assert (pair.p <= 0.05) == (not pair.difference.low <= 0 <= pair.difference.high)


def test_rounding_does_not_rank_learners():
    losses = np.random.default_rng(0).random((12, 1)) * [1, 1 + 1e-15, 1]
    found = rank_over_datasets(["a", "b", "c"], losses, level=0.95, rope=None, on_one_scale=False, seed=0)
    assert found.friedman.mean_ranks == (2.0, 2.0, 2.0)
    assert found.friedman.p == 1.0


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1.0])
@pytest.mark.parametrize("p_value", [five_by_two_mean, five_by_two_f])
def test_five_by_two_does_not_mind_the_unit(scale, p_value):
    ten = np.random.default_rng(3).normal(0.3, 0.2, 10)
    assert p_value(scale * ten) == pytest.approx(p_value(ten))


def test_learners_trained_on_different_numbers_of_rows_are_said_to_be():
    records = {name: folds([0.1, 0.2, 0.4]) for name in ("a", "b")}
    assert compare_records(records)[0].difference.estimand.endswith(
        "trained on 90 rows: of the learners, not of these 3 pairs of fits"
    )
    records["b"] = replace(records["b"], train_sizes=np.full(3, 60))
    assert compare_records(records)[0].difference.estimand.endswith(
        "trained on 90 rows and 60 rows: of the learners, not of these 3 pairs of fits"
    )
