"""Checks of kernels on large training sets fit on some of their rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.engine import checks as kernel_checks
from heldout.planner import checked_cells

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
LABELS = np.where(np.arange(400) % 50 == 0, "rare", np.where(X[:, 0] > 0, "a", "b"))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(checked_cells, "MOST_NUMBERS", 150)
    monkeypatch.setattr(checked_cells, "FEWEST_ROWS", 20)


def checks_of(learner, y):
    result = ho.evaluate(learner, X, y, test=ho.KFold(4), progress=False)
    return result, {check["kernel"]: check for check in result.record.plan["checks"]}


@pytest.mark.parametrize("kind", [Ridge, RidgeClassifier])
def test_the_check_says_on_how_many_rows_it_was_made(few, kind):
    y = X[:, 1] if kind is Ridge else LABELS
    learner = ho.Tuned(kind(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3))
    result, checks = checks_of(learner, y)
    assert checks["ridge"]["passed"]
    assert "of its training rows" in checks["ridge"]["cell"]
    assert not any(finding.code == "H205" for finding in result.findings)


def test_an_identical_kernel_is_held_to_no_difference(few):
    learner = ho.Tuned(DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.01]}, validation=ho.KFold(3))
    _, checks = checks_of(learner, LABELS)
    assert checks["within"]["passed"]
    assert checks["within"]["difference"] == 0.0


def test_a_kernel_that_errs_on_the_drawn_rows_is_found_out(few, monkeypatch):
    monkeypatch.setitem(kernel_checks.ALLOWED, "rounding", -1.0)
    result, checks = checks_of(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3)), X[:, 1])
    assert not checks["ridge"]["passed"]
    assert any(finding.code == "H205" for finding in result.findings)


def test_every_class_stays(few):
    seen = []

    def keep(*given, **named):
        seen.append(found(*given, **named))
        return seen[-1]

    found = checked_cells.fewer_rows
    checked_cells.fewer_rows = keep
    try:
        checks_of(ho.Tuned(RidgeClassifier(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3)), LABELS)
    finally:
        checked_cells.fewer_rows = found
    assert len(seen) == 3  # a validation cell and a test cell, and one of the choice on all rows
    for splits in seen:
        assert set(LABELS[splits.train_rows(0)]) == {"a", "b", "rare"}
        assert not set(splits.train_rows(0)) & set(splits.held_rows(0))


def test_small_studies_are_checked_whole():
    _, checks = checks_of(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3)), X[:, 1])
    assert "of its training rows" not in checks["ridge"]["cell"]


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame])
def test_single_precision_is_held_to_its_own_rounding_error(frame):
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3))
    y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=400)
    result = ho.evaluate(learner, frame(X.astype(np.float32)), y, test=ho.KFold(4), progress=False)
    checks = result.record.plan["checks"]
    assert {check["level"] for check in checks} == {"validation", "test"}
    assert all(check["passed"] for check in checks)
    assert all(check["difference"] > kernel_checks.ROUNDING for check in checks)
    assert [finding for finding in result.findings if finding.code < "H7"] == []


def test_single_precision_is_no_excuse_for_a_wrong_answer(monkeypatch):
    answer = kernel_checks.answer_of_kernel

    def wrong_answer(*cell):
        right = answer(*cell)
        return replace(right, predict=right.predict * np.float32(1.0001))

    monkeypatch.setattr(kernel_checks, "answer_of_kernel", wrong_answer)
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3))
    result = ho.evaluate(learner, X.astype(np.float32), X[:, 1], test=ho.KFold(4), progress=False, checks="none")
    assert [finding.code for finding in result.findings if finding.code < "H7"] == ["H205"]


def test_a_kernel_that_failed_its_check_answers_nothing_later(monkeypatch):
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3))
    y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=400)
    off = ho.evaluate(learner, X, y, test=ho.KFold(4), progress=False, options=ho.Options(rules={"ridge": False}))
    monkeypatch.setitem(kernel_checks.ALLOWED, "rounding", -1.0)
    on = ho.evaluate(learner, X, y, test=ho.KFold(4), progress=False)
    assert [line.rule for line in on.plan.lines] == ["brute force", "brute force"]
    assert {check["kernel"] for check in on.record.plan["checks"]} == {"ridge"}
    assert np.array_equal(on.predictions["predict"], off.predictions["predict"])
