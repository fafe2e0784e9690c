"""Bootstrap-t: Student's interval with quantiles from the losses themselves, so that it leans the way they do."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.intervals.chance import RESAMPLES, orient, resamples, share_without_spread
from heldout.risk.intervals.draws import count_draws, independent_draws, refuse_unequal_draws
from heldout.risk.intervals.ends import interval_around
from heldout.risk.intervals.method import Method
from heldout.risk.intervals.spread import standardised
from heldout.risk.record import Floats, Record

FEWEST = 20  # draws; below, a few near-equal values in a resample make the interval arbitrarily long
RARE = 1e-3  # how often a resample may repeat one value throughout


def bootstrap_t(losses: Floats, *, level: float, seed: int = 0, centre: float | None = None) -> Interval:
    """The studentised bootstrap interval of the mean of independent losses of any kind.

    Each of 1999 resamples gives t* = (mean* − mean)/(s*/√n), and the ends are mean − t*·s/√n at the upper and the
    lower quantile of t*. Losses that lean right, as squared errors do, get a longer upper arm, which Student's
    interval lacks. Quantiles are order statistics; above the level .999, where there are none, the outermost is
    stretched as Student's quantiles are.

    Parameters
    ----------
    losses : array
        At least 20, of which no value is so common that resamples repeat it alone.
    level : float
        The probability to cover, as 0.95.
    seed : int
        Another seed is other resamples; the one that was used comes from it and from the losses.
    centre : float, optional
        The value that is shown; the mean when left out.

    Examples
    --------
    >>> squares = np.arange(40.0) ** 2
    >>> interval = bootstrap_t(squares, level=0.95)
    >>> bool(interval.high - squares.mean() > squares.mean() - interval.low)
    True
    """
    ordered, mean, scale = standardised(losses)
    drawn = orient(ordered, seed=seed, purpose="bootstrap-t")
    middle = mean if centre is None else centre
    if scale == 0:
        low = high = middle
    else:
        error = scale * float(np.std(ordered, ddof=1)) / sqrt(len(ordered))
        t = _studentised(drawn.values, drawn.seed)
        lower, upper = drawn.turn_back(*_quantiles(t, len(ordered), level))
        low, high = middle - upper * error, middle - lower * error
    return interval_around(
        middle, low, high, level=level, method="bootstrap-t", guarantee="asymptotic", seed=drawn.seed
    )


def _studentised(ordered: Floats, seed: int) -> Floats:
    """t* of each resample, sorted; `ordered` has the mean 0."""
    root, own = sqrt(len(ordered)), float(np.mean(ordered))
    found = [
        (np.mean(drawn, axis=1) - own) * root / np.std(drawn, axis=1, ddof=1)
        for drawn in resamples(ordered, seed=seed, spread=True)
    ]
    return np.sort(np.concatenate(found))


def _quantiles(t: Floats, n: int, level: float) -> tuple[float, float]:
    """The lower and the upper quantile of t*, one never on the other's side of 0."""
    last = 2 / (RESAMPLES + 1)  # the smallest miss that 1999 resamples can speak of
    rank = max(1, int((RESAMPLES + 1) * (1 - level) / 2 + 1e-9))  # 99.99… of .9 is the 100th
    stretch = 1.0
    if 1 - level < last:
        stretch = float(stdtrit(n - 1, 0.5 + level / 2) / stdtrit(n - 1, 1 - last / 2))
    return min(0.0, float(t[rank - 1])) * stretch, max(0.0, float(t[-rank])) * stretch


def _early(record: Record) -> str | None:
    if (reason := refuse_unequal_draws(record)) is not None:
        return reason
    if (draws := count_draws(record)) < FEWEST:
        what = "groups" if record.grouped else "rows"
        return f"it resamples the test set, and {draws} {what} are too few to tell how they lean ({FEWEST} are needed)"
    return None


def _refusal(record: Record) -> str | None:
    if (reason := _early(record)) is not None:
        return reason
    draws, _, scale = standardised(independent_draws(record))
    if scale > 0 and share_without_spread(draws) > RARE:
        return "one value is so common among the losses that many a resample has no spread"
    return None


def _interval(record: Record, value: float, level: float) -> Interval:
    return bootstrap_t(independent_draws(record), level=level, seed=record.seed, centre=value)


BOOTSTRAP_T = Method(key="bootstrap-t", name="bootstrap-t", refusal=_refusal, early=_early, interval=_interval)
