"""Fits an inverse power law a + b·m^−c to the risk at several training sizes m, to extrapolate to larger ones.

This is a heuristic: many learning curves look like this, but nothing guarantees it for larger sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.optimize import minimize_scalar

from heldout.base.errors import OptionError
from heldout.risk.record import Floats

FEWEST_SIZES = 3
EXPONENTS = (0.05, 3.0)  # slower looks like a line, faster like a constant: few sizes cannot tell them apart


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLaw:
    """Holds the power law a + b·m^−c with b ≥ 0; the risk falls towards a."""

    a: float
    b: float
    c: float

    def at(self, size: float) -> float:
        """Return the risk at this training size."""
        return float(self.a + self.b * size**-self.c)


def fit_power_law(sizes: Floats, losses: Floats, *, weights: Floats | None = None, low: float = -inf) -> PowerLaw:
    """Fit an inverse power law to the mean losses at three or more training sizes, by weighted least squares.

    `weights` has the weight of each size, one over the variance of its loss; None weights all sizes equally. `low` is
    the smallest possible loss, which bounds a from below.

    >>> sizes = np.array([50.0, 100.0, 200.0, 400.0])
    >>> law = fit_power_law(sizes, 1 + 20 * sizes**-0.8)
    >>> round(law.a, 3), round(law.b, 2), round(law.c, 3), round(law.at(1000), 4)
    (1.0, 20.0, 0.8, 1.0796)
    """
    sizes, losses = np.asarray(sizes, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    weight = np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(np.unique(sizes)) < FEWEST_SIZES or not np.isfinite(losses).all() or sizes.min() <= 0:
        raise OptionError(f"A learning curve needs finite losses at {FEWEST_SIZES} training sizes or more.")
    largest = float(sizes.max())
    scaled = sizes / largest  # powers of it stay near 1, whatever the sizes

    def misfit(c: float) -> float:
        a, b = _line(scaled**-c, losses, weight, low)
        return float(np.sum(weight * (losses - a - b * scaled**-c) ** 2))

    grid = np.geomspace(*EXPONENTS, 60)
    nearest = int(np.argmin([misfit(c) for c in grid]))
    ends = (float(grid[max(nearest - 1, 0)]), float(grid[min(nearest + 1, len(grid) - 1)]))
    c = float(minimize_scalar(misfit, bounds=ends, method="bounded", options={"xatol": 1e-10}).x)
    a, b = _line(scaled**-c, losses, weight, low)
    return PowerLaw(a=a, b=b * largest**c, c=c)


def _line(x: Floats, y: Floats, weight: Floats, low: float) -> tuple[float, float]:
    """Return (a, b) of the weighted least-squares line a + b·x with b ≥ 0 and a ≥ low."""
    mean_x, mean_y = float(np.average(x, weights=weight)), float(np.average(y, weights=weight))
    spread = float(np.sum(weight * (x - mean_x) ** 2))
    b = float(np.sum(weight * (x - mean_x) * (y - mean_y))) / spread if spread > 0 else 0.0
    if b <= 0:
        return max(mean_y, low), 0.0
    a = mean_y - b * mean_x
    if a >= low:
        return a, b
    return low, max(0.0, float(np.sum(weight * x * (y - low)) / np.sum(weight * x**2)))
