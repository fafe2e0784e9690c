"""p-values: of paired differences, one for each interval method, and of a permutation test; and Holm's adjustment.

The null hypothesis of a paired test is that the mean difference is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from heldout.risk.comparison.differences import ROUNDING
from heldout.risk.intervals.method import Method
from heldout.risk.record import Floats, Record


def inverted_p(method: Method, record: Record, value: float) -> float:
    """One less the largest level whose interval leaves 0 out: for methods with nested intervals.

    To a millionth, or a fourth of a thousandth where resampling could tell no more; always on the careful side.
    """
    low, high = 0.0, 1.0
    for _ in range(12 if method.resamples else 20):
        level = (low + high) / 2
        interval = method.interval(record, value, level)
        if interval.low <= 0 <= interval.high:
            high = level
        else:
            low = level
    return 1 - low


def p_of_method(method: Method, record: Record, value: float, level: float) -> float:
    """The p-value that goes with an interval method."""
    if method.spread is not None:
        return method.spread(record).p(value=value)
    return inverted_p(method, record, value) if method.p is None else method.p(record, value, level)


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
    return [float(value) for value in adjusted]


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
