"""Finds rows whose losses differ more than chance explains: one part, one level of a column, later blocks of time.

Each rule shuffles what would be exchangeable if nothing were wrong, so the rate of false alarms is the one it states,
whatever the distribution of the losses. Each also needs a difference that matters, since many rows make any sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from heldout.risk.record import Floats, Record

FALSE_ALARM = 0.002  # the share of harmless studies in which one part, or one level, is called far from the others
FALSE_TREND = 0.01  # the share of harmless studies in which later blocks are called worse
SHUFFLES, AT_ONCE = 999, 111
MOST_ROWS = 2_000  # drawn from more
MATTERS = 0.2  # standard deviations of row losses by which later blocks are worse, or a part is


class Far(NamedTuple):
    """Names a level whose rows have other losses than all other rows."""

    column: int
    level: int
    mean: float  # of its rows
    rest: float  # of all other rows


def row_errors(record: Record) -> tuple[Floats, ...] | None:
    """Return the losses of rows by part, of the first repeat. A score of whole sets gives errors, or their squares."""
    kept = record.parts // record.repeats
    if record.row_losses is not None:
        return record.row_losses[:kept]
    answers = record.answers
    if answers is None:
        return None
    pairs = list(zip(answers.truth, answers.predicted, strict=True))[:kept]
    return tuple((y != h) * 1.0 if answers.classes else (y - h) ** 2 for y, h in pairs)


def far_level(
    losses: Floats, columns: Sequence[NDArray[np.intp]], *, seed: int, matters: float = MATTERS
) -> Far | None:
    """Return the level, of any column, whose rows differ most in their losses from all others; None if chance explains it.

    A column is a code for each row, from 0; rows with a negative code belong to no level. The p-value is that of the
    largest difference over all levels of all columns, in shuffled losses (Westfall and Young), so that the false alarms
    of all columns together are `FALSE_ALARM`. The level must differ by `matters` standard deviations of the losses.

    >>> codes = np.repeat([0, 1, 2], 40)
    >>> far_level(np.where(codes == 1, 3.0, 1.0) + np.tile([0.0, 0.5], 60), [codes], seed=0)
    Far(column=0, level=1, mean=3.25, rest=1.25)
    """
    n, spread = len(losses), float(np.std(losses))
    if not spread > 1e-12 * float(np.max(np.abs(losses), initial=0.0)) or not columns:
        return None
    members = [codes[:, None] == np.arange(codes.max() + 1) for codes in columns]
    levels = np.concatenate(members, axis=1).astype(np.float64)
    sizes = levels.sum(axis=0)
    errors = spread * np.sqrt(np.maximum(sizes * (n - sizes), 1e-9) / (n - 1))  # of sums of rows drawn at random
    expected = sizes * float(losses.mean())
    scores = np.abs(losses @ levels - expected) / errors
    sums = losses @ levels
    rest = (losses.sum() - sums) / np.maximum(n - sizes, 1)
    away = np.abs(sums / np.maximum(sizes, 1) - rest) >= matters * spread
    if not (scores * away).max() >= -ndtri(FALSE_ALARM / len(sizes)):  # nowhere near: shuffling would cost too much
        return None
    place = int((scores * away).argmax())
    chance, reached = np.random.default_rng(seed), 1
    for _ in range(SHUFFLES // AT_ONCE):
        shuffled = chance.permuted(np.tile(losses, (AT_ONCE, 1)), axis=1)
        largest = (np.abs(shuffled @ levels - expected) / errors).max(axis=1)
        reached += int(np.sum(largest >= scores[place] * (1 - 1e-9)))
        if reached > FALSE_ALARM * (SHUFFLES + 1):
            return None
    starts = np.cumsum([0, *(part.shape[1] for part in members)])
    column = int(np.searchsorted(starts, place, side="right")) - 1
    return Far(column, place - int(starts[column]), float(sums[place] / sizes[place]), float(rest[place]))


def chance_of_rise(values: Floats) -> float:
    """Return the probability that values in random order rise at least as steadily: by Kendall's count of inversions.

    >>> round(chance_of_rise(np.array([3.7, 3.9, 4.0, 4.3, 4.7])), 5), chance_of_rise(np.array([2.0, 1.0]))
    (0.00833, 1.0)
    """
    ways = np.ones(1)
    for size in range(2, len(values) + 1):  # the orders of `size` values, by their number of inversions
        ways = np.convolve(ways, np.ones(size) / size)
    inversions = sum(int(np.sum(values[place + 1 :] <= value)) for place, value in enumerate(values))
    return float(min(1.0, ways[: inversions + 1].sum()))


def rises(values: Floats, parts: Sequence[Floats]) -> bool:
    """Return whether the losses of blocks, in order of time, rise more steadily than chance, and by enough to matter."""
    first, last = (float(np.mean(parts[place])) for place in (0, -1))
    return chance_of_rise(values) <= FALSE_TREND and last - first >= MATTERS * float(np.std(np.concatenate(parts)))


class Gap(NamedTuple):
    """Holds the mean losses of predictors on the rows they trained on and on held-out rows, and of no model."""

    trained: float
    held: float
    sure: bool  # more than three standard errors apart


def training_gap(record: Record) -> Gap | None:
    """Return how much better predictors do on their own training rows; None if they were not asked about these."""
    elsewhere, held = record.elsewhere, row_errors(record)
    if elsewhere is None or held is None:
        return None
    if record.row_losses is not None:
        losses = elsewhere.losses
    else:
        wrong = elsewhere.predicted != elsewhere.truth
        losses = (
            wrong * 1.0 if record.answers and record.answers.classes else (elsewhere.predicted - elsewhere.truth) ** 2
        )
    if losses is None or not elsewhere.trained.any(axis=0).sum() > 1:
        return None
    times = elsewhere.trained.sum(axis=0)
    rows = ((losses * elsewhere.trained).sum(axis=0) / np.maximum(times, 1))[times > 0]
    end = np.concatenate(held)
    error = sqrt(float(np.var(rows)) / len(rows) + float(np.var(end)) / len(end))
    trained, mean = float(np.mean(rows)), float(np.mean(end))
    return Gap(trained=trained, held=mean, sure=abs(mean - trained) > 3 * error)
