"""Shapes of intervals: how a value, its standard error and a quantile become two ends.

Each takes the standard error already widened, so that the same shapes serve one test set and cross-validation.
"""

from __future__ import annotations

from math import atanh, exp, log, sqrt, tanh

import numpy as np

Ends = tuple[float, float]
LEANING = 0.35  # |skewness|/√n from which on a mean is no longer nearly normal
FEW_SQUARES, CALM = 100, 0.38  # draws, and |skewness|/√n, up to which large errors may merely be absent
UPWARDS, DOWNWARDS = 1.3, 0.85


def wilson_ends(share: float, draws: float, quantile: float) -> Ends:
    """Wilson's interval of a share among this number of draws, whole or not.

    >>> tuple(round(end, 4) for end in wilson_ends(0.0, 10, 1.96))
    (0.0, 0.2775)
    """
    square = quantile * quantile
    middle = (share * draws + square / 2) / (draws + square)
    half = quantile / (draws + square) * sqrt(draws * share * (1 - share) + square / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def log_ends(value: float, error: float, quantile: float) -> Ends:
    """A symmetric interval of the logarithm of a positive value.

    >>> tuple(round(end, 3) for end in log_ends(2.0, 0.2, 2.0))
    (1.637, 2.443)
    """
    half = quantile * error / value
    return value * exp(-half), value * exp(min(half, 700.0))


def tilted(value: float, ends: Ends, *, draws: int, lean: float) -> Ends:
    """The ends of a mean of squares, both further up where draws are few and none of them is large.

    Errors with heavy tails often show none in fewer than a hundred rows, and then the spread says too little, while
    means of squares are hardly ever far above their expectation. A sample that does show large errors is warned of.

    >>> [round(end, 3) for end in tilted(1.0, (0.7, 1.5), draws=50, lean=0.2)]
    [0.738, 1.694]
    >>> tilted(1.0, (0.7, 1.5), draws=500, lean=0.2)
    (0.7, 1.5)
    """
    low, high = ends
    if draws >= FEW_SQUARES or lean > CALM or not 0 < low <= value <= high:
        return ends
    return value * (low / value) ** DOWNWARDS, value * (high / value) ** UPWARDS


def logit_ends(value: float, error: float, quantile: float) -> Ends:
    """A symmetric interval of the logit of a value between 0 and 1.

    >>> tuple(round(end, 3) for end in logit_ends(0.5, 0.05, 2.0))
    (0.401, 0.599)
    """
    middle, half = log(value / (1 - value)), quantile * error / (value * (1 - value))
    return _expit(middle - half), _expit(middle + half)


def fisher_ends(value: float, error: float, quantile: float) -> Ends:
    """A symmetric interval of the inverse hyperbolic tangent of a value between −1 and 1.

    >>> tuple(round(end, 3) for end in fisher_ends(0.0, 0.1, 2.0))
    (-0.197, 0.197)
    """
    middle, half = atanh(value), quantile * error / (1 - value * value)
    return tanh(middle - half), tanh(middle + half)


def hall_ends(value: float, error: float, quantile: float, *, skew: float, draws: int) -> Ends:
    """The interval of a mean by Hall's transformation, which takes the skewness of the losses out of Student's t.

    With T = (mean − risk)/error, g(T) = T + γ/√n·(T²/3 + 1/6) + γ²/n·T³/27 is nearer normal than T (Hall 1992), and has
    the inverse 3√n/γ·[(1 + γ·(x/√n − γ/(6n)))^⅓ − 1].

    >>> low, high = hall_ends(1.0, 0.1, 2.0, skew=2.0, draws=50)
    >>> high - 1 > 1 - low
    True
    """
    lower, upper = (_hall_inverse(x, skew, draws) for x in (-quantile, quantile))
    return value - error * max(upper, 0.0), value - error * min(lower, 0.0)


def _hall_inverse(x: float, skew: float, draws: int) -> float:
    root = sqrt(draws)
    tilt = skew / root
    if abs(tilt) < 1e-8:
        return x
    return 3 / tilt * (float(np.cbrt(1 + tilt * (x - tilt / 6))) - 1)


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(max(x, -700.0)) / (1 + exp(max(x, -700.0)))
