"""Means and variances of columns from statistics, and the fitted StandardScaler that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from heldout.kernels.claims import chain_of
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.sums.rounding import LEFT_OF_DIGITS, Floats, LostDigits, Refuse, scales


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Holds what a StandardScaler learns from some rows."""

    count: int
    mean: Floats
    variance: Floats
    scale: Floats  # 1 for constant columns

    @classmethod
    def of(cls, rows: Statistics) -> Moments:
        """Return the moments of these rows. Raise LostDigits if the shift lies too far from their means."""
        total = rows.grams.sum(axis=(0, 1))
        count, columns = int(rows.counts.sum()), rows.columns
        offset = total[:columns, -1] / count
        squares = np.diagonal(total)[:columns] - count * offset**2
        if (squares < LEFT_OF_DIGITS * np.diagonal(total)[:columns]).any():
            raise LostDigits
        variance, mean = squares / count, offset + rows.shift.x
        scale = scales(variance, mean, count, np.ones(columns, dtype=bool))
        return cls(count=count, mean=mean, variance=variance, scale=scale)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chain:
    """Holds a candidate with its parts: the scaler before the model, or None, and the model."""

    estimator: Any
    scaler: Any
    model: Any

    @classmethod
    def of(cls, estimator: Any) -> Chain:
        """Split an estimator into scaler and model. Raise Refuse if any other step stands before the model."""
        steps = [step for _, step in chain_of(estimator)]
        before, model = steps[:-1], steps[-1]
        for step in before:
            if type(step) is not StandardScaler:
                raise Refuse(f"{type(step).__name__} stands before the model; only StandardScaler may")
        if len(before) > 1:
            raise Refuse("more than one StandardScaler stands before the model")
        return cls(estimator=estimator, scaler=before[0] if before else None, model=model)

    def centre_and_scale(self, moments: Moments) -> tuple[Floats, Floats]:
        """Return what the scaler subtracts from each column, and what it divides by."""
        zero, one = np.zeros_like(moments.mean), np.ones_like(moments.mean)
        if self.scaler is None:
            return zero, one
        return (moments.mean if self.scaler.with_mean else zero), (moments.scale if self.scaler.with_std else one)

    def fitted(self, moments: Moments, learned: dict[str, Any], names: NDArray[Any] | None = None) -> Any:
        """Return the candidate as if fitted: the model gets the attributes `learned`, the scaler these moments."""
        made = clone(self.estimator)
        chain = [step for _, step in chain_of(made)]
        columns = len(moments.mean)
        if self.scaler is not None:
            _fit_scaler(chain[0], moments)
        for name, value in learned.items():
            setattr(chain[-1], name, value)
        for step in chain:
            step.n_features_in_ = columns
        if names is not None:
            first: Any = chain[0]
            first.feature_names_in_ = names
        return made


def _fit_scaler(scaler: Any, moments: Moments) -> None:
    scaler.n_samples_seen_ = np.int64(moments.count)
    scaler.mean_ = moments.mean if scaler.with_mean or scaler.with_std else None
    scaler.var_ = moments.variance if scaler.with_std else None
    scaler.scale_ = moments.scale if scaler.with_std else None
