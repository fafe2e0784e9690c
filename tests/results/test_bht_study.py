"""Options(interval="bht"): against plain loops over scikit-learn, and what is its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.base.errors import OptionError
from heldout.risk.intervals.bht import Repetition, bht


def problem(n: int = 45) -> tuple[Any, Any]:
    chance = np.random.default_rng(3)
    X = chance.normal(size=(n, 5))
    return X, X[:, 0] + chance.normal(size=n)


def plain_repetitions(learner: Any, X: Any, y: Any, blocks: Any, k: int) -> list[Repetition]:
    """Every block and every pair of blocks left out, each by a fit of its own on the rows that remain."""

    def losses(out: list[int], asked: int) -> Any:
        train = np.setdiff1d(np.arange(len(y)), np.concatenate([blocks.held_rows(p) for p in out]))
        rows = blocks.held_rows(asked)
        return (y[rows] - clone(learner).fit(X[train], y[train]).predict(X[rows])) ** 2

    found = []
    for start in range(0, len(blocks), k):
        parts = range(start, start + k)
        inner = [[0.0 if i == j else losses([i, j], j).mean() for j in parts] for i in parts]
        found.append(Repetition(folds=tuple(losses([i], i) for i in parts), inner=np.array(inner)))
    return found


@pytest.mark.parametrize(
    "learner",
    [
        Ridge(),
        KNeighborsRegressor(3),
        ho.Tuned(Ridge(), {"alpha": [0.01, 1.0, 100.0]}, validation=ho.KFold(3), jobs=1),
        ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 4]}, validation=ho.KFold(3), final="ensemble", jobs=1),
        ho.Tuned(Ridge(), {"alpha": [0.01, 100.0]}, validation=ho.Holdout(0.4), final="keep", jobs=1),
    ],
    ids=["ridge", "neighbours", "tuned", "ensemble", "keep"],
)
def test_it_is_what_plain_loops_give(asked, learner):
    X, y = problem()
    test, options = ho.KFold(3), ho.Options(interval="bht", repetitions=2)
    question = asked(learner, X, y, test=test, options=options)
    blocks = question.pairs.study.splits["blocks"]
    assert len(blocks) == 6
    expected = bht(plain_repetitions(learner, X, y, blocks, 3), level=0.95)
    result = ho.evaluate(learner, X, y, test=test, options=options, jobs=1)
    assert result.risk.value == pytest.approx(expected.centre)
    assert result.risk.unclipped == pytest.approx((expected.interval.low, expected.interval.high))
    assert result.risk.method == "Bates–Hastie–Tibshirani"
    assert result.risk.guarantee == "heuristic"


def test_repeats_of_the_study_are_repetitions_that_need_no_fits_of_their_own(asked):
    X, y = problem()
    once = ho.Options(interval="bht", repetitions=2)
    more = ho.Options(interval="bht", repetitions=1)
    one = ho.evaluate(Ridge(), X, y, test=ho.KFold(4), options=once, jobs=1)
    two = ho.evaluate(Ridge(), X, y, test=ho.KFold(4, repeats=2), options=more, jobs=1)
    assert one.risk.value == pytest.approx(two.risk.value, rel=1e-12)
    assert (one.risk.low, one.risk.high) == pytest.approx((two.risk.low, two.risk.high), rel=1e-12)


def test_the_risk_speaks_of_all_rows_and_the_plain_estimate_stands_beside_it():
    X, y = problem()
    plain = ho.evaluate(Ridge(), X, y, test=ho.KFold(5), jobs=1)
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(5), jobs=1, options=ho.Options(interval="bht"))
    assert result.risk.train_size == 45
    assert "trained on 45 rows" in result.risk.estimand
    beside = result.estimates["cross_validation"]
    assert (beside.value, beside.low, beside.train_size) == (plain.risk.value, plain.risk.low, 36)
    assert "extrapolated to all 45 rows" in result.covers.sentence
    assert result.folds.equals(plain.folds)


def test_several_losses_each_get_their_own_and_those_of_whole_sets_a_reason():
    X, y = problem()
    options = ho.Options(interval="bht", repetitions=2)
    result = ho.evaluate(Ridge(), X, y, loss=["squared", "absolute", "r2"], options=options, jobs=1)
    alone = ho.evaluate(Ridge(), X, y, loss="absolute", options=options, jobs=1)
    assert result.estimates["risk_absolute"].low == alone.risk.low
    assert "single rows" in result.estimates["risk_r2"].reason


def test_a_failed_fit_leaves_no_value():
    X, y = problem(30)
    options = ho.Options(interval="bht", repetitions=1)
    result = ho.evaluate(KNeighborsRegressor(21), X, y, test=ho.KFold(5), options=options, jobs=1)
    assert result.risk.value is None
    assert "a fit failed" in result.risk.reason
    assert result.estimates["cross_validation"].value is not None
    assert any("In the spread" in finding.message for finding in result.findings)


def test_very_many_blocks_are_refused(asked, monkeypatch):
    X, y = problem()
    monkeypatch.setattr("heldout.results.extra_fits.MOST_NUMBERS", 10 * 9 * 45 - 1)
    with pytest.raises(OptionError, match="4,050 held-out rows would have to be named"):
        asked(Ridge(), X, y, test=ho.KFold(9), options=ho.Options(interval="bht"))


def test_pooling_and_shared_blocks_are_refused(asked):
    X, y = problem()
    with pytest.raises(OptionError, match="pool=True"):
        asked(Ridge(), X, y, options=ho.Options(interval="bht", pool=True))
    shared = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=ho.SharedBlocks())
    with pytest.raises(OptionError, match="SharedBlocks"):
        asked(shared, X, y, test=ho.KFold(4), options=ho.Options(interval="bht"))
    with pytest.raises(OptionError, match="at least 1"):
        ho.Options(repetitions=0)


def test_classes_are_counted_too():
    X, y = problem(60)
    labels = (y > 0).astype(int)
    learner = DecisionTreeClassifier(max_depth=2, random_state=0)
    result = ho.evaluate(learner, X, labels, options=ho.Options(interval="bht", repetitions=3), jobs=1)
    assert 0 <= result.risk.low < result.risk.value < result.risk.high <= 1
