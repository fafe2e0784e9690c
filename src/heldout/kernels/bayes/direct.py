"""Gaussian scores of rows in doubt, one square at a time: slower than products of matrices, and nothing cancels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.bayes.labels import MARGIN, TOLERATED, best_two, probabilities
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, Bools, Floats

BLOCK_NUMBERS = 1 << 20  # squares in memory at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Direct:
    """The score of a class: base − ½ Σ (x − mean)² · inverse."""

    means: Floats  # classes × columns
    mean_errors: Floats  # classes × columns: errors of the means
    inverse: Floats  # candidates × classes × columns
    base: Floats  # candidates × classes
    size: Floats  # candidates × classes: what the base is made of
    error: Floats  # candidates: relative errors of variances

    @property
    def block(self) -> int:
        """Rows whose squares are in memory at a time."""
        return max(1, BLOCK_NUMBERS // max(1, self.means.size))


def score_directly(direct: Direct, x: Floats, *, proba: bool) -> tuple[NDArray[np.intp], Floats | None, Bools]:
    """Class places for rows × candidates, probabilities where wanted, and where both are certain."""
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
