"""The kernel `approximate_loo`: near to leave-one-out, said to be so, and only on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

APPROXIMATE = ho.Options(precision="approximate")
LOO = ho.LeaveOneOut()


def data(n: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int), rng.poisson(np.exp(0.4 * X[:, 1])).astype(float)


def both(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Any, Any]:
    """The approximation, and brute force."""
    asked = {"test": LOO, "progress": False, "jobs": 1} | more
    exact = ho.Options(rules={"glm": False})
    return ho.evaluate(learner, X, y, options=APPROXIMATE, **asked), ho.evaluate(learner, X, y, options=exact, **asked)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("weighed", [False, True])
def test_losses_are_near_and_the_result_says_how_near(scaled, weighed):
    X, y, _ = data()
    learner = make_pipeline(StandardScaler(), LogisticRegression()) if scaled else LogisticRegression()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighed else None
    near, exact = both(learner, X, y, loss="log", sample_weight=weight)
    gaps = np.abs(near.folds["log"] - exact.folds["log"])
    assert gaps.max() < 0.1
    assert gaps.mean() < 0.01
    (finding,) = [one for one in near.findings if one.code < "H7"]
    assert finding.code == "H210"
    assert "20 fits" in finding.message
    found = [check["difference"] for check in near.summary()["plan"]["checks"]]
    assert len(found) == 20
    assert 0 < max(found) <= gaps.max() + 1e-6
    assert f"by {max(found):.2g} at most and by {np.mean(found):.2g} on average" in finding.message
    assert [one for one in exact.findings if one.code < "H7"] == []


def test_counts():
    X, _, y = data()
    near, exact = both(PoissonRegressor(), X, y)
    assert np.abs(near.folds["squared"] - exact.folds["squared"]).mean() < 0.05 * exact.risk.value


def test_explain_marks_it_and_only_leave_one_out_is_taken():
    X, y, _ = data()
    (line,) = ho.explain(LogisticRegression(), X, y, test=LOO, options=APPROXIMATE).lines
    assert (line.rule, line.tier) == ("approximate_loo", "approximate")
    folds = ho.explain(LogisticRegression(), X, y, test=ho.KFold(5), options=APPROXIMATE)
    taken = next(p for p in folds.passes if p.name == "approximate_loo")
    assert not taken.used
    assert "only leave-one-out is approximated" in taken.refusals
    plan = ho.explain(LogisticRegression(), X, y, test=LOO)
    assert not next(p for p in plan.passes if p.name == "approximate_loo").used


@pytest.mark.parametrize("learner", [LogisticRegression(class_weight="balanced"), LogisticRegression()])
def test_what_is_refused(learner):
    X, y, _ = data()
    y = y if learner.class_weight else np.arange(len(y)) % 3
    plan = ho.explain(learner, X, y, test=LOO, options=APPROXIMATE)
    taken = next(p for p in plan.passes if p.name == "approximate_loo")
    assert not taken.used
    assert taken.refusals


def test_few_rows_are_told_from_other_splits():
    X, y, _ = data()
    plan = ho.explain(LogisticRegression(), X[:19], y[:19], test=LOO, options=APPROXIMATE)
    (taken,) = [p for p in plan.passes if p.name == "approximate_loo"]
    assert taken.refusals == ("leave-one-out of fewer than 20 rows is not approximated",)


@pytest.mark.parametrize(("C", "near_enough"), [(1e3, 0.05), (1e6, 0.0)])
def test_a_row_that_decides_for_itself_is_fitted(C, near_enough):
    X, y, _ = data()
    X = np.column_stack([X, np.zeros(len(y))])
    X[7, 3] = 1.0
    near, exact = both(LogisticRegression(C=C), X, y, loss="log")
    gaps = np.abs(near.folds["log"] - exact.folds["log"])
    assert gaps.mean() < 0.05
    assert gaps[7] <= near_enough


def test_inside_tuning_jobs_change_no_bit():
    X, y, _ = data()
    tuned = ho.Tuned(LogisticRegression(), {"C": [0.01, 1.0, 10.0]}, validation=LOO, loss="log")
    one, two = (
        ho.evaluate(tuned, X, y, test=ho.KFold(2), options=APPROXIMATE, progress=False, jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.candidates["validation_log"], two.candidates["validation_log"])
    assert [f.code for f in one.findings if f.code < "H7"] == ["H210"]


@pytest.mark.parametrize("alpha", [1.0, 10.0])
def test_a_strong_penalty_of_a_mean_loss_is_followed(alpha):
    """With one row fewer the mean loss weighs its rows more, and the penalty less."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((120, 4))
    counts = rng.poisson(np.exp(0.6 * features[:, 0] + 0.3))
    near, exact = both(PoissonRegressor(alpha=alpha), features, counts)
    assert "approximate_loo" in str(near.plan)
    column = next(name for name in near.predictions if "predict" in name)
    apart = np.abs(near.predictions[column] - exact.predictions[column])
    assert np.median(apart) < 1e-4  # without the penalty's part: 5.7e-4 and more
