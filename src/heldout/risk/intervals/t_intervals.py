"""Student's t intervals and p-values, over the rows or groups of one test set and over the mean losses of parts.

The corrected t of Nadeau and Bengio is for folds or resamples. The cautious t is the same with at most four degrees of
freedom, and is the default if row losses are not known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import (
    Method,
    count_draws,
    independent_draws,
    refuse_few,
    refuse_other_than_one_test_set,
    refuse_unequal_draws,
    standard_deviation,
    symmetric,
    t_quantile,
)
from heldout.risk.record import Floats, Record
from heldout.risk.widening import effective_count

MOST_FREEDOM = 4  # of the cautious t: the degrees of freedom of five folds


def student(losses: Floats, *, level: float, centre: float | None = None) -> Interval:
    """Return Student's interval of a mean over independent rows, mean ± t·s/√n with n − 1 degrees of freedom.

    It is exact only for normal losses; with heavy tails it needs many rows to reach its level. `centre` replaces the
    mean as the middle of the interval (None: the mean), here and in the functions below.

    >>> interval = student(np.array([0.0, 1.0, 2.0]), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-1.4841, 3.4841)
    """
    n = len(losses)
    half = t_quantile(n - 1, level) * standard_deviation(losses) / sqrt(n)
    return symmetric(_middle(losses, centre), half, level=level, method="Student", guarantee="asymptotic")


def student_p(differences: Floats, *, centre: float | None = None) -> float:
    """Return the two-sided p-value of the paired t test over independent rows; it matches :func:`student`.

    >>> round(student_p(np.array([0.0, 1.0, 2.0])), 4)
    0.2254
    """
    return corrected_t_p(differences, test_ratio=0.0, centre=centre)


def _middle(losses: Floats, centre: float | None) -> float:
    return float(np.mean(losses)) if centre is None else centre


STUDENT = Method(
    key="student",
    name="Student",
    refusal=lambda record: refuse_unequal_draws(record) or refuse_few(count_draws(record), record=record),
    interval=lambda record, value, level: student(independent_draws(record), level=level, centre=value),
    p=lambda record, value, level: student_p(independent_draws(record), centre=value),
)


def cluster_t(
    losses: Floats,
    *,
    level: float,
    groups: NDArray[np.integer] | None = None,
    weights: Floats | None = None,
    centre: float | None = None,
) -> Interval:
    """Return the interval of a weighted mean over rows if only the groups are independent.

    The mean is a ratio of two sums over groups, Σw·loss over Σw, with the variance G/(G−1)·Σ_g(Σ_{i∈g} w_i(loss_i −
    mean))²/(Σw)². The t has G' − 1 degrees of freedom with the effective number of groups G' = (ΣW_g)²/ΣW_g². With
    `groups` None each row is a group; without weights and groups this is Student's interval.

    >>> losses = np.array([0.0, 0.2, 1.0, 1.2, 3.0])
    >>> interval = cluster_t(losses, level=0.95, groups=np.array([0, 0, 1, 1, 2]))
    >>> round(interval.low, 4), round(interval.high, 4)
    (-2.1876, 4.3476)
    """
    rows = np.ones(len(losses)) if weights is None else weights / np.max(weights)
    codes = np.arange(len(losses)) if groups is None else np.unique(groups, return_inverse=True)[1]
    totals = np.bincount(codes, weights=rows)
    count = int(np.count_nonzero(totals))
    mean = float(np.average(losses, weights=rows))
    away = losses - mean
    scale = float(np.max(np.abs(away[rows > 0])))
    sums = np.bincount(codes, weights=rows * away / scale) if scale > 0 else np.zeros(len(totals))
    error = scale * sqrt(count / (count - 1) * float(np.sum(sums**2))) / float(np.sum(rows))
    half = t_quantile(effective_count(totals) - 1, level) * error
    return symmetric(mean if centre is None else centre, half, level=level, method="cluster t", guarantee="asymptotic")


def _cluster_refusal(record: Record) -> str | None:
    if (reason := refuse_other_than_one_test_set(record)) is not None:
        return reason
    groups, weights = _groups_and_weights(record)
    totals: NDArray[Any] = np.ones(int(record.held_sizes[0])) if weights is None else weights
    if groups is not None:
        totals = np.bincount(np.unique(groups, return_inverse=True)[1], weights=totals)
    count = int(np.count_nonzero(totals))
    return refuse_few(count, effective_count(totals) if count else 0.0, record=record)


def _groups_and_weights(record: Record) -> tuple[NDArray[Any] | None, Floats | None]:
    groups = record.groups[0] if record.grouped and record.groups is not None else None
    return groups, None if record.weights is None else record.weights[0]


def _cluster_interval(record: Record, value: float, level: float) -> Interval:
    assert record.row_losses is not None  # refused above
    groups, weights = _groups_and_weights(record)
    return cluster_t(record.row_losses[0], level=level, groups=groups, weights=weights, centre=value)


CLUSTER_T = Method(key="cluster-t", name="cluster t", refusal=_cluster_refusal, interval=_cluster_interval)


def corrected_t(
    losses: Floats, *, test_ratio: float, level: float, centre: float | None = None, most: float = inf
) -> Interval:
    """Return the corrected t interval of an expected risk from the mean losses of J splits that share training rows.

    The variance is s²(1/J + n_test/n_train) with J − 1 degrees of freedom (Nadeau & Bengio 2003); `test_ratio` is
    n_test/n_train. The second term accounts for the correlation of splits that share rows. It does not shrink with J,
    since more repeats on the same rows bring no independent information. It is a rule of thumb: no unbiased estimator
    of the variance of K-fold cross-validation exists (Bengio & Grandvalet 2004), so the guarantee is "heuristic".
    `most` limits the degrees of freedom.

    >>> interval = corrected_t(np.array([0.1, 0.2, 0.3]), test_ratio=0.5, level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.1928, 0.5928)
    """
    method = CORRECTED_T.name if most == inf else CAUTIOUS_T.name
    half = t_quantile(min(len(losses) - 1, most), level) * _error(losses, test_ratio)
    return symmetric(_middle(losses, centre), half, level=level, method=method, guarantee="heuristic")


def _error(losses: Floats, test_ratio: float) -> float:
    return standard_deviation(losses) * sqrt(1 / len(losses) + test_ratio)


def corrected_t_p(differences: Floats, *, test_ratio: float, centre: float | None = None, most: float = inf) -> float:
    """Return the two-sided p-value of the corrected t; it matches :func:`corrected_t`.

    >>> round(corrected_t_p(np.array([0.1, 0.2, 0.3]), test_ratio=0.5), 4)
    0.1598
    """
    middle, error = _middle(differences, centre), _error(differences, test_ratio)
    if middle == 0:
        return 1.0
    t = inf if error == 0 else abs(middle) / error
    return float(2 * stdtr(min(len(differences) - 1, most), -t))


# Splits of the same rows are correlated, so more splits do not improve the estimate of the error of their mean. With
# J − 1 degrees of freedom intervals over repeats and resamples miss too often (`make coverage`).
cautious_t = partial(corrected_t, most=MOST_FREEDOM)
cautious_t_p = partial(corrected_t_p, most=MOST_FREEDOM)


def held_to_trained(record: Record) -> float:
    """Return the total number of held-out rows over the total number of training rows."""
    return float(np.sum(record.held_sizes) / np.sum(record.train_sizes))


def _refuse_parts(record: Record) -> str | None:
    # Groups are accepted: each lies within one part, and parts are the draws here.
    if record.parts < 2:
        return "it needs the spread of several held-out parts, and there is one"
    if record.leaves_one_out:
        return (
            "leave-one-out gives a point estimate: its training sets share all rows but two, "
            "so its losses do not tell how far it is off; KFold gives an interval"
        )
    if not np.sum(record.train_sizes):
        return "nothing was trained, so the parts share no training rows to correct for"
    if record.timed:
        return "the parts follow each other in time, so they are neither independent nor of one training size"
    return None


def _over_parts(key: str, name: str, interval: Callable[..., Interval], p: Callable[..., float]) -> Method:
    return Method(
        key=key,
        name=name,
        refusal=_refuse_parts,
        interval=lambda record, value, level: interval(
            record.fold_losses, test_ratio=held_to_trained(record), level=level, centre=value
        ),
        p=lambda record, value, level: p(record.fold_losses, test_ratio=held_to_trained(record), centre=value),
    )


CORRECTED_T = _over_parts("corrected-t", "corrected t", corrected_t, corrected_t_p)
CAUTIOUS_T = _over_parts("cautious-t", "cautious t", cautious_t, cautious_t_p)
