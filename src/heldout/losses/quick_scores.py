"""Fast versions of some of scikit-learn's set scores: the same arithmetic without its slow input checks.

These checks take longer than a small fit. If scikit-learn would warn or raise an error, these functions return None, so
that scikit-learn is called and reports it itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.losses.loss import Loss
from heldout.losses.scorers import ScorerParts, scorer_parts

Counts = NDArray[np.float64]  # a confusion matrix: true labels × predicted labels
_KNOWN = {  # the responses and the options for which a score has a fast version
    "balanced_accuracy_score": ({"predict"}, set[str]()),
    "f1_score": ({"predict"}, {"average", "pos_label"}),
    "matthews_corrcoef": ({"predict"}, set[str]()),
    "roc_auc_score": ({"decision_function", "predict_proba"}, set[str]()),
}


def quick_score(loss: Loss, y: NDArray[Any], responses: Responses) -> float | None:
    """Return the loss of unweighted rows, lower is better; None if scikit-learn has to be called."""
    parts, classes = _known(loss), responses.classes
    if parts is None or not isinstance(classes, np.ndarray) or y.ndim != 1 or y.dtype != classes.dtype:
        return None
    if parts.known_name == "roc_auc_score":
        return _area(parts, y, responses)
    predicted = responses.predict
    if predicted is None or predicted.ndim != 1 or predicted.dtype != y.dtype:
        return None
    labels, cells = cells_of(y, predicted, classes)
    score = score_of_counts(loss, labels)
    if score is None or not np.isin(labels, classes).all():
        return None
    return score(np.bincount(cells, minlength=len(labels) ** 2).reshape(len(labels), -1).astype(np.float64))


def cells_of(y: NDArray[Any], predicted: NDArray[Any], classes: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the labels of a confusion matrix, sorted, and for each row its cell in the flattened matrix.

    Sorting all labels would be most of the work, so they are looked up among the classes where they are known.
    """
    both = np.concatenate([y, predicted])
    labels, codes = classes, None
    if isinstance(classes, np.ndarray) and classes.dtype == both.dtype:
        codes = np.searchsorted(classes, both).clip(max=len(classes) - 1)
    if codes is None or not np.array_equal(classes[codes], both):
        labels, codes = np.unique(both, return_inverse=True)
    else:
        there = np.bincount(codes, minlength=len(classes)) > 0
        labels, codes = classes[there], (np.cumsum(there) - 1)[codes]
    return labels, codes[: len(y)] * len(labels) + codes[len(y) :]


def score_of_counts(loss: Loss, labels: NDArray[Any]) -> Callable[[Counts], float | None] | None:
    """Return the loss as a function of the confusion matrix of these labels; None if there is no fast version."""
    parts = _known(loss)
    if parts is None or parts.known_name == "roc_auc_score" or labels.dtype.kind not in "biuU" or len(labels) < 2:
        return None
    if parts.known_name == "balanced_accuracy_score":
        return _balanced_accuracy
    if parts.known_name == "matthews_corrcoef":
        return _matthews
    positive = np.flatnonzero(labels == parts.options.get("pos_label", 1))
    if len(labels) != 2 or len(positive) != 1 or parts.options.get("average", "binary") != "binary":
        return None
    return lambda counts: _f1(counts, positive[0])


def _known(loss: Loss) -> ScorerParts | None:
    parts = scorer_parts(loss.scorer)
    if parts is None or parts.sign < 0 or parts.known_name not in _KNOWN:
        return None
    methods, options = _KNOWN[parts.known_name]
    return parts if set(parts.methods) <= methods and set(parts.options) <= options else None


def _balanced_accuracy(counts: Counts) -> float | None:
    true = counts.sum(axis=1)
    return -float(np.mean(np.diagonal(counts) / true)) if true.all() else None


def _f1(counts: Counts, positive: int) -> float | None:
    total = counts[positive].sum() + counts[:, positive].sum()
    return -float(2 * counts[positive, positive] / total) if total else None


def _matthews(counts: Counts) -> float:
    true, called = counts.sum(axis=1), counts.sum(axis=0)
    rows = called.sum()
    spreads = (rows**2 - np.dot(called, called)) * (rows**2 - np.dot(true, true))
    return -float((np.trace(counts) * rows - np.dot(true, called)) / np.sqrt(spreads)) if spreads else 0.0


def _area(parts: ScorerParts, y: NDArray[Any], responses: Responses) -> float | None:
    """Return minus the area under the ROC curve of two classes; collinear points are dropped as scikit-learn does."""
    answers = (getattr(responses, method) for method in parts.methods)
    scores, classes = next((answer for answer in answers if answer is not None), None), responses.classes
    if scores is None or classes is None or len(classes) != 2 or scores.dtype != np.float64:
        return None
    scores = scores[:, -1] if scores.ndim == 2 else scores
    positive = y == classes[1]
    if y.dtype.kind not in "biuU" or positive.all() or not positive.any() or not np.isin(y, classes).all():
        return None
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(y) - 1)  # of rows that share a score
    true = np.cumsum(positive[order], dtype=np.float64)[ends]
    false = 1 + ends - true
    if len(ends) > 2:
        corners = np.concatenate([[True], (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0), [True]])
        true, false = true[corners], false[corners]
    true, false = np.append(0.0, true), np.append(0.0, false)
    return -float(np.trapezoid(true / true[-1], false / false[-1]))
