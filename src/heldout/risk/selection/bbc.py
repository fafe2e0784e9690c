"""BBC-CV: the bootstrap bias-corrected cross-validation of Tsamardinos, Greasidou and Borboudakis (2018).

The held-out losses of all candidates are kept, rows are drawn from them with replacement, the best candidate on the
drawn rows is scored on the rows that were not drawn, and that is averaged over many draws. Nothing is fitted again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import OptionError
from heldout.risk.estimate import Interval
from heldout.risk.record import Floats
from heldout.risk.selection.correction import Correction

RESAMPLES = 500
METHOD = "BBC-CV"
BLOCK = 1 << 22  # numbers held at once in a block of draws; fixed, so that sums do not depend on the machine


def bbc(
    losses: Floats,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    units: NDArray[Any] | None = None,
    weights: Floats | None = None,
) -> Correction:
    """The risk of the best of several candidates, from their held-out losses, with a percentile interval.

    Parameters
    ----------
    losses : array, candidates × columns
        The loss of each candidate on each held-out row, lower is better, all finite. A row that was held out several
        times has several columns.
    level : float
        Of the interval, which runs between percentiles of the draws. It is a heuristic.
    resamples : int
        How many times to draw.
    seed : int
        Decides the draws.
    units : array, one a column, optional
        What is drawn whole: the row that a column belongs to, or its group. Left out, each column is its own unit.
    weights : array, one a column, optional
        What each loss counts for in a mean. Units that count for nothing are not drawn.

    Examples
    --------
    >>> losses = np.random.default_rng(0).random((50, 40)) < 0.5  # fifty coins: nothing to choose between
    >>> best, corrected = losses.mean(axis=1).min(), bbc(losses.astype(float)).value
    >>> float(best), round(corrected, 2)
    (0.35, 0.51)
    """
    sums, scale, mass = _by_unit(*_of_some_weight(np.asarray(losses, dtype=np.float64), units, weights))
    candidates, count = sums.shape
    if count < 2:
        raise OptionError(f"BBC-CV draws rows, or whole groups, and needs at least two, but there are {count}.")
    if resamples < 1:
        raise OptionError(f"BBC-CV needs at least one draw, not {resamples!r}.")
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
    interval = Interval(low=low, high=high, level=level, method=METHOD, guarantee="heuristic")
    return Correction(value=float(every.mean()), method=METHOD, interval=interval)


def _of_some_weight(
    losses: Floats, units: NDArray[Any] | None, weights: Floats | None
) -> tuple[Floats, NDArray[Any] | None, Floats | None]:
    """The columns that count. Of a draw that leaves out those that count for nothing alone there would be no mean."""
    if weights is None or (counts := np.asarray(weights) > 0).all():
        return losses, units, weights
    return losses[:, counts], None if units is None else np.asarray(units)[counts], np.asarray(weights)[counts]


def _by_unit(
    losses: Floats, units: NDArray[Any] | None, weights: Floats | None
) -> tuple[Floats, Floats | None, Floats]:
    """For each candidate and unit the sum of losses, what a drawn unit's sum still has to be weighed by, and mass.

    Where each column is a unit the losses themselves serve, so that a large matrix is not copied.
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
    """How often each unit was drawn, draw by draw; a draw that leaves no unit out is drawn again."""
    places = chance.integers(count, size=(draws, count))
    places += np.arange(draws)[:, None] * count
    drawn = np.bincount(places.ravel(), minlength=draws * count).reshape(draws, count).astype(np.float64)
    full = (drawn > 0).all(axis=1)
    if full.any():
        drawn[full] = drawn_counts(chance, int(np.count_nonzero(full)), count)
    return drawn


def _weighed(counts: NDArray[Any], scale: Floats | None) -> Floats:
    return np.asarray(counts, dtype=np.float64) if scale is None else counts * scale
