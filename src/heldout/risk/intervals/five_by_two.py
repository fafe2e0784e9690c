"""2-fold cross-validation repeated five times: the intervals and tests of Dietterich (1998) and Alpaydin (1999).

They are used on request only. For two equal learners (on two halves of exchangeable columns, 60 or 100 rows) at 5 % the
t rejected in 3 to 11 % of studies, the F in 2 to 16 %, the F of the mean in 0 to 9 %, and the corrected t on the same
ten differences in 0 to 5 %. Losses and differences are arrays of ten numbers, two for each repeat.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.special import fdtrc, fdtri

from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import Method, spread_of_pairs, symmetric, t_quantile
from heldout.risk.record import Floats, Record

REPEATS = 5


def combined_f(losses: Floats, *, level: float, centre: float | None = None) -> Interval:
    """Return the interval that belongs to Alpaydin's combined F test: mean ± √(F·Σs²/5).

    The test rejects a risk r if Σ(loss − r)²/(2Σs²) exceeds the quantile of F(10, 5), where s² is the sum of squares
    within a repeat. Of Σ(loss − r)² = 10(mean − r)² + (spread of the losses) the interval uses only the first term. So
    it contains every r that the test accepts, and is never empty.

    >>> interval = combined_f(np.array([0.1, 0.2] * 5), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0039, 0.3039)
    """
    return _around(losses, sqrt(float(fdtri(2 * REPEATS, REPEATS, level))), level, centre, COMBINED_F.name)


def five_by_two_t_interval(losses: Floats, *, level: float, centre: float | None = None) -> Interval:
    """Return the interval with Dietterich's standard error: mean ± t·√(Σs²/5), 5 degrees of freedom.

    Dietterich's test uses only the first of the ten numbers. The interval is centred at their mean, which varies no
    more than the first number, so it is more conservative.

    >>> interval = five_by_two_t_interval(np.array([0.1, 0.2] * 5), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0318, 0.3318)
    """
    return _around(losses, t_quantile(REPEATS, level), level, centre, FIVE_BY_TWO_T.name)


def _around(losses: Floats, quantile: float, level: float, centre: float | None, method: str) -> Interval:
    repeats = np.asarray(losses, dtype=np.float64).reshape(REPEATS, 2)
    middle = float(np.mean(repeats)) if centre is None else centre
    return symmetric(middle, quantile * spread_of_pairs(repeats), level=level, method=method, guarantee="heuristic")


def five_by_two_f(differences: Floats) -> float:
    """Return the p-value of Alpaydin's combined F test, which uses all ten differences and ignores their order.

    >>> round(five_by_two_f(np.array([0.04, 0.02, 0.03, 0.05, 0.01, 0.03, 0.04, 0.04, 0.02, 0.05])), 4)
    0.0313
    """
    scaled, squares = _scaled(differences)
    return _f_p(float(np.sum(scaled**2)), squares)


def five_by_two_mean(differences: Floats) -> float:
    """Return the p-value of the combined F test with each difference replaced by their mean; it matches the interval.

    Alpaydin's sum also grows if the differences vary between repeats, so it can be large although their mean is 0. A
    p-value that decides which learner is better must not.

    >>> round(five_by_two_mean(np.array([0.04, 0.02, 0.03, 0.05, 0.01, 0.03, 0.04, 0.04, 0.02, 0.05])), 4)
    0.0416
    """
    scaled, squares = _scaled(differences)
    return _f_p(float(np.mean(scaled)) ** 2 * 2 * REPEATS, squares)


def _f_p(total: float, squares: Floats) -> float:
    """Return the p-value of the sum of squares `total` over twice that within repeats, by F with 10 and 5 df."""
    spread = 2 * float(np.sum(squares))
    if total == 0:
        return 1.0
    return float(fdtrc(2 * REPEATS, REPEATS, total / spread if spread > 0 else inf))


def _scaled(differences: Floats) -> tuple[Floats, Floats]:
    """Return the differences scaled to a maximum of 1, so that squares stay finite, and the squares within repeats."""
    scaled = differences / (float(np.max(np.abs(differences))) or 1.0)
    repeats = np.asarray(scaled, dtype=np.float64).reshape(REPEATS, 2)
    return scaled, np.asarray((repeats[:, 0] - repeats[:, 1]) ** 2 / 2)


def _refusal(record: Record) -> str | None:
    if not record.partition or record.repeats != REPEATS or record.parts != 2 * REPEATS:
        return "it is made for 2-fold cross-validation repeated five times, KFold(2, repeats=5)"
    if record.timed:
        return "the parts follow each other in time, so they are not independent"
    if not np.sum(record.train_sizes):
        return "nothing was trained, so the halves are not two training sets"
    return None


COMBINED_F = Method(
    key="5x2",
    name="5×2 combined F",
    refusal=_refusal,
    interval=lambda record, value, level: combined_f(record.fold_losses, level=level, centre=value),
    p=lambda record, value, level: five_by_two_mean(record.fold_losses),
)
FIVE_BY_TWO_T = Method(
    key="5x2-t",
    name="5×2 t",
    refusal=_refusal,
    interval=lambda record, value, level: five_by_two_t_interval(record.fold_losses, level=level, centre=value),
)
