"""The Loss class, the built-in losses, and row losses defined by the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import LossError, PredictionError
from heldout.base.responses import Responses
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

Floats = NDArray[np.float64]
RowLoss = Callable[[NDArray[Any], Responses], Floats]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Loss:
    """Declares a loss to be minimised. Inside heldout lower is better; `sign` converts a value to the user's own sign.

    A loss has `rows`, a scikit-learn `scorer`, or both. With both, the scorer gives the value of a held-out set, and
    `rows` gives the row losses that intervals are computed from.
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
    target: str | None = None  # "classes" or "numbers" if it is for one of them only; None: for both

    @property
    def counts_errors(self) -> bool:
        """Whether each row is either right or wrong, so that a mean loss is a share of errors."""
        return self.rows in (zero_one_rows, accuracy_rows)

    @property
    def row_family(self) -> str | None:
        """Tell which rule of intervals a loss of rows follows; None for a score of whole sets."""
        if self.counts_errors:
            return "zero_one"
        rows = self.rows.rows if isinstance(self.rows, RangedRows) else self.rows
        for known_rows, family in ((squared_rows, "squared"), (absolute_rows, "absolute"), (log_rows, "log")):
            if rows is known_rows:
                return family
        if rows is None:
            return None
        return "brier" if isinstance(rows, BrierRows) and rows.half is not False else "other"

    def __repr__(self) -> str:
        if isinstance(self.rows, OwnRows | RangedRows):
            return self.rows.spelled(self.name)
        return f"Loss({self.name!r})"


CLASSES, NUMBERS = "classes", "numbers"


def _of_rows(
    name: str, rows: RowLoss, target: str = NUMBERS, *, of: str = "predict", high: float = inf, convex: bool = True
) -> Loss:
    return Loss(name=name, methods=((of,),), sign=1, low=0.0, high=high, rows=rows, convex=convex, target=target)


ZERO_ONE = _of_rows("zero_one", zero_one_rows, CLASSES, high=1.0, convex=False)
SQUARED = _of_rows("squared", squared_rows)
ABSOLUTE = _of_rows("absolute", absolute_rows)
LOG = _of_rows("log", log_rows, CLASSES, of="predict_proba")
# The Brier score is at most 1 for two classes: `on_target` knows how many there are.
BRIER = _of_rows("brier", BrierRows(), CLASSES, of="predict_proba", high=2.0)
POISSON = _of_rows("poisson", ErrorRows(error=deviance, option=1))
GAMMA = _of_rows("gamma", ErrorRows(error=deviance, option=2), convex=False)


def own_losses(*, classification: bool) -> tuple[Loss, ...]:
    """The loss of a learner that was given none: zero-one for classes, squared for numbers."""
    return (ZERO_ONE if classification else SQUARED,)


BUILT_IN = {loss.name: loss for loss in (ZERO_ONE, SQUARED, ABSOLUTE, LOG, BRIER, POISSON, GAMMA)}


def pinball(alpha: float) -> Loss:
    """Return the pinball loss of the `alpha` quantile; predicting that quantile minimises its mean."""
    return _of_rows(f"pinball:{alpha:g}", ErrorRows(error=pinball_error, option=alpha))


def tweedie(power: float) -> Loss:
    """Return the Tweedie deviance of this power: 0 normal, 1 Poisson, between 1 and 2 compound Poisson, 2 gamma."""
    return _of_rows(f"tweedie:{power:g}", ErrorRows(error=deviance, option=power), convex=power in (0, 1))


def on_target(losses: Iterable[Loss], classes: Any) -> tuple[Loss, ...]:
    """Return the losses adapted to the classes of the target; `classes` is None for numbers or several labels a row.

    The scale of the Brier score depends on the number of classes. A user's function of probabilities gets a column for
    each class, even if a training part lacks some.

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
    """Return the response methods that these losses need, without repeats.

    >>> needed_methods([ZERO_ONE, LOG, SQUARED])
    (('predict',), ('predict_proba',))
    """
    return tuple(dict.fromkeys(alternatives for loss in losses for alternatives in loss.methods))


ROUNDING = 1e-12  # of the larger end: a loss outside the range by less is rounding error, and is clipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Holds the smallest and the largest possible loss of a row, in internal sign (lower is better)."""

    low: float
    high: float
    sign: int = 1  # −1 for a score, whose range users give in its own sign

    @property
    def shown(self) -> tuple[float, float]:
        """The range (low, high) in the user's own sign."""
        return (self.low, self.high) if self.sign > 0 else (0.0 - self.high, 0.0 - self.low)

    def checked(self, losses: Floats, name: str) -> Floats:
        """Return the losses clipped to the range; raise an error if any is outside by more than rounding."""
        margin = ROUNDING * max((abs(end) for end in (self.low, self.high) if isfinite(end)), default=0.0)
        outside = (losses < self.low - margin) | (losses > self.high + margin)
        if outside.any():
            worst = self.sign * losses[outside][np.argmax(np.abs(losses[outside]))] + 0.0
            low, high = self.shown
            raise LossError(
                f"{name!r} is said to lie between {low:g} and {high:g}, but {int(outside.sum())} of "
                f"{len(losses)} held-out rows are outside, one at {worst:g}. Give a range that holds for every row, "
                "or leave low and high out."
            )
        return losses.clip(self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRows:
    """Row losses by a user's function of the true values and one response of the predictor."""

    function: Callable[[Any, Any], Any]
    name: str  # of the function, for messages
    response: str
    range: Range
    classes: tuple[Any, ...] | None = None  # of the target; None: the classes of the predictor

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        losses = self.losses(y, responses)
        if not np.isfinite(losses).all():
            bad = int(np.count_nonzero(~np.isfinite(losses)))
            raise LossError(f"The loss {self.name!r} gave NaN or infinity on {bad} of {len(y)} held-out rows.")
        return self.range.checked(losses, self.name)

    def losses(self, y: NDArray[Any], responses: Responses) -> Floats:
        """Return the function's loss of each row; check the shape and the type, but not whether values are in range."""
        answer = getattr(responses, self.response)
        if answer is None:
            raise LossError(f"The loss {self.name!r} needs {self.response}, but it was not recorded.")
        given = self._columns(answer, responses.classes) if self.response == "predict_proba" else answer
        try:
            values = self.function(_read_only(y), _read_only(given))
        except Exception as error:
            text = str(error).strip() or type(error).__name__
            raise LossError(f"The loss {self.name!r} failed on {len(y)} held-out rows: {text}") from error
        losses, n = np.asarray(values), len(y)
        if losses.shape != (n,):
            got = "one number" if losses.ndim == 0 else f"an array of shape {losses.shape}"
            raise LossError(
                f"The loss {self.name!r} gave {got} for {n} held-out rows. It must give the loss of each row: an array "
                f"of shape ({n},), not their mean."
            )
        if losses.dtype.kind not in "biuf":
            raise LossError(f"The loss {self.name!r} gave values of type {losses.dtype}, which are no numbers.")
        return losses.astype(np.float64)

    def _columns(self, proba: NDArray[Any], known: Any) -> NDArray[Any]:
        """Return probabilities with a column for each class of the target, sorted; 0 for a class not in training."""
        if self.classes is None or known is None or proba.ndim != 2:
            return proba
        every = np.asarray(self.classes)
        if np.array_equal(every, known):
            return proba
        if proba.shape[1] != len(known):
            raise PredictionError(f"predict_proba answered {proba.shape[1]} columns for {len(known)} classes.")
        wide = np.zeros((len(proba), len(every)), dtype=proba.dtype)
        wide[:, np.searchsorted(every, known)] = proba
        return wide

    def spelled(self, name: str) -> str:
        """Return the source of the row_loss call that gives this loss."""
        function = getattr(self.function, "__name__", type(self.function).__name__)
        response = "" if self.response == "predict" else f", response={self.response!r}"
        return f"row_loss({function}{_ends(self.range)}, name={name!r}{response})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RangedRows:
    """Row losses of a known loss with a range declared by the user; a loss outside it raises an error."""

    rows: Callable[[NDArray[Any], Responses], Floats]
    loss: str  # the name of the known loss
    range: Range

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        return self.range.checked(self.rows(y, responses), self.loss)

    def spelled(self, name: str) -> str:
        """Return the source of the row_loss call that gives this loss."""
        return f"row_loss({self.loss!r}{_ends(self.range)}, name={name!r})"


def _read_only(values: Any) -> Any:
    """Return a read-only view, so that a user's function cannot change responses that other losses use."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def _ends(of: Range) -> str:
    return "".join(f", {name}={end:g}" for name, end in zip(("low", "high"), of.shown, strict=True) if isfinite(end))
