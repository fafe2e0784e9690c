"""Families of candidates fitted from statistics, whatever the learner, and families of fitted estimators."""

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
    """The predictors of a family trained on one set of rows, one position for each candidate."""

    @property
    def failures(self) -> Mapping[int, str]:
        """Map the position of each candidate without a reliable predictor to the reason."""
        ...

    def squares(self, held: Statistics) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Return sums of squared errors on held-out rows, and which lost digits; None if statistics give none."""
        ...

    def respond(self, X: Floats, losses: tuple[Loss, ...]) -> Sequence[Responses | None]:
        """Return what each predictor answers on these rows; None at the positions that failed."""
        ...

    def predictor(self, place: int, names: NDArray[Any] | None) -> Any:
        """Return the predictor at this position as a fitted estimator."""
        ...


class Family(Protocol):
    """Candidates that are fitted together."""

    @property
    def candidates(self) -> tuple[int, ...]: ...

    @property
    def single(self) -> bool:
        """Whether predictors answer in float32, as scikit-learn's do on such data."""
        ...

    def fit(self, rows: Statistics) -> Fits:
        """Return the predictors trained on rows that form one cell. Raise LostDigits if another shift is needed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimatorFamily:
    """Classifiers whose predictors are made as fitted estimators, alone or behind a scaler."""

    candidates: tuple[int, ...]
    chains: tuple[Chain, ...]
    single: bool = False

    def learned(self, chain: Chain, moments: Moments, rows: Statistics) -> dict[str, Any]:
        """Return the attributes that the model's own fit learns of these rows. Raise ValueError if it cannot."""
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
    """Holds a fitted estimator for each candidate, or None where the fit failed."""

    estimators: Sequence[Any]
    failures: Mapping[int, str]

    def squares(self, held: Statistics) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Return None, since classifiers have no squared errors."""
        return None

    def respond(self, X: Floats, losses: tuple[Loss, ...]) -> list[Responses | None]:
        methods, rows = needed_methods(losses), np.arange(len(X))
        return [None if one is None else ask_responses(one, X, methods, rows) for one in self.estimators]

    def predictor(self, place: int, names: NDArray[Any] | None) -> Any:
        made = deepcopy(self.estimators[place])
        if names is not None:
            chain_of(made)[0][1].feature_names_in_ = names
        return made
