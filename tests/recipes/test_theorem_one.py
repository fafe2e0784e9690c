"""Theorem 1 of text 002: the mean of leave-one-out on m + 1 rows is the expected risk at m rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

import heldout as ho

POINTS = np.arange(5.0)
LABELS = POINTS % 2  # neighbours disagree, so a point that was not seen is learned wrong
TIMES = 500


def draw(rng: np.random.Generator, m: int) -> tuple[Any, Any]:
    places = rng.integers(len(POINTS), size=m)
    return POINTS[places, None], LABELS[places]


def risks(rng: np.random.Generator, m: int) -> Any:
    """The exact risk of 1-NN on each of many training sets of m rows: the distribution is these few points."""
    return np.array([
        np.mean((KNeighborsRegressor(1).fit(*draw(rng, m)).predict(POINTS[:, None]) - LABELS) ** 2)
        for _ in range(TIMES)
    ])  # fmt: skip


def leave_one_outs(rng: np.random.Generator, m: int) -> Any:
    found = []
    for _ in range(TIMES):
        X, y = draw(rng, m)
        found.append(ho.evaluate(KNeighborsRegressor(1), X, y, test=ho.LeaveOneOut(), jobs=1, progress=False).risk.value)
    return np.array(found)


def z_score(a: Any, b: Any) -> float:
    return float((a.mean() - b.mean()) / np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)))


@pytest.mark.parametrize("m", [2, 4])
def test_leave_one_out_at_one_row_more_has_the_mean_of_the_risk(m: int) -> None:
    rng = np.random.default_rng(20_24 + m)
    risk = risks(rng, m)
    assert abs(z_score(leave_one_outs(rng, m + 1), risk)) < 4
    # The simulation can tell one training row: leave-one-out on m rows speaks of m − 1, and is seen to be off.
    assert z_score(risks(rng, m - 1), risk) > 4
