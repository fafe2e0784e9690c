"""Predictors that are fitted estimators of scikit-learn, made from statistics and asked in its own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.kernels.claims import chain_of
from heldout.kernels.scoring import ask_responses
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.sums.rounding import Floats
from heldout.losses import Loss, needed_methods


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
