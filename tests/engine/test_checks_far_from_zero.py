"""Of columns far from zero brute force loses digits, and the kernel is held to what it says of them near zero."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier

import heldout as ho
from heldout.kernels.ridge.kernel import KERNEL

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = X.sum(axis=1) + RNG.normal(size=200)


def study(learner: Any, far: float, *, frame: bool = False, jobs: int = 1) -> ho.Result:
    target = np.where(Y > 0, "yes", "no") if isinstance(learner, RidgeClassifier) else Y
    columns = pd.DataFrame(X + far, columns=list("abcd")) if frame else X + far
    loss = "roc_auc" if isinstance(learner, RidgeClassifier) else "squared"
    return ho.evaluate(learner, columns, target, test=ho.KFold(5), loss=loss, jobs=jobs, progress=False)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("far", [1e7, 1e9, 1e11])
@pytest.mark.parametrize("learner", [Ridge(0.5), LinearRegression(), RidgeClassifier()], ids=repr)
def test_the_kernel_is_not_blamed_for_digits_that_brute_force_loses(learner: Any, far: float, jobs: int) -> None:
    result = study(learner, far, jobs=jobs)
    (check,) = result.record.plan["checks"]
    assert check["kernel"] == "ridge"
    assert check["passed"]
    assert [one.code for one in result.findings if one.code.startswith("H2")] == []  # nothing of kernels


def test_frames_are_moved_too() -> None:
    result = study(Ridge(), 1e9, frame=True)
    (check,) = result.record.plan["checks"]
    assert check["difference"] > 1e-9
    assert check["passed"]


def test_a_kernel_that_errs_far_from_zero_is_still_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    learn = KERNEL.kernel.learn

    def wrong(*given: Any) -> Any:
        learned = learn(*given)
        return replace(learned, constant=learned.constant + 1e-7)  # less than brute force is off by there

    monkeypatch.setattr(KERNEL.kernel, "learn", wrong)
    result = study(Ridge(), 1e9)
    assert [one.code for one in result.findings if one.code.startswith("H2")] == ["H205"]
