"""Measures how much related rows agree on the target, and how well a single column predicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.stats import chi2, norm

from heldout.audit.check_table import Codes, Column, Floats

MOST_ROWS = 20_000  # used to measure how well a column predicts
FALSE_ALARM = 1e-6
_NORMAL = 3.09  # quantile of the normal: one in a thousand lies beyond


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of pairs of rows (1: always, 0: by chance), its standard error, and its skewness under independence."""

    value: float
    error: float
    skewness: float = 0.0

    @property
    def z(self) -> float:
        """The number of standard errors above 0."""
        return self.value / self.error if self.error > 0 else 0.0

    @property
    def p(self) -> float:
        """The one-sided p-value, by a chi-squared distribution of the same skewness, or the normal if it is near 0."""
        if self.skewness <= 1e-3:
            return float(norm.sf(self.z))
        freedom = 8 / self.skewness**2
        return float(chi2.sf(freedom + self.z * sqrt(2 * freedom), freedom))


def agreement_within(responses: Floats, codes: Codes) -> Agreement:
    """Return the agreement of rows that share a code. Rows with a negative code are left out.

    Pairs of independent rows are uncorrelated, so the error of the mean over pairs needs no permutations. The sum over
    pairs is a quadratic form; groups of n rows give it the eigenvalue n - 1 once and -1 for the rest, which tells its
    skewness: few large groups are far from normal.

    >>> values = np.repeat([[-0.5], [0.5]], 4, axis=0)
    >>> agreement_within(values, np.repeat([0, 1], 4)).value
    1.0
    """
    sums, squares, counts = _by_code(responses, codes)
    pairs = float((counts * (counts - 1) / 2).sum())
    total = float(((sums**2).sum(axis=1) - squares).sum() / 2)
    cubes = float(((counts - 1) ** 3 - (counts - 1)).sum())
    return _agreement(responses, total, pairs, cubes=cubes)


def agreement_of_next(responses: Floats, codes: Codes) -> Agreement:
    """Return the agreement of rows whose codes differ by one."""
    sums, _, counts = _by_code(responses, codes)
    pairs = float((counts[1:] * counts[:-1]).sum())
    return _agreement(responses, float((sums[1:] * sums[:-1]).sum()), pairs)


def agreement_in_order(responses: Floats) -> Agreement:
    """Return the agreement of each row with the next, in the order given."""
    return _agreement(responses, float((responses[1:] * responses[:-1]).sum()), float(len(responses) - 1))


def goes_along(column: Column, others: Sequence[Column], responses: Floats, *, surely: float) -> bool:
    """Return whether the order of a column's values goes with the target or another number, as an amount's order does.

    One row of each value is looked at. Codes are numbered by chance, so that their rank correlations have the standard
    error 1/√(values - 1); `surely` is how many of these count.
    """
    first = column.order[np.flatnonzero(np.diff(column.sorted_codes, prepend=-1))]
    ranked = [other.codes[first] for other in others if other.kind in ("number", "date")]
    beside = np.vstack([*ranked, responses[first].T]) if ranked else responses[first].T
    beside = beside - beside.mean(axis=1, keepdims=True)
    ranks = np.arange(len(first)) - (len(first) - 1) / 2
    norms = np.sqrt((beside**2).sum(axis=1) * (ranks**2).sum())
    correlations = np.abs(beside @ ranks)[norms > 0] / norms[norms > 0]
    return bool((correlations * sqrt(max(1, len(first) - 1)) > surely).any())


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """Holds the leave-one-out R² of one column alone for the target, and the lower end of its interval."""

    value: float
    low: float


def skill_of(column: Column, responses: Floats) -> Skill:
    """Return how well one column alone predicts the target, by leave-one-out, in the rows where it is present."""
    kept = column.order < MOST_ROWS  # the rows of a table stand in a random order
    order, codes = column.order[kept], column.sorted_codes[kept]
    if len(order) < 3:
        return Skill(value=0.0, low=0.0)
    ordered = responses[order] - responses[order].mean(axis=0)
    spread = (ordered**2).sum(axis=1)
    base = float(spread.mean())
    if base <= 0:
        return Skill(value=0.0, low=0.0)
    predicted = _from_neighbours(ordered) if column.continuous else _from_level(ordered, codes)
    losses = ((ordered - predicted) ** 2).sum(axis=1)
    mean, error = float(losses.mean()), float(losses.std(ddof=1)) / sqrt(len(losses))
    return Skill(value=1 - mean / base, low=1 - (mean + _NORMAL * error) / base)


def _from_neighbours(ordered: Floats) -> Floats:
    n = len(ordered)
    reach = int(np.clip(sqrt(n) / 4, 2, 25))
    sums = np.vstack([np.zeros((1, ordered.shape[1])), np.cumsum(ordered, axis=0)])
    low = np.maximum(np.arange(n) - reach, 0)
    high = np.minimum(np.arange(n) + reach + 1, n)
    return np.asarray((sums[high] - sums[low] - ordered) / (high - low - 1)[:, None])


def _from_level(ordered: Floats, codes: Codes) -> Floats:
    sums, _, counts = _by_code(ordered, codes)
    others = np.maximum(counts[codes] - 1, 1)
    return np.where((counts[codes] > 1)[:, None], (sums[codes] - ordered) / others[:, None], 0.0)


def _by_code(responses: Floats, codes: Codes) -> tuple[Floats, Floats, Floats]:
    kept = codes >= 0
    codes, responses = codes[kept], responses[kept]
    size = int(codes.max()) + 1 if len(codes) else 0
    sums: Floats = np.column_stack([_sums(codes, response, size) for response in responses.T])
    squares = _sums(codes, (responses**2).sum(axis=1), size)
    return sums, squares, np.bincount(codes, minlength=size).astype(np.float64)


def _sums(codes: Codes, values: Floats, size: int) -> Floats:
    return np.bincount(codes, weights=values, minlength=size).astype(np.float64)


def _agreement(responses: Floats, total: float, pairs: float, *, cubes: float = 0.0) -> Agreement:
    spread = float((responses**2).sum(axis=1).mean())
    if pairs < 1 or spread <= 0:
        return Agreement(value=0.0, error=0.0)
    covariance = responses.T @ responses / len(responses)
    square = covariance @ covariance
    second, third = float(np.trace(square)), float((square * covariance).sum())
    skewness = sqrt(8) * cubes * third / (2 * pairs * second) ** 1.5
    return Agreement(value=total / pairs / spread, error=sqrt(second / pairs) / spread, skewness=skewness)
