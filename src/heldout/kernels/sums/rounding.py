"""Policy on rounding errors: when sums have lost digits, and when labels and probabilities are certain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)
ROUNDINGS = 8.0  # errors of products and factorisations, in units of the last place of the largest number involved
TOLERANCE = 1e-9  # of the tier `rounding`, relative to the largest response of a cell
LEFT_OF_DIGITS = 1e-4  # a sum of squares below this share of what it was subtracted from has lost four digits
LEAST_MARGIN = 1e-12  # of the largest score of a row: classes that lie nearer to each other count as a tie


class Refuse(Exception):
    """The kernel cannot answer this candidate or this task. The message gives the reason that `explain` shows."""


class LostDigits(Exception):
    """Subtraction left too few digits, so the sums must be computed from the training rows about their own means."""


class Undecided(Exception):
    """Rounding errors decide the answer, so scikit-learn's own fit must give it."""


def check_digits(left: Floats, reach: Floats, now: Floats) -> None:
    """Raise LostDigits where a sum of squares is too small a part of the sums it was computed from."""
    if (left < LEFT_OF_DIGITS * np.maximum(reach, now)).any():
        raise LostDigits


def scales(variance: Floats, mean: Floats, count: int, scaled: Bools) -> Floats:
    """Return what StandardScaler divides columns by: 1 if it treats a column as constant.

    Raise LostDigits where rounding decides whether a column is constant.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        bound = (count * mean * EPS) ** 2
        if ((variance > 0.1 * bound) & (variance < 10 * bound) & scaled).any():
            raise LostDigits
        constant = variance <= count * EPS * variance + bound
        return np.asarray(np.where(scaled & ~constant, np.sqrt(variance), 1.0))


def certain_classes(
    scores: Floats, errors: Floats, classes: int, methods: frozenset[str], decisions: Floats | None, *, by_row: bool
) -> Bools:
    """Return which candidates have certain labels, and probabilities and decision values within the tier.

    Parameters
    ----------
    scores : array of rows × candidates × classes
        The last axis has one number where there are two classes.
    errors : array of candidates, or of rows × candidates where `by_row`
        How far rounding may move a score.
    by_row : bool
        Whether each row is a held-out part of its own, as in leave-one-out. Then the result is rows × candidates.
    """
    axes = (2,) if by_row else (0, 2)
    with np.errstate(invalid="ignore"):
        largest = np.abs(scores).max(axis=axes, initial=0.0)
        margin = _margins(scores) if by_row else _margins(scores).min(axis=0, initial=np.inf)
        certain = np.isfinite(largest) & (margin > 2.0 * errors + LEAST_MARGIN * largest)
        if "predict_proba" in methods:  # little of an error reaches probabilities where one class is far ahead
            certain &= errors * np.minimum(1.0, classes * np.exp(-margin)) <= 0.5 * TOLERANCE
        if decisions is not None and "decision_function" in methods:
            certain &= 2.0 * errors <= TOLERANCE * np.abs(decisions).max(axis=axes, initial=0.0)
    return np.asarray(certain)


def _margins(scores: Floats) -> Floats:
    """Return how far the largest score of each row is above the next: rows × candidates."""
    count = scores.shape[2]
    if count == 1:
        return np.asarray(np.abs(scores[:, :, 0]))
    if count == 2:
        return np.asarray(np.abs(scores[:, :, 1] - scores[:, :, 0]))
    two = np.partition(scores, count - 2, axis=2)[:, :, -2:]
    return np.asarray(two[:, :, 1] - two[:, :, 0])
