"""The doors of docs/extending.md: what the page adds from outside works as if it were in the house."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import heldout as ho
from heldout.base.errors import LossError, OptionError
from heldout.losses.loss import BUILT_IN
from heldout.risk.intervals import METHODS

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
X, y = make_regression(60, 3, noise=5.0, random_state=0)


def run_section(title: str) -> None:
    """Run the example of one section of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})


def test_a_loss_from_outside(monkeypatch):
    monkeypatch.setitem(BUILT_IN, "log_cosh", None)  # taken out again after the test
    run_section("A loss")
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(3), loss=["log_cosh", "squared"], progress=False)
    errors = np.concatenate([y[rows] for _, rows in result.splits]) - result.predictions["predict"].to_numpy()
    assert result.risk.value == pytest.approx(np.mean(np.logaddexp(errors, -errors) - np.log(2)))
    assert result.risk.low < result.risk.value < result.risk.high
    with pytest.raises(LossError, match="log_cosh' is a loss for numbers"):
        ho.evaluate(LogisticRegression(), X, np.where(y > 0, "a", "b"), test=ho.KFold(3), loss="log_cosh")


def test_an_interval_from_outside(monkeypatch):
    monkeypatch.setitem(METHODS, "chebyshev", None)
    run_section("An interval")
    options = ho.Options(interval="chebyshev")
    risk = ho.evaluate(Ridge(), X, y, test=ho.Holdout(0.5), progress=False, options=options).risk
    student = ho.evaluate(Ridge(), X, y, test=ho.Holdout(0.5), progress=False, options=ho.Options(interval="student"))
    assert risk.method == "Chebyshev"
    assert risk.high - risk.value > student.risk.high - student.risk.value > 0
    with pytest.raises(OptionError, match="Chebyshev cannot be had here: it speaks of one test set"):
        ho.evaluate(Ridge(), X, y, test=ho.KFold(3), progress=False, options=options)
    learners = {"plain": LinearRegression(), "heavy": Ridge(100.0)}
    (pair,) = ho.compare(learners, X, y, test=ho.Holdout(0.5), progress=False, options=options).pairs
    assert pair.difference.method == "Chebyshev"
    assert 0 < pair.p < 1
