"""Random numbers for the methods that shuffle or resample, seeded by the losses and the study's own seed.

Losses are sorted, so that the order of rows does not matter. A sample and its mirror image share one seed, so that
the difference of two learners has the mirrored interval of the difference the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from heldout.base.rowkeys import derive
from heldout.risk.record import Floats

RESAMPLES = 1999  # ranks of the usual levels are then whole: 2.5 % of 2000 is the 50th
DIGITS = 12  # to which losses enter the seed, so that rounding does not
_BLOCK = 2**20  # resampled numbers held at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Oriented:
    """A sorted sample around 0, or its mirror image: whichever stands for both."""

    values: Floats
    seed: int
    turned: bool  # these are the mirror image
    symmetric: bool  # the sample is its own mirror image

    def turn_back(self, low: float, high: float) -> tuple[float, float]:
        """Two ends found on `values`, for the sample itself; of a symmetric one, symmetric too."""
        if self.symmetric:
            low = min(low, -high)
            high = -low
        return (-high, -low) if self.turned else (low, high)


def orient(ordered: Floats, *, seed: int, purpose: str) -> Oriented:
    """A sorted sample around 0 as it is drawn from, with the seed for that.

    Values are rounded to 12 digits, for a sample and its mirror image to be that to the last bit.

    >>> one, other = (orient(np.array(x), seed=0, purpose="shuffle") for x in ([-1.0, 0.0, 3.0], [-3.0, 0.0, 1.0]))
    >>> one.seed == other.seed, one.turned, other.turned
    (True, True, False)
    """
    coarse = np.round(ordered, DIGITS)
    surplus = coarse + coarse[::-1]
    uneven = np.flatnonzero(surplus)
    turned = len(uneven) > 0 and bool(surplus[uneven[0]] > 0)
    if turned:
        coarse = -coarse[::-1]
    # Adding zero turns −0.0 into 0.0, which compares equal to it but has other bytes.
    content = blake2b(np.ascontiguousarray(coarse + 0.0, dtype="<f8").tobytes(), digest_size=16).hexdigest()
    return Oriented(values=coarse, seed=derive(seed, purpose, content), turned=turned, symmetric=len(uneven) == 0)


def resamples(ordered: Floats, *, seed: int, spread: bool = False) -> Iterator[Floats]:
    """Blocks of samples drawn with replacement, a sample a row, :data:`RESAMPLES` in all.

    With `spread`, a sample that repeats one value throughout is drawn again: there is nothing to studentise it by.
    For that the losses must be standardised, and not all the same.
    """
    rng = np.random.default_rng(seed)
    n = len(ordered)
    block = max(1, _BLOCK // n)
    for start in range(0, RESAMPLES, block):
        drawn = ordered[rng.integers(0, n, size=(min(block, RESAMPLES - start), n))]
        while spread and len(flat := np.flatnonzero(np.ptp(drawn, axis=1) <= 10.0**-DIGITS)):
            drawn[flat] = ordered[rng.integers(0, n, size=(len(flat), n))]
        yield drawn


def share_without_spread(sample: Floats) -> float:
    """The probability that a resample of standardised losses repeats a single value throughout.

    >>> round(share_without_spread(np.array([0.0, 0.0, 0.0, 1.0])), 3)
    0.32
    """
    counts = np.unique(np.round(sample, DIGITS), return_counts=True)[1]
    return float(np.sum((counts / len(sample)) ** len(sample)))
