"""McNemar's exact test: whether two predictors are wrong equally often, from the rows where one of them is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from heldout.risk.record import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """How many rows only one of two predictors got wrong, and the exact two-sided p-value."""

    only_first: int  # wrong
    only_second: int
    p: float


def mcnemar(first: Floats, second: Floats) -> McNemar:
    """Compare zero-one losses on the same independent rows.

    Given how many rows only one predictor got wrong, each is the first's fault with probability one half where both
    err equally often: a binomial test, exact at any number of rows, and a little careful as counts are whole.

    >>> found = mcnemar(np.array([1.0, 1, 1, 1, 1, 1, 0, 1]), np.array([0.0, 0, 0, 0, 0, 0, 0, 1]))
    >>> found.only_first, found.only_second, found.p
    (6, 0, 0.03125)
    """
    only_first = int(np.sum((first != 0) & (second == 0)))
    only_second = int(np.sum((second != 0) & (first == 0)))
    fewer, both = min(only_first, only_second), only_first + only_second
    p = min(1.0, 2 * float(bdtr(fewer, both, 0.5))) if both else 1.0
    return McNemar(only_first=only_first, only_second=only_second, p=p)
