"""Paired rows: the interval of the difference of two learners, from their losses on the same held-out rows.

It is the default over folds, leave-one-out, repeats and resamples. A variance of fold means would need many folds, and
stratification makes it too small. There are many rows, and stratification does not change their variance.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import InputError
from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import Method, Spread
from heldout.risk.record import Floats, PooledScore, Record
from heldout.risk.widening import effective_count, mean_weights

ROUNDING = 1e-9  # of the largest loss: fast kernels may differ from brute force by this much, so less counts as 0


def difference_record(first: Record, second: Record) -> Record:
    """Return the record of the first learner's losses minus the second's, part by part and row by row.

    Both learners share easy and hard rows, so differences vary less than losses. Differences below 1e-9 of the largest
    loss are set to 0: they are rounding error between two ways to compute the same predictor.

    >>> def folds(losses):
    ...     sizes = {"train_sizes": np.array([8, 8]), "held_sizes": np.array([4, 4])}
    ...     return Record(loss="zero_one", sign=1, low=0.0, high=1.0, fold_losses=np.array(losses), row_losses=None,
    ...                   kind="kfold", **sizes)
    >>> difference_record(folds([0.5, 0.25]), folds([0.25, 0.25])).fold_losses.tolist()
    [0.25, 0.0]
    """
    if first.loss != second.loss or first.sign != second.sign:
        raise InputError(f"Losses of one kind are compared, not {first.loss!r} with {second.loss!r}.")
    if not np.array_equal(first.held_sizes, second.held_sizes):
        raise InputError("Losses are compared part by part, but these two records come from different splits.")
    width = first.high - first.low
    return replace(
        first,
        low=-width,
        high=width,
        fold_losses=subtract(first.fold_losses, second.fold_losses),
        row_losses=_row_by_row(first.row_losses, second.row_losses),
        pooled=_pooled(first.pooled, second.pooled),
        answers=None,
        elsewhere=None,
        sample=None,
        # Fewer training rows mean a larger correction, so the smaller number is conservative.
        train_sizes=np.minimum(first.train_sizes, second.train_sizes),
    )


def contributions(record: Record) -> tuple[Floats, ...] | None:
    """Return the contributions of rows to the difference: row losses, or influences on a set score; None if unknown."""
    return record.row_losses if record.pooled is None or record.row_losses is not None else record.pooled.influence


def _row_by_row(first: tuple[Floats, ...] | None, second: tuple[Floats, ...] | None) -> tuple[Floats, ...] | None:
    if first is None or second is None:
        return None
    return tuple(subtract(a, b) for a, b in zip(first, second, strict=True))


def _pooled(first: PooledScore | None, second: PooledScore | None) -> PooledScore | None:
    if first is None or second is None:
        return None
    return PooledScore(
        value=float(subtract(np.array([first.value]), np.array([second.value]))[0]),
        influence=_row_by_row(first.influence, second.influence),
        blocks=second.blocks if first.blocks is None else first.blocks,
    )


def subtract(first: Floats, second: Floats) -> Floats:
    """Return `first` minus `second`, with differences below the rounding tolerance set to 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = first - second
        scale = _largest(first, second)
        difference[np.abs(difference) <= ROUNDING * scale] = 0.0
    return difference


def _largest(first: Floats, second: Floats) -> float:
    both = np.abs(np.concatenate([first, second]))
    finite = both[np.isfinite(both)]
    return float(finite.max()) if len(finite) else 0.0


def tie_rounded(losses: Floats) -> Floats:
    """Return losses (datasets × learners) in which those of one dataset that differ by rounding only are made equal.

    >>> tie_rounded(np.array([[0.5, 0.5 + 1e-15, 0.7]]))[0].tolist()
    [0.5, 0.5, 0.7]
    """
    tied = losses.copy()
    for row in tied:
        order = np.argsort(row, kind="stable")
        close = ROUNDING * _largest(row, row)
        for before, after in pairwise(order):
            if row[after] - row[before] <= close:
                row[after] = row[before]
    return tied


def has_no_spread(differences: Floats) -> bool:
    """Return whether all differences are equal up to rounding, so that their variance is not known."""
    spread = float(np.max(differences) - np.min(differences))
    return spread <= ROUNDING * float(np.max(np.abs(differences)))


# The factor on the standard error of independent rows, needed because the fits of all parts share training rows.
# benchmarks/coverage/compare_power.py tests learners of the same risk at 5 %: 1.25 rejected nearest neighbours in up to
# 7.6 % of studies, 1.3 in up to 6.6 %, and least squares in up to 2.8 %.
KAPPA = 1.3
NAME = "paired rows"


def spread_of_rows(
    differences: Floats,
    *,
    kappa: float = KAPPA,
    units: NDArray[Any] | None = None,
    parts: NDArray[Any] | None = None,
    weights: Floats | None = None,
) -> Spread:
    """Return the mean of the differences of two learners and its standard error; only units are independent.

    A difference is the first learner's loss on a row minus the second's; for a pooled set score it is the difference of
    the row's influences. The interval is mean ± t·κ·s/√n with n − 1 degrees of freedom. `units` names the unit of each
    row, such as its group (None: each row is a unit); s is the spread of the sums of units and n their number.

    Differences that are all 0 or ±one value, as for the zero-one loss, get one more row in each direction (Bonett &
    Price 2012). Otherwise few rows that differ would give an interval narrower than that of one test set.

    A unit held out in several `parts` counts once, with the mean square of its sums in those parts, so repeats do not
    narrow the interval. The mean of its differences would vary less, but would lose the error that the training sets
    add: five repeats of five folds then told equal nearest neighbours apart in 8 % of studies.

    >>> interval = spread_of_rows(np.array([0.1, 0.3, 0.2, -0.1, 0.2, 0.1])).interval(0.95, method=NAME)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.053, 0.32)
    """
    mass = np.ones(len(differences)) if weights is None else weights / np.max(weights)
    unit = np.arange(len(differences)) if units is None else np.unique(units, return_inverse=True)[1]
    part = np.zeros(len(differences), dtype=np.intp) if parts is None else np.unique(parts, return_inverse=True)[1]
    largest = float(np.max(np.abs(differences)))
    scaled = differences / largest if largest > 0 else differences
    mean, total = float(np.average(scaled, weights=mass)), float(np.sum(mass))
    freedom, shrink = effective_count(np.bincount(unit, weights=mass)) - 1, 1.0
    if np.isin(np.abs(scaled), (0.0, 1.0)).all():
        unit_weight = total / int(np.count_nonzero(np.bincount(unit, weights=mass)))  # what a unit weighs
        scaled, mass = np.append(scaled, (1.0, -1.0)), np.append(mass, (unit_weight, unit_weight))
        unit, part = np.append(unit, (unit.max() + 1, unit.max() + 2)), np.append(part, (0, 0))
        shrink, total = total / (total + 2 * unit_weight), total + 2 * unit_weight
    turns = int(part.max()) + 1
    cells, cell = np.unique(unit * turns + part, return_inverse=True)
    sums = np.bincount(cell, weights=mass * (scaled - shrink * mean))
    squares = np.bincount(cells // turns) * np.bincount(cells // turns, weights=sums**2)
    count = int(np.count_nonzero(np.bincount(unit, weights=mass)))
    error = kappa * largest * sqrt(count / (count - 1) * float(np.sum(squares))) / total
    carriers = effective_count(squares) if error > 0 else inf
    return Spread(mean=largest * mean, error=error, freedom=freedom, shrink=shrink, carriers=carriers)


def spread_of(record: Record) -> Spread:
    """Return the spread of an accepted record of differences; κ applies only over several parts.

    The variance of a difference of AUCs depends on the rows of the rarer class. With ten positives a t with the degrees
    of freedom of all rows told equal learners apart in 8 to 13 % of studies. So only the effective number of rows that
    make up the variance is counted, which gives 5 to 7 %.
    """
    values = contributions(record)
    assert values is not None
    spread = spread_of_rows(
        np.concatenate(values),
        kappa=1.0 if record.parts == 1 else KAPPA,
        units=_units(record),
        parts=np.repeat(np.arange(record.parts), record.held_sizes),
        weights=_weights(record),
    )
    if record.family == "auc":
        spread = replace(spread, freedom=min(spread.freedom, spread.carriers))
    return replace(spread, error=spread.error * sqrt(record.share))  # a sample estimates the spread of all rows


def _weights(record: Record) -> Floats:
    """Return the weight of each row; AUC is a mean over parts, other set scores are computed on all rows at once."""
    return mean_weights(record, pooled=record.row_losses is None and record.family != "auc")


def _units(record: Record) -> NDArray[Any]:
    """Return the independent unit of each row: its group, the block with a common influence, or the row itself."""
    together = record.groups
    if together is None and record.row_losses is None and record.pooled is not None:
        together = record.pooled.blocks
    named = record.rows if together is None else together
    return np.arange(int(np.sum(record.held_sizes))) if named is None else np.concatenate(named)


def _refusal(record: Record) -> str | None:
    if contributions(record) is None:
        return "this score belongs to whole sets and does not tell what single rows add to it"
    if record.timed:
        return "the rows follow each other in time, so they are not independent"
    if record.grouped and record.groups is None:
        return "the rows come in groups, and the record does not say which row belongs to which"
    if record.rows is None and not (record.parts == 1 or (record.partition and record.repeats == 1)):
        return "rows may be held out several times, and the record does not say which row is which"
    weights = _weights(record)
    enough = effective_count(np.bincount(np.unique(_units(record), return_inverse=True)[1], weights=weights))
    if enough < 2:
        what = "rows" if record.groups is None else "groups"
        return f"the {what} tell no more than {enough:.1f} of equal weight would"
    return None


def _interval(record: Record, value: float, level: float) -> Interval:
    return spread_of(record).interval(level, value=value, method=NAME if record.share == 1 else "paired sampled rows")


PAIRED_ROWS = Method(key="paired-rows", name=NAME, refusal=_refusal, interval=_interval, spread=spread_of)
