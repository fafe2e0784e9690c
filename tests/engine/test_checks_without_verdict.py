"""A fit that did not converge is no judge of a kernel: the check is told as one that could not be made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Lasso, MultiTaskLasso

import heldout as ho
from heldout.kernels.lasso import answer, sharpen


def columns(near: float, n: int = 200, count: int = 40) -> tuple[Any, Any]:
    """Columns of which each is as good as the one before it, and a target of some of them."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(n, count))
    X = steps.copy()
    for column in range(1, count):
        X[:, column] = near * X[:, column - 1] + np.sqrt(1 - near**2) * steps[:, column]
    return X, X[:, ::3].sum(axis=1) + rng.normal(size=n)


def study(X: Any, y: Any, *, jobs: int) -> ho.Result:
    learner = ho.Tuned(Lasso(), {"alpha": [0.01, 0.02, 0.05]}, validation=ho.KFold(4))
    options = ho.Options(precision="solver")
    return ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=jobs, progress=False, options=options)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_kernel_is_not_blamed_for_a_fit_that_did_not_converge(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = columns(0.99999)
    good = study(X, y, jobs=jobs)
    assert [one.code for one in good.findings] == []
    monkeypatch.setattr(sharpen, "MOST_OPERATIONS", 0.0)  # as few sweeps as the user's own fit has
    result = study(X, y, jobs=jobs)
    checks = result.facts.plan["checks"]
    assert {(check["kernel"], check["passed"], check["conclusive"]) for check in checks} == {("lasso", True, False)}
    assert {check["level"] for check in checks} == {"validation", "test"}
    (finding,) = result.findings
    assert (finding.code, finding.severity) == ("H211", "info")
    assert "did not converge itself" in finding.message
    assert result.risk.value == good.risk.value  # the kernel's own number, of which it knows the duality gap


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_kernel_that_errs_is_still_found_out(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    own = answer.solve

    def wrong(*given: Any) -> Any:
        return [(weights * 1.001, good) for weights, good in own(*given)]

    monkeypatch.setattr(answer, "solve", wrong)
    result = study(*columns(0.5), jobs=jobs)
    assert {(check["passed"], check["conclusive"]) for check in result.facts.plan["checks"]} == {(False, True)}
    assert [finding.code for finding in result.findings] == ["H205"]


def test_a_tight_fit_may_sweep_as_long_as_its_size_allows() -> None:
    X, y = columns(0.5, count=200, n=250)
    assert sharpen.sharpened(Lasso(alpha=0.1)).fit(X, y)[-1].max_iter == 500_000
    assert sharpen.sharpened(Lasso(alpha=0.1, max_iter=600_000)).fit(X, y)[-1].max_iter == 600_000
    assert sharpen.sharpened(Lasso(alpha=0.1)).fit(X[:, :9], y)[-1].max_iter == sharpen.MOST_SWEEPS
    both = np.column_stack([y, -y])
    assert sharpen.sharpened(MultiTaskLasso(alpha=0.1)).fit(X, both)[-1].max_iter == 200_000
