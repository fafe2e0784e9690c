"""Theorem 1 of text 002: the mean of leave-one-out on m + 1 rows is the expected risk at m rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

import heldout as ho

POINTS = np.array([0.0, 1.0])  # the whole distribution: two points, equally likely, each its own label
TIMES = 120


def draw(rng: np.random.Generator, m: int) -> tuple[Any, Any]:
    y = rng.choice(POINTS, size=m)
    return y[:, None], y


def risks(rng: np.random.Generator, m: int) -> Any:
    """The risk of 1-NN trained on each of many sets of m rows, exact because the distribution is."""
    learners = [KNeighborsRegressor(1).fit(*draw(rng, m)) for _ in range(TIMES)]
    with threadpool_limits(1):
        return np.array([np.mean((learner.predict(POINTS[:, None]) - POINTS) ** 2) for learner in learners])


def leave_one_outs(rng: np.random.Generator, m: int) -> Any:
    options: dict[str, Any] = {"test": ho.LeaveOneOut(), "jobs": 1, "progress": False}
    return np.array([ho.evaluate(KNeighborsRegressor(1), *draw(rng, m), **options).risk.value for _ in range(TIMES)])


def z_score(sample: Any, mean: float, variance_of_mean: float = 0.0) -> float:
    return abs(float(sample.mean() - mean)) / float(np.sqrt(sample.var(ddof=1) / len(sample) + variance_of_mean))


@pytest.mark.parametrize("m", [2, 4])
def test_leave_one_out_at_one_row_more_has_the_mean_of_the_risk(m: int) -> None:
    """A point is learned wrong when it was not among the m rows, so the expected risk is 2⁻ᵐ."""
    rng = np.random.default_rng(2024 + m)
    at_m, one_more = risks(rng, m), leave_one_outs(rng, m + 1)
    assert z_score(one_more, at_m.mean(), at_m.var(ddof=1) / TIMES) < 4
    assert z_score(one_more, 2.0**-m) < 4
    # The simulation can tell one training row from another: it is far from the risk at m − 1.
    assert z_score(one_more, 2.0 ** -(m - 1)) > 4
