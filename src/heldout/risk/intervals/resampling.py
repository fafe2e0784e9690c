"""Random numbers for the methods that shuffle or resample, seeded by the losses and the study's own seed.

Losses are sorted first, so that the order of rows does not matter. A sample and its negative share one seed, so that
the interval of a − b is the negative of the interval of b − a.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from heldout.base.rowkeys import derive
from heldout.risk.record import Floats

RESAMPLES = 1999  # so that the usual levels have whole ranks: 2.5 % of 2000 is the 50th
DIGITS = 12  # losses are rounded to this many digits for the seed, so that rounding error does not change it
_BLOCK = 2**20  # resampled numbers held at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Oriented:
    """Holds a sorted, centred sample or its negative, whichever is the canonical one of the two."""

    values: Floats
    seed: int
    turned: bool  # `values` is the negative of the sample
    symmetric: bool  # the sample equals its negative

    def turn_back(self, low: float, high: float) -> tuple[float, float]:
        """Return for the sample the interval ends found on `values`; a symmetric sample gets symmetric ends."""
        if self.symmetric:
            low = min(low, -high)
            high = -low
        return (-high, -low) if self.turned else (low, high)


def orient(ordered: Floats, *, seed: int, purpose: str) -> Oriented:
    """Return the canonical orientation of a sorted, centred sample, with the seed for drawing from it.

    Values are rounded to 12 digits, so that a sample and its negative match to the last bit.

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
    """Yield blocks of bootstrap samples (samples × n), :data:`RESAMPLES` samples in all.

    With `spread`, a sample of one repeated value is drawn again, because it has no standard deviation to studentise by.
    The losses must then be standardised and not all equal.
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
    """Return the probability that a bootstrap sample of standardised losses consists of one repeated value.

    >>> round(share_without_spread(np.array([0.0, 0.0, 0.0, 1.0])), 3)
    0.32
    """
    counts = np.unique(np.round(sample, DIGITS), return_counts=True)[1]
    return float(np.sum((counts / len(sample)) ** len(sample)))
