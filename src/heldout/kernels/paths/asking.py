"""Asking members of a path: fitted predictors in which something already computed stands for the long way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from heldout.base.responses import METHODS, Responses
from heldout.kernels.scoring import ask_responses

Methods = Sequence[tuple[str, ...]]


def ask_member(member: Any, X: Any, methods: Methods) -> Responses:
    """What a member answers, by the same rules as any predictor."""
    return ask_responses(member, X, methods, np.arange(row_count(X)))


def row_count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def asks(methods: Methods, method: str, fitted: Any) -> bool:
    """Whether this method of the fitted will be called for these alternatives."""
    firsts = [next((m for m in alternatives if hasattr(fitted, m)), None) for alternatives in methods]
    return method in firsts


def stand_in(fitted: Any, replaced: Mapping[str, Any]) -> Any:
    """A shallow copy of the fitted in which some attributes or methods are replaced.

    The rest of it, such as how probabilities become classes, stays scikit-learn's own code.
    """
    member = copy(fitted)
    for name, value in replaced.items():
        setattr(member, name, value)
    return member


def limited(fitted: Any, **limit: Any) -> Any:
    """A member of a fitted that can itself be asked to stop at some round."""
    methods = {name: partial(getattr(fitted, name), **limit) for name in METHODS if hasattr(fitted, name)}
    classes = {"classes_": fitted.classes_} if hasattr(fitted, "classes_") else {}
    return SimpleNamespace(**methods, **classes)


class Answering:
    """A method that answers what is already known, whatever it is asked."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __call__(self, *_: Any, **__: Any) -> Any:
        # Callers may write into what they get.
        return self._answer.copy() if isinstance(self._answer, np.ndarray) else self._answer
