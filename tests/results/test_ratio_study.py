"""Options(interval="ratio"): against plain loops over scikit-learn, and what is its own."""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor

import heldout as ho

ONCE = ho.Options(interval="ratio", repetitions=1)
TWICE = ho.Options(interval="ratio", repetitions=2)


def problem(n: int = 45) -> tuple[Any, Any]:
    chance = np.random.default_rng(39)  # with this one no ratio below is cut off at 1 or at 4
    X = chance.normal(size=(n, 8))
    return X, X[:, 0] + chance.normal(size=n)


def squared(truth: Any, answer: Any) -> Any:
    return (truth - answer) ** 2


def by_hand(learner: Any, X: Any, y: Any, blocks: Any, *, k: int, loss: Any = squared) -> tuple[Any, ...]:
    """The fold losses of the first repetition, s²/n and V_J/V_0 of all, by a fit for each block and pair of blocks."""

    def losses(out: list[Any], rows: Any) -> Any:
        train = np.setdiff1d(np.arange(len(y)), np.concatenate(out))
        return loss(y[rows], clone(learner).fit(X[train], y[train]).predict(X[rows]))

    def variance(thetas: list[float]) -> float:
        return (k - 1) / k * sum((theta - np.mean(thetas)) ** 2 for theta in thetas)

    drawings = [[blocks.held_rows(start + i) for i in range(k)] for start in range(0, len(blocks), k)]
    refitted, kept, rows, first = [], [], [], None
    for held in drawings:
        folds = [losses([block], block) for block in held]
        first = folds if first is None else first
        inner = [[losses([a, b], b).mean() for b in held if b is not a] for a in held]
        refitted.append(variance([np.mean(some) for some in inner]))
        kept.append(variance([np.mean([f.mean() for j, f in enumerate(folds) if j != i]) for i in range(k)]))
        rows.append(np.var(np.concatenate(folds), ddof=1) / len(y))
    return first, np.mean(rows), np.mean(refitted) / np.mean(kept)


@pytest.mark.parametrize(
    ("learner", "plain"),
    [
        (Ridge(), Ridge()),
        (KNeighborsRegressor(3), KNeighborsRegressor(3)),
        (
            ho.Tuned(Ridge(), {"alpha": [0.01, 1.0, 100.0]}, validation=ho.KFold(3, shuffle=False), jobs=1),
            GridSearchCV(Ridge(), {"alpha": [0.01, 1.0, 100.0]}, cv=KFold(3), scoring="neg_mean_squared_error"),
        ),
    ],
    ids=["ridge", "neighbours", "tuned"],
)
@pytest.mark.parametrize("options", [ONCE, TWICE], ids=["once", "twice"])
def test_it_is_what_plain_loops_give(asked, learner, plain, options):
    X, y = problem()
    blocks = asked(learner, X, y, test=ho.KFold(4), options=options).pairs.study.splits["blocks"]
    assert len(blocks) == 4 * options.repetitions
    folds, row_variance, widened = by_hand(plain, X, y, blocks, k=4)
    value = np.mean([fold.mean() for fold in folds])
    assert 1 < widened < 4
    half = stats.t.ppf(0.975, 44) * sqrt(row_variance * widened) / value
    result = ho.evaluate(learner, X, y, test=ho.KFold(4), options=options, jobs=1)
    assert result.risk.value == pytest.approx(value)
    assert (result.risk.low, result.risk.high) == pytest.approx((value * exp(-half), value * exp(half)))
    assert (result.risk.method, result.risk.guarantee) == ("ratio of jackknives", "heuristic")


def test_right_and_wrong_are_what_a_plain_loop_gives(asked):
    X, y = problem(80)
    labels, learner, test = (y > 0).astype(int), LogisticRegression(C=0.1), ho.KFold(4)
    blocks = asked(learner, X, labels, test=test, options=ONCE).pairs.study.splits["blocks"]
    folds, _, widened = by_hand(learner, X, labels, blocks, k=4, loss=lambda a, b: (a != b).astype(float))
    assert 1 < widened < 4
    rows, share = 80 / widened, np.mean([fold.mean() for fold in folds])
    risk = ho.evaluate(learner, X, labels, test=test, options=ONCE, jobs=1).risk
    for end in (risk.low, risk.high):
        assert abs(share - end) == pytest.approx(stats.norm.ppf(0.975) * sqrt(end * (1 - end) / rows))
    score = ho.evaluate(learner, X, labels, loss="accuracy", test=test, options=ONCE, jobs=1).risk
    assert (score.low, score.high) == pytest.approx((1 - risk.high, 1 - risk.low))


def test_the_value_its_estimand_and_all_else_stay_those_of_the_plain_study():
    X, y = problem()
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=ho.KFold(3), final="ensemble")
    plain = ho.evaluate(learner, X, y, test=ho.KFold(5), jobs=1)
    result = ho.evaluate(learner, X, y, test=ho.KFold(5), jobs=1, options=TWICE)
    for name in ("value", "estimand", "train_size", "fit_size", "n", "level"):
        assert getattr(result.risk, name) == getattr(plain.risk, name)
    assert result.risk.method != plain.risk.method
    assert result.covers == plain.covers
    assert result.estimates.keys() == plain.estimates.keys()
    assert result.estimates["fold_predictors"] == plain.estimates["fold_predictors"]
    assert result.folds.equals(plain.folds)
    pooled = ho.Options(interval="ratio", repetitions=1, pool=True)
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(4), jobs=1, options=pooled)  # folds of 11 and 12 rows
    assert result.risk.value == pytest.approx(result.predictions["loss_squared"].mean())
    assert result.risk.method == "ratio of jackknives"


def test_several_losses_each_get_their_own_and_those_of_whole_sets_say_what_they_got():
    X, y = problem()
    result = ho.evaluate(Ridge(), X, y, loss=["squared", "absolute", "r2"], options=TWICE, jobs=1)
    alone = ho.evaluate(Ridge(), X, y, loss="absolute", options=TWICE, jobs=1)
    plain = ho.evaluate(Ridge(), X, y, loss="r2", jobs=1)
    assert result.estimates["risk_absolute"].low == alone.risk.low
    whole = result.estimates["risk_r2"]
    assert (whole.value, whole.low, whole.method) == (plain.risk.value, plain.risk.low, plain.risk.method)
    assert f"'r2' belongs to whole sets; so this is {whole.method}" in whole.reason


def test_a_failed_fit_leaves_the_value_and_no_interval():
    X, y = problem(30)
    result = ho.evaluate(KNeighborsRegressor(21), X, y, test=ho.KFold(5), options=ONCE, jobs=1)
    assert result.risk.value is not None
    assert result.risk.low is result.risk.method is None
    assert "No interval: a fit failed" in result.risk.reason
    assert any("In the spread" in finding.message for finding in result.findings)


def test_losses_that_do_not_vary_have_no_interval():
    X, _ = problem()
    result = ho.evaluate(Ridge(), X, np.ones(45), test=ho.KFold(5), options=ONCE, jobs=1)
    assert result.risk.value == 0
    assert "do not vary" in result.risk.reason


def test_a_test_against_chance_takes_it_since_the_value_is_the_plain_one():
    X, y = problem()
    plain = ho.chance(Ridge(), X, y, permutations=9, test=ho.KFold(5), jobs=1)
    found = ho.chance(Ridge(), X, y, permutations=9, test=ho.KFold(5), jobs=1, options=ONCE)
    assert found.p == plain.p
    assert found.result.risk.method == "ratio of jackknives"
