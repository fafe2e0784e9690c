"""Paths by exchanges of active columns: they end at the optimum, alone or in company, or stay where they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet

from heldout.kernels.lasso import follow as following
from heldout.kernels.lasso.follow import Path, follow

ALPHAS = np.geomspace(3.0, 1e-3, 12)


def rows(seed: int, *, n: int = 120, p: int = 30, rho: float = 0.95) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for column in range(1, p):
        X[:, column] = rho * X[:, column - 1] + np.sqrt(1 - rho**2) * X[:, column]
    y = X @ (rng.normal(size=p) * (rng.uniform(size=p) < 0.5)) + rng.normal(size=n)
    return X - X.mean(axis=0), y - y.mean()


def path_of(X: Any, y: Any, ratio: float = 1.0) -> Path:
    return Path(X.T @ X, X.T @ y, len(y) * ratio * ALPHAS, len(y) * (1 - ratio) * ALPHAS)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_each_path_ends_at_the_optimum(ratio: float, positive: bool) -> None:
    sets = [rows(seed) for seed in range(4)]
    found = follow([path_of(*one, ratio) for one in sets], positive=positive)
    for (X, y), coefs in zip(sets, found, strict=True):
        for alpha, coef in zip(ALPHAS, coefs.T, strict=True):
            sharp = ElasticNet(
                alpha, l1_ratio=ratio, positive=positive, tol=1e-14, max_iter=200_000, fit_intercept=False
            )
            assert np.abs(X @ coef - sharp.fit(X, y).predict(X)).max() < 1e-6 * np.abs(y).max()
            assert not positive or (coef >= 0).all()


def test_company_changes_no_bit() -> None:
    paths = [path_of(*rows(seed, n=60 + 20 * seed)) for seed in range(6)]
    together = follow(paths, positive=False)
    alone = np.stack([follow([path], positive=False)[0] for path in paths])
    assert np.array_equal(together, alone)


def test_equal_columns_stop_one_path_and_no_other() -> None:
    X, y = rows(0)
    twins = X.copy()
    twins[:, 1] = twins[:, 0]
    good, bad = path_of(X, y), path_of(twins, y)
    found = follow([good, bad], positive=False)
    assert np.array_equal(found[0], follow([good], positive=False)[0])
    assert np.isfinite(found[1]).all()


def test_columns_that_go_round_in_circles_leave_the_last_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    path = path_of(*rows(1))
    whole = follow([path], positive=False)[0]
    monkeypatch.setattr(following, "EXCHANGES", 5)  # enough for the first penalties, not for all
    given_up = follow([path], positive=False)[0]
    stopped = int(np.flatnonzero((given_up != whole).any(axis=0))[0])
    before = given_up[:, stopped - 1]
    assert before.any()
    assert (given_up[:, stopped:] == before[:, None]).all()
