"""A loss: a name, what it needs of a predictor, its range, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.losses.rows import absolute_rows, accuracy_rows, log_rows, squared_rows, zero_one_rows
from heldout.base.responses import Responses

RowLoss = Callable[[NDArray[Any], Responses], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What is made small. Inside heldout lower is better; `sign` turns a number back into the user's own.

    A loss has `rows`, or a scikit-learn `scorer`, or both: then the scorer gives the number of a held-out set
    and `rows` the losses that intervals are made from.
    """

    name: str
    methods: tuple[tuple[str, ...], ...]  # each inner tuple: alternatives, the preferred one first
    sign: int  # shown = sign × inside: +1 for a loss, −1 for a score
    low: float  # the range inside
    high: float
    rows: RowLoss | None = None  # None for set scores such as AUC
    scorer: Any | None = None  # inside value = −scorer(…)
    asks_predictor: bool = False  # the scorer calls the estimator itself, so recorded responses do not suffice
    convex: bool = False  # in what an ensemble averages: predictions, or probabilities

    @property
    def counts_errors(self) -> bool:
        """Whether each row is either right or wrong, so that a mean loss is a count of errors."""
        return self.rows in (zero_one_rows, accuracy_rows)


ZERO_ONE = Loss(name="zero_one", methods=(("predict",),), sign=1, low=0.0, high=1.0, rows=zero_one_rows)
SQUARED = Loss(name="squared", methods=(("predict",),), sign=1, low=0.0, high=inf, rows=squared_rows, convex=True)
ABSOLUTE = Loss(name="absolute", methods=(("predict",),), sign=1, low=0.0, high=inf, rows=absolute_rows, convex=True)
LOG = Loss(name="log", methods=(("predict_proba",),), sign=1, low=0.0, high=inf, rows=log_rows, convex=True)

BUILT_IN = {loss.name: loss for loss in (ZERO_ONE, SQUARED, ABSOLUTE, LOG)}


def needed_methods(losses: Iterable[Loss]) -> tuple[tuple[str, ...], ...]:
    """The response methods that these losses need together, each once.

    >>> needed_methods([ZERO_ONE, LOG, SQUARED])
    (('predict',), ('predict_proba',))
    """
    return tuple(dict.fromkeys(alternatives for loss in losses for alternatives in loss.methods))
