"""Betting: an interval for the mean of bounded losses that is valid at every sample size and short in practice."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from math import exp, log

import numpy as np

from heldout.risk.estimate import Interval
from heldout.risk.intervals.bounded import refuse_bounded
from heldout.risk.intervals.method import Method, interval_around, scaled_draws, unscaled
from heldout.risk.intervals.resampling import Oriented, orient
from heldout.risk.record import Floats

TRUNCATION = 0.5  # no bet stakes more than this share of the capital
HALVINGS = 31  # bisection steps of [0, 1]: ends lie outside the exact ones by less than 5e-10
RUNGS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)  # the levels for which stakes are set; then .9999, .99999, …


def betting(losses: Floats, *, level: float, seed: int = 0) -> Interval:
    """Return the hedged capital interval of the mean of independent losses in [0, 1] (Waudby-Smith & Ramdas 2023).

    For each m two gamblers bet, row by row, that the mean is above m and that it is below m. If m is the mean, half the
    capital of either ever reaches 1/δ with probability δ at most. The interval contains every m for which neither half
    reaches 1/δ. With σ²_t = (¼ + Σ(x − μ_i)²)/(t + 1) and μ_t = (½ + Σx)/(t + 1), the stake before row t is
    λ_t = √(2 ln(2/δ)/(n σ²_{t−1})), at most ½/m or ½/(1−m). Capital is monotone in m, so each end is found by bisection
    and rounded outward. Rows are shuffled once, by a seed that is derived from the losses and `seed`.

    Stakes depend on the level, so by the formula alone a higher level need not contain the interval of a lower one.
    Therefore stakes are set for the next level in `RUNGS`, and the interval includes those of all lower rungs.

    >>> interval = betting(np.tile([0.1, 0.3], 100), level=0.95)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.18, 0.23)
    """
    drawn = _shuffle(losses, seed=seed)
    shuffled = 0.5 + drawn.values
    low, high = drawn.turn_back(lower_end(shuffled, level) - 0.5, 0.5 - lower_end(1.0 - shuffled, level))
    mean = float(np.mean(np.sort(losses)))
    return interval_around(
        mean, 0.5 + low, 0.5 + high, level=level, method="betting", guarantee="finite-sample", seed=drawn.seed
    )


def betting_p(losses: Floats, *, level: float, seed: int = 0, mean: float = 0.5) -> float:
    """Return a valid p-value that losses in [0, 1] have this `mean`: 1 over the largest hedged capital, at most 1.

    The stakes and the order of rows are those of the interval at `level`.

    >>> betting_p(np.array([0.5, 0.5, 0.5]), level=0.95)
    1.0
    """
    drawn, rung = _shuffle(losses, seed=seed), _rungs_down(level)[0]
    shuffled = 0.5 + drawn.values
    supposed = 1.0 - mean if drawn.turned else mean
    both = (shuffled, supposed), (1.0 - shuffled, 1.0 - supposed)
    won = max(_most_won(values, stakes_of(values, rung), against) for values, against in both)
    return min(1.0, 2 * exp(-won))


def _shuffle(losses: Floats, *, seed: int) -> Oriented:
    """Return the losses minus ½ (or their mirror image) in the shuffled order of the bets."""
    drawn = orient(np.sort(np.asarray(losses, dtype=np.float64)) - 0.5, seed=seed, purpose="betting")
    return replace(drawn, values=np.random.default_rng(drawn.seed).permutation(drawn.values))


def lower_end(losses: Floats, level: float) -> float:
    """Return the lower end: the largest m refuted by bets on a larger mean, or 0; lower rungs can only lower it."""
    low = 0.0
    for number, rung in enumerate(_rungs_down(level)):
        stakes = stakes_of(losses, rung)
        target = log(2 / (1 - (level if number == 0 else rung)))
        if number == 0 or _most_won(losses, stakes, low) < target:
            low = halve(losses, stakes, target)
        if low == 0:
            break
    return low


def _rungs_down(level: float) -> list[float]:
    """Return the first rung that is at least the level, then all lower rungs.

    >>> _rungs_down(0.9), _rungs_down(0.85)
    ([0.9, 0.8, 0.5], [0.9, 0.8, 0.5])
    """
    rungs: list[float] = []
    for rung in chain(RUNGS, (1 - 10.0**-digits for digits in count(4))):
        rungs.append(rung)
        if rung >= level:
            return rungs[::-1]
    raise AssertionError("rungs reach 1")


def stakes_of(losses: Floats, level: float) -> Floats:
    """Return the stake λ of each row, which depends only on the rows before it."""
    n = len(losses)
    seen = np.arange(2, n + 2)
    means = (0.5 + np.cumsum(losses)) / seen
    variances = (0.25 + np.cumsum((losses - means) ** 2)) / seen
    before = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(2 * log(2 / (1 - level)) / (n * before)))


def _most_won(losses: Floats, stakes: Floats, m: float) -> float:
    """Return the largest log capital that the gambler who bets on a mean above m ever has."""
    bets = stakes if m == 0 else np.minimum(stakes, TRUNCATION / m)
    return float(np.max(np.cumsum(np.log1p(bets * (losses - m)))))


def halve(losses: Floats, stakes: Floats, target: float) -> float:
    """Return the largest mean that bets with these stakes refute, by bisection; 0 if they refute none."""
    if _most_won(losses, stakes, 0.0) < target:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _most_won(losses, stakes, middle) >= target:
            low = middle
        else:
            high = middle
    return low


BETTING = Method(
    key="betting",
    name="betting",
    refusal=refuse_bounded,
    interval=lambda record, value, level: unscaled(
        betting(scaled_draws(record), level=level, seed=record.seed), record, value
    ),
    p=lambda record, value, level: betting_p(scaled_draws(record), level=level, seed=record.seed),
)
