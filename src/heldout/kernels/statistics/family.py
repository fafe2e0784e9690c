"""What a family of candidates gives from statistics, whatever the learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.sums.rounding import Floats
from heldout.losses import Loss


class Fits(Protocol):
    """The predictors of a family trained on one set of rows, a place for each candidate."""

    @property
    def failures(self) -> Mapping[int, str]:
        """By place: why there is no predictor, or none that can be vouched for."""
        ...

    def squares(self, held: Statistics) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Sums of squared errors on held-out rows, and where digits were lost; None where sums do not tell them."""
        ...

    def respond(self, X: Floats, losses: tuple[Loss, ...]) -> Sequence[Responses | None]:
        """What each predictor answers on these rows; None at the places that failed."""
        ...

    def predictor(self, place: int, names: NDArray[Any] | None) -> Any:
        """One of them as a fitted estimator."""
        ...


class Family(Protocol):
    """Candidates that are solved together."""

    @property
    def candidates(self) -> tuple[int, ...]: ...

    @property
    def single(self) -> bool:
        """Whether predictors answer in single precision, as scikit-learn's do on such data."""
        ...

    def fit(self, rows: Statistics) -> Fits:
        """Train on rows taken together as one cell. Raises LostDigits where another shift is needed."""
        ...
