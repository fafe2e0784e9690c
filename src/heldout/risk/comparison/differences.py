"""The record of the differences of two learners that were tested on the same parts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from heldout.base.errors import InputError
from heldout.risk.record import Floats, PooledScore, Record

ROUNDING = 1e-9  # of the largest loss: what the fast exact plans may differ by, so that less is no difference


def difference_record(first: Record, second: Record) -> Record:
    """The losses of the first less those of the second, part by part and row by row.

    A pair shares the easy and the hard rows, so its differences spread less than its losses do. Differences below
    1e-9 of the largest loss are rounding and become 0: two ways to compute one predictor are not two learners.

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
        # Fewer training rows mean a larger correction, so the smaller number is the careful one.
        train_sizes=np.minimum(first.train_sizes, second.train_sizes),
    )


def contributions(record: Record) -> tuple[Floats, ...] | None:
    """What each row adds to the difference: of its losses, or of its influences on a score of whole sets."""
    if record.row_losses is None and record.pooled is not None:
        return record.pooled.influence
    return record.row_losses


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
    """First less second, with differences that are rounding set to 0."""
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
    """Losses that a test may rank, a row a dataset: those of a row that differ by rounding alone are made equal.

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
    """Whether all of several differences are the same, up to rounding: no test can tell such a number from chance."""
    spread = float(np.max(differences) - np.min(differences))
    return spread <= ROUNDING * float(np.max(np.abs(differences)))
