"""Labels and probabilities from class scores, and which rows are too near a tie to be sure of them.

Rows that may be decided by rounding error are scored a second time by a more exact formula (`Direct`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.sums.rounding import EPS, ROUNDINGS, Bools, Floats

BLOCK_NUMBERS = 1 << 20  # squares in memory at a time
MARGIN = 4.0  # how many error bounds the best class must lead by: both scores may be off, either way
TOLERATED = 1e-10  # error of a probability: a tenth of the tier


def classes_first(values: Floats, classes: int) -> Floats:
    """Reorder scores from rows × (candidates · classes) to classes × rows × candidates, which is fast to compare."""
    rows, width = values.shape
    return np.ascontiguousarray(values.reshape(rows, width // classes, classes).transpose(2, 0, 1))


def best_two(scores: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return the best class (the first among equals), and how far the second is behind. The first axis is classes."""
    codes = np.zeros(scores.shape[1:], dtype=np.intp)
    best, second = scores[0].copy(), np.full(scores.shape[1:], -np.inf)
    for code, score in enumerate(scores[1:], start=1):
        codes[score > best] = code
        np.maximum(second, np.minimum(best, score), out=second)
        np.maximum(best, score, out=best)
    return codes, np.subtract(best, second, out=best)


def label_rows(values: Floats, classes: int, codes: NDArray[np.intp], shares: Floats | None) -> Floats:
    """Write the best classes into `codes` and probabilities into `shares`; return how far the second class is behind.

    `values` are rows × (candidates · classes), or rows × candidates where they are differences of two classes' scores.
    """
    if values.shape == codes.shape:
        np.greater(values, 0.0, out=codes, casting="unsafe")
        return np.abs(values, out=values)
    by_class = classes_first(values, classes)
    codes[:], margin = best_two(by_class)
    if shares is not None:
        shares[:] = probabilities(by_class)
    return margin


def doubtful(margin: Floats, errors: Floats, classes: int, *, proba: bool) -> Bools:
    """Return where scores with errors up to `errors` may change the best class, or move a probability past the tier."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        certain = margin >= MARGIN * errors  # an exact tie is certain where nothing was rounded
        if proba:
            certain &= errors * np.minimum(1.0, classes * np.exp(-margin)) <= TOLERATED
    return np.asarray(~certain)


def probabilities(scores: Floats) -> Floats:
    """Return exp(score − log Σ exp score) over the first axis, in scikit-learn's order of operations."""
    best = scores.max(axis=0)
    equal = scores == best
    with np.errstate(under="ignore", invalid="ignore"):
        others = np.where(equal, 0.0, np.exp(scores - best)).sum(axis=0)
        ties = equal.sum(axis=0)
        total = np.log1p(others / ties) + np.log(ties) + best
        return np.asarray(np.exp(scores - total).transpose(1, 2, 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Direct:
    """Holds what scores a row directly, class by class: base − ½ Σ (x − mean)² · inverse."""

    means: Floats  # classes × columns
    mean_errors: Floats  # classes × columns: errors of the means
    inverse: Floats  # candidates × classes × columns
    base: Floats  # candidates × classes
    size: Floats  # candidates × classes: the sum of the absolute terms of the base
    error: Floats  # candidates: relative errors of variances

    @property
    def block(self) -> int:
        """How many rows are scored at a time, so that their squares fit in memory."""
        return max(1, BLOCK_NUMBERS // max(1, self.means.size))


def score_directly(direct: Direct, x: Floats, *, proba: bool) -> tuple[NDArray[np.intp], Floats | None, Bools]:
    """Score rows by `Direct`.

    Return class codes (rows × candidates), probabilities if `proba`, and where both are sure.
    """
    classes = len(direct.means)
    scores = np.empty((classes, len(x), len(direct.base)))
    bounds = np.empty_like(scores)
    relative = ROUNDINGS * EPS + direct.error
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        for place in range(classes):
            inverse = direct.inverse[:, place]
            offset = x - direct.means[place]
            distance = (offset**2) @ inverse.T
            moved = np.abs(offset) @ (inverse * direct.mean_errors[place]).T
            scores[place] = direct.base[:, place] - 0.5 * distance
            bounds[place] = relative * (distance + direct.size[:, place]) + moved
        codes, _ = best_two(scores)
        best = np.take_along_axis(scores, codes[None], axis=0)
        both = bounds + np.take_along_axis(bounds, codes[None], axis=0)
        behind = best - scores
        np.put_along_axis(behind, codes[None], np.inf, axis=0)
        certain = (behind >= 0.5 * MARGIN * both).all(axis=0)
        if proba:
            certain &= (both * np.exp(-behind)).sum(axis=0) <= TOLERATED
        found = probabilities(scores) if proba else None
    return codes, found, np.asarray(certain)
