"""How far a mean over held-out rows is off by the draw of the rows: its variance, from rows or from whole groups."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.risk.record import Floats, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """What the draw of rows does to a weighted mean."""

    error: float  # standard error
    units: int  # independent draws: distinct rows, or groups
    effective: float  # draws of equal weight that would weigh the mean as evenly
    skew: float  # of what single draws add to the mean

    @property
    def lean(self) -> float:
        """How far the mean is from normal: |skewness| over the root of the number of draws."""
        return abs(self.skew) / sqrt(self.units)


def end_to_end(parts: tuple[NDArray[np.generic], ...]) -> Floats:
    """The numbers of all parts in one array."""
    return np.concatenate(parts).astype(np.float64)


def mean_weights(record: Record, *, pooled: bool) -> Floats:
    """What each held-out row counts for in the estimate; the sum is 1.

    A mean of the means of parts gives each part the same say, a pooled one each row. Declared weights decide
    in both cases: a part then counts for as much as its rows.
    """
    if record.weights is not None:
        weights = end_to_end(record.weights)
        return weights / np.sum(weights)
    sizes = record.held_sizes
    if pooled:
        return np.full(int(np.sum(sizes)), 1.0 / float(np.sum(sizes)))
    return np.repeat(1.0 / (len(sizes) * sizes), sizes)


def mean_of(contributions: Floats, weights: Floats) -> float:
    """The weighted mean; exactly the one value where all are equal."""
    least, most = float(np.min(contributions)), float(np.max(contributions))
    return min(max(float(np.sum(weights * contributions)), least), most)


def sampling_of(record: Record, contributions: Floats, weights: Floats) -> Sampling:
    """The sampling of a mean whose rows contribute these numbers with these weights.

    Rows that are held out several times, by repeats or resamples, are counted once: more repeats bring no independent
    rows. Where rows come in groups, sums of whole groups are what varies. A sample tells the spread of rows, and the
    error is that of the mean over all the rows that it stands for.
    """
    units, incidences = _units(record)
    away = contributions - mean_of(contributions, weights)
    scale = float(np.max(np.abs(away), initial=0.0))
    counted = np.bincount(units, weights=weights) > 0
    count = int(np.count_nonzero(counted))
    if scale == 0 or count < 2:
        return Sampling(error=0.0, units=count, effective=float(count), skew=0.0)
    sums = np.bincount(incidences, weights=weights * away / scale)
    sums = sums[np.bincount(incidences, weights=weights) > 0]
    square = float(np.mean(sums**2))
    if square == 0:  # whole groups cancel out
        return Sampling(error=0.0, units=count, effective=float(count), skew=0.0)
    error = len(sums) * sqrt(square / (count - 1))
    skew = float(np.mean(sums**3)) / square**1.5
    return Sampling(
        error=scale * error * sqrt(record.share),
        units=count,
        effective=effective_count(np.asarray(np.bincount(units, weights=weights), dtype=np.float64)),
        skew=skew,
    )


def shrunken_mean(record: Record, contributions: Floats, weights: Floats) -> float:
    """The mean drawn towards 0 by its own sampling error, so that its square is not too large on average."""
    mean, error = mean_of(contributions, weights), sampling_of(record, contributions, weights).error
    return float(np.sign(mean)) * sqrt(max(mean * mean - error * error, 0.0))


def _units(record: Record) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which independent draw each held-out row belongs to, and which occurrence of that draw in a part."""
    parts = np.repeat(np.arange(record.parts), record.held_sizes)
    if record.grouped and record.groups is not None:
        names = np.concatenate(record.groups)
        _, units = np.unique(names, return_inverse=True)
        _, incidences = np.unique(parts * (int(units.max()) + 1) + units, return_inverse=True)
        return units, incidences
    every = np.arange(len(parts))
    if record.rows is None or (record.repeats == 1 and record.partition):
        return every, every
    _, units = np.unique(np.concatenate(record.rows), return_inverse=True)
    return units, every


def effective_draws(record: Record, weights: Floats) -> float:
    """How many rows, or groups, of equal weight would weigh a mean as evenly."""
    return effective_count(np.asarray(np.bincount(_units(record)[0], weights=weights), dtype=np.float64))


def effective_count(totals: NDArray[Any]) -> float:
    """How many groups of equal weight would weigh a mean as evenly as groups of these total weights.

    >>> effective_count(np.array([1.0, 1.0, 1.0])), round(effective_count(np.array([8.0, 1.0, 1.0])), 2)
    (3.0, 1.52)
    """
    shares = totals / np.max(totals)
    return float(np.sum(shares) ** 2 / np.sum(shares**2))
