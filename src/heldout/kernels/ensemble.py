"""Ensembles that average several fitted predictors, one for each validation fold, without retraining."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.metaestimators import available_if

from heldout.base.errors import LearnerError
from heldout.base.registered import registered
from heldout.base.responses import as_response
from heldout.kernels.collapse import collapse_classifiers, collapse_logistic, collapse_regressors, last_of


class _Members(BaseEstimator):  # type: ignore[misc]
    """Holds fitted predictors of one learner, whose answers are averaged."""

    def __init__(self, members: Sequence[Any]) -> None:
        self.members = members

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Any:
        """Raise LearnerError, because the members were fitted on the folds of a study."""
        raise LearnerError(
            f"{type(self).__name__} averages predictors that a study fitted; it cannot be fitted anew. "
            'Fit Tuned(…, final="ensemble") instead.'
        )

    def __getattr__(self, name: str) -> Any:
        # What describes the input is the same for all members.
        if name in ("n_features_in_", "feature_names_in_"):
            return getattr(self.members[0], name)
        raise AttributeError(name)


@registered
class AveragedRegressor(RegressorMixin, _Members):  # type: ignore[misc]
    """Predicts the mean of its members' predictions."""

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(np.mean(_answers(self.members, "predict", X), axis=0))

    def collapse(self) -> Any:
        """Return one predictor that equals the average; raise LearnerError unless all are linear in shared features."""
        return collapse_regressors(self.members)


def _answers(members: Sequence[Any], method: str, X: Any) -> list[NDArray[Any]]:
    return [as_response(getattr(member, method)(X), method) for member in members]


def _all_have(method: str) -> Any:
    def check(self: Any) -> bool:
        return all(hasattr(member, method) for member in self.members)

    return check


def _decides(self: Any) -> bool:
    """Return whether decision functions can be averaged: all members have the same classes, and a column for each."""
    same = all(np.array_equal(member.classes_, self.classes_) for member in self.members)
    return same and bool(_all_have("decision_function")(self)) and not _decides_by_pairs(self.members[0])


def _decides_by_pairs(member: Any) -> bool:
    """Return whether the decision function has a column for each pair of classes, as ``SVC(…, "ovo")`` has."""
    return getattr(last_of(member), "decision_function_shape", None) == "ovo" and len(member.classes_) > 2


@registered
class AveragedClassifier(ClassifierMixin, _Members):  # type: ignore[misc]
    """Predicts by its members' mean probability; without one by their mean decision function; else by majority vote."""

    @property
    def classes_(self) -> NDArray[Any]:
        return np.unique(np.concatenate([member.classes_ for member in self.members]))

    @available_if(_all_have("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        classes = self.classes_
        answers = []
        for member, answer in zip(self.members, _answers(self.members, "predict_proba", X), strict=True):
            wide = np.zeros((len(answer), len(classes)), dtype=answer.dtype)
            wide[:, np.searchsorted(classes, member.classes_)] = answer  # a class a member never saw has probability 0
            answers.append(wide)
        return np.asarray(np.mean(answers, axis=0))

    @available_if(_decides)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(np.mean(_answers(self.members, "decision_function", X), axis=0))

    def predict(self, X: Any) -> NDArray[Any]:
        classes = self.classes_
        if hasattr(self, "predict_proba"):
            return np.asarray(classes[self.predict_proba(X).argmax(axis=1)])
        if hasattr(self, "decision_function"):
            decision = self.decision_function(X)
            places = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
            return np.asarray(classes[places])
        return self._vote(X, classes)

    def _vote(self, X: Any, classes: NDArray[Any]) -> NDArray[Any]:
        votes = np.stack([np.searchsorted(classes, answer) for answer in _answers(self.members, "predict", X)])
        counts = np.stack([(votes == c).sum(axis=0) for c in range(len(classes))])
        return np.asarray(classes[counts.argmax(axis=0)])  # a tie goes to the class that sorts first

    def collapse(self, *, parameters: bool = False) -> Any:
        """Return one linear classifier with the averaged decision function. Raise LearnerError for probabilities.

        With ``parameters=True`` logistic regressions become one with their averaged parameters. Its probabilities are
        not the averages by which the ensemble predicts, so no estimate of a study applies to it.
        """
        same = all(np.array_equal(member.classes_, self.classes_) for member in self.members)
        if parameters and same:
            return collapse_logistic(self.members, self.classes_)
        if parameters:
            raise LearnerError("Members that know different classes have no parameters in common to average.")
        if hasattr(self, "predict_proba") or not hasattr(self, "decision_function"):
            raise LearnerError(
                "Averaged probabilities and votes are not linear: this ensemble cannot collapse. Of logistic "
                "regressions collapse(parameters=True) averages the parameters, which makes another predictor."
            )
        return collapse_classifiers(self.members, self.classes_)


def average(members: Sequence[Any]) -> Any:
    """Return the ensemble that averages these fitted predictors of one learner."""
    if is_classifier(members[0]):
        if any(isinstance(member.classes_, list) for member in members):
            raise LearnerError('final="ensemble" cannot average classifiers with several outputs. Use final="retrain".')
        return AveragedClassifier(members)
    return AveragedRegressor(members)
