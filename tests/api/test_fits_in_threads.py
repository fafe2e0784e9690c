"""Several fits at once, each in a thread of the user's: the same numbers, and the process as it was."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, Ridge
from threadpoolctl import threadpool_info

import heldout as ho

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 12))
Y = X @ np.ones(12) + RNG.normal(size=300)
LEARNERS = (
    (Ridge(), {"alpha": [0.1, 1.0]}),
    (Lasso(), {"alpha": [0.01, 0.1]}),
    (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0], "gamma": [0.1, 0.2]}),
    (HuberRegressor(max_iter=5), {"alpha": [0.1, 1.0]}),  # which warns that this is too few
)


def scores(learner: Any) -> Any:
    tuned = ho.Tuned(*learner, validation=ho.KFold(4), jobs=2)
    return tuned.fit(X, Y).cv_results_["mean_test_score"]


def process() -> tuple[Any, ...]:
    libraries = [(one["filepath"], one["num_threads"]) for one in threadpool_info()]
    return list(warnings.filters), warnings.showwarning, sorted(libraries)


@pytest.mark.filterwarnings("ignore")
def test_threads_change_no_bit_and_leave_nothing_behind() -> None:
    alone = [scores(learner) for learner in LEARNERS]
    before = process()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(scores, LEARNERS * 4))
    for place, one in enumerate(found):
        assert np.array_equal(one, alone[place % len(LEARNERS)])
    assert process() == before
