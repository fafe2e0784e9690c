"""Corrections and bounds for the optimism of choosing the best of several candidates.

- BBC-CV, the bootstrap bias-corrected cross-validation of Tsamardinos, Greasidou and Borboudakis (2018): rows are drawn
  with replacement from the held-out losses of all candidates, the best candidate on the drawn rows is scored on the
  rows that were not drawn, and that is averaged over many draws. Nothing is fitted again.
- The bias correction of Tibshirani and Tibshirani (2009) for the smallest cross-validation error.
- Simultaneous intervals for a development set that chose among predictors fixed beforehand. Given n independent
  development rows and a loss in [0, 1], with probability 1 − δ the risk of every one of |Θ| predictors lies in its
  interval at level 1 − δ/|Θ|. So the interval of the chosen predictor is valid despite the choice, and its risk exceeds
  the smallest risk of the family by at most √(2 ln(2|Θ|/δ)/n).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import OptionError
from heldout.risk.estimate import Interval
from heldout.risk.intervals.binomial import clopper_pearson_ends
from heldout.risk.record import Floats
from heldout.risk.rows_needed import dev_gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """Holds the risk of the chosen candidate, corrected for the optimism of choosing; lower is better."""

    value: float
    method: str
    interval: Interval | None = None


RESAMPLES = 500
BBC_CV = "BBC-CV"
BLOCK = 1 << 22  # numbers in memory in a block of draws; fixed, so that sums do not depend on the machine


def bbc(
    losses: Floats,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    units: NDArray[Any] | None = None,
    weights: Floats | None = None,
) -> Correction:
    """Estimate the risk of the best of several candidates by BBC-CV, with a percentile interval (a heuristic).

    `losses` (candidates × columns) are finite held-out losses, lower is better; a column is a held-out row, and a row
    that was held out several times has several columns. `units` names for each column the unit that is drawn whole:
    its row or its group; None makes each column its own unit. `weights` has the weight of each column (None: equal);
    columns of weight 0 are left out.

    >>> losses = np.random.default_rng(0).random((50, 40)) < 0.5  # fifty coins: nothing to choose between
    >>> best, corrected = losses.mean(axis=1).min(), bbc(losses.astype(float)).value
    >>> float(best), round(corrected, 2)
    (0.35, 0.51)
    """
    losses = np.asarray(losses, dtype=np.float64)
    if weights is not None and not (counts := np.asarray(weights) > 0).all():
        # A draw that leaves out only columns that count for nothing would have no mean.
        losses, weights = losses[:, counts], np.asarray(weights)[counts]
        units = None if units is None else np.asarray(units)[counts]
    sums, scale, mass = _by_unit(losses, units, weights)
    candidates, count = sums.shape
    if count < 2:
        raise OptionError(f"BBC-CV draws rows, or whole groups, and needs at least two, but there are {count}.")
    chance = np.random.default_rng(seed)
    most = max(1, min(resamples, BLOCK // max(count, candidates)))
    scores: list[Floats] = []
    left = resamples
    while left:
        drawn = drawn_counts(chance, min(most, left), count)
        chosen = np.argmin(_weighed(drawn, scale) @ sums.T, axis=1)
        out = _weighed(drawn == 0, scale)
        scores.append(np.einsum("bu,bu->b", sums[chosen], out) / ((drawn == 0) @ mass))
        left -= len(drawn)
    every = np.concatenate(scores)
    tail = (1 - level) / 2
    low, high = (float(end) for end in np.quantile(every, (tail, 1 - tail)))
    interval = Interval(low=low, high=high, level=level, method=BBC_CV, guarantee="heuristic")
    return Correction(value=float(every.mean()), method=BBC_CV, interval=interval)


def _by_unit(
    losses: Floats, units: NDArray[Any] | None, weights: Floats | None
) -> tuple[Floats, Floats | None, Floats]:
    """Sum the losses of each candidate by unit.

    Return these sums, the weights that still have to be applied to them (or None), and the total weight of each unit.
    If each column is its own unit, the losses are returned as they are, so that a large matrix is not copied.
    """
    if losses.ndim != 2 or losses.size == 0 or not np.isfinite(losses).all():
        raise OptionError("BBC-CV needs a complete table, candidates by rows, with a finite loss in every place.")
    ones = np.ones(losses.shape[1])
    weight = ones if weights is None else np.asarray(weights, dtype=np.float64)
    codes = np.arange(losses.shape[1]) if units is None else np.unique(units, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count == losses.shape[1]:
        return losses, None if weights is None else weight, weight
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(codes[order]) > 0))
    weighed = losses[:, order] * weight[order]
    mass = np.add.reduceat(weight[order], starts)
    return np.asarray(np.add.reduceat(weighed, starts, axis=1)), None, np.asarray(mass, dtype=np.float64)


def drawn_counts(chance: np.random.Generator, draws: int, count: int) -> Floats:
    """Return how often each unit was drawn (draws × units); a draw that leaves no unit out is repeated."""
    places = chance.integers(count, size=(draws, count))
    places += np.arange(draws)[:, None] * count
    drawn = np.bincount(places.ravel(), minlength=draws * count).reshape(draws, count).astype(np.float64)
    full = (drawn > 0).all(axis=1)
    if full.any():
        drawn[full] = drawn_counts(chance, int(np.count_nonzero(full)), count)
    return drawn


def _weighed(counts: NDArray[Any], scale: Floats | None) -> Floats:
    return np.asarray(counts, dtype=np.float64) if scale is None else counts * scale


TIBSHIRANI = "Tibshirani–Tibshirani"


def tibshirani(fold_losses: Floats, *, weights: Floats | None = None) -> Correction:
    """Return CV(θ̂) plus the mean over folds of e_k(θ̂) − min_θ e_k(θ), the estimated optimism of choosing θ̂.

    `fold_losses` (candidates × parts) are finite mean losses. `weights` has the weight of each part (None: equal).

    >>> tibshirani(np.array([[1.0, 3.0], [3.0, 2.0]])).value  # 2 and 2.5; the first gains 0 and loses 1
    2.5
    """
    losses = np.asarray(fold_losses, dtype=np.float64)
    if losses.ndim != 2 or losses.size == 0 or not np.isfinite(losses).all():
        raise OptionError("The Tibshirani correction needs a complete table, candidates by parts, of finite losses.")
    if losses.shape[1] < 2:
        raise OptionError("The Tibshirani correction needs at least two held-out parts, but there is one.")
    means = np.average(losses, axis=1, weights=weights)
    best = int(np.argmin(means))
    gained = np.average(losses[best] - losses.min(axis=0), weights=weights)
    return Correction(value=float(means[best] + gained), method=TIBSHIRANI)


CLOPPER_PEARSON = "simultaneous Clopper–Pearson"
HOEFFDING = "simultaneous Hoeffding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Development:
    """Holds the bounds from a development set: of the chosen predictor, of the smallest risk, and of their gap."""

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
    """Return simultaneous intervals for the risk of the chosen predictor and for the smallest risk of the family.

    `means` are the mean losses of the predictors on `n` development rows, NaN for a failed fit. `chosen` is the index
    of one with the smallest mean. `counted` says that each row is either right (`low`) or wrong (`high`). `guarantee`
    is the guarantee to report: "heuristic" if the rows are not independent draws.

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
    ends = ((lows[chosen], highs[chosen]), (np.nanmin(lows), np.nanmin(highs)))
    of_chosen, of_best = (
        Interval(low=float(least), high=float(most), level=level, method=method, guarantee=guarantee)
        for least, most in ends
    )
    gap = dev_gap(n, candidates=len(means), level=level, loss_range=high - low)
    return Development(chosen=of_chosen, best=of_best, gap=gap)


def simultaneous_intervals(
    means: Floats, *, n: int, level: float, low: float = 0.0, high: float = 1.0, counted: bool = True
) -> tuple[Floats, Floats, str]:
    """Return the lower ends, the upper ends and the method of intervals that all hold together at `level`.

    Each of the |Θ| candidates gets an interval at level 1 − δ/|Θ|: Clopper–Pearson if rows are right or wrong
    (`counted`), else Hoeffding for losses between `low` and `high`. Both need only the means, so that a hundred
    thousand candidates take little memory.

    >>> lows, highs, method = simultaneous_intervals(np.array([0.0, 1.0]), n=10, level=0.95)
    >>> lows.round(3).tolist(), highs.round(3).tolist()
    ([0.0, 0.645], [0.355, 1.0])
    """
    means = np.asarray(means, dtype=np.float64)
    if n < 1 or not len(means):
        raise OptionError(f"A development set needs rows and candidates, not {n} rows and {len(means)} candidates.")
    if not 0 < level < 1:
        raise OptionError(f"δ is the probability that the bound fails, between 0 and 1, not {1 - level!r}.")
    if not np.isfinite(high - low) or not high > low:
        raise OptionError(f"The bound of a development set needs a loss of bounded range, not from {low} to {high}.")
    if np.nanmin(means) < low or np.nanmax(means) > high:
        raise OptionError(f"The losses reach from {np.nanmin(means)} to {np.nanmax(means)}, outside {low} to {high}.")
    width, share = high - low, (1 - level) / len(means)
    scaled = (means - low) / width
    if counted:
        counts, places = np.unique(np.round(scaled * n), return_inverse=True)  # equal counts are computed once
        lows, highs = clopper_pearson_ends(counts, n, share / 2)
        return low + width * lows[places], low + width * highs[places], CLOPPER_PEARSON
    half = sqrt(log(2 / share) / (2 * n))
    return low + width * np.maximum(scaled - half, 0), low + width * np.minimum(scaled + half, 1), HOEFFDING
