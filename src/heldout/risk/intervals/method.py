"""The declaration of an interval method, and what several methods share: refusals, independent draws, interval ends.

The independent draws of one test set are its rows; if rows come in groups, only groups are independent, so the groups
are the draws. If all groups have one size, their means are equally weighted draws with the same mean as the rows. With
groups of different sizes, or row weights, the mean is a ratio of two means, for which only the cluster t is valid.
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
LEANING = 0.35  # |skewness|/√n above which a mean is not nearly normal
FEW_SQUARES, CALM = 100, 0.38  # draws, and |skewness|/√n, below which large errors may be absent by chance
UPWARDS, DOWNWARDS = 1.3, 0.85


def wilson_ends(share: float, draws: float, quantile: float) -> Ends:
    """Return Wilson's interval of a proportion among `draws` draws, which need not be a whole number.

    >>> tuple(round(end, 4) for end in wilson_ends(0.0, 10, 1.96))
    (0.0, 0.2775)
    """
    square = quantile * quantile
    middle = (share * draws + square / 2) / (draws + square)
    half = quantile / (draws + square) * sqrt(draws * share * (1 - share) + square / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def log_ends(value: float, error: float, quantile: float) -> Ends:
    """Return the interval that is symmetric on the log scale, for a positive value with this standard error.

    >>> tuple(round(end, 3) for end in log_ends(2.0, 0.2, 2.0))
    (1.637, 2.443)
    """
    half = quantile * error / value
    return value * exp(-half), value * exp(min(half, 700.0))


def tilted(value: float, ends: Ends, *, draws: int, lean: float) -> Ends:
    """Move both ends of an interval of a mean of squares up if draws are few and not very skewed.

    In fewer than a hundred rows, heavy-tailed errors often show no large error, and the spread is then too small, while
    means of squares are seldom far above their expectation. A very skewed sample is left alone, and gets a warning.

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
    """Return the interval that is symmetric on the logit scale, for a value between 0 and 1.

    >>> tuple(round(end, 3) for end in logit_ends(0.5, 0.05, 2.0))
    (0.401, 0.599)
    """
    middle, half = log(value / (1 - value)), quantile * error / (value * (1 - value))
    return _expit(middle - half), _expit(middle + half)


def fisher_ends(value: float, error: float, quantile: float) -> Ends:
    """Return the interval that is symmetric in Fisher's z = atanh(value), for a value between −1 and 1.

    >>> tuple(round(end, 3) for end in fisher_ends(0.0, 0.1, 2.0))
    (-0.197, 0.197)
    """
    middle, half = atanh(value), quantile * error / (1 - value * value)
    return tanh(middle - half), tanh(middle + half)


def hall_ends(value: float, error: float, quantile: float, *, skew: float, draws: int) -> Ends:
    """Return the interval of a mean by Hall's transformation, which corrects Student's t for skewed losses.

    With T = (mean − risk)/error, g(T) = T + γ/√n·(T²/3 + 1/6) + γ²/n·T³/27 is nearer normal than T (Hall 1992). Its
    inverse is 3√n/γ·[(1 + γ·(x/√n − γ/(6n)))^⅓ − 1]. γ is `skew` and n is `draws`.

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
    """Return the sample standard deviation (ddof=1), scaled so that squares of huge or tiny losses stay finite.

    >>> standard_deviation(np.array([1e200, 3e200]))
    1.414213562373095e+200
    """
    scale = float(np.max(np.abs(sample)))
    return 0.0 if scale == 0 else scale * float(np.std(sample / scale, ddof=1))


def standardised(sample: Floats) -> tuple[Floats, float, float]:
    """Return the sorted sample, centred and divided by its largest deviation; its mean; and that deviation.

    The deviation is 0 for a constant sample. Sorting first makes the result independent of the order of rows, to the
    last bit.

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
    """Return √(mean of squares), scaled so that squares of huge or tiny numbers stay finite."""
    largest = float(np.max(np.abs(numbers)))
    return 0.0 if largest == 0 else largest * sqrt(float(np.mean((numbers / largest) ** 2)))


def spread_of_pairs(pairs: Floats) -> float:
    """Return √(Σ(first − second)²/2M) of M pairs (M × 2), the standard deviation of a single member of a pair."""
    away = pairs[:, 0] / 2 - pairs[:, 1] / 2  # the distance of each member from the mean of its pair
    largest = float(np.max(np.abs(away)))
    return 0.0 if largest == 0 else largest * sqrt(2 * float(np.mean((away / largest) ** 2)))


LARGEST = sys.float_info.max
ROUNDING = 1e-12  # of the larger end: a narrower interval counts as a point
TOLERANCE = 1e-9  # how far rounding may take a loss out of its range, in widths of the range
NO_WIDTH = "No interval: the losses do not vary, so nothing tells by how much they would on other rows."


def t_quantile(freedom: float, level: float) -> float:
    """Return Student's quantile for a two-sided interval with these degrees of freedom."""
    return float(stdtrit(freedom, 0.5 + level / 2))


def z_quantile(level: float) -> float:
    """Return the normal quantile for a two-sided interval."""
    return float(ndtri(0.5 + level / 2))


def interval_around(
    value: float, low: float, high: float, *, level: float, method: str, guarantee: str, seed: int | None = None
) -> Interval:
    """Return an Interval whose ends are finite and widened to contain `value`.

    Methods that shuffle, resample or round may miss the mean by rounding or by chance. Widening never lowers the
    coverage.
    """
    low, high = (min(max(end, -LARGEST), LARGEST) for end in (min(low, value), max(high, value)))
    return Interval(low=low, high=high, level=level, method=method, guarantee=guarantee, seed=seed)


def symmetric(middle: float, half: float, *, level: float, method: str, guarantee: str) -> Interval:
    """Return the interval middle ± half."""
    return interval_around(middle, middle - half, middle + half, level=level, method=method, guarantee=guarantee)


def has_no_width(interval: Interval) -> bool:
    """Return whether an interval is a point up to rounding; such an interval would claim certainty.

    >>> has_no_width(Interval(low=0.0, high=0.0, level=0.95, method="Student", guarantee="asymptotic"))
    True
    """
    return interval.high - interval.low <= ROUNDING * max(abs(interval.low), abs(interval.high))


def unscaled(plain: Interval, record: Record, value: float) -> Interval:
    """Map an interval of losses scaled to [0, 1] to the range of the loss; keep the guarantee the record allows."""
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
    """Holds the mean of differences and its standard error, for a t interval and its p-value."""

    mean: float
    error: float  # the standard error, κ included
    freedom: float  # degrees of freedom of the t
    shrink: float = 1.0  # the middle of the interval is multiplied by this, if differences are counts
    carriers: float = inf  # the effective number of units that make up the variance

    def interval(self, level: float, *, method: str, value: float | None = None) -> Interval:
        """Return the t interval around the mean, or around `value` if given."""
        shown = self.mean if value is None else value
        middle, half = self.shrink * shown, t_quantile(self.freedom, level) * self.error
        return interval_around(shown, middle - half, middle + half, level=level, method=method, guarantee="heuristic")

    def p(self, *, value: float | None = None) -> float:
        """Return the two-sided p-value of a zero mean; it matches the interval."""
        middle = self.shrink * (self.mean if value is None else value)
        if middle == 0:
            return 1.0
        return float(2 * stdtr(self.freedom, -abs(middle) / self.error if self.error > 0 else -inf))


def refuse_other_than_one_test_set(record: Record) -> str | None:
    """Return why this record is not one test set with row losses that are not ordered in time; None if it is."""
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
    """Return why the rows are not independent, equally weighted draws of one test set; None if they are."""
    if (reason := refuse_other_than_one_test_set(record)) is not None:
        return reason
    if record.grouped:
        return "the test rows come in groups, so they are not independent: groups have to be counted, not rows"
    if record.weights is not None:
        return "the test rows have weights, and this method counts each row once"
    return None


def refuse_unequal_draws(record: Record) -> str | None:
    """Return why neither rows nor group means are independent, equally weighted draws; None if they are."""
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
    """Return why the number of draws, or the effective number, is too small for a spread; None if it suffices."""
    what = "group" if record.grouped else "row"
    if count < 2:
        return f"one test {what} has no spread"
    if effective is None or effective >= 2:
        return None
    return f"one {what} weighs so much that the {count} test {what}s tell no more than {effective:.1f} equal ones would"


def refuse_unbounded(record: Record) -> str | None:
    """Return why the loss has no finite range for a bound; None if it has one."""
    if isfinite(record.low) and isfinite(record.high):
        return None
    return f"it needs losses between two known numbers, and the loss {record.loss!r} has no such bounds"


def refuse_out_of_range(record: Record) -> str | None:
    """Return why some losses lie outside the declared range of the loss; None if all lie within."""
    if record.unknown:
        return None
    assert record.row_losses is not None
    width = record.high - record.low
    low, high = (float(extreme(record.row_losses[0])) for extreme in (np.min, np.max))
    if low >= record.low - TOLERANCE * width and high <= record.high + TOLERANCE * width:
        return None
    return f"the losses run from {low:.4g} to {high:.4g}, out of the declared {record.low:.4g} to {record.high:.4g}"


def independent_draws(record: Record) -> Floats:
    """Return the row losses of one test set, or the mean losses of its groups; the record was accepted before."""
    assert record.row_losses is not None
    rows = record.row_losses[0]
    if not record.grouped or record.groups is None:
        return rows
    _, codes, sizes = np.unique(record.groups[0], return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(codes, weights=rows / sizes[codes]), dtype=np.float64)


def count_draws(record: Record) -> int:
    """Return the number of independent draws of one test set: groups if there are any, else rows."""
    if record.grouped and record.groups is not None:
        return len(np.unique(record.groups[0]))
    return int(record.held_sizes[0])


def scaled_draws(record: Record) -> Floats:
    """Return the independent draws of a bounded loss, scaled from its range to [0, 1]."""
    scaled: Floats = (independent_draws(record) - record.low) / (record.high - record.low)
    return np.clip(scaled, 0.0, 1.0)


def promised(guarantee: str, how: Any) -> str:
    """Return the guarantee that remains given how the rows were drawn; `how` is a record or a recipe of splits.

    Rows of a stratified draw are not independent, so "exact" and "finite-sample" become "heuristic". The same goes for
    rows drawn by a foreign splitter, which may stratify.
    """
    unknown = how.stratified or (how.kind == "foreign" and how.drawn)
    return "heuristic" if unknown and guarantee in ("exact", "finite-sample") else guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """Declares a method that computes an interval from a record.

    `refusal` returns None if the method accepts a record, else a clause that says why not ("it needs one test set, and
    there are 5 parts"). It is also called before any fit, with a record whose losses are `unknown`. `interval` takes an
    accepted record, the shown value and the level. Its result is finite, contains the value, and contains the interval
    of every lower level. `p` takes the same arguments.
    """

    key: str  # as a user asks for it
    name: str  # as it is shown
    refusal: Callable[[Record], str | None]
    interval: Callable[[Record, float, float], Interval]
    p: Callable[[Record, float, float], float] | None = None  # of a zero mean; None: the interval is inverted
    spread: Callable[[Record], Spread] | None = None  # None: the method has no t interval with one standard error
    resamples: bool = False
    belongs_to: str | None = None  # the name of the estimate it is an interval of; None: the risk
    estimand: str | None = None  # that estimate in words
