"""The two intervals from 2-fold cross-validation repeated five times: Alpaydin's combined F and Dietterich's t."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import fdtri, stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import Method, interval_around
from heldout.risk.record import Floats, Record

REPEATS = 5


def combined_f(losses: Floats, *, level: float, centre: float | None = None) -> Interval:
    """The interval that goes with the combined F of Alpaydin (1999).

    The test rejects a risk r where Σ(loss − r)²/(2Σs²) exceeds the quantile of F(10, 5), s² the sum of squares inside
    each repeat. Of Σ(loss − r)² = 10(mean − r)² + (spread of the losses) the interval keeps the first term, so it
    holds every r that the test does not reject and is never empty: mean ± √(F·Σs²/5).

    Parameters
    ----------
    losses : array
        The ten mean losses, or differences of losses, two a repeat.
    level : float
        The probability to cover, as 0.95.
    centre : float, optional
        The middle of the interval; the mean when left out.

    Examples
    --------
    >>> interval = combined_f(np.array([0.1, 0.2] * 5), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0039, 0.3039)
    """
    return _around(losses, sqrt(float(fdtri(2 * REPEATS, REPEATS, level))), level, centre, COMBINED_F.name)


def five_by_two_t(losses: Floats, *, level: float, centre: float | None = None) -> Interval:
    """The interval with the standard error of Dietterich (1998): mean ± t·√(Σs²/5), 5 degrees of freedom.

    His test looks at the first of the ten numbers alone, so that the verdict hangs on the order of folds. Here the
    middle is their mean, which varies no more than the first does, so the interval is the more careful.

    >>> interval = five_by_two_t(np.array([0.1, 0.2] * 5), level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0318, 0.3318)
    """
    return _around(losses, float(stdtrit(REPEATS, 0.5 + level / 2)), level, centre, FIVE_BY_TWO_T.name)


def _around(losses: Floats, quantile: float, level: float, centre: float | None, method: str) -> Interval:
    repeats = np.asarray(losses, dtype=np.float64).reshape(REPEATS, 2)
    away = repeats[:, 0] / 2 - repeats[:, 1] / 2  # each of a pair is this far from their mean
    largest = float(np.max(np.abs(away)))
    error = 0.0 if largest == 0 else largest * sqrt(2 * float(np.mean((away / largest) ** 2)))
    middle = float(np.mean(repeats)) if centre is None else centre
    half = quantile * error
    return interval_around(middle, middle - half, middle + half, level=level, method=method, guarantee="heuristic")


def _refusal(record: Record) -> str | None:
    if not record.partition or record.repeats != REPEATS or record.parts != 2 * REPEATS:
        return "it is made for 2-fold cross-validation repeated five times, KFold(2, repeats=5)"
    if record.timed:
        return "the parts follow each other in time, so they are not independent"
    if not np.sum(record.train_sizes):
        return "nothing was trained, so the halves are not two training sets"
    return None


def _interval_f(record: Record, value: float, level: float) -> Interval:
    return combined_f(record.fold_losses, level=level, centre=value)


def _interval_t(record: Record, value: float, level: float) -> Interval:
    return five_by_two_t(record.fold_losses, level=level, centre=value)


COMBINED_F = Method(key="5x2", name="5×2 combined F", refusal=_refusal, interval=_interval_f)
FIVE_BY_TWO_T = Method(key="5x2-t", name="5×2 t", refusal=_refusal, interval=_interval_t)
