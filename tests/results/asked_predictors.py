"""Data, and what the predictors of a study were asked for its intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

import heldout as ho
from heldout.results.evidence import FoldResponses, fold_predictor_responses

OFF = ho.Options(rules={"evidence": False})


def numbers(n: int, columns: int = 6) -> tuple[Any, Any]:
    random = np.random.default_rng(n)
    X = random.normal(size=(n, columns))
    return X, X @ random.normal(size=columns) + random.normal(size=n)


def labels(n: int, columns: int = 6) -> tuple[Any, Any]:
    X, y = numbers(n, columns)
    return X, (y > 0.5).astype(int)


def study_of(result: ho.Result) -> tuple[Any, Any]:
    """The task and the outcome of a study, before they become a result."""
    assert result.handles is not None
    return result.handles.task, result.handles.outcome


def answers_of(result: ho.Result) -> list[FoldResponses]:
    found = fold_predictor_responses(study_of(result)[1])
    assert found
    return found


def held_out(result: ho.Result) -> list[Any]:
    """What each test part was answered; None for a part without an answer."""
    assert result.handles is not None
    return [part.responses for part in result.handles.losses.parts]


def asked_of(result: ho.Result) -> Any:
    return study_of(result)[1].study.everywhere


def by_hand(result: ho.Result, learner: Any, X: Any, y: Any, one: FoldResponses) -> Any:
    """The predictor of the part, fitted again: with the chosen parameters where some were chosen."""
    held = result.predictions.loc[result.predictions["fold"] == one.part, "row"].to_numpy()
    train = np.setdiff1d(np.arange(len(y)), held)
    np.testing.assert_array_equal(one.trained, np.isin(one.rows, train))
    return clone(learner).fit(X[train], y[train])
