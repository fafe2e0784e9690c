"""A loss: a name, what it needs of a predictor, its range, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.losses.own import OwnRows, RangedRows
from heldout.losses.rows import (
    BrierRows,
    ErrorRows,
    absolute_rows,
    accuracy_rows,
    deviance,
    log_rows,
    pinball_error,
    squared_rows,
    zero_one_rows,
)

RowLoss = Callable[[NDArray[Any], Responses], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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
    target: str | None = None  # "classes" or "numbers" where it is for one of them alone

    @property
    def counts_errors(self) -> bool:
        """Whether each row is either right or wrong, so that a mean loss is a count of errors."""
        return self.rows in (zero_one_rows, accuracy_rows)

    @property
    def calls_other_code(self) -> bool:
        """Whether taking this loss runs code that is not heldout's, and may warn: a scorer, or a user's function."""
        return self.scorer is not None or isinstance(self.rows, OwnRows)

    def __repr__(self) -> str:
        if isinstance(self.rows, OwnRows | RangedRows):
            return self.rows.spelled(self.name)
        return f"Loss({self.name!r})"


CLASSES, NUMBERS = "classes", "numbers"


def _of_numbers(name: str, rows: RowLoss, *, convex: bool = True) -> Loss:
    return Loss(name=name, methods=(("predict",),), sign=1, low=0.0, high=inf, rows=rows, convex=convex, target=NUMBERS)


def _of_probabilities(name: str, rows: RowLoss, high: float) -> Loss:
    return Loss(
        name=name,
        methods=(("predict_proba",),),
        sign=1,
        low=0.0,
        high=high,
        rows=rows,
        convex=True,
        target=CLASSES,
    )


ZERO_ONE = Loss(name="zero_one", methods=(("predict",),), sign=1, low=0.0, high=1.0, rows=zero_one_rows, target=CLASSES)
SQUARED = _of_numbers("squared", squared_rows)
ABSOLUTE = _of_numbers("absolute", absolute_rows)
LOG = _of_probabilities("log", log_rows, inf)
BRIER = _of_probabilities("brier", BrierRows(), 2.0)  # up to 1 for two classes: `on_target` knows how many there are
POISSON = _of_numbers("poisson", ErrorRows(error=deviance, option=1))
GAMMA = _of_numbers("gamma", ErrorRows(error=deviance, option=2), convex=False)

BUILT_IN = {loss.name: loss for loss in (ZERO_ONE, SQUARED, ABSOLUTE, LOG, BRIER, POISSON, GAMMA)}


def pinball(alpha: float) -> Loss:
    """The loss of a quantile: its mean is smallest where a share `alpha` of the targets is below the predictions."""
    return _of_numbers(f"pinball:{alpha:g}", ErrorRows(error=pinball_error, option=alpha))


def tweedie(power: float) -> Loss:
    """The deviance of a power: 0 normal, 1 Poisson, between 1 and 2 compound Poisson, 2 gamma."""
    rows = ErrorRows(error=deviance, option=power)
    return _of_numbers(f"tweedie:{power:g}", rows, convex=power in (0, 1))


def on_target(losses: Iterable[Loss], classes: Any) -> tuple[Loss, ...]:
    """The losses with what the classes of the target say of them, None for numbers or several labels a row.

    The Brier score is scaled by how many classes there are, and a user's function of probabilities gets a column for
    each, though a training part may lack some.

    >>> [loss.high for loss in on_target([BRIER, LOG], np.array(["no", "yes"]))]
    [1.0, inf]
    """
    if classes is None:
        return tuple(losses)
    known = [(loss, None if loss.rows is None else _rows_on(loss.rows, np.asarray(classes))) for loss in losses]
    return tuple(
        replace(loss, rows=rows, high=rows.high if isinstance(rows, BrierRows) else loss.high) for loss, rows in known
    )


def _rows_on(rows: RowLoss, classes: NDArray[Any]) -> RowLoss:
    if isinstance(rows, BrierRows):
        return replace(rows, classes=len(classes))
    if isinstance(rows, OwnRows):
        return replace(rows, classes=tuple(classes.tolist()))
    return replace(rows, rows=_rows_on(rows.rows, classes)) if isinstance(rows, RangedRows) else rows


def needed_methods(losses: Iterable[Loss]) -> tuple[tuple[str, ...], ...]:
    """The response methods that these losses need together, each once.

    >>> needed_methods([ZERO_ONE, LOG, SQUARED])
    (('predict',), ('predict_proba',))
    """
    return tuple(dict.fromkeys(alternatives for loss in losses for alternatives in loss.methods))
