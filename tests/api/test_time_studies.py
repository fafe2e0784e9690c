"""Time with buffers, spans and groups at every level of a study: the rows and the numbers of a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.base.errors import SplitError
from heldout.study.study import OUTER

N = 360
RANDOM = np.random.default_rng(5)
MONTH = RANDOM.permutation(np.arange(N) // 12)
CUSTOMER = RANDOM.permutation(np.arange(N) % 18)
X = RANDOM.normal(size=(N, 4)) + 0.05 * MONTH[:, None]
Y = X @ [1.0, -1.0, 0.5, 0.0] + 0.1 * MONTH + RANDOM.normal(size=N)
DAYS = np.datetime64("2022-01-01") + 30 * MONTH

RIDGE = ho.Tuned(
    make_pipeline(StandardScaler(), Ridge()),
    {"ridge__alpha": [0.01, 30.0, 300.0]},
    validation=ho.KFold(2, buffer=4),
)
NEAREST = ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 2, 5]}, validation=ho.Forward(2, buffer="30d"))
ROLES: dict[str, dict[str, Any]] = {
    "time": {"time": DAYS},
    "spans": {"time": (DAYS, DAYS + np.timedelta64(45, "D"))},
    "time and groups": {"time": DAYS, "groups": CUSTOMER},
}
TESTS = {
    "kfold": ho.KFold(3, buffer="20d", embargo="30d"),
    "forward": ho.Forward(2, buffer=6, window="600d"),
    "holdout": ho.Holdout(0.3, buffer=6),
    "resample": ho.Resample(2, 0.3, buffer=6),
}


def of_rows(roles: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {
        name: tuple(side[rows] for side in value) if isinstance(value, tuple) else value[rows]
        for name, value in roles.items()
    }


def brute_choice(learner: Any, inner: Any, train: Any) -> int:
    """The candidate with the smallest mean loss over the inner parts, by fitting each on each."""
    (name, values) = next(iter(learner.space.items()))
    means = []
    for value in values:
        losses = []
        for part in range(len(inner)):
            fitted = clone(learner.estimator).set_params(**{name: value})
            fitted.fit(X[inner.train_rows(part)], Y[inner.train_rows(part)])
            held = inner.held_rows(part)
            losses.append(np.mean((fitted.predict(X[held]) - Y[held]) ** 2))
        means.append(np.mean(losses))
    assert set(np.concatenate([inner.rows, inner.held])) <= set(train)
    return int(np.argmin(means))


@pytest.mark.parametrize("learner", [RIDGE, NEAREST], ids=["ridge", "nearest"])
@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("test", TESTS)
def test_a_nested_study_equals_a_plain_loop(learner, roles, test, asked):
    result = ho.evaluate(learner, X, Y, test=TESTS[test], jobs=1, progress=False, **ROLES[roles])
    splits = asked(learner, X, Y, test=TESTS[test], **ROLES[roles]).study.splits
    outer = splits[OUTER]
    name, values = next(iter(learner.space.items()))
    predictions = result.predictions
    for part in range(len(outer)):
        train, held = outer.train_rows(part), outer.held_rows(part)
        chosen = brute_choice(learner, splits[f"inner/{part}"], train)
        assert result.choices["candidate"][part] == chosen
        fitted = clone(learner.estimator).set_params(**{name: values[chosen]}).fit(X[train], Y[train])
        recorded = predictions[predictions["fold"] == part]["predict"].to_numpy()
        np.testing.assert_allclose(recorded, fitted.predict(X[held]), rtol=1e-9)
        assert result.folds["squared"][part] == pytest.approx(
            np.mean((fitted.predict(X[held]) - Y[held]) ** 2), rel=1e-9
        )
    again = clone(learner).set_params(jobs=1).fit(X[train], Y[train], **of_rows(ROLES[roles], train))
    assert again.best_index_ == chosen
    np.testing.assert_array_equal(train[again.splits_.held], splits[f"inner/{part}"].held)
    np.testing.assert_array_equal(train[again.splits_.train], splits[f"inner/{part}"].train)


def test_inner_rows_keep_the_outer_buffer_and_their_own(asked):
    splits = asked(RIDGE, X, Y, time=DAYS, test=ho.KFold(3, buffer="60d")).study.splits
    for part in range(3):
        inner, tested = splits[f"inner/{part}"], DAYS[splits[OUTER].held_rows(part)]
        apart = np.abs(DAYS[inner.rows][:, None] - tested[None, :]).min()
        assert apart > np.timedelta64(60, "D")
        for i in range(len(inner)):
            times = np.sort(DAYS[inner.rows])
            for row in DAYS[inner.train_rows(i)]:
                for held in np.unique(DAYS[inner.held_rows(i)]):
                    assert np.sum((times > min(row, held)) & (times < max(row, held))) >= 4


def test_kernels_take_part_where_training_rows_are_not_all_the_rest():
    for learner, kernel in ((RIDGE, "ridge"), (NEAREST, "neighbours")):
        plan = ho.explain(learner, X, Y, time=DAYS, test=ho.KFold(3, buffer="20d"))
        assert any(record.used for record in plan.passes if kernel in record.name), [p.name for p in plan.passes]


def test_names_of_columns_and_compare():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y, start=DAYS, end=DAYS + np.timedelta64(45, "D"))
    test = ho.KFold(3, buffer="20d")
    named = ho.evaluate(Ridge(), frame, "y", time=("start", "end"), test=test, jobs=1, progress=False)
    arrays = ho.evaluate(Ridge(), X, Y, time=ROLES["spans"]["time"], test=test, jobs=1, progress=False)
    assert named.risk.value == pytest.approx(arrays.risk.value, rel=1e-12)
    assert named.risk.train_size == arrays.risk.train_size < 240
    compared = ho.compare(
        {"ridge": Ridge(), "nearest": KNeighborsRegressor()}, frame, "y", time=("start", "end"), test=test, jobs=1
    )
    assert compared.results["ridge"].risk.value == pytest.approx(named.risk.value, rel=1e-12)


def test_the_tested_predictor_of_a_holdout_is_made_again_without_the_buffer():
    result = ho.evaluate(RIDGE, X, Y, time=DAYS, test=ho.Holdout(0.3, buffer="90d"), jobs=1, progress=False)
    ((train, held),) = result.splits
    recorded = result.predictions["predict"].to_numpy()
    np.testing.assert_allclose(result.predictor.predict(X[held]), recorded, rtol=1e-12)
    assert len(train) + len(held) < N


def test_a_splitter_that_goes_by_row_order_is_refused_where_rows_are_not_in_time_order():
    with pytest.raises(
        SplitError, match=r"goes by the order of the rows, but they are not in the order of time.*Forward"
    ):
        ho.evaluate(Ridge(), X, Y, time=DAYS, test=TimeSeriesSplit(3), jobs=1, progress=False)
    order = np.argsort(DAYS, kind="stable")
    in_order = ho.evaluate(
        Ridge(), X[order], Y[order], time=np.arange(N), test=TimeSeriesSplit(3), jobs=1, progress=False
    )
    ours = ho.evaluate(Ridge(), X[order], Y[order], time=np.arange(N), test=ho.Forward(3), jobs=1, progress=False)
    assert in_order.risk.value == ours.risk.value


def test_a_buffer_that_leaves_nothing_inside_names_the_fold():
    learner = clone(RIDGE).set_params(validation=ho.KFold(3, buffer="3000d"))
    with pytest.raises(
        SplitError, match=r"Validation splits inside test fold 0: KFold\(3, buffer='3000d'\): part 0 has no"
    ):
        ho.evaluate(learner, X, Y, time=DAYS, test=ho.KFold(3), jobs=1, progress=False)
