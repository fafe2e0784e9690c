"""Least squares by leverages: single rows left out, against brute force, where directions are absent too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_ridge import numbers, posed, worst_difference

import heldout as ho
from heldout.kernels.ridge.kernel import KERNEL

LEARNERS = (
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    make_pipeline(StandardScaler(), LinearRegression()),
    make_pipeline(StandardScaler(with_std=False), LinearRegression()),
)


def spoiled(kind: str) -> tuple[Any, Any]:
    X, y = numbers(40, 5)
    X, y = X.copy(), y.copy()
    if kind == "one row alone":
        X[:, 2] = 0.3
        X[17, 2] = 1.0
    elif kind == "two rows alone":
        X[:, 2] = 0.0
        X[[5, 33], 2] = 1.0
    elif kind == "collinear":
        X[:, 3] = X[:, 1] + X[:, 2]
    elif kind == "nearly collinear":
        X[:, 3] = X[:, 1] + 1e-5 * X[:, 2]
    elif kind == "beside the cutoff":
        X[:, 3] = X[:, 1] + 1e-6 * X[:, 2]
    elif kind == "constant":
        X[:, 2] = 0.1
    elif kind == "offset 1e6":
        X += 1e6
    elif kind == "an outlier":
        X[4, 1] = 1e6
    elif kind == "scales far apart":
        X *= np.logspace(-6, 2, 5)
    return X, y


KINDS = ("plain", "one row alone", "two rows alone", "collinear", "nearly collinear", "beside the cutoff")
KINDS += ("constant", "offset 1e6", "an outlier", "scales far apart")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_row_left_out_gives_what_its_fit_gives(learner: Any, kind: str) -> None:
    if kind == "offset 1e6" and learner is LEARNERS[1]:
        pytest.skip("scikit-learn itself keeps too few digits to compare with")
    step, work = posed(learner, *spoiled(kind), test=ho.LeaveOneOut())
    assert worst_difference(step, work) < 1e-9


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_weights(learner: Any) -> None:
    weight = np.random.default_rng(0).uniform(0.1, 3, 40)
    step, work = posed(learner, *spoiled("plain"), test=ho.LeaveOneOut(), sample_weight=weight)
    assert worst_difference(step, work) < 1e-9


def test_one_decomposition_answers_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KERNEL.kernel, "learn", lambda *_: pytest.fail("equations of a single row"))
    step, work = posed(LinearRegression(), *spoiled("plain"), test=ho.LeaveOneOut())
    assert [one.count for one in KERNEL.answer(step, work)] == [step.cells]


def test_a_leverage_of_one_has_equations_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[Any] = []
    respond = KERNEL.kernel.respond

    def note(group: Any, predictors: Any, rows: Any, methods: Any) -> Any:
        learned.extend(rows.tolist())
        return respond(group, predictors, rows, methods)

    monkeypatch.setattr(KERNEL.kernel, "respond", note)
    step, work = posed(LinearRegression(), *spoiled("one row alone"), test=ho.LeaveOneOut())
    list(KERNEL.answer(step, work))
    assert learned == [17]
