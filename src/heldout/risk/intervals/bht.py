"""Intervals from predictors trained without two blocks: Bates–Hastie–Tibshirani, and the ratio of jackknives.

Both leave out block i and cross-validate on the other blocks. In the method of Bates, Hastie and Tibshirani (2023) the
loss on block i shows the error of that estimate. Its average over blocks and repetitions gives the mean squared error
of a (K−1)-fold estimate, which is scaled to that of the K-fold estimate.

In the ratio of jackknives, the estimates without block i vary because other rows test and because other rows train. The
means of the study's own losses outside block i vary for the first reason only. The interval is widened by the ratio of
the two variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from heldout.base.errors import OptionError
from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import (
    ROUNDING,
    Ends,
    interval_around,
    log_ends,
    standard_deviation,
    t_quantile,
    wilson_ends,
    z_quantile,
)
from heldout.risk.record import Floats, of_right_and_wrong

BHT_METHOD = "Bates–Hastie–Tibshirani"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repetition:
    """Holds the losses of one random division of the rows into K blocks; lower is better.

    `folds[i]` holds the row losses on block i of the predictor trained on all other blocks. `inner[i, j]` is the mean
    loss on block j of the predictor trained without the blocks i and j; its diagonal is not read.
    """

    folds: tuple[Floats, ...]
    inner: Floats  # K × K


@dataclass(frozen=True, slots=True, kw_only=True)
class Bht:
    """Holds the Bates–Hastie–Tibshirani estimate and interval, for a learner trained on all rows."""

    centre: float  # Err_CV minus its bias: the estimated risk at all n rows
    se: float
    interval: Interval


def _count_blocks(repetitions: Sequence[Repetition], method: str) -> int:
    """Return K; raise an error if the repetitions differ in K or have fewer than three blocks."""
    blocks = {len(repetition.folds) for repetition in repetitions}
    if len(blocks) != 1 or min(blocks) < 3:
        raise OptionError(f"{method} needs repetitions of one number of blocks, at least three.")
    return blocks.pop()


def bht(repetitions: Sequence[Repetition], *, level: float) -> Bht:
    """Return the Bates–Hastie–Tibshirani interval of the expected risk at all n rows.

    For each repetition and block, a is the squared difference between the mean inner loss and the mean loss of the
    block, and b the variance of the latter. MSE = mean(a − b)·(K−1)/K and se = √MSE, limited to sd/√n … √K·sd/√n. The
    centre is Err_inner − (1 + (K−2)/K)(Err_inner − Err_CV), which removes the bias of training on fewer than n rows.

    Ten to twenty repetitions suffice.

    >>> folds = tuple(np.array(block) for block in ([0.0, 1.0], [1.0, 1.0], [0.0, 0.0]))
    >>> found = bht([Repetition(folds=folds, inner=np.full((3, 3), 0.5))], level=0.95)
    >>> round(found.centre, 3), round(found.se, 3)
    (0.5, 0.236)
    """
    k = _count_blocks(repetitions, BHT_METHOD)
    inner, outer, spread = list[float](), list[float](), list[float]()
    errors: list[float] = []  # standard errors of the means of blocks
    for repetition in repetitions:
        sizes = np.array([len(fold) for fold in repetition.folds])
        if sizes.min() < 2:
            raise OptionError(f"{BHT_METHOD} needs the variance inside each block: at least two rows in each.")
        for i, fold in enumerate(repetition.folds):
            others = np.arange(k) != i
            inner.append(float(np.average(repetition.inner[i, others], weights=sizes[others])))
            outer.append(float(fold.mean()))
            errors.append(standard_deviation(fold) / sqrt(len(fold)))
        spread.append(standard_deviation(np.concatenate(repetition.folds)))
    n = int(sizes.sum())
    away = np.array(inner) - np.array(outer)
    scale = float(np.max(np.abs([away, errors]))) or 1.0  # squares of huge or tiny losses then stay finite
    mse = float(np.mean((away / scale) ** 2 - (np.array(errors) / scale) ** 2)) * (k - 1) / k
    naive = float(np.mean(spread)) / sqrt(n)
    se = min(max(scale * sqrt(max(mse, 0.0)), naive), sqrt(k) * naive)
    err_inner, err_cv = float(np.mean(inner)), float(np.mean(outer))  # at n(K−2)/K rows, and at n(K−1)/K
    centre = err_inner - (1 + (k - 2) / k) * (err_inner - err_cv)
    half = z_quantile(level) * se
    interval = Interval(low=centre - half, high=centre + half, level=level, method=BHT_METHOD, guarantee="heuristic")
    return Bht(centre=centre, se=se, interval=interval)


RATIO_METHOD = "ratio of jackknives"


def variance_ratio(repetitions: Sequence[Repetition]) -> float:
    """Return V_J/V_0, limited to 1 … K, each variance a mean over repetitions.

    V = (K−1)/K·Σ(θ_(i) − θ̄)². In V_J, θ_(i) is the mean over the other blocks j of the loss on j of the predictor
    trained without i and j; in V_0 it is the mean over j of the losses of the study's own predictors. The ratio is 1 if
    V_J is 0, and K if only V_0 is 0.

    >>> folds = tuple(np.array(block) for block in ([0.0, 1.0], [1.0, 1.0], [0.0, 0.0]))
    >>> inner = np.array([[0.0, 0.9, 0.1], [0.7, 0.0, 0.0], [1.0, 1.0, 0.0]])
    >>> round(variance_ratio([Repetition(folds=folds, inner=inner)]), 3)
    1.853
    """
    k = _count_blocks(repetitions, RATIO_METHOD)
    others = ~np.eye(k, dtype=bool)
    inner = np.array([repetition.inner for repetition in repetitions])
    outer = np.array([[fold.mean() for fold in repetition.folds] for repetition in repetitions])
    plain = np.broadcast_to(outer[:, None, :], inner.shape)  # the predictors stay the same whichever block is left out
    scale = float(max(np.max(np.abs(inner[:, others])), np.max(np.abs(outer)))) or 1.0  # squares then stay finite
    refitted, kept = (_jackknife_variance(losses[:, others] / scale, k) for losses in (inner, plain))
    nothing = ROUNDING**2
    if refitted <= nothing:
        return 1.0
    return float(k) if kept <= nothing else min(max(refitted / kept, 1.0), float(k))


def _jackknife_variance(losses: Floats, k: int) -> float:
    """Return the mean jackknife variance over repetitions; each has K runs of K − 1 losses, those outside a block."""
    without = losses.reshape(len(losses), k, k - 1).mean(axis=2)
    away = without - without.mean(axis=1, keepdims=True)
    return float(np.mean((k - 1) / k * np.sum(away**2, axis=1)))


def ratio(repetitions: Sequence[Repetition], *, value: float, low: float, high: float, level: float) -> Interval:
    """Return the interval of the expected risk at the training size of the folds, with se² = s²/n·V_J/V_0.

    Zero-one losses get Wilson's interval with n·V_0/V_J rows. Losses that are bounded only below get a t interval on
    the log scale, others a plain t interval, both with n − 1 degrees of freedom.

    s², V_J and V_0 are each averaged over the repetitions. The interval is placed around `value`, the plain estimate;
    `low` and `high` are the range of the loss.

    >>> folds = tuple(np.array(block) for block in ([1.0, 2.0], [2.0, 2.0], [1.0, 1.0]))
    >>> found = ratio([Repetition(folds=folds, inner=np.ones((3, 3)))], value=1.5, low=0.0, high=np.inf, level=0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (1.023, 2.2)
    """
    widened = variance_ratio(repetitions)
    rows = [np.concatenate(repetition.folds) for repetition in repetitions]
    n = len(rows[0])
    if all(of_right_and_wrong(repetition, low, high) for repetition in rows):
        share = min(max(value - low, 0.0), 1.0)
        ends = _moved(low, wilson_ends(share, n / widened, z_quantile(level)))
    else:
        deviations = np.array([standard_deviation(repetition) for repetition in rows])
        largest = float(deviations.max()) or 1.0
        error = largest * sqrt(float(np.mean((deviations / largest) ** 2)) * widened / n)
        quantile = t_quantile(n - 1, level)
        if isfinite(low) and not isfinite(high) and value > low:
            ends = _moved(low, log_ends(value - low, error, quantile))
        else:
            ends = value - quantile * error, value + quantile * error
    return interval_around(value, *ends, level=level, method=RATIO_METHOD, guarantee="heuristic")


def _moved(by: float, ends: Ends) -> Ends:
    return by + ends[0], by + ends[1]
