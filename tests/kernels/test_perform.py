"""Doing a step: what is told where a kernel itself fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.kernels.pls import kernel


def fit(learner: Any, space: dict[str, Any], **rules: bool) -> ho.Tuned:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    options = ho.Options(rules=rules)
    return ho.Tuned(learner, space, validation=ho.KFold(3), options=options, random_state=0).fit(X, X.sum(axis=1))


def fail(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("planted")


def test_a_kernel_that_fails_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "find_components", fail)
    with pytest.raises(ZeroDivisionError, match="planted") as caught:
        fit(PLSRegression(), {"n_components": [1, 2]})
    (note,) = caught.value.__notes__
    assert "Options(rules={'pls': False})" in note
    assert "HELDOUT_RULES=pls=off" in note
    assert fit(PLSRegression(), {"n_components": [1, 2]}, pls=False).best_params_["n_components"] in (1, 2)


def test_the_note_names_the_rule_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.kernels.sums.training_sums.sum_rows", fail)
    with pytest.raises(ZeroDivisionError) as caught:
        fit(Ridge(), {"alpha": [0.1, 1.0]})
    (note,) = caught.value.__notes__
    assert "rules={'ridge': False}" in note
