"""2-fold cross-validation repeated five times: the intervals and tests of Dietterich (1998) and Alpaydin (1999).

They are here to be asked for. Told to compare learners that are alike (two halves of exchangeable columns, 60 or 100
rows) at 5 %, the t rejected in 3 to 11 % of studies, the F in 2 to 16 %, the F of the mean in 0 to 9 %, the corrected t
on the same ten differences in 0 to 5 %. Losses and differences are ten numbers, two a repeat.
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
    """The interval that goes with the combined F of Alpaydin.

    The test rejects a risk r where Σ(loss − r)²/(2Σs²) exceeds the quantile of F(10, 5), s² the sum of squares inside
    each repeat. Of Σ(loss − r)² = 10(mean − r)² + (spread of the losses) the interval keeps the first term, so it
    holds every r that the test does not reject and is never empty: mean ± √(F·Σs²/5).

    >>> interval = combined_f(np.array([0.1, 0.2] * 5), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0039, 0.3039)
    """
    return _around(losses, sqrt(float(fdtri(2 * REPEATS, REPEATS, level))), level, centre, COMBINED_F.name)


def five_by_two_t_interval(losses: Floats, *, level: float, centre: float | None = None) -> Interval:
    """The interval with the standard error of Dietterich: mean ± t·√(Σs²/5), 5 degrees of freedom.

    His test looks at the first of the ten numbers alone. Here the middle is their mean, which varies no more than the
    first does, so the interval is the more careful.

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
    """The p-value of Alpaydin, which takes all ten differences and so does not depend on their order.

    >>> round(five_by_two_f(np.array([0.04, 0.02, 0.03, 0.05, 0.01, 0.03, 0.04, 0.04, 0.02, 0.05])), 4)
    0.0313
    """
    scaled, squares = _scaled(differences)
    return _f_p(float(np.sum(scaled**2)), squares)


def five_by_two_mean(differences: Floats) -> float:
    """The same with the mean of the ten in the place of each: what the 5×2 interval is dual to.

    Alpaydin's sum also grows where the differences vary from repeat to repeat, and can so be large around a mean of 0.
    A p-value that is to say which learner is better must not.

    >>> round(five_by_two_mean(np.array([0.04, 0.02, 0.03, 0.05, 0.01, 0.03, 0.04, 0.04, 0.02, 0.05])), 4)
    0.0416
    """
    scaled, squares = _scaled(differences)
    return _f_p(float(np.mean(scaled)) ** 2 * 2 * REPEATS, squares)


def _f_p(total: float, squares: Floats) -> float:
    """The p-value of a sum of squares over the spread inside the repeats, F with 10 and 5 degrees of freedom."""
    spread = 2 * float(np.sum(squares))
    if total == 0:
        return 1.0
    return float(fdtrc(2 * REPEATS, REPEATS, total / spread if spread > 0 else inf))


def _scaled(differences: Floats) -> tuple[Floats, Floats]:
    """The differences with 1 as the largest, for finite squares, and the sum of squares inside each repeat."""
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
