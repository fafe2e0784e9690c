"""A development set that chose among predictors fixed beforehand: bounds that hold for all of them at once.

Given n independent development rows and a loss in [0, 1], with probability 1 − δ the risk of every one of |Θ|
predictors lies in its interval at level 1 − δ/|Θ|. So the interval of the chosen one holds though it was chosen, and
the chosen one is worse than the best of the family by at most √(2 ln(2|Θ|/δ)/n).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from heldout.base.errors import OptionError
from heldout.risk.estimate import Interval
from heldout.risk.planning import dev_gap
from heldout.risk.record import Floats

CLOPPER_PEARSON = "simultaneous Clopper–Pearson"
HOEFFDING = "simultaneous Hoeffding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Development:
    """What a development set says: of the predictor it chose, of the smallest risk of the family, and their gap."""

    chosen: Interval
    best: Interval  # of min over Θ
    gap: float


def development_bounds(
    means: Floats,
    *,
    n: int,
    chosen: int,
    level: float,
    low: float = 0.0,
    high: float = 1.0,
    counted: bool = True,
    guarantee: str = "finite-sample",
) -> Development:
    """The intervals of the chosen predictor and of the smallest risk in the family, at simultaneous level.

    Parameters
    ----------
    means : array, one a candidate
        The mean loss of each predictor on the development rows; NaN where one could not be fitted.
    n : int
        How many independent rows those are means of.
    chosen : int
        Which one was chosen: one with the smallest mean.
    level : float
        The probability that all intervals hold together.
    low, high : float
        The range of the loss; it is scaled to [0, 1] and back.
    counted : bool
        Each row is either right (`low`) or wrong (`high`), so that a mean is a count of errors.
    guarantee : str
        What is promised; "heuristic" where the rows are not independent draws.

    Examples
    --------
    >>> found = development_bounds(np.array([0.2, 0.4]), n=100, chosen=0, level=0.95)
    >>> round(found.chosen.low, 3), round(found.chosen.high, 3), round(found.gap, 3)
    (0.118, 0.305, 0.296)
    """
    means = np.asarray(means, dtype=np.float64)
    if not means[chosen] <= np.nanmin(means):
        raise OptionError(
            "The bound of a development set speaks of the predictor with the smallest mean loss; another was chosen."
        )
    lows, highs, method = simultaneous_intervals(means, n=n, level=level, low=low, high=high, counted=counted)
    own = Interval(low=float(lows[chosen]), high=float(highs[chosen]), level=level, method=method, guarantee=guarantee)
    best = Interval(
        low=float(np.nanmin(lows)), high=float(np.nanmin(highs)), level=level, method=method, guarantee=guarantee
    )
    gap = dev_gap(n, candidates=len(means), level=level, loss_range=high - low)
    return Development(chosen=own, best=best, gap=gap)


def simultaneous_intervals(
    means: Floats, *, n: int, level: float, low: float = 0.0, high: float = 1.0, counted: bool = True
) -> tuple[Floats, Floats, str]:
    """For each candidate an interval at level 1 − δ/|Θ|, so that all hold together at `level`; and the method.

    Rows that are right or wrong get Clopper–Pearson, other losses between `low` and `high` get Hoeffding. Both need
    means alone, so that a hundred thousand candidates take no room.

    >>> lows, highs, method = simultaneous_intervals(np.array([0.0, 1.0]), n=10, level=0.95)
    >>> lows.round(3).tolist(), highs.round(3).tolist()
    ([0.0, 0.645], [0.355, 1.0])
    """
    means = np.asarray(means, dtype=np.float64)
    _check(n=n, candidates=len(means), delta=1 - level)
    if not np.isfinite(high - low) or not high > low:
        raise OptionError(f"The bound of a development set needs a loss of bounded range, not from {low} to {high}.")
    if np.nanmin(means) < low or np.nanmax(means) > high:
        raise OptionError(f"The losses reach from {np.nanmin(means)} to {np.nanmax(means)}, outside {low} to {high}.")
    width, share = high - low, (1 - level) / len(means)
    scaled = (means - low) / width
    if counted:
        lows, highs = _clopper_pearson(np.round(scaled * n), n, share)
        return low + width * lows, low + width * highs, CLOPPER_PEARSON
    half = sqrt(log(2 / share) / (2 * n))
    return low + width * np.maximum(scaled - half, 0), low + width * np.minimum(scaled + half, 1), HOEFFDING


def _clopper_pearson(errors: Floats, n: int, delta: float) -> tuple[Floats, Floats]:
    """Both ends for many counts at once; candidates of equal counts are computed once."""
    counts, places = np.unique(errors, return_inverse=True)
    inside = np.clip(counts, 1, None), np.clip(counts, None, n - 1)
    lows = np.where(counts == 0, 0.0, betaincinv(inside[0], n - inside[0] + 1, delta / 2))
    highs = np.where(counts == n, 1.0, betaincinv(inside[1] + 1, n - inside[1], 1 - delta / 2))
    return _taken(lows, places), _taken(highs, places)


def _taken(ends: Floats, places: NDArray[np.intp]) -> Floats:
    return np.asarray(ends[places], dtype=np.float64)


def _check(*, n: int, candidates: int, delta: float) -> None:
    if n < 1 or candidates < 1:
        raise OptionError(f"A development set needs rows and candidates, not {n} rows and {candidates} candidates.")
    if not 0 < delta < 1:
        raise OptionError(f"δ is the probability that the bound fails, between 0 and 1, not {delta!r}.")
