"""Gaussian scores of rows in doubt, one square at a time: slower than products of matrices, and nothing cancels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.bayes.doubt import EPS, GAP, ROUNDINGS, TOLERATED, best_two, probabilities
from heldout.kernels.ridge.design import Floats

BLOCK_NUMBERS = 1 << 20  # squares in memory at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Direct:
    """The score of a class: base − ½ Σ (x − mean)² · inverse."""

    means: Floats  # classes × columns
    shaky: Floats  # classes × columns: errors of the means
    inverse: Floats  # candidates × classes × columns
    base: Floats  # candidates × classes
    size: Floats  # candidates × classes: what the base is made of
    error: Floats  # candidates: relative errors of variances

    @property
    def block(self) -> int:
        """Rows whose squares are in memory at a time."""
        return max(1, BLOCK_NUMBERS // max(1, self.means.size))


def settle(direct: Direct, x: Floats, *, proba: bool) -> tuple[NDArray[np.intp], Floats | None, NDArray[np.bool_]]:
    """Class places for rows × candidates, probabilities where wanted, and where both are sure."""
    classes = len(direct.means)
    scores = np.empty((classes, len(x), len(direct.base)))
    bounds = np.empty_like(scores)
    relative = ROUNDINGS * EPS + direct.error
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        for place in range(classes):
            inverse = direct.inverse[:, place]
            away = x - direct.means[place]
            inside = (away**2) @ inverse.T
            moved = np.abs(away) @ (inverse * direct.shaky[place]).T
            scores[place] = direct.base[:, place] - 0.5 * inside
            bounds[place] = relative * (inside + direct.size[:, place]) + moved
        codes, _ = best_two(scores)
        best = np.take_along_axis(scores, codes[None], axis=0)
        both = bounds + np.take_along_axis(bounds, codes[None], axis=0)
        behind = best - scores
        np.put_along_axis(behind, codes[None], np.inf, axis=0)
        sure = (behind >= 0.5 * GAP * both).all(axis=0)
        if proba:
            sure &= (both * np.exp(-behind)).sum(axis=0) <= TOLERATED
        found = probabilities(scores) if proba else None
    return codes, found, np.asarray(sure)
