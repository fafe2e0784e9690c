"""Checks hold a kernel to what it answered in the study: on held-out rows, and in the company of other cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.engine import checks as kernel_checks
from heldout.kernels.ridge.kernel import KERNEL
from heldout.kernels.smoothers import solve
from heldout.planner.checked_cells import KernelCheck

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + RNG.normal(size=120)
RIDGE = (Ridge(), {"alpha": [0.1, 1.0, 10.0]})
SMOOTHER = (KernelRidge(kernel="rbf"), {"alpha": [0.01, 1.0]})


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[KernelCheck]:
    """The checks of every study from here on."""
    found: list[KernelCheck] = []
    own = kernel_checks.compare_cell

    def compare(*given: Any) -> KernelCheck:
        found.append(own(*given))
        return found[-1]

    monkeypatch.setattr(kernel_checks, "compare_cell", compare)
    return found


def fitted(learner: Any, *, jobs: int, **more: Any) -> ho.Tuned:
    return ho.Tuned(*learner, validation=ho.KFold(4), jobs=jobs, **more).fit(X, Y)


def nested(learner: Any, **more: Any) -> ho.Result:
    tuned = ho.Tuned(*learner, validation=ho.KFold(8))
    return ho.evaluate(tuned, X, Y, test=ho.KFold(10), jobs=1, progress=False, **more)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fit_checks_a_cell_drawn_by_the_seed(made: list[KernelCheck], jobs: int) -> None:
    cells = set()
    for seed in range(12):
        fitted(RIDGE, jobs=jobs, random_state=seed)
        assert made[-1].passed
        cells.add(made[-1].cell)
    assert len(cells) > 3  # of three candidates and four parts
    assert all("on validation, part" in cell for cell in cells)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_kernel_that_looks_at_held_out_rows_is_found_out(
    made: list[KernelCheck], jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand = fitted(RIDGE, jobs=1, options=ho.Options(rules={"ridge": False}))
    learn = KERNEL.kernel.learn

    def leaking(group: Any, sums: Any, rows: Any) -> Any:
        learned, M = learn(group, sums, rows), sums.grams[0]
        trained = M[-2, -1] / M[-1, -1] + sums.shift.y  # the mean of the training rows; in its place that of all
        return replace(learned, constant=learned.constant + Y.mean() - trained)

    monkeypatch.setattr(KERNEL.kernel, "learn", leaking)
    tuned = fitted(RIDGE, jobs=jobs)
    assert not made[-1].passed
    scores = "mean_test_score"
    assert np.array_equal(tuned.cv_results_[scores], by_hand.cv_results_[scores])


def test_a_kernel_that_errs_only_where_cells_are_answered_together_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_hand = nested(SMOOTHER, options=ho.Options(rules={"smoothers": False}))
    by_block = solve.by_block

    def wrong(inverse: Any, cut: Any, eliminated: Any) -> Any:
        responses = by_block(inverse, cut, eliminated)
        return responses if eliminated is None else responses._replace(values=responses.values * (1 + 1e-6))

    monkeypatch.setattr(solve, "by_block", wrong)
    result = nested(SMOOTHER)
    passed = {check["level"]: check["passed"] for check in result.record.plan["checks"]}
    assert passed["validation"] is False  # where inner folds are solved together
    assert [finding.code for finding in result.findings if finding.code < "H7"] == ["H205"]
    assert np.array_equal(result.predictions["predict"], by_hand.predictions["predict"])


def test_what_is_checked_is_not_computed_again(made: list[KernelCheck], monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("the cell was answered alone")

    monkeypatch.setattr("heldout.engine.checks.answered_alone", never)
    for learner in (RIDGE, SMOOTHER):
        nested(learner)
        assert made[-1].passed
