"""Cells of the tables: how often an interval covered, how wide it was, how often a warning fired, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

LEVEL = 0.95
LEAST = 0.92  # a default that is shown to cover less fails, unless it is warned of
SHOWN = 0.001  # one-sided p-value
DOUBTFUL = 0.92  # cells that cover less are simulated again, with more replications
OFTEN = 0.90  # share of replications from which on a cell counts as warned of

COVERS, WARNED, FAILS, NONE = "covers", "warned", "FAILS", "no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One interval: the estimate, its ends (None: there is no interval), the truth, and whether a warning fired."""

    value: float
    low: float | None
    high: float | None
    truth: float
    warned: bool = False
    method: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One loss in one setting under one recipe, by one interval method, over all replications."""

    setting: str
    recipe: str
    loss: str
    method: str
    is_default: bool
    studies: int
    replications: int  # studies with an interval
    truth: float
    truth_error: float  # Monte-Carlo error of the truth, over the standard deviation of the estimate
    bias: float  # mean of the estimates less the truth, over their standard deviation
    covered: int
    below: int  # intervals that lie below the truth
    above: int
    width: float  # mean width over that of the ideal interval; NaN where all estimates are the same
    warns: float  # share of studies in which a warning fires
    misses_warned: float  # the same, of those whose interval misses; NaN without any

    @property
    def coverage(self) -> float:
        return self.covered / self.replications if self.replications else np.nan

    @property
    def p_value(self) -> float:
        """How probable so few covering intervals are, were 92 % of them to cover."""
        return float(binom.cdf(self.covered, self.replications, LEAST))

    @property
    def warned_of(self) -> bool:
        return self.warns >= OFTEN

    @property
    def doubtful(self) -> bool:
        """Whether more replications should decide."""
        return self.replications > 0 and self.coverage < DOUBTFUL

    @property
    def verdict(self) -> str:
        if self.replications < self.studies / 2:
            return NONE
        if self.p_value >= SHOWN:
            return COVERS
        return WARNED if self.warned_of else FAILS


def monte_carlo_error(share: float, replications: int) -> float:
    """The standard error of a share, never 0: a share of none or all is not known exactly either.

    >>> round(monte_carlo_error(0.95, 1000), 4)
    0.007
    """
    shrunk = (share * replications + 1) / (replications + 2)
    return sqrt(shrunk * (1 - shrunk) / replications)


def tally(shots: Iterable[Shot], *, studies: int, truth_error: float, **about: object) -> Cell:
    """The cell of some intervals. The ideal interval is ±1.96 standard deviations of the estimates around the truth.

    >>> shots = [Shot(value=v, low=v - 3.92, high=v + 3.92, truth=0.0) for v in (-1.0, 1.0, 4.0)]
    >>> cell = tally(shots, studies=4, truth_error=0.0, setting="", recipe="", loss="", is_default=True)
    >>> cell.covered, cell.below, cell.above, round(cell.width, 3)
    (2, 0, 1, 0.795)
    """
    every = list(shots)
    made = [shot for shot in every if shot.low is not None]
    low, high = (np.array([getattr(shot, end) for shot in made], dtype=np.float64) for end in ("low", "high"))
    truth = np.array([shot.truth for shot in made])
    slack = 1e-12 * np.maximum(1.0, np.abs(truth))
    below, above = high < truth - slack, low > truth + slack
    away = np.array([shot.value - shot.truth for shot in every if np.isfinite(shot.value)])
    spread = float(np.std(away, ddof=1)) if len(away) > 1 else np.nan
    spread = spread if spread > 1e-12 else np.nan
    warned = np.array([shot.warned for shot in made], dtype=bool)
    missed = below | above
    return Cell(
        **about,  # type: ignore[arg-type]
        method=" or ".join(sorted({shot.method for shot in made})),
        studies=studies,
        replications=len(made),
        truth=float(np.mean([shot.truth for shot in every])) if every else np.nan,
        truth_error=truth_error / spread,
        bias=float(np.mean(away)) / spread if len(away) else np.nan,
        covered=int(np.sum(~missed)),
        below=int(np.sum(below)),
        above=int(np.sum(above)),
        width=float(np.mean(high - low) / (2 * ndtri(0.5 + LEVEL / 2) * spread)) if made else np.nan,
        warns=float(np.mean([shot.warned for shot in every])) if every else 0.0,
        misses_warned=float(np.mean(warned[missed])) if missed.any() else np.nan,
    )
