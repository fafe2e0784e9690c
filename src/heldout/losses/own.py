"""Row losses of the user's own, and known ranges of row losses: what they give is checked row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import LossError, PredictionError
from heldout.base.responses import Responses

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # of the range: a loss that is outside by less is rounding error, and is set to the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The smallest and the largest loss that a row can have, inside: lower is better."""

    low: float
    high: float
    sign: int = 1  # −1 for a score, whose range people say in its own sign

    @property
    def shown(self) -> tuple[float, float]:
        """The range as people say it."""
        return (self.low, self.high) if self.sign > 0 else (0.0 - self.high, 0.0 - self.low)

    def checked(self, losses: Floats, name: str) -> Floats:
        """The losses, or an error that says how many are outside and by how much."""
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
    """A function of the user's: true values and one response of the predictor in, a loss a row out."""

    function: Callable[[Any, Any], Any]
    name: str  # of the function, for messages
    response: str
    range: Range
    classes: tuple[Any, ...] | None = None  # of the target; None: those of the predictor

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        losses = self.losses(y, responses)
        if not np.isfinite(losses).all():
            bad = int(np.count_nonzero(~np.isfinite(losses)))
            raise LossError(f"The loss {self.name!r} gave NaN or infinity on {bad} of {len(y)} held-out rows.")
        return self.range.checked(losses, self.name)

    def losses(self, y: NDArray[Any], responses: Responses) -> Floats:
        """What the function gives, a number a row, whether or not it is finite and in range."""
        answer = getattr(responses, self.response)
        if answer is None:
            raise LossError(f"The loss {self.name!r} needs {self.response}, but it was not recorded.")
        given = self._columns(answer, responses.classes) if self.response == "predict_proba" else answer
        try:
            values = self.function(_read_only(y), _read_only(given))
        except Exception as error:
            text = str(error).strip() or type(error).__name__
            raise LossError(f"The loss {self.name!r} failed on {len(y)} held-out rows: {text}") from error
        return self._floats(values, len(y))

    def _floats(self, values: Any, n: int) -> Floats:
        losses = np.asarray(values)
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
        """A column for each class of the target in sorted order, 0 for one that was not in the training rows."""
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
        """The call that makes this loss."""
        function = getattr(self.function, "__name__", type(self.function).__name__)
        response = "" if self.response == "predict" else f", response={self.response!r}"
        return f"row_loss({function}{_ends(self.range)}, name={name!r}{response})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RangedRows:
    """A known row loss whose range is known too: a loss outside it is an error."""

    rows: Callable[[NDArray[Any], Responses], Floats]
    loss: str  # which it is
    range: Range

    def __call__(self, y: NDArray[Any], responses: Responses) -> Floats:
        return self.range.checked(self.rows(y, responses), self.loss)

    def spelled(self, name: str) -> str:
        """The call that makes this loss."""
        return f"row_loss({self.loss!r}{_ends(self.range)}, name={name!r})"


def _read_only(values: Any) -> Any:
    """A view that a function cannot write to: the same responses serve other losses."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def _ends(of: Range) -> str:
    return "".join(f", {name}={end:g}" for name, end in zip(("low", "high"), of.shown, strict=True) if isfinite(end))
