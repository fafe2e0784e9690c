"""The factor κ by which an interval from the spread of rows is widened to cover the *expected* risk of a learner.

The spread of the row losses gives the error of a mean over test rows. A cross-validation estimate has a further error,
because the same rows also trained the predictors: its variance is about Var(ℓᵢ + m·rᵢ)/n, where rᵢ is the influence of
row i, as a training row, on the risk. κ is the root of the ratio of that variance to the variance of the rows alone.
Four parts of κ can be estimated without further fits; docs/intervals.md says how well. All of this is a rule of thumb,
so the guarantee is "heuristic".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.risk.record import Answers, Elsewhere, Floats, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Holds the sampling error of a weighted mean over rows."""

    error: float  # standard error
    units: int  # independent draws: distinct rows, or groups
    effective: float  # draws of equal weight that would weigh the mean as evenly
    skew: float  # of what single draws add to the mean

    @property
    def lean(self) -> float:
        """How far the mean is from normal: |skewness| over the root of the number of independent draws."""
        return abs(self.skew) / sqrt(self.units)


def end_to_end(parts: tuple[NDArray[np.generic], ...]) -> Floats:
    """Concatenate the numbers of all parts into one float array."""
    return np.concatenate(parts).astype(np.float64)


def mean_weights(record: Record, *, pooled: bool) -> Floats:
    """Return the weight of each held-out row in the estimate; the weights sum to 1.

    A mean of part means gives each part the same weight; a pooled mean gives each row the same weight. With declared
    row weights both follow these, and a part weighs as much as its rows.
    """
    if record.weights is not None:
        weights = end_to_end(record.weights)
        return weights / np.sum(weights)
    sizes = record.held_sizes
    if pooled or record.even:
        return np.full(int(np.sum(sizes)), 1.0 / float(np.sum(sizes)))
    return np.repeat(1.0 / (len(sizes) * sizes), sizes)


def mean_of(contributions: Floats, weights: Floats) -> float:
    """Return the weighted mean; if all contributions are equal it is exactly that value."""
    least, most = float(np.min(contributions)), float(np.max(contributions))
    return min(max(float(np.sum(weights * contributions)), least), most)


def sampling_of(record: Record, contributions: Floats, weights: Floats) -> Sampling:
    """Return the sampling error of the weighted mean of the rows' contributions.

    A row that is held out several times, by repeats or resamples, counts as one draw, since repeats bring no
    independent rows. Groups, if there are any, are the draws. If the record holds a sample of the rows, the error is
    that of the mean over all the rows that the sample stands for.
    """
    units, incidences = _units(record)
    away = contributions - mean_of(contributions, weights)
    scale = float(np.max(np.abs(away), initial=0.0))
    count = int(np.count_nonzero(np.bincount(units, weights=weights) > 0))
    still = Sampling(error=0.0, units=count, effective=float(count), skew=0.0)
    if scale == 0 or count < 2:
        return still
    sums = np.bincount(incidences, weights=weights * away / scale)
    sums = sums[np.bincount(incidences, weights=weights) > 0]
    square = float(np.mean(sums**2))
    if square == 0:  # whole groups cancel out
        return still
    error = len(sums) * sqrt(square / (count - 1))
    skew = float(np.mean(sums**3)) / square**1.5
    effective = effective_count(np.bincount(units, weights=weights))
    return Sampling(error=scale * error * sqrt(record.share), units=count, effective=effective, skew=skew)


def shrunken_mean(record: Record, contributions: Floats, weights: Floats) -> float:
    """Return the mean shrunk towards 0 by its sampling error, so that its square is not too large on average."""
    mean, error = mean_of(contributions, weights), sampling_of(record, contributions, weights).error
    return float(np.sign(mean)) * sqrt(max(mean * mean - error * error, 0.0))


def _units(record: Record) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return for each held-out row the code of its independent draw, and of that draw within the row's part."""
    parts = np.repeat(np.arange(record.parts), record.held_sizes)
    if record.grouped and record.groups is not None:
        names = np.concatenate(record.groups)
        _, units = np.unique(names, return_inverse=True)
        _, incidences = np.unique(parts * (int(units.max()) + 1) + units, return_inverse=True)
        return units, incidences
    every = np.arange(len(parts))
    if record.rows is None or (record.repeats == 1 and record.partition):
        return every, every
    _, units = np.unique(np.concatenate(record.rows), return_inverse=True)
    return units, every


def effective_draws(record: Record, weights: Floats) -> float:
    """Return the effective number of independent draws (rows or groups) under these weights (Kish)."""
    return effective_count(np.bincount(_units(record)[0], weights=weights))


def effective_count(totals: NDArray[Any]) -> float:
    """Return Kish's effective sample size of groups with these total weights: (Σw)²/Σw².

    >>> effective_count(np.array([1.0, 1.0, 1.0])), round(effective_count(np.array([8.0, 1.0, 1.0])), 2)
    (3.0, 1.52)
    """
    shares = totals / np.max(totals)
    return float(np.sum(shares) ** 2 / np.sum(shares**2))


PLAIN = 1.35  # κ if nothing is known of the fold predictors
SMOOTH = 1.2  # κ of regressors that were not asked about other rows: neighbours and other smoothers
OF_LOG, PER_DISAGREEMENT_OF_LOG = 1.05, 0.25
MANY_FOLDS = 1.2  # κ of classifiers where folds are so many that their predictors hardly differ, as in leave-one-out
STEADY, PER_DISAGREEMENT, MOST = 1.05, 0.85, 1.6  # κ of classifiers: base, slope per unit of disagreement, maximum
LEAST_SQUARES, LEAST_ABSOLUTE = 1.15, 1.1  # κ of least-squares learners, apart from their complexity, by loss
FOR_GROUPS = 1.3  # the smallest κ if groups are the independent draws
MOST_FOLDS = 20  # fold predictors of more parts differ too little to tell anything
MEMORISED = 0.2  # a training error below this share of the held-out error


def disagreement(record: Record) -> float | None:
    """Return how much the fold predictors disagree on the classes of the same rows; None if that is not known.

    This is the variance over predictors of being wrong on a row, averaged over rows, divided by the variance of the
    errors between held-out rows.
    """
    elsewhere, answers = record.elsewhere, record.answers
    if elsewhere is None or answers is None or not answers.classes:
        return None
    if _folds(record) > MOST_FOLDS or len(elsewhere.predicted) < 3:
        return None
    spread = float(np.var(end_to_end(answers.truth) != end_to_end(answers.predicted), ddof=1))
    if spread == 0:
        return None
    return float(np.mean(np.var(elsewhere.predicted != elsewhere.truth, axis=0, ddof=1))) / spread


def is_memorised(elsewhere: Elsewhere | None, answers: Answers) -> bool:
    """Return whether the fold predictors err far less often on their training rows than on held-out rows."""
    if elsewhere is None or not elsewhere.trained.any():
        return False
    inside = float(np.mean((elsewhere.predicted != elsewhere.truth)[elsewhere.trained]))
    return inside < MEMORISED * float(np.mean(end_to_end(answers.truth) != end_to_end(answers.predicted)))


def complexity(record: Record) -> float | None:
    """Return γ̂ = 1 − √(training MSE / held-out MSE), the share of noise that least squares fits; None if unknown."""
    elsewhere, answers = record.elsewhere, record.answers
    if not record.least_squares or record.parts == 1:
        return None
    if elsewhere is None or answers is None or answers.classes or not elsewhere.trained.any():
        return None
    inside = (elsewhere.truth - elsewhere.predicted) ** 2
    trained = float(np.mean(inside[elsewhere.trained]))
    outside = float(np.mean((end_to_end(answers.truth) - end_to_end(answers.predicted)) ** 2))
    if outside <= 0 or not np.isfinite(trained / outside):
        return None
    return float(np.clip(1 - sqrt(trained / outside), 0.0, 0.95))


def adaptive(record: Record, *, log: bool = False) -> float:
    """Return κ for losses of classes, from how much the fold predictors disagree; a fixed κ if that is not known.

    With `log` the slope is smaller: the log loss of a row changes little when its predicted class changes.
    """
    differ, answers = disagreement(record), record.answers
    memorised = answers is None or is_memorised(record.elsewhere, answers)
    if differ is None and record.elsewhere is not None and _folds(record) > MOST_FOLDS:
        return PLAIN if memorised else MANY_FOLDS
    if differ is None:
        return PLAIN
    kappa = OF_LOG + PER_DISAGREEMENT_OF_LOG * differ if log else min(STEADY + PER_DISAGREEMENT * differ, MOST)
    return max(kappa, PLAIN) if memorised else kappa


def of_numbers(record: Record) -> float:
    """Return κ for learners that predict numbers; for least squares it grows with the share of noise that they fit."""
    if (fitted := complexity(record)) is not None:
        return LEAST_SQUARES * (1 + fitted)
    return SMOOTH if record.elsewhere is None and record.answers is not None else PLAIN


def shift(record: Record, losses: Floats, weights: Floats, slopes: Floats | None) -> float:
    """Return the factor on κ for a common shift of all logits, as an error of the intercept or class shares causes it.

    If a learner's probabilities p fulfil Σw(y − p) = 0, training row i has the influence IFᵢ = w(y − p)/mean(w·p(1−p))
    on all logits. If one unit of logit changes the mean loss by D, row i contributes ℓᵢ + D·IFᵢ. The factor is the
    ratio of the standard errors with and without D·IFᵢ, at least 1.

    `losses` are the contributions of the rows to the estimate, `slopes` their derivatives by a common shift of the
    logits. None takes the derivative of an error count, by a kernel estimate at the threshold.
    """
    answers = record.answers
    if answers is None or answers.classes != 2 or answers.probability is None:
        return 1.0
    p = np.clip(end_to_end(answers.probability), 1e-12, 1 - 1e-12)
    if len(np.unique(p)) <= len(p) / 2:
        return 1.0
    y = (end_to_end(answers.truth) == answers.positive).astype(np.float64)
    by_class = np.ones(2) if answers.class_weights is None else answers.class_weights
    w = np.where(y == 1, by_class[answers.positive], by_class[1 - answers.positive])
    information = float(np.sum(weights * w * p * (1 - p)))
    if information <= 0:
        return 1.0
    pull = w * (y - p)
    if _are_balancing(by_class, y, answers.positive):
        # Balancing weights make the fit independent of the class shares: only differences within a class are left.
        for members in (y == 1, y == 0):
            pull[members] -= (
                float(np.sum(weights[members] * pull[members]) / np.sum(weights[members])) if members.any() else 0.0
            )
    influence = pull / information
    if slopes is None:
        slopes = at_threshold(p) * (1 - 2 * y)
    slope = shrunken_mean(record, slopes, weights)
    plain = sampling_of(record, losses, weights).error
    moved = sampling_of(record, losses + slope * influence, weights).error
    return moved / plain if moved > plain > 0 else 1.0


def _are_balancing(by_class: Floats, y: Floats, positive: int) -> bool:
    """Return whether unequal class weights give both classes about the same total weight (class_weight="balanced")."""
    share = float(np.mean(y))
    ours, others = by_class[positive] * share, by_class[1 - positive] * (1 - share)
    return bool(abs(ours - others) < 0.05 * (ours + others)) and not np.allclose(by_class, by_class[0])


def at_threshold(p: Floats) -> Floats:
    """Return for each row its kernel weight in the density estimate of the logits at 0, the threshold p = 1/2."""
    logits = np.log(p / (1 - p))
    width = kernel_width(logits)
    if width <= 0:
        return np.zeros(len(p))
    return np.asarray(np.exp(-0.5 * (logits / width) ** 2) / (width * sqrt(2 * np.pi)), dtype=np.float64)


def kernel_width(sample: Floats) -> float:
    """Return the bandwidth of a normal kernel for the density of a sample, by Silverman's rule."""
    quartiles, deviation = np.quantile(sample, (0.25, 0.75)), float(np.std(sample))
    robust = float(quartiles[1] - quartiles[0]) / 1.34
    return float(1.06 * (min(deviation, robust) if robust > 0 else deviation) * len(sample) ** -0.2)


def share_variance(record: Record) -> float | None:
    """Return the jackknife variance of the share of rows predicted positive; None if it is not known.

    It is K − 1 times the variance of that share over the K fold predictors.
    """
    elsewhere, answers = record.elsewhere, record.answers
    if elsewhere is None or answers is None or answers.classes != 2 or _folds(record) > MOST_FOLDS:
        return None
    shares = np.mean(elsewhere.predicted == answers.positive, axis=1)
    return None if len(shares) < 3 else float((len(shares) - 1) * np.var(shares, ddof=0))


def turning_rows(record: Record) -> Floats | None:
    """Return for each common row the variance of the fold predictors' answers; None if unknown or if all agree."""
    elsewhere, answers = record.elsewhere, record.answers
    if elsewhere is None or answers is None or len(elsewhere.predicted) < 3:
        return None
    turning = np.var(elsewhere.predicted == answers.positive, axis=0)
    return np.asarray(turning, dtype=np.float64) if turning.any() else None


def _folds(record: Record) -> int:
    return record.parts // record.repeats


def least(record: Record, kappa: float) -> float:
    """Return κ with its limits: 1 if nothing was trained or there is one part; at least FOR_GROUPS with groups."""
    if record.parts == 1 or not np.sum(record.train_sizes):
        return 1.0
    return max(kappa, FOR_GROUPS) if record.grouped else kappa
