"""What a family of candidates gives from statistics, whatever the learner, and predictors that are estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.kernels.claims import chain_of
from heldout.kernels.scoring import ask_responses
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.statistics.moments import Chain, Moments
from heldout.kernels.sums.rounding import Floats
from heldout.losses import Loss, needed_methods


class Fits(Protocol):
    """The predictors of a family trained on one set of rows, a place for each candidate."""

    @property
    def failures(self) -> Mapping[int, str]:
        """Map the position of each candidate without a reliable predictor to the reason."""
        ...

    def squares(self, held: Statistics) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Sums of squared errors on held-out rows, and where digits were lost; None where sums do not tell them."""
        ...

    def respond(self, X: Floats, losses: tuple[Loss, ...]) -> Sequence[Responses | None]:
        """What each predictor answers on these rows; None at the places that failed."""
        ...

    def predictor(self, place: int, names: NDArray[Any] | None) -> Any:
        """Return the predictor at this position as a fitted estimator."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimatorFamily:
    """Classifiers that are made as fitted estimators, alone or behind a scaler."""

    candidates: tuple[int, ...]
    chains: tuple[Chain, ...]
    single: bool = False

    def learned(self, chain: Chain, moments: Moments, rows: Statistics) -> dict[str, Any]:
        """Return what the model's own fit learns of these rows. Raises ValueError with the reason if it cannot."""
        raise NotImplementedError

    def fit(self, rows: Statistics) -> EstimatorFits:
        moments = Moments.of(rows)
        made: list[Any] = []
        failures: dict[int, str] = {}
        for place, chain in enumerate(self.chains):
            try:
                made.append(chain.fitted(moments, self.learned(chain, moments, rows)))
            except (ValueError, np.linalg.LinAlgError) as error:
                made.append(None)
                failures[place] = str(error)
        return EstimatorFits(estimators=tuple(made), failures=failures)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimatorFits:
    """A fitted estimator a candidate; None at the places that failed."""

    estimators: Sequence[Any]
    failures: Mapping[int, str]

    def squares(self, held: Statistics) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Classifiers have no squared errors."""
        return None

    def respond(self, X: Floats, losses: tuple[Loss, ...]) -> list[Responses | None]:
        methods, rows = needed_methods(losses), np.arange(len(X))
        return [None if one is None else ask_responses(one, X, methods, rows) for one in self.estimators]

    def predictor(self, place: int, names: NDArray[Any] | None) -> Any:
        made = deepcopy(self.estimators[place])
        if names is not None:
            chain_of(made)[0][1].feature_names_in_ = names
        return made
