"""The ratio of jackknives: by how much leaving out a block spreads an estimate more when the others are fitted anew.

The spread of rows tells how far a mean over test rows is off, but not what the same rows add as training rows. Leave
out block i altogether and cross-validate on the others: over the blocks these estimates spread for both reasons. The
means of the study's own losses outside block i spread for the first reason alone. The ratio of the two variances
widens the spread of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.intervals.bht import Repetition, count_blocks
from heldout.risk.intervals.ends import ROUNDING, interval_around
from heldout.risk.intervals.shapes import Ends, log_ends, wilson_ends
from heldout.risk.intervals.spread import standard_deviation
from heldout.risk.record import Floats, of_right_and_wrong

METHOD = "ratio of jackknives"


def variance_ratio(repetitions: Sequence[Repetition]) -> float:
    """V_J/V_0, at least 1 and at most K, each variance a mean over repetitions.

    V = (K−1)/K·Σ(θ_(i) − θ̄)². In V_J, θ_(i) is the mean over the other blocks j of the loss on j of the predictor
    trained without i and j; in V_0 it is the mean over them of the losses of the study's own predictors. Where V_0
    alone is 0 the ratio is K, where V_J is, 1.

    >>> folds = tuple(np.array(block) for block in ([0.0, 1.0], [1.0, 1.0], [0.0, 0.0]))
    >>> inner = np.array([[0.0, 0.9, 0.1], [0.7, 0.0, 0.0], [1.0, 1.0, 0.0]])
    >>> round(variance_ratio([Repetition(folds=folds, inner=inner)]), 3)
    1.853
    """
    k = count_blocks(repetitions, METHOD)
    others = ~np.eye(k, dtype=bool)
    inner = np.array([one.inner for one in repetitions])
    outer = np.array([[fold.mean() for fold in one.folds] for one in repetitions])
    plain = np.broadcast_to(outer[:, None, :], inner.shape)  # the same predictors whatever block is left out
    scale = float(max(np.max(np.abs(inner[:, others])), np.max(np.abs(outer)))) or 1.0  # squares then stay finite
    refitted, kept = (_jackknife_variance(losses[:, others] / scale, k) for losses in (inner, plain))
    nothing = ROUNDING**2
    if refitted <= nothing:
        return 1.0
    return float(k) if kept <= nothing else min(max(refitted / kept, 1.0), float(k))


def _jackknife_variance(losses: Floats, k: int) -> float:
    """The mean over repetitions; each has K runs of K − 1 losses, those outside each block."""
    without = losses.reshape(len(losses), k, k - 1).mean(axis=2)
    away = without - without.mean(axis=1, keepdims=True)
    return float(np.mean((k - 1) / k * np.sum(away**2, axis=1)))


def ratio(repetitions: Sequence[Repetition], *, value: float, low: float, high: float, level: float) -> Interval:
    """The interval of the expected risk at the training size of the folds: se² = s²/n·V_J/V_0.

    Right and wrong get Wilson's shape with n·V_0/V_J rows, losses that are bounded below alone a t interval of the
    logarithm, others a plain one, with n − 1 degrees of freedom.

    Parameters
    ----------
    repetitions : sequence of Repetition
        The losses that tell the spread: s², V_J and V_0 are each averaged over them.
    value : float
        The plain estimate, around which the interval lies.
    low, high : float
        The range of the loss.
    level : float
        The probability to cover, as 0.95.

    Examples
    --------
    >>> folds = tuple(np.array(block) for block in ([1.0, 2.0], [2.0, 2.0], [1.0, 1.0]))
    >>> found = ratio([Repetition(folds=folds, inner=np.ones((3, 3)))], value=1.5, low=0.0, high=np.inf, level=0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (1.023, 2.2)
    """
    widened = variance_ratio(repetitions)
    rows = [np.concatenate(one.folds) for one in repetitions]
    n = len(rows[0])
    if all(of_right_and_wrong(one, low, high) for one in rows):
        share = min(max(value - low, 0.0), 1.0)
        ends = _moved(low, wilson_ends(share, n / widened, float(ndtri(0.5 + level / 2))))
    else:
        deviations = np.array([standard_deviation(one) for one in rows])
        largest = float(deviations.max()) or 1.0
        error = largest * sqrt(float(np.mean((deviations / largest) ** 2)) * widened / n)
        quantile = float(stdtrit(n - 1, 0.5 + level / 2))
        if isfinite(low) and not isfinite(high) and value > low:
            ends = _moved(low, log_ends(value - low, error, quantile))
        else:
            ends = value - quantile * error, value + quantile * error
    return interval_around(value, *ends, level=level, method=METHOD, guarantee="heuristic")


def _moved(by: float, ends: Ends) -> Ends:
    return by + ends[0], by + ends[1]
