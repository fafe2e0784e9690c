"""A stand-in for a predictor that says again what was recorded of it, so that scikit-learn's scorers need no model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

from heldout.base.responses import METHODS, Responses


class Replay:
    """An estimator that answers with recorded responses, whatever X it is shown.

    It has just the methods that were recorded, as a scorer picks the first one an estimator has. It is a
    classifier when classes were recorded and a regressor when not: scikit-learn's scorers ask for no more.

    Probabilities of several outputs may be recorded as a list with an array for each output, as scikit-learn's
    forests give them, or as one array of shape (rows, outputs, classes).
    """

    def __init__(self, responses: Responses) -> None:
        for method in METHODS:
            answer = getattr(responses, method)
            if answer is not None:
                setattr(self, method, _speaker(method, _as_estimators_answer(answer)))
        self._is_classifier = responses.classes is not None
        if self._is_classifier:
            self.classes_ = responses.classes

    def __sklearn_tags__(self) -> Tags:
        return Tags(
            estimator_type="classifier" if self._is_classifier else "regressor",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if self._is_classifier else None,
            regressor_tags=None if self._is_classifier else RegressorTags(),
        )


def _speaker(method: str, answer: Any) -> Callable[[Any], Any]:
    def speak(X: Any) -> Any:
        return answer

    speak.__name__ = method  # scikit-learn tells methods apart by their names
    return speak


def _as_estimators_answer(answer: Any) -> Any:
    if isinstance(answer, np.ndarray) and answer.ndim == 3:
        return list(np.moveaxis(answer, 1, 0))
    return answer
