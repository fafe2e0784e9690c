"""Intervals of scores of whole sets: R², RMSE, balanced accuracy, F1, Matthews, AUC, and others by their influences.

If a score is a function of means, each row has an influence on it, and the variance of the score is that of the mean of
the influences. Each score uses the shape that keeps the interval within its range and covers best at small n
(docs/coverage.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite, sqrt

import numpy as np

from heldout.risk.intervals.auc import auc_ends
from heldout.risk.intervals.method import (
    LEANING,
    Ends,
    fisher_ends,
    hall_ends,
    log_ends,
    logit_ends,
    t_quantile,
    tilted,
    wilson_ends,
)
from heldout.risk.record import POOLED, Floats, Record
from heldout.risk.widening import (
    PLAIN,
    Sampling,
    at_threshold,
    complexity,
    effective_draws,
    end_to_end,
    least,
    mean_weights,
    of_numbers,
    sampling_of,
    share_variance,
    shift,
    turning_rows,
)

OF_COUNTS, OF_F1 = 1.3, 1.4  # κ of scores of a confusion matrix, apart from the factors for share and shift
OF_R2, OF_FITTED_R2 = 1.4, 1.3  # κ of R²: in general; for least squares, apart from its complexity
FEWEST = 2  # independent draws
MOST_SHARE = 2.0  # the largest factor for the share predicted positive: five predictors estimate it roughly
FEWEST_TO_BE_CONSTANT = 5  # rows of a part
UNKNOWN_SHARE = 1.6  # κ of scores of a confusion matrix if the fold predictors were not asked about other rows


def refuse_score(record: Record) -> str | None:
    """Return why a score of whole sets has no interval by rows; None if it has one, or may have one before any fit."""
    if not record.unknown and (worth := effective_draws(record, mean_weights(record, pooled=True))) < FEWEST:
        return f"the test {'groups' if record.grouped else 'rows'} tell no more than {worth:.1f} of equal weight would"
    if record.family == "auc":
        return None if record.unknown or record.answers is not None else "the scores of single rows were not kept"
    if record.pooled is None or record.pooled.influence is None:
        if record.unknown and record.family in POOLED:
            return None
        return (
            "this score belongs to whole sets and does not tell what single rows add to it; "
            "take one that is made of rows, or loss=heldout.row_loss(…)"
        )
    if record.family == "f1" and _is_nearly_constant(record):
        return "most of the fold predictors give every row the same class, and F1 then tells which class, not how well"
    return None


def _is_nearly_constant(record: Record) -> bool:
    answers = record.answers
    if answers is None or record.parts == 1:
        return False
    parts = [part for part in answers.predicted if len(part) >= FEWEST_TO_BE_CONSTANT]
    parts = parts or [end_to_end(answers.predicted)]  # all parts small, as in leave-one-out
    return 2 * sum(float(np.ptp(part)) == 0 for part in parts) > len(parts)


def score_ends(record: Record, value: float, level: float) -> tuple[Ends, str]:
    """Return the ends of the interval of a score in internal sign (lower is better), and the name of the method."""
    if record.family == "auc":
        return auc_ends(record, value, level)
    assert record.pooled is not None
    assert record.pooled.influence is not None
    influence, weights = end_to_end(record.pooled.influence), mean_weights(record, pooled=True)
    sampling = sampling_of(_by_blocks(record), influence, weights)
    quantile = quantile_of(sampling, level)
    shape = _SHAPES.get(record.family, _other)
    return shape(record, value, sampling, quantile)


def _by_blocks(record: Record) -> Record:
    """Return the record with its blocks as groups, if the influence of rows is only known per block."""
    if record.pooled is None or record.pooled.blocks is None or record.grouped:
        return record
    return replace(record, groups=record.pooled.blocks, grouped=True)


def _root(record: Record, value: float, sampling: Sampling, quantile: float) -> tuple[Ends, str]:
    """Return the interval of a root of a mean (RMSE), as the root of the interval of the mean."""
    mean, error = value * value, 2 * value * least(record, of_numbers(record)) * sampling.error
    leans, squares = sampling.lean > LEANING or mean <= 0, record.parts > 1 and not record.grouped
    (low, high), name = positive_ends(mean, error, quantile, sampling=sampling, leans=leans, squares=squares)
    return (sqrt(max(low, 0.0)), sqrt(max(high, 0.0))), name


def positive_ends(
    value: float, error: float, quantile: float, *, sampling: Sampling, leans: bool, squares: bool
) -> tuple[Ends, str]:
    """Return the interval of a positive mean and its name: Hall's if losses are very skewed, else on the log scale."""
    if leans:
        ends, name = hall_ends(value, error, quantile, skew=sampling.skew, draws=sampling.units), "Hall's t over rows"
    else:
        ends, name = log_ends(value, error, quantile), "t over rows, log scale"
    return (tilted(value, ends, draws=sampling.units, lean=sampling.lean) if squares else ends), name


def quantile_of(sampling: Sampling, level: float) -> float:
    """Return Student's quantile with the effective number of draws minus 1 degrees of freedom, at least 1."""
    return t_quantile(max(sampling.effective - 1, 1.0), level)


def _r2(record: Record, value: float, sampling: Sampling, quantile: float) -> tuple[Ends, str]:
    """Return the interval of −R², computed for log(1 − R²), which is nearer normal; `value` is −R²."""
    fitted = complexity(record)
    kappa = least(record, OF_R2 if fitted is None else OF_FITTED_R2)
    if fitted is not None and record.answers is not None:
        sampling = _of_fitted(record, fitted, sampling)
    left = 1 + value
    if left <= 0:
        return (value - quantile * kappa * sampling.error, value + quantile * kappa * sampling.error), "t over rows"
    low, high = log_ends(left, kappa * sampling.error, quantile)
    return (low - 1, high - 1), "t over rows, log scale"


def _of_fitted(record: Record, fitted: float, plain: Sampling) -> Sampling:
    """Return the sampling error of R² if least squares fit a share `fitted` of the noise, which affects only errors."""
    assert record.answers is not None
    truth, weights = end_to_end(record.answers.truth), mean_weights(record, pooled=True)
    errors = (truth - end_to_end(record.answers.predicted)) ** 2
    away = (truth - float(np.sum(weights * truth))) ** 2
    lost, spread = float(np.sum(weights * errors)), float(np.sum(weights * away))
    if lost <= 0 or spread <= 0:
        return plain
    return sampling_of(record, lost / spread * ((1 + fitted) * errors / lost - away / spread), weights)


def _recalls(record: Record, value: float, sampling: Sampling, quantile: float) -> tuple[Ends, str]:
    """Return the interval of minus a mean of recalls: Wilson's interval of each class, combined by MOVER.

    MOVER is the method of variance estimates recovery.
    """
    counts, _ = _counts(record)
    totals = counts.sum(axis=1)
    there = totals > 0
    recalls = np.diagonal(counts)[there] / totals[there]
    kappa = least(record, _of_counts(record) * _shared(record, sampling, _recalls_of, both=False))
    design = _design(record, sampling, counts)
    ends = [
        wilson_ends(float(share), float(total) / (kappa**2 * design), quantile)
        for share, total in zip(recalls, totals[there], strict=True)
    ]
    lower = sqrt(sum((share - end[0]) ** 2 for share, end in zip(recalls, ends, strict=True))) / len(recalls)
    upper = sqrt(sum((end[1] - share) ** 2 for share, end in zip(recalls, ends, strict=True))) / len(recalls)
    return (value - upper, value + lower), "Wilson per class"


def _f1(record: Record, value: float, sampling: Sampling, quantile: float) -> tuple[Ends, str]:
    """Return the interval of −F1, from Wilson's for J = TP/(TP + FP + FN), as F1 = 2J/(1 + J)."""
    counts, positive = _counts(record)
    right = float(counts[positive, positive])
    total = float(counts[positive].sum() + counts[:, positive].sum() - right)
    kappa = least(record, max(OF_F1, _of_counts(record)) * _shared(record, sampling, _f1_of, both=True))
    shown = -value
    share = shown / (2 - shown)
    low, high = wilson_ends(share, total / (kappa**2 * _design(record, sampling, counts)), quantile)
    return (-2 * high / (1 + high), -2 * low / (1 + low)), "Wilson over counts"


def _matthews(record: Record, value: float, sampling: Sampling, quantile: float) -> tuple[Ends, str]:
    """Return the interval of minus Matthews' correlation, by Fisher's z with half a row added to each count."""
    counts, positive = _counts(record)
    if counts.shape != (2, 2):
        return _other(record, value, sampling, quantile)
    cells = _four_counts(counts + 0.5, positive)
    middle, slopes = -_matthews_of(cells), _gradient(_matthews_of, cells)
    total = float(cells.sum())
    error = sqrt(float(np.sum(cells / total * slopes**2)) / total) * total
    kappa = least(record, _of_counts(record) * _shared(record, sampling, _matthews_of, both=True))
    design = _design(record, sampling, counts)
    low, high = fisher_ends(middle, kappa * sqrt(design) * error, quantile)
    return (-high, -low), "Fisher's z over counts"


def _other(record: Record, value: float, sampling: Sampling, quantile: float) -> tuple[Ends, str]:
    """Return the interval of any other score: on the logit scale if its range is bounded, else a plain t."""
    error = least(record, PLAIN) * sampling.error
    width = record.high - record.low
    if isfinite(width) and record.low < value < record.high:
        low, high = logit_ends((value - record.low) / width, error / width, quantile)
        return (record.low + width * low, record.low + width * high), "t over rows, logit scale"
    return (value - quantile * error, value + quantile * error), "t over rows"


_SHAPES: dict[str, Callable[[Record, float, Sampling, float], tuple[Ends, str]]] = {
    "root": _root,
    "r2": _r2,
    "recalls": _recalls,
    "f1": _f1,
    "matthews": _matthews,
}


def _of_counts(record: Record) -> float:
    return UNKNOWN_SHARE if record.elsewhere is None else OF_COUNTS


def _counts(record: Record) -> tuple[Floats, int]:
    """Return the confusion matrix (true × predicted), scaled to the number of distinct rows, and the positive class."""
    answers = record.answers
    assert answers is not None
    truth, predicted = (end_to_end(parts).astype(np.intp) for parts in (answers.truth, answers.predicted))
    weights = mean_weights(record, pooled=True)
    size = max(answers.classes, int(truth.max()) + 1, int(predicted.max()) + 1)
    counts = np.bincount(truth * size + predicted, weights=weights, minlength=size * size).reshape(size, size)
    rows = len(truth) if record.rows is None else len(np.unique(np.concatenate(record.rows)))
    return np.asarray(counts * rows, dtype=np.float64), answers.positive


def _design(record: Record, sampling: Sampling, counts: Floats) -> float:
    """Return the design effect: the factor by which groups or weights increase the variance, at least 1."""
    if not record.grouped and record.weights is None:
        return 1.0
    assert record.pooled is not None
    assert record.pooled.influence is not None
    influence, weights = end_to_end(record.pooled.influence), mean_weights(record, pooled=True)
    plain = float(np.sum(weights * influence**2)) / float(counts.sum())
    return max(1.0, sampling.error**2 / plain) if plain > 0 else 1.0


def _four_counts(counts: Floats, positive: int) -> Floats:
    """Return [TP, FP, FN, TN] for the positive class."""
    other = 1 - positive
    return np.array(
        [counts[positive, positive], counts[other, positive], counts[positive, other], counts[other, other]]
    )


# Scores of these four counts, negated: lower is better.
def _f1_of(cells: Floats) -> float:
    return float(-2 * cells[0] / max(2 * cells[0] + cells[1] + cells[2], 1e-300))


def _recalls_of(cells: Floats) -> float:
    return float(-0.5 * (cells[0] / max(cells[0] + cells[2], 1e-300) + cells[3] / max(cells[1] + cells[3], 1e-300)))


def _matthews_of(cells: Floats) -> float:
    tp, fp, fn, tn = cells
    return float((fp * fn - tp * tn) / sqrt(max((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn), 1e-300)))


def _gradient(function: Callable[[Floats], float], cells: Floats) -> Floats:
    """Return the numerical gradient of a smooth function of counts."""
    slopes = np.zeros(len(cells))
    for number in range(len(cells)):
        step = np.zeros(len(cells))
        step[number] = 1e-4 * max(float(cells[number]), 1.0)
        slopes[number] = (function(cells + step) - function(np.maximum(cells - step, 0))) / float(
            np.sum(np.minimum(step, cells) + step)
        )
    return slopes


def _shared(record: Record, sampling: Sampling, score: Callable[[Floats], float], *, both: bool) -> float:
    """Return the factor on κ for the random share of rows that a predictor calls positive, at least 1.

    With `both`, return the larger of this and the factor for a common shift of all probabilities.
    """
    answers = record.answers
    if answers is None or answers.classes != 2 or record.parts == 1 or sampling.error <= 0:
        return 1.0
    counts, positive = _counts(record)
    cells = _four_counts(counts, positive)
    by_share = _gradient(score, cells) * float(cells.sum())
    factor = 1.0
    if (variance := share_variance(record)) is not None:
        turning = turning_rows(record)
        share = 0.5
        if turning is not None and record.elsewhere is not None:
            share = float(np.average(record.elsewhere.truth == positive, weights=turning))
        slope = share * (by_share[0] - by_share[2]) + (1 - share) * (by_share[1] - by_share[3])
        factor = min(sqrt(1 + slope**2 * variance / sampling.error**2), MOST_SHARE)
    if both and answers.probability is not None and record.pooled is not None and record.pooled.influence is not None:
        p = np.clip(end_to_end(answers.probability), 1e-12, 1 - 1e-12)
        y = end_to_end(answers.truth) == positive
        moved = at_threshold(p) * np.where(y, by_share[0] - by_share[2], by_share[1] - by_share[3])
        weights = mean_weights(record, pooled=True)
        factor = max(factor, shift(record, end_to_end(record.pooled.influence), weights, moved))
    return factor
