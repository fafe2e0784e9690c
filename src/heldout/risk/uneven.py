"""Finds rows whose losses differ more than chance explains: one part, one level of a column, later blocks of time.

The p-values are those of shuffled rows or blocks, so false alarms are as rare as stated whatever the losses'
distribution. A difference must also be large enough to matter, since with many rows any is sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from heldout.risk.record import Floats, Record

FALSE_ALARM = 0.002  # the share of harmless studies in which one part, or one level, is called far from the others
FALSE_TREND = 0.01  # the share of harmless studies in which later blocks are called worse
AT_ONCE = 50  # shuffles
MATTERS = 0.2  # standard deviations of row losses: the least difference of a part, or of the last block from the first


class Far(NamedTuple):
    """Names a level of a column, and the mean losses of its rows and of all others."""

    column: int
    level: int
    mean: float
    rest: float


def row_errors(record: Record) -> tuple[Floats, ...] | None:
    """Return the losses of rows by part, of the first repeat. A score of whole sets gives errors, or their squares."""
    kept, answers = record.parts // record.repeats, record.answers
    if record.row_losses is not None or answers is None:
        return None if record.row_losses is None else record.row_losses[:kept]
    pairs = list(zip(answers.truth, answers.predicted, strict=True))[:kept]
    return tuple((y != h) * 1.0 if answers.classes else (y - h) ** 2 for y, h in pairs)


def far_level(
    losses: Floats, columns: Sequence[NDArray[np.intp]], *, seed: int, matters: float = MATTERS
) -> Far | None:
    """Return the level, of any column, whose rows' losses are farthest from those of all other rows, or None.

    A column is a code for each row; rows with a negative code belong to no level. Shuffled losses tell how large the
    largest difference over all levels of all columns is by chance (Westfall and Young 1993).

    >>> codes = np.repeat([0, 1, 2], 40)
    >>> far_level(np.where(codes == 1, 3.0, 1.0) + np.tile([0.0, 0.5], 60), [codes], seed=0)
    Far(column=0, level=1, mean=3.25, rest=1.25)
    """
    n, spread = len(losses), float(np.std(losses))
    places = [(column, level) for column, codes in enumerate(columns) for level in range(codes.max() + 1)]
    if not places or not spread > 1e-12 * float(np.max(np.abs(losses))):
        return None
    members = np.stack([columns[column] == level for column, level in places], axis=1).astype(np.float64)
    sizes = members.sum(axis=0).clip(1, n - 1)
    expected, errors = sizes * losses.mean(), spread * np.sqrt(sizes * (n - sizes) / (n - 1))
    means = losses @ members / sizes
    rest = (losses.sum() - means * sizes) / (n - sizes)
    scores = np.abs(means * sizes - expected) / errors
    best = int(np.argmax(scores * (np.abs(means - rest) >= matters * spread)))
    if abs(means[best] - rest[best]) < matters * spread or scores[best] < -ndtri(FALSE_ALARM / len(sizes)):
        return None  # chance alone explains this; it is not worth the shuffling
    chance = np.random.default_rng(seed)
    for _ in range(0, round(1 / FALSE_ALARM) - 1, AT_ONCE):
        shuffled = chance.permuted(np.tile(losses, (AT_ONCE, 1)), axis=1)
        if (np.abs(shuffled @ members - expected) >= scores[best] * (1 - 1e-9) * errors).any():
            return None
    return Far(*places[best], float(means[best]), float(rest[best]))


def chance_of_rise(values: Floats) -> float:
    """Return the probability that values in random order rise at least as steadily, by Kendall's count of inversions.

    >>> round(chance_of_rise(np.array([3.7, 3.9, 4.0, 4.3, 4.7])), 5), chance_of_rise(np.array([2.0, 1.0]))
    (0.00833, 1.0)
    """
    ways = np.ones(1)
    for size in range(2, len(values) + 1):  # the share of the orders of `size` values, by their number of inversions
        ways = np.convolve(ways, np.ones(size) / size)
    inversions = sum(int(np.sum(values[place + 1 :] <= value)) for place, value in enumerate(values))
    return float(min(1.0, ways[: inversions + 1].sum()))
