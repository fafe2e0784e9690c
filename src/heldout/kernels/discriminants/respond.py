"""From discriminants to the responses of an estimator, and which of them rounding leaves sure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from heldout.base.responses import Responses
from heldout.kernels.discriminants.forms import Form
from heldout.kernels.ridge.design import Floats
from heldout.task.task import Task

WITHIN = 1e-9  # the tier: of the largest response of a cell
LEAST_MARGIN = 1e-12  # of the largest number of a row: classes that lie nearer to each other count as a tie


def sure(values: Floats, errors: Floats, classes: int, asked: frozenset[str]) -> NDArray[np.bool_]:
    """Which candidates' responses are inside the tier on a held-out side, with every label certain.

    `values` is rows × candidates × numbers, `errors` how far each candidate's numbers may be off.
    """
    with np.errstate(invalid="ignore"):
        own = values[:, :, :classes]
        largest = np.abs(own).max(axis=(0, 2), initial=0.0)
        apart = _margins(own)
        good = np.isfinite(largest) & (apart > 2.0 * errors + LEAST_MARGIN * largest)
        if "predict_proba" in asked:
            good &= errors * _steepness(apart, classes) <= 0.5 * WITHIN
        if "decision_function" in asked:
            good &= 2.0 * errors <= WITHIN * np.abs(_decisions(values, classes)).max(axis=(0, 2), initial=0.0)
    return np.asarray(good)


def sure_rows(values: Floats, errors: Floats, classes: int, asked: frozenset[str]) -> NDArray[np.bool_]:
    """The same where every row is a held-out side of its own: rows × candidates, and errors too."""
    with np.errstate(invalid="ignore"):
        own = values[:, :, :classes]
        largest = np.abs(own).max(axis=2)
        apart = np.abs(own[:, :, 0]) if own.shape[2] == 1 else _apart(own)
        good = np.isfinite(largest) & (apart > 2.0 * errors + LEAST_MARGIN * largest)
        if "predict_proba" in asked:
            good &= errors * _steepness(apart, classes) <= 0.5 * WITHIN
        if "decision_function" in asked:
            good &= 2.0 * errors <= WITHIN * np.abs(_decisions(values, classes)).max(axis=2)
    return np.asarray(good)


def _steepness(apart: Floats, classes: int) -> Floats:
    """How much of an error of discriminants reaches probabilities: little where one class is far ahead."""
    return np.asarray(np.minimum(1.0, classes * np.exp(-apart)))


def _margins(own: Floats) -> Floats:
    if own.shape[2] == 1:
        return np.asarray(np.abs(own[:, :, 0]).min(axis=0, initial=np.inf))
    return np.asarray(_apart(own).min(axis=0, initial=np.inf))


def _apart(own: Floats) -> Floats:
    """How far the largest number of each row is above the next."""
    if own.shape[2] == 2:
        return np.asarray(np.abs(own[:, :, 1] - own[:, :, 0]))
    two = np.partition(own, own.shape[2] - 2, axis=2)[:, :, -2:]
    return np.asarray(two[:, :, 1] - two[:, :, 0])


def _decisions(values: Floats, classes: int) -> Floats:
    """Decision values, rows × candidates × numbers."""
    if classes == 2 and values.shape[2] == 2:
        return np.asarray(values[:, :, 1:] - values[:, :, :1])
    return values[:, :, :classes] + values[:, :, classes:] if values.shape[2] > classes else values


def responses_of(form: Form, task: Task, values: Floats, asked: frozenset[str]) -> list[Responses]:
    """What an estimator of this form answers for each candidate, from rows × candidates × numbers."""
    assert task.classes is not None, "discriminants are claimed for single-output classification only"
    labels = task.classes
    if not form.quadratic and labels.dtype.kind in "UO":
        labels = np.asarray(labels.tolist())  # scikit-learn keeps labels that are text in the narrowest type
    return [_responses(form, labels, values[:, place, :], asked) for place in range(values.shape[1])]


def _responses(form: Form, labels: NDArray[Any], values: Floats, asked: frozenset[str]) -> Responses:
    own = values[:, : len(labels)]
    codes = (own[:, 0] > 0).astype(np.intp) if own.shape[1] == 1 else own.argmax(axis=1)
    decision = proba = None
    if "decision_function" in asked:
        found = _decisions(values[:, None, :], len(labels))[:, 0, :]
        decision = np.ascontiguousarray(found[:, 0] if len(labels) == 2 else found)
    if "predict_proba" in asked:
        if own.shape[1] == 1:
            ahead = expit(own[:, 0])
            proba = np.stack([1 - ahead, ahead], axis=1)
        else:
            proba = np.exp(own - own.max(axis=1, keepdims=True))
            proba /= proba.sum(axis=1, keepdims=True)
    return Responses(predict=labels[codes], predict_proba=proba, decision_function=decision, classes=labels)
