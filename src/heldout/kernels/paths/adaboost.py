"""AdaBoost: the first m members of a longer fit, with their weights, are the fit of m members.

Law: a member depends on the ones before it and on one random stream. What a fit leaves out at its own last member, the
next weights of the rows, nothing of that fit reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor

from heldout.kernels.paths.asking import Answering, Methods, stand_in
from heldout.kernels.paths.counting import CountPath, exactly


def _members(fitted: Any, sizes: Sequence[int], X: Any, methods: Methods) -> Iterator[Any]:
    members = _classifiers if is_classifier(fitted) else _regressors
    yield from members(fitted, sizes, fitted._check_X(X))


def _classifiers(fitted: Any, sizes: Sequence[int], X: Any) -> Iterator[Any]:
    n_classes, classes = fitted.n_classes_, fitted.classes_[:, np.newaxis]
    total: Any = 0
    done = 0
    for size in sizes:
        if n_classes == 1:  # one class is answered without asking the members
            yield fitted
            continue
        for member, weight in zip(fitted.estimators_[done:size], fitted.estimator_weights_[done:size], strict=False):
            total = total + np.where((member.predict(X) == classes).T, weight, -1 / (n_classes - 1) * weight)
        done = min(size, len(fitted.estimators_))
        # As many weights as members were asked for: they are summed in blocks, so the length tells in the last bit.
        decision = total / fitted.estimator_weights_[:size].copy().sum()
        if n_classes == 2:
            decision[:, 0] *= -1
            decision = decision.sum(axis=1)
        yield stand_in(fitted, {"decision_function": Answering(decision)})


class _Recalled:
    """A member whose predictions are known."""

    def __init__(self, predictions: Any) -> None:
        self.predict = Answering(predictions)


def _regressors(fitted: Any, sizes: Sequence[int], X: Any) -> Iterator[Any]:
    # The prediction is a weighted median over members, for which all of them are needed at once.
    recalled = [_Recalled(member.predict(X)) for member in fitted.estimators_[: sizes[-1]]]
    for size in sizes:
        yield stand_in(fitted, {"estimators_": recalled[:size]})


def _refuses(estimator: Any) -> str | None:
    return None


ADABOOST = CountPath(
    name="AdaBoost prefix",
    parameter="n_estimators",
    takes_type=exactly(AdaBoostClassifier, AdaBoostRegressor),
    refuses=_refuses,
    members=_members,
)
