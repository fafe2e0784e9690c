"""Scores without scikit-learn's checks are scikit-learn's own, bit for bit, or are left to it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, get_scorer, make_scorer, roc_auc_score

import heldout as ho
from heldout.base.responses import Responses
from heldout.losses import Replay, call_scorer, resolve_losses
from heldout.losses.quick_scores import quick_score

SCORES = {
    "balanced": "balanced_accuracy",
    "f1": "f1",
    "f1 of 0": make_scorer(f1_score, pos_label=0),
    "matthews": "matthews_corrcoef",
    "area": "roc_auc",
    "area of probabilities": make_scorer(roc_auc_score, response_method="predict_proba"),
}
LEFT = {"macro": "f1_macro", "of labels": make_scorer(roc_auc_score), "adjusted": "jaccard", "ovr": "roc_auc_ovr"}


def drawn(rng: Any, case: int) -> tuple[Any, Responses]:
    """Labels of two to four classes, and responses that are right now and then; some share their scores."""
    rows, kinds = int(rng.integers(1, 60)), int(rng.integers(2, 5)) if case % 2 else 2
    classes, y = np.arange(kinds), rng.integers(0, kinds, rows)
    predicted = np.where(rng.random(rows) < rng.random(), y, rng.integers(0, kinds, rows))
    if case % 3 == 0:
        classes, y, predicted = classes.astype(str), y.astype(str), predicted.astype(str)
    elif case % 5 == 0 and kinds == 2:
        classes, y, predicted = classes == 1, y == 1, predicted == 1
    if kinds > 2:
        return y, Responses(predict=predicted, classes=classes)
    decision = np.round(rng.normal(size=rows) + (y == classes[1]), int(rng.integers(0, 6)))
    share = 1 / (1 + np.exp(-np.round(decision, 1)))
    proba = np.column_stack([1 - share, share])
    return y, Responses(predict=predicted, classes=classes, decision_function=decision, predict_proba=proba)


@pytest.mark.parametrize("name", SCORES)
def test_quick_scores_are_scikit_learns_bit_for_bit(name: str) -> None:
    rng, (loss,) = np.random.default_rng(0), resolve_losses({name: SCORES[name]}, classification=True)
    quick = 0
    for case in range(400):
        y, responses = drawn(rng, case)
        value = quick_score(loss, y, responses)
        if value is not None:
            quick += 1
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert value == call_scorer(loss, Replay(responses), None, y)
    assert quick > 100


@pytest.mark.parametrize("name", LEFT)
def test_other_scores_and_options_are_left_to_scikit_learn(name: str) -> None:
    rng, (loss,) = np.random.default_rng(0), resolve_losses({name: LEFT[name]}, classification=True)
    assert all(quick_score(loss, *drawn(rng, case)) is None for case in range(50))


def test_what_scikit_learn_warns_of_or_refuses_is_left_to_it() -> None:
    losses = resolve_losses(["f1", "balanced_accuracy", "roc_auc"], classification=True)
    zeros, classes = np.zeros(4, dtype=int), np.array([0, 1])
    never = Responses(predict=zeros, classes=classes, decision_function=np.zeros(4))
    assert [quick_score(loss, zeros, never) for loss in losses] == [None] * 3
    unseen = Responses(predict=zeros, classes=np.array([0]), decision_function=np.zeros(4))
    assert quick_score(losses[0], np.array([0, 0, 1, 1]), unseen) is None  # the predictor never saw the positive class


def test_each_row_of_leave_one_out_is_pooled_without_a_warning_of_its_own() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0.5).astype(int)
    scores = ["f1", "balanced_accuracy", "matthews_corrcoef"]
    result = ho.evaluate(LogisticRegression(), X, y, test=ho.LeaveOneOut(), loss=scores, progress=False)
    assert not result.warnings.shape[0]
    predicted = result.predictions.sort_values("row")["predict"].to_numpy()
    for name, estimate in zip(scores, ["risk", *(f"risk_{name}" for name in scores[1:])], strict=True):
        expected = get_scorer(name)._score_func(y, predicted)
        assert result.estimates[estimate].value == pytest.approx(expected, rel=1e-12)
