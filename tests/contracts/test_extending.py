"""The doors of docs/extending.md: what the page adds from outside works as if it were in the house."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from page_sections import run_section, section_code
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import heldout as ho
from heldout.base.errors import LossError, OptionError
from heldout.kernels.designs.columns import STEPS
from heldout.losses.loss import BUILT_IN
from heldout.risk.intervals import METHODS

SOURCE = Path(ho.__file__).parent
X, y = make_regression(60, 3, noise=5.0, random_state=0)


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


def test_a_preprocessing_step_from_outside(monkeypatch):
    monkeypatch.setattr("heldout.kernels.designs.columns.STEPS", dict(STEPS))
    step = run_section("Preprocessing")["FirstColumns"](2)
    labels = np.where(y > 0, "a", "b")
    for model, target, kernel in ((Ridge(), y, "ridge"), (GaussianNB(), labels, "bayes")):
        asked = {"test": ho.KFold(4), "progress": False, "jobs": 1}
        fast = ho.evaluate(make_pipeline(step, model), X, target, **asked)
        brute = ho.evaluate(make_pipeline(step, model), X, target, options=ho.Options(rules={kernel: False}), **asked)
        assert [line.rule for line in fast.plan.lines] == [kernel]
        assert fast.risk.value == pytest.approx(brute.risk.value, rel=1e-9)
        assert not [finding for finding in fast.findings if finding.code < "H7"]


def test_an_option_is_one_declaration(tmp_path):
    """The field of the page, written into a copy of the package: flag, help, study file and refusals follow from it."""
    shutil.copytree(SOURCE, tmp_path / "heldout", ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / "heldout" / "cli" / "options.py"
    before, field, after = table.read_text(encoding="utf-8").partition("    race_level: float = option(")
    table.write_text(before + section_code("An option") + field + after, encoding="utf-8")
    np.savetxt(tmp_path / "t.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-m", "heldout", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)

    assert "How many parts a race waits" in run("evaluate", "--help").stdout
    asked = ("evaluate", "t.csv", "--target", "y", "--learner", "ridge", "--patience", "3", "--write-study", "s.toml")
    written = run(*asked)
    assert written.returncode == 0, written.stderr
    assert "patience = 3" in (tmp_path / "s.toml").read_text(encoding="utf-8")
    assert run("explain", "s.toml").returncode == 0
    (tmp_path / "s.toml").write_text('data = "t.csv"\ntarget = "y"\npatience = "long"\n', encoding="utf-8")
    refused = run("explain", "s.toml")
    assert refused.returncode == 2
    assert "patience" in refused.stderr
    assert run("evaluate", "t.csv", "--target", "y", "--patience", "0").returncode == 2
