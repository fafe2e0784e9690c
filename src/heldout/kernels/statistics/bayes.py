"""GaussianNB from statistics: counts, means and variances of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from heldout.kernels.statistics.family import EstimatorFits
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.statistics.moments import Chain, Moments
from heldout.kernels.sums.rounding import Floats, LostDigits

LEFT_IN_CLASS = 1e-5  # of the squares about the shift: below this the variance of a class has under ten digits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BayesFamily:
    """Gaussian naive Bayes with any priors and smoothing, alone or behind a scaler."""

    candidates: tuple[int, ...]
    chains: tuple[Chain, ...]
    single: bool = False

    def fit(self, rows: Statistics) -> EstimatorFits:
        """One estimator a candidate."""
        moments = Moments.of(rows)
        means, variances = class_moments(rows)
        made: list[Any] = []
        failures: dict[int, str] = {}
        for place, chain in enumerate(self.chains):
            try:
                made.append(chain.fitted(moments, _learned(chain, moments, rows, (means, variances))))
            except ValueError as error:
                made.append(None)
                failures[place] = str(error)
        return EstimatorFits(estimators=tuple(made), failures=failures)


def class_moments(rows: Statistics) -> tuple[Floats, Floats]:
    """Means and variances of the columns in each class. Raises LostDigits where a class lies far from the shift."""
    grams, counts, columns = rows.grams[0], rows.counts[0][:, None], rows.columns
    offsets = grams[:, :columns, -1] / counts
    around = np.einsum("cii->ci", grams)[:, :columns]
    squares = around - counts * offsets**2
    if (squares < LEFT_IN_CLASS * around).any():
        raise LostDigits
    return offsets + rows.shift.x, squares / counts


def _learned(chain: Chain, moments: Moments, rows: Statistics, of_classes: tuple[Floats, Floats]) -> dict[str, Any]:
    model: GaussianNB = chain.model
    centre, scale = chain.centre_and_scale(moments)
    counts = rows.counts[0].astype(np.float64)
    epsilon = model.var_smoothing * float(np.max(moments.variance / scale**2))
    return {
        "classes_": rows.classes,
        "class_count_": counts,
        "class_prior_": counts / counts.sum() if model.priors is None else _priors(model.priors, len(counts)),
        "epsilon_": epsilon,
        "theta_": (of_classes[0] - centre) / scale,
        "var_": of_classes[1] / scale**2 + epsilon,
    }


def _priors(given: Any, classes: int) -> NDArray[np.float64]:
    """Priors of the user's own, refused as scikit-learn refuses them."""
    priors = np.asarray(given, dtype=np.float64)
    if priors.shape != (classes,):
        raise ValueError("Number of priors must match number of classes.")
    if not np.isclose(priors.sum(), 1.0):
        raise ValueError("The sum of the priors should be 1.")
    if (priors < 0).any():
        raise ValueError("Priors must be non-negative.")
    return priors
