"""The interval of Bates, Hastie and Tibshirani (2023), from predictors trained without two blocks at a time.

How far a K-fold estimate is off cannot be read off its own folds. But leave out block i altogether, cross-validate on
the others, and block i tells how far that estimate was off. Averaged over blocks and over repetitions this is the
mean squared error of a (K−1)-fold estimate, and scaled, that of the K-fold estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtri

from heldout.base.errors import OptionError
from heldout.risk.estimate import Interval
from heldout.risk.intervals.spread import standard_deviation
from heldout.risk.record import Floats

METHOD = "Bates–Hastie–Tibshirani"
REPETITIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repetition:
    """One drawing of K blocks, lower losses are better.

    `folds[i]` holds the row losses on block i of the predictor trained on all other blocks. `inner[i, j]` is the mean
    loss on block j of the predictor trained without the blocks i and j; its diagonal is not read.
    """

    folds: tuple[Floats, ...]
    inner: Floats  # K × K


@dataclass(frozen=True, slots=True, kw_only=True)
class Bht:
    """What the repetitions say, for a learner trained on all rows."""

    centre: float  # Err_CV less its bias, the risk at all n rows
    se: float
    err_cv: float  # at n(K−1)/K rows
    err_inner: float  # at n(K−2)/K rows
    mse: float  # before it is clipped; may be negative
    interval: Interval


def count_blocks(repetitions: Sequence[Repetition], method: str) -> int:
    """K, the same in all repetitions and at least three, or a refusal that names the method."""
    blocks = {len(one.folds) for one in repetitions}
    if len(blocks) != 1 or min(blocks) < 3:
        raise OptionError(f"{method} needs repetitions of one number of blocks, at least three.")
    return blocks.pop()


def bht(repetitions: Sequence[Repetition], *, level: float) -> Bht:
    """The interval of the expected risk at all n rows.

    For each repetition and block, a is the squared difference between the mean inner loss and the mean loss of the
    block, and b the variance of the latter. MSE = mean(a − b)·(K−1)/K, se = √MSE, never below sd/√n nor above
    √K·sd/√n; the centre is Err_inner − (1 + (K−2)/K)(Err_inner − Err_CV), which takes off the bias of training on
    fewer than all rows.

    Parameters
    ----------
    repetitions : sequence of Repetition
        Ten to twenty suffice.
    level : float
        The probability to cover, as 0.95.

    Examples
    --------
    >>> folds = tuple(np.array(block) for block in ([0.0, 1.0], [1.0, 1.0], [0.0, 0.0]))
    >>> found = bht([Repetition(folds=folds, inner=np.full((3, 3), 0.5))], level=0.95)
    >>> round(found.centre, 3), round(found.se, 3)
    (0.5, 0.236)
    """
    k = count_blocks(repetitions, METHOD)
    inner: list[float] = []
    outer: list[float] = []
    errors: list[float] = []  # standard errors of the means of blocks
    spread: list[float] = []
    for one in repetitions:
        sizes = np.array([len(fold) for fold in one.folds])
        if sizes.min() < 2:
            raise OptionError(
                "Bates–Hastie–Tibshirani needs the variance inside each block: at least two rows in each."
            )
        for i, fold in enumerate(one.folds):
            others = np.arange(k) != i
            inner.append(float(np.average(one.inner[i, others], weights=sizes[others])))
            outer.append(float(fold.mean()))
            errors.append(standard_deviation(fold) / sqrt(len(fold)))
        spread.append(standard_deviation(np.concatenate(one.folds)))
    n = int(sizes.sum())
    away = np.array(inner) - np.array(outer)
    scale = float(np.max(np.abs([away, errors]))) or 1.0  # squares of huge or tiny losses then stay finite
    mse = float(np.mean((away / scale) ** 2 - (np.array(errors) / scale) ** 2)) * (k - 1) / k
    naive = float(np.mean(spread)) / sqrt(n)
    se = min(max(scale * sqrt(max(mse, 0.0)), naive), sqrt(k) * naive)
    err_inner, err_cv = float(np.mean(inner)), float(np.mean(outer))
    centre = err_inner - (1 + (k - 2) / k) * (err_inner - err_cv)
    half = float(ndtri(0.5 + level / 2)) * se
    interval = Interval(low=centre - half, high=centre + half, level=level, method=METHOD, guarantee="heuristic")
    return Bht(centre=centre, se=se, err_cv=err_cv, err_inner=err_inner, mse=scale * scale * mse, interval=interval)
