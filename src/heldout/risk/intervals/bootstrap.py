"""Bootstrap intervals of the mean of one test set: the bootstrap-t, and BCa."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import (
    Method,
    count_draws,
    independent_draws,
    interval_around,
    refuse_unequal_draws,
    standardised,
)
from heldout.risk.intervals.resampling import RESAMPLES, orient, resamples, share_without_spread
from heldout.risk.record import Floats, Record

FEWEST = 20  # draws; with fewer, near-equal values in a resample can make the interval arbitrarily long
RARE = 1e-3  # the highest accepted probability that a resample consists of one repeated value


def bootstrap_t(losses: Floats, *, level: float, seed: int = 0, centre: float | None = None) -> Interval:
    """Return the studentised bootstrap interval of the mean of independent losses of any kind.

    Each of 1999 resamples gives t* = (mean* − mean)/(s*/√n), and the ends are mean − t*·s/√n at the upper and the
    lower quantile of t*. For right-skewed losses, such as squared errors, the interval reaches further up than down,
    unlike Student's. Quantiles are order statistics; above the level .999 there are none, so the outermost one is
    stretched in proportion to Student's quantiles.

    It needs at least 20 losses, with no value so common that a resample may consist of it alone. `centre` replaces the
    mean as the middle of the interval (None: the mean). The seed used is derived from `seed` and the losses.

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
    """Return the sorted t* of all resamples."""
    root, mean = sqrt(len(ordered)), float(np.mean(ordered))
    statistics = [
        (np.mean(drawn, axis=1) - mean) * root / np.std(drawn, axis=1, ddof=1)
        for drawn in resamples(ordered, seed=seed, spread=True)
    ]
    return np.sort(np.concatenate(statistics))


def _quantiles(t: Floats, n: int, level: float) -> tuple[float, float]:
    """Return the lower quantile of t*, at most 0, and the upper quantile, at least 0."""
    last = 2 / (RESAMPLES + 1)  # the smallest 1 − level that 1999 resamples can resolve
    rank = max(1, int((RESAMPLES + 1) * (1 - level) / 2 + 1e-9))  # at .9 it is 99.99…, not 100
    stretch = 1.0
    if 1 - level < last:
        stretch = float(stdtrit(n - 1, 0.5 + level / 2) / stdtrit(n - 1, 1 - last / 2))
    return min(0.0, float(t[rank - 1])) * stretch, max(0.0, float(t[-rank])) * stretch


def _refuse_few_draws(record: Record, fewest: int, why: str) -> str | None:
    if (reason := refuse_unequal_draws(record)) is not None:
        return reason
    draws, what = count_draws(record), "groups" if record.grouped else "rows"
    if draws < fewest:
        return f"it resamples the test set, and {draws} {what} are too few to {why} ({fewest} are needed)"
    return None


def _bootstrap_t_refusal(record: Record) -> str | None:
    if (reason := _refuse_few_draws(record, FEWEST, "tell how they lean")) is not None or record.unknown:
        return reason
    draws, _, scale = standardised(independent_draws(record))
    if scale > 0 and share_without_spread(draws) > RARE:
        return "one value is so common among the losses that many a resample has no spread"
    return None


BOOTSTRAP_T = Method(
    key="bootstrap-t",
    name="bootstrap-t",
    refusal=_bootstrap_t_refusal,
    interval=lambda record, value, level: bootstrap_t(
        independent_draws(record), level=level, seed=record.seed, centre=value
    ),
    resamples=True,
)


FEWEST_FOR_BCA = 10  # draws


def bca(losses: Floats, *, level: float, seed: int = 0, centre: float | None = None) -> Interval:
    """Return the bias-corrected and accelerated bootstrap interval of the mean of independent losses (Efron 1987).

    It takes the quantiles Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))) of 1999 resampled means, with z₀ from the share of them
    below the mean and a from the third moment of the losses. It never leaves the range of the losses; with few rows it
    is narrower than Student's and covers less.

    >>> interval = bca(np.arange(40.0), level=0.95)
    >>> 14 < interval.low < 17 and 22 < interval.high < 25
    True
    """
    ordered, mean, scale = standardised(losses)
    drawn = orient(ordered, seed=seed, purpose="bca")
    middle = mean if centre is None else centre
    low = high = middle
    if scale > 0:
        means = resampled_means(drawn.values, seed=drawn.seed)
        tail = (1 - level) / 2
        ends = np.quantile(means, _moved(means, drawn.values, np.array([tail, 1 - tail])))
        away = drawn.turn_back(*(float(end - np.mean(drawn.values)) for end in ends))
        low, high = (middle + scale * one for one in away)
    return interval_around(middle, low, high, level=level, method="BCa", guarantee="asymptotic", seed=drawn.seed)


def resampled_means(ordered: Floats, *, seed: int) -> Floats:
    """Return the mean of each resample."""
    return np.concatenate([np.mean(drawn, axis=1) for drawn in resamples(ordered, seed=seed)])


def _moved(means: Floats, ordered: Floats, tails: Floats) -> Floats:
    """Return the probabilities of the resampled means that BCa uses in place of the tail probabilities."""
    mean = float(np.mean(ordered))
    below = (np.sum(means < mean) + np.sum(means <= mean)) / (2 * len(means))
    bias = float(ndtri(np.clip(below, 1 / (RESAMPLES + 1), RESAMPLES / (RESAMPLES + 1))))
    away = ordered - mean
    acceleration = float(np.sum(away**3) / (6 * np.sum(away**2) ** 1.5))
    z = bias + ndtri(tails)
    # |a| is at most 1/6, so only levels beyond .999999 come near the pole; there the outermost mean is the end.
    steady = 1 - acceleration * z
    moved = ndtr(bias + z / np.where(steady > 0, steady, np.inf))
    return np.where(steady > 0, moved, np.where(z > 0, 1.0, 0.0))


BCA = Method(
    key="bca",
    name="BCa",
    refusal=lambda record: _refuse_few_draws(record, FEWEST_FOR_BCA, "stand for all"),
    interval=lambda record, value, level: bca(independent_draws(record), level=level, seed=record.seed, centre=value),
    resamples=True,
)
