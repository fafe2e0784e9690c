"""p-values: of paired differences, one for each interval method, and of a permutation test; and Holm's adjustment.

The null hypothesis of a paired test is that the mean difference is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy.special import bdtr, stdtr

from heldout.risk.comparison.differences import ROUNDING
from heldout.risk.comparison.five_by_two import five_by_two_mean
from heldout.risk.comparison.paired_rows import PAIRED_ROWS, Spread, spread_of
from heldout.risk.intervals.batch_means import BATCHES, in_time
from heldout.risk.intervals.betting import betting_p
from heldout.risk.intervals.method import Method, independent_draws, scaled_draws, standard_deviation
from heldout.risk.intervals.t_intervals import MOST_FREEDOM
from heldout.risk.record import Floats, Record

RESAMPLED = ("bootstrap-t", "bca")


def corrected_t_p(differences: Floats, *, test_ratio: float, centre: float | None = None) -> float:
    """The two-sided p-value of the corrected t (Nadeau & Bengio 2003), dual to :func:`corrected_t`.

    >>> round(corrected_t_p(np.array([0.1, 0.2, 0.3]), test_ratio=0.5), 4)
    0.1598
    """
    return _t_p(differences, 1 / len(differences) + test_ratio, centre)


def cautious_t_p(differences: Floats, *, test_ratio: float, centre: float | None = None) -> float:
    """The same with the degrees of freedom of five parts at most, dual to :func:`cautious_t`."""
    return _t_p(differences, 1 / len(differences) + test_ratio, centre, most=MOST_FREEDOM)


def student_p(differences: Floats, *, centre: float | None = None) -> float:
    """The two-sided p-value of the paired t test over independent rows, dual to :func:`student`.

    >>> round(student_p(np.array([0.0, 1.0, 2.0])), 4)
    0.2254
    """
    return _t_p(differences, 1 / len(differences), centre)


def _t_p(differences: Floats, share: float, centre: float | None, *, most: int | None = None) -> float:
    middle = float(np.mean(differences)) if centre is None else centre
    error = standard_deviation(differences) * sqrt(share)
    if middle == 0:
        return 1.0
    t = inf if error == 0 else abs(middle) / error
    freedom = len(differences) - 1
    return float(2 * stdtr(freedom if most is None else min(freedom, most), -t))


def inverted_p(method: Method, record: Record, value: float) -> float:
    """One less the largest level whose interval leaves 0 out: for methods with nested intervals.

    To a millionth, or a fourth of a thousandth where resampling could tell no more; always on the careful side.
    """
    low, high = 0.0, 1.0
    for _ in range(12 if method.key in RESAMPLED else 20):
        level = (low + high) / 2
        interval = method.interval(record, value, level)
        if interval.low <= 0 <= interval.high:
            high = level
        else:
            low = level
    return 1 - low


def spread_by(method: Method, record: Record) -> Spread | None:
    """The standard error of a method that takes the rows of several parts; None for any other."""
    if method.key == "batch-means":
        means = np.array([float(np.mean(batch)) for batch in np.array_split(in_time(record), BATCHES)])
        error = standard_deviation(means) / sqrt(BATCHES)
        return Spread(mean=float(np.mean(means)), error=error, freedom=BATCHES - 1)
    return spread_of(record) if method is PAIRED_ROWS else None


def p_of_method(method: Method, record: Record, value: float, level: float) -> float:
    """The p-value that goes with an interval method."""
    if (spread := spread_by(method, record)) is not None:
        return spread.p(value=value)
    if method.key in ("corrected-t", "cautious-t"):
        ratio = float(np.sum(record.held_sizes) / np.sum(record.train_sizes))
        p_value = corrected_t_p if method.key == "corrected-t" else cautious_t_p
        return p_value(record.fold_losses, test_ratio=ratio, centre=value)
    if method.key == "student":
        return student_p(independent_draws(record), centre=value)
    if method.key == "5x2":
        return five_by_two_mean(record.fold_losses)
    if method.key == "betting":
        return betting_p(scaled_draws(record), level=level, seed=record.seed)
    return inverted_p(method, record, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """How many rows only one of two predictors got wrong, and the exact two-sided p-value."""

    only_first: int  # wrong
    only_second: int
    p: float


def mcnemar(first: Floats, second: Floats) -> McNemar:
    """Compare zero-one losses on the same independent rows.

    Given how many rows only one predictor got wrong, each is the first's fault with probability one half where both
    err equally often: a binomial test, exact at any number of rows, and a little careful as counts are whole.

    >>> found = mcnemar(np.array([1.0, 1, 1, 1, 1, 1, 0, 1]), np.array([0.0, 0, 0, 0, 0, 0, 0, 1]))
    >>> found.only_first, found.only_second, found.p
    (6, 0, 0.03125)
    """
    only_first = int(np.sum((first != 0) & (second == 0)))
    only_second = int(np.sum((second != 0) & (first == 0)))
    fewer, both = min(only_first, only_second), only_first + only_second
    p = min(1.0, 2 * float(bdtr(fewer, both, 0.5))) if both else 1.0
    return McNemar(only_first=only_first, only_second=only_second, p=p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: rejecting where they are at most α errs in any of them with probability α at most.

    It asks nothing of how the tests depend on each other, and rejects all that Bonferroni does, and more.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return [float(one) for one in adjusted]


def permutation_p(loss: float, shuffled: Floats) -> float:
    """How probable so small a loss is where the target has nothing to do with the features: (1 + #)/(B + 1).

    # counts the shuffled targets whose loss is as small, ties within rounding and missing losses among them. The
    loss itself counts as one of the B + 1, which makes the test exact for any B.

    >>> permutation_p(0.1, np.array([0.5, 0.4, 0.1, np.nan]))
    0.6
    """
    finite = shuffled[np.isfinite(shuffled)]
    tie = ROUNDING * max(abs(loss), float(np.max(np.abs(finite), initial=0.0)))
    beaten = np.sum(shuffled > loss + tie)
    return float((1 + len(shuffled) - beaten) / (len(shuffled) + 1))
