"""What an interval method declares, and what several methods need: refusals, independent draws, spreads and ends.

Where one test set is a sample of independent draws, rows are the draws, unless they come in groups: then only
groups are independent, so groups are counted. Groups of one size have means that are draws of equal standing, with
the same mean as the rows. Groups of several sizes, and rows with weights, give a ratio of two means, for which only
the cluster t holds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, exp, inf, isfinite, log, sqrt, tanh
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.record import Floats, Record

Ends = tuple[float, float]
LEANING = 0.35  # |skewness|/√n from which on a mean is no longer nearly normal
FEW_SQUARES, CALM = 100, 0.38  # draws, and |skewness|/√n, up to which large errors may merely be absent
UPWARDS, DOWNWARDS = 1.3, 0.85


def wilson_ends(share: float, draws: float, quantile: float) -> Ends:
    """Wilson's interval of a share among this number of draws, whole or not.

    >>> tuple(round(end, 4) for end in wilson_ends(0.0, 10, 1.96))
    (0.0, 0.2775)
    """
    square = quantile * quantile
    middle = (share * draws + square / 2) / (draws + square)
    half = quantile / (draws + square) * sqrt(draws * share * (1 - share) + square / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def log_ends(value: float, error: float, quantile: float) -> Ends:
    """A symmetric interval of the logarithm of a positive value.

    >>> tuple(round(end, 3) for end in log_ends(2.0, 0.2, 2.0))
    (1.637, 2.443)
    """
    half = quantile * error / value
    return value * exp(-half), value * exp(min(half, 700.0))


def tilted(value: float, ends: Ends, *, draws: int, lean: float) -> Ends:
    """The ends of a mean of squares, both further up where draws are few and none of them is large.

    Errors with heavy tails often show none in fewer than a hundred rows, and then the spread says too little, while
    means of squares are hardly ever far above their expectation. A sample that does show large errors is warned of.

    >>> [round(end, 3) for end in tilted(1.0, (0.7, 1.5), draws=50, lean=0.2)]
    [0.738, 1.694]
    >>> tilted(1.0, (0.7, 1.5), draws=500, lean=0.2)
    (0.7, 1.5)
    """
    low, high = ends
    if draws >= FEW_SQUARES or lean > CALM or not 0 < low <= value <= high:
        return ends
    return value * (low / value) ** DOWNWARDS, value * (high / value) ** UPWARDS


def logit_ends(value: float, error: float, quantile: float) -> Ends:
    """A symmetric interval of the logit of a value between 0 and 1.

    >>> tuple(round(end, 3) for end in logit_ends(0.5, 0.05, 2.0))
    (0.401, 0.599)
    """
    middle, half = log(value / (1 - value)), quantile * error / (value * (1 - value))
    return _expit(middle - half), _expit(middle + half)


def fisher_ends(value: float, error: float, quantile: float) -> Ends:
    """A symmetric interval of the inverse hyperbolic tangent of a value between −1 and 1.

    >>> tuple(round(end, 3) for end in fisher_ends(0.0, 0.1, 2.0))
    (-0.197, 0.197)
    """
    middle, half = atanh(value), quantile * error / (1 - value * value)
    return tanh(middle - half), tanh(middle + half)


def hall_ends(value: float, error: float, quantile: float, *, skew: float, draws: int) -> Ends:
    """The interval of a mean by Hall's transformation, which takes the skewness of the losses out of Student's t.

    With T = (mean − risk)/error, g(T) = T + γ/√n·(T²/3 + 1/6) + γ²/n·T³/27 is nearer normal than T (Hall 1992), and has
    the inverse 3√n/γ·[(1 + γ·(x/√n − γ/(6n)))^⅓ − 1].

    >>> low, high = hall_ends(1.0, 0.1, 2.0, skew=2.0, draws=50)
    >>> high - 1 > 1 - low
    True
    """
    lower, upper = (_hall_inverse(x, skew, draws) for x in (-quantile, quantile))
    return value - error * max(upper, 0.0), value - error * min(lower, 0.0)


def _hall_inverse(x: float, skew: float, draws: int) -> float:
    root = sqrt(draws)
    tilt = skew / root
    if abs(tilt) < 1e-8:
        return x
    return 3 / tilt * (float(np.cbrt(1 + tilt * (x - tilt / 6))) - 1)


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(max(x, -700.0)) / (1 + exp(max(x, -700.0)))


def standard_deviation(sample: Floats) -> float:
    """The sample standard deviation (n − 1), scaled so that squares of huge or tiny losses stay finite.

    >>> standard_deviation(np.array([1e200, 3e200]))
    1.414213562373095e+200
    """
    scale = float(np.max(np.abs(sample)))
    return 0.0 if scale == 0 else scale * float(np.std(sample / scale, ddof=1))


def standardised(sample: Floats) -> tuple[Floats, float, float]:
    """The sample sorted, less its mean and over its largest deviation; that mean; and that deviation (0: constant).

    Sorted first, so that the order of rows cannot show even in the last bit.

    >>> standardised(np.array([3.0, 1.0, 2.0]))
    (array([-1.,  0.,  1.]), 2.0, 1.0)
    """
    ordered = np.sort(np.asarray(sample, dtype=np.float64))
    mean = float(np.mean(ordered))
    if ordered[0] == ordered[-1]:  # rounding of the mean is no spread
        return np.zeros(len(ordered)), float(ordered[0]), 0.0
    away = ordered - mean
    scale = float(np.max(np.abs(away)))
    return away / scale, mean, scale


def root_mean_square(numbers: Floats) -> float:
    """√(mean of squares), scaled so that squares of huge or tiny numbers stay finite."""
    largest = float(np.max(np.abs(numbers)))
    return 0.0 if largest == 0 else largest * sqrt(float(np.mean((numbers / largest) ** 2)))


def spread_of_pairs(pairs: Floats) -> float:
    """√(Σ(first − second)²/2M) of M pairs, a pair a row: the standard deviation of one of a pair."""
    away = pairs[:, 0] / 2 - pairs[:, 1] / 2  # each of a pair is this far from their mean
    largest = float(np.max(np.abs(away)))
    return 0.0 if largest == 0 else largest * sqrt(2 * float(np.mean((away / largest) ** 2)))


LARGEST = sys.float_info.max
ROUNDING = 1e-12  # of the ends: an interval narrower than that is a point
TOLERANCE = 1e-9  # how far rounding may take a loss out of its range, in widths of the range
NO_WIDTH = "No interval: the losses do not vary, so nothing tells by how much they would on other rows."


def t_quantile(freedom: float, level: float) -> float:
    """Student's quantile of a two-sided interval."""
    return float(stdtrit(freedom, 0.5 + level / 2))


def z_quantile(level: float) -> float:
    """The normal quantile of a two-sided interval."""
    return float(ndtri(0.5 + level / 2))


def interval_around(
    value: float, low: float, high: float, *, level: float, method: str, guarantee: str, seed: int | None = None
) -> Interval:
    """An interval with finite ends that holds the value it is the interval of.

    Methods that shuffle, resample or round can leave the mean out by a hair or by bad luck; a wider interval covers no
    less.
    """
    low, high = (min(max(end, -LARGEST), LARGEST) for end in (min(low, value), max(high, value)))
    return Interval(low=low, high=high, level=level, method=method, guarantee=guarantee, seed=seed)


def symmetric(middle: float, half: float, *, level: float, method: str, guarantee: str) -> Interval:
    """The interval that reaches as far up as down."""
    return interval_around(middle, middle - half, middle + half, level=level, method=method, guarantee=guarantee)


def has_no_width(interval: Interval) -> bool:
    """Whether an interval is a point, up to rounding: no number of rows makes a risk known for sure.

    >>> has_no_width(Interval(low=0.0, high=0.0, level=0.95, method="Student", guarantee="asymptotic"))
    True
    """
    return interval.high - interval.low <= ROUNDING * max(abs(interval.low), abs(interval.high))


def unscaled(plain: Interval, record: Record, value: float) -> Interval:
    """An interval for losses scaled to [0, 1], in the loss's own range, with the guarantee that the record leaves."""
    width = record.high - record.low
    return interval_around(
        value,
        record.low + width * plain.low,
        record.low + width * plain.high,
        level=plain.level,
        method=plain.method,
        guarantee=promised(plain.guarantee, record),
        seed=plain.seed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The mean of differences and how far it may be off."""

    mean: float
    error: float  # the standard error, κ included
    freedom: float  # degrees of freedom of the t
    shrink: float = 1.0  # what the middle of the interval is multiplied by, where differences are counts
    carriers: float = inf  # units of equal share that would make up the variance as unevenly

    def interval(self, level: float, *, method: str, value: float | None = None) -> Interval:
        """The interval around the mean, or around the value that is shown in its place."""
        shown = self.mean if value is None else value
        middle, half = self.shrink * shown, t_quantile(self.freedom, level) * self.error
        return interval_around(shown, middle - half, middle + half, level=level, method=method, guarantee="heuristic")

    def p(self, *, value: float | None = None) -> float:
        """The two-sided p-value that goes with the interval."""
        middle = self.shrink * (self.mean if value is None else value)
        if middle == 0:
            return 1.0
        return float(2 * stdtr(self.freedom, -abs(middle) / self.error if self.error > 0 else -inf))


def refuse_other_than_one_test_set(record: Record) -> str | None:
    """Why this record is not one test set with losses of single rows that owe nothing to time, or None."""
    if record.parts != 1:
        return f"it speaks of one test set, and there are {record.parts} held-out parts"
    if record.timed:
        return "the test rows follow each other in time, so they are not independent"
    if record.row_losses is None:
        return "this score belongs to whole sets and has no losses of single rows; KFold or Resample give several sets"
    if record.grouped and record.groups is None:
        return "the test rows come in groups, and the record does not say which row belongs to which"
    return None


def refuse_dependent_test_rows(record: Record) -> str | None:
    """Why the rows of this record are not one sample of independent, equally weighted draws, or None."""
    if (reason := refuse_other_than_one_test_set(record)) is not None:
        return reason
    if record.grouped:
        return "the test rows come in groups, so they are not independent: groups have to be counted, not rows"
    if record.weights is not None:
        return "the test rows have weights, and this method counts each row once"
    return None


def refuse_unequal_draws(record: Record) -> str | None:
    """Why neither rows nor means of groups are independent draws of equal standing, or None."""
    if not record.grouped or record.groups is None:
        return refuse_dependent_test_rows(record)
    if (reason := refuse_other_than_one_test_set(record)) is not None:
        return reason
    if record.weights is not None:
        return "the test rows have weights, and this method counts each group once"
    sizes = np.unique(record.groups[0], return_counts=True)[1]
    if sizes.min() == sizes.max():
        return None
    return (
        f"the test rows come in groups of {sizes.min()} to {sizes.max()} rows, so their risk is a ratio of two means, "
        "and this method knows means of equal draws only"
    )


def refuse_few(count: int, effective: float | None = None, *, record: Record) -> str | None:
    """Why so many draws, or as many of equal weight, have no spread, or None."""
    what = "group" if record.grouped else "row"
    if count < 2:
        return f"one test {what} has no spread"
    if effective is None or effective >= 2:
        return None
    return f"one {what} weighs so much that the {count} test {what}s tell no more than {effective:.1f} equal ones would"


def refuse_unbounded(record: Record) -> str | None:
    """Why the loss has no range that a bound could be made from, or None."""
    if isfinite(record.low) and isfinite(record.high):
        return None
    return f"it needs losses between two known numbers, and the loss {record.loss!r} has no such bounds"


def refuse_out_of_range(record: Record) -> str | None:
    """Why the losses themselves break the range that the loss declares, or None."""
    if record.unknown:
        return None
    assert record.row_losses is not None
    width = record.high - record.low
    low, high = (float(extreme(record.row_losses[0])) for extreme in (np.min, np.max))
    if low >= record.low - TOLERANCE * width and high <= record.high + TOLERANCE * width:
        return None
    return f"the losses run from {low:.4g} to {high:.4g}, out of the declared {record.low:.4g} to {record.high:.4g}"


def independent_draws(record: Record) -> Floats:
    """The rows of one test set, or the means of its groups where it has any; the record was not refused."""
    assert record.row_losses is not None
    rows = record.row_losses[0]
    if not record.grouped or record.groups is None:
        return rows
    _, codes, sizes = np.unique(record.groups[0], return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(codes, weights=rows / sizes[codes]), dtype=np.float64)


def count_draws(record: Record) -> int:
    """How many independent draws one test set has: groups where there are any, else rows."""
    if record.grouped and record.groups is not None:
        return len(np.unique(record.groups[0]))
    return int(record.held_sizes[0])


def scaled_draws(record: Record) -> Floats:
    """The independent draws of a bounded loss, from 0 (its least value) to 1 (its greatest)."""
    scaled: Floats = (independent_draws(record) - record.low) / (record.high - record.low)
    return np.clip(scaled, 0.0, 1.0)


def promised(guarantee: str, how: Any) -> str:
    """The guarantee that is left for rows that a record, or the recipe of splits, says were drawn in this way.

    A stratified draw is no sample of independent rows, so nothing is proved for it, nor for rows that someone else's
    splitter drew, which may have done so by strata.
    """
    unknown = how.stratified or (how.kind == "foreign" and how.drawn)
    return "heuristic" if unknown and guarantee in ("exact", "finite-sample") else guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to make an interval from a record.

    `refusal` says in a clause why the method cannot speak of a record ("it needs one test set, and there are 5
    parts"), or gives None where it can; it is asked before any fit too, of a record whose losses are `unknown`.
    `interval` takes a record that was not refused, the value that is shown, and the level; its interval is finite,
    holds the value, and holds the interval of every lower level. `p` takes the same.
    """

    key: str  # as a user asks for it
    name: str  # as it is shown
    refusal: Callable[[Record], str | None]
    interval: Callable[[Record, float, float], Interval]
    p: Callable[[Record, float, float], float] | None = None  # that the mean is 0; None: the interval is inverted
    spread: Callable[[Record], Spread] | None = None  # of methods that know the standard error over rows
    resamples: bool = False
    belongs_to: str | None = None  # the estimate it is an interval of, where that is not the risk
    estimand: str | None = None  # that estimate in words
