"""Candidates of one training set that share binned data: LightGBM and XGBoost against separate fits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import heldout as ho
from heldout.kernels.paths.bins import LIGHTGBM_BINS, MOST_FITS, XGBOOST_BINS, Binned
from heldout.kernels.within import grow_branches

lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

LIGHT = {"n_jobs": 1, "verbose": -1, "random_state": 3, "min_child_samples": 5}
CASES = [
    (LIGHTGBM_BINS, lightgbm.LGBMRegressor(**LIGHT), {"num_leaves": [3, 9], "n_estimators": [2, 5]}),
    (LIGHTGBM_BINS, lightgbm.LGBMRegressor(**LIGHT, subsample_freq=1), {"subsample": [0.5, 1.0], "reg_lambda": [0, 3]}),
    (XGBOOST_BINS, xgboost.XGBRegressor(n_jobs=1, random_state=3), {"max_depth": [2, 4], "n_estimators": [2, 5]}),
    (XGBOOST_BINS, xgboost.XGBRegressor(n_jobs=1, random_state=3), {"subsample": [0.5, 1.0], "reg_alpha": [0, 3]}),
]


def data(n: int = 120) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)


def members(estimator: Any, space: dict[str, Any]) -> list[Any]:
    return [clone(estimator).set_params(**dict(zip(space, one, strict=True))) for one in product(*space.values())]


@pytest.mark.parametrize(("path", "estimator", "space"), CASES)
def test_members_are_their_own_fits(path: Binned, estimator: Any, space: dict[str, Any]) -> None:
    X, y = data()
    weight = np.linspace(0.5, 2, len(y))
    own = members(estimator, space)
    assert path.refusal(own) is None
    values = [path.value_of(one) for one in own]
    (places,) = path.cut(values)
    assert places == list(range(len(own)))
    fitted = path.start(own[0], values).fit(X, y, sample_weight=weight)
    found = list(path.responses(fitted, values, X, [("predict",)]))
    for one, response in zip(own, found, strict=True):
        np.testing.assert_array_equal(response.predict, one.fit(X, y, sample_weight=weight).predict(X))


def test_what_bins_depend_on_is_never_shared() -> None:
    own = members(lightgbm.LGBMRegressor(**LIGHT), {"max_bin": [15, 31], "min_child_samples": [2, 9]})
    assert len(grow_branches(enumerate(own)).leaves) == 4
    own = members(xgboost.XGBRegressor(n_jobs=1), {"max_bin": [15, 31]})
    assert len(grow_branches(enumerate(own)).leaves) == 2


def test_few_fits_share_and_are_counted_as_fits() -> None:
    own = members(lightgbm.LGBMRegressor(**LIGHT), {"reg_lambda": [1, 2, 3, 4, 5, 6, 7, 8], "n_estimators": [2, 5]})
    tree = grow_branches(enumerate(own))
    assert [len(leaf.by_fit) for leaf in tree.leaves] == [MOST_FITS, 8 - MOST_FITS]
    assert tree.fits == 8


@pytest.mark.parametrize(
    ("path", "estimator", "reason"),
    [
        (LIGHTGBM_BINS, lightgbm.LGBMRegressor(n_jobs=1, lambda_l2=3.0), "lambda_l2"),
        (LIGHTGBM_BINS, lightgbm.LGBMRegressor(n_jobs=1, linear_tree=True), "linear_tree"),
        (LIGHTGBM_BINS, lightgbm.LGBMRegressor(n_jobs=2), "several threads"),
        (LIGHTGBM_BINS, lightgbm.LGBMRegressor(n_jobs=1, num_leaves="7"), "no plain number"),
        (XGBOOST_BINS, xgboost.XGBRegressor(n_jobs=1, tree_method="exact"), "exact"),
        (XGBOOST_BINS, xgboost.XGBRegressor(n_jobs=1, eta=0.1), "eta"),
        (XGBOOST_BINS, xgboost.XGBRegressor(n_jobs=2), "several threads"),
    ],
)
def test_refusals(path: Binned, estimator: Any, reason: str) -> None:
    assert reason in str(path.refusal([estimator, clone(estimator)]))


@pytest.mark.filterwarnings("ignore")
def test_a_member_that_fails_fails_alone() -> None:
    X, y = data()
    tuned = ho.Tuned(lightgbm.LGBMRegressor(**LIGHT), {"num_leaves": [3, 0, 9]}, validation=ho.KFold(3))
    found = ho.evaluate(tuned, X, y, test=ho.Holdout(0.3), jobs=1, progress=False)
    losses = found.record.tables["candidates"]["validation_squared"]
    assert np.isnan(np.asarray(losses, dtype=float)).sum() == 1


def test_explain_names_the_shared_bins() -> None:
    tuned = ho.Tuned(xgboost.XGBRegressor(n_jobs=1), {"max_depth": [2, 4]}, validation=ho.KFold(3))
    assert "XGBoost bins" in str(ho.explain(tuned, *data(), test=ho.Holdout(0.3)))


def test_candidates_are_told_apart_by_the_fit_they_are_read_off():
    _, estimator, space = CASES[0]
    root = grow_branches(enumerate(members(estimator, space)))
    (leaf,) = root.leaves
    assert isinstance(leaf.path, Binned)
    assert sorted(leaf.by_fit) == sorted(root.by_fit) == [(0, 1), (2, 3)]  # each number of leaves, all its rounds
    assert len(leaf.by_fit) == 2


def test_a_race_of_binned_candidates_drops_them_fit_by_fit():
    X, y = data(200)
    space = {"learning_rate": [1e-4, 1e-3, 0.1, 0.3], "num_leaves": [2, 8], "n_estimators": [5, 20]}
    learner = ho.Tuned(lightgbm.LGBMRegressor(**LIGHT), space, validation=ho.KFold(6))
    raced, whole = (
        ho.evaluate(learner, X, y, test=ho.KFold(2), jobs=1, progress=False, options=ho.Options(race=race))
        for race in ("exact", None)
    )
    assert raced.risk == whole.risk
    assert raced.choices["candidate"].tolist() == whole.choices["candidate"].tolist()
    (record,) = (one for one in raced.plan.passes if one.name == "race")
    assert record.fits_before == 8 * 6 * 2
    assert record.fits_after < record.fits_before
