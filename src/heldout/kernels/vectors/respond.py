"""From duals to what a fitted machine answers on held-out rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _ovr_decision_function

from heldout.base.responses import Responses
from heldout.kernels.vectors.kernel_values import Floats
from heldout.kernels.vectors.machines import Machine
from heldout.kernels.vectors.solve import Solved

BORDER = 1e-12  # of all that is added up: nearer to zero than this, rounding decides on which side a row is


def values_of(solved: Solved, gram: Floats) -> Floats | None:
    """Held-out rows × columns of duals; None where rounding would decide a label."""
    values = np.asarray(gram @ solved.duals + solved.constants)
    if solved.classes is not None and len(gram):
        added = np.abs(gram).max() * np.abs(solved.duals).sum(axis=0) + np.abs(solved.constants)
        if (np.abs(values) <= BORDER * added).any():
            return None
    return values


def responses_of(machine: Machine, solved: Solved, values: Floats, methods: frozenset[str]) -> Responses:
    """What the fitted machine answers, from its values."""
    classes = solved.classes
    if classes is None:
        return Responses(predict=np.ascontiguousarray(values[:, 0]))
    decision = _decision(machine, values, classes) if "decision_function" in methods else None
    return Responses(predict=classes[_codes(machine, values, classes)], decision_function=decision, classes=classes)


def _codes(machine: Machine, values: Floats, classes: NDArray[np.generic]) -> NDArray[np.intp]:
    if len(classes) == 2:
        return (values[:, 0] >= 0).astype(np.intp)
    if machine.model.break_ties and machine.model.decision_function_shape == "ovr":
        return np.asarray(_decision(machine, values, classes).argmax(axis=1))
    votes = np.zeros((len(values), len(classes)), dtype=np.intp)
    first, second = np.triu_indices(len(classes), k=1)
    for pair, (one, other) in enumerate(zip(first, second, strict=True)):
        wins = values[:, pair] > 0
        votes[wins, one] += 1
        votes[~wins, other] += 1
    return np.asarray(votes.argmax(axis=1))


def _decision(machine: Machine, values: Floats, classes: NDArray[np.generic]) -> Floats:
    if len(classes) == 2:
        return np.ascontiguousarray(values[:, 0])
    if machine.model.decision_function_shape == "ovr":
        return np.asarray(_ovr_decision_function(values < 0, -values, len(classes)))
    return values
