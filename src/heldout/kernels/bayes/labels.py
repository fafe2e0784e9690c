"""Labels and probabilities from scores of classes, and where rounding may decide them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.sums.rounding import Bools, Floats

MARGIN = 4.0  # errors of two classes, on both sides
TOLERATED = 1e-10  # error of a probability: a tenth of the tier


def classes_first(values: Floats, classes: int) -> Floats:
    """Scores for rows × (candidates · classes) as classes × rows × candidates, which is fast to compare."""
    rows, width = values.shape
    return np.ascontiguousarray(values.reshape(rows, width // classes, classes).transpose(2, 0, 1))


def best_two(scores: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The best class, the first of equals, and how far the next is behind, of scores whose first axis is classes."""
    codes = np.zeros(scores.shape[1:], dtype=np.intp)
    best, second = scores[0].copy(), np.full(scores.shape[1:], -np.inf)
    for code, score in enumerate(scores[1:], start=1):
        codes[score > best] = code
        np.maximum(second, np.minimum(best, score), out=second)
        np.maximum(best, score, out=best)
    return codes, np.subtract(best, second, out=best)


def doubtful(margin: Floats, errors: Floats, classes: int, *, proba: bool) -> Bools:
    """Where scores with errors up to these may have another best class, or a probability past the tier."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        certain = margin >= MARGIN * errors  # an exact tie is certain where nothing was rounded
        if proba:
            certain &= errors * np.minimum(1.0, classes * np.exp(-margin)) <= TOLERATED
    return np.asarray(~certain)


def probabilities(scores: Floats) -> Floats:
    """exp(score − log Σ exp score) over the first axis, in the order of operations that scikit-learn has."""
    best = scores.max(axis=0)
    equal = scores == best
    with np.errstate(under="ignore", invalid="ignore"):
        others = np.where(equal, 0.0, np.exp(scores - best)).sum(axis=0)
        ties = equal.sum(axis=0)
        total = np.log1p(others / ties) + np.log(ties) + best
        return np.asarray(np.exp(scores - total).transpose(1, 2, 0))
