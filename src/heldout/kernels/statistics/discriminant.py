"""LinearDiscriminantAnalysis from statistics: the scatter within classes and their means."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.statistics.bayes import class_moments
from heldout.kernels.statistics.family import EstimatorFits
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.statistics.moments import Chain, Moments
from heldout.kernels.sums.rounding import Floats, Refuse

SAFE_SHARE = 1e-6  # smallest over largest eigenvalue of the scatter: below it nine digits are not sure
COLLINEAR = (
    "columns are nearly collinear within classes, so that statistics cannot vouch for nine digits. "
    "Leave columns out, use solver='lsqr' with shrinkage, or load the data"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """What discriminants need of some rows, in the coordinates of a scaler."""

    means: Floats  # classes × columns
    within: Floats  # columns × columns: mean product about the class means
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DiscriminantFamily:
    """Linear discriminants by "svd", or by "lsqr" with a fixed shrinkage, alone or behind a scaler."""

    candidates: tuple[int, ...]
    chains: tuple[Chain, ...]
    single: bool = False

    def fit(self, rows: Statistics) -> EstimatorFits:
        """One estimator a candidate."""
        moments = Moments.of(rows)
        made: list[Any] = []
        failures: dict[int, str] = {}
        for place, chain in enumerate(self.chains):
            try:
                scatter = scatter_of(rows, *chain.centre_and_scale(moments))
                solver = _by_svd if chain.model.solver == "svd" else _by_lsqr
                learned = solver(chain.model, scatter) | {"classes_": rows.classes}
                made.append(chain.fitted(moments, _of_two_classes(learned)))
            except (ValueError, np.linalg.LinAlgError) as error:
                made.append(None)
                failures[place] = str(error)
        return EstimatorFits(estimators=tuple(made), failures=failures)


def check_discriminant(model: Any) -> None:
    """Raise Refuse for a discriminant whose scatter is not a plain sum over rows."""
    if model.covariance_estimator is not None:
        raise Refuse("covariance_estimator= looks at single rows")
    if model.solver not in ("svd", "lsqr"):
        raise Refuse(f"solver={model.solver!r} is not answered from statistics; 'svd' and 'lsqr' are")
    number = isinstance(model.shrinkage, Real) and not isinstance(model.shrinkage, bool)
    if model.solver == "svd" and model.shrinkage is not None:
        raise Refuse("solver='svd' takes no shrinkage")
    if model.shrinkage is not None and not (number and 0 <= float(model.shrinkage) <= 1):
        raise Refuse(f"shrinkage={model.shrinkage!r} looks at single rows; a number between 0 and 1 does not")
    if model.solver == "lsqr" and model.priors is not None:
        raise Refuse("priors= weighs the scatter of classes, which solver='lsqr' does class by class")


def scatter_of(rows: Statistics, centre: Floats, scale: Floats) -> Scatter:
    """Means of classes and scatter within them, after a scaler."""
    columns, counts = rows.columns, rows.counts[0]
    means, variances = class_moments(rows)
    offsets = means - rows.shift.x
    products = rows.grams[0, :, :columns, :columns].sum(axis=0)
    within = (products - (offsets * counts[:, None]).T @ offsets) / counts.sum()
    np.fill_diagonal(within, counts @ variances / counts.sum())
    return Scatter(means=(means - centre) / scale, within=within / np.outer(scale, scale), counts=counts)


def _by_svd(model: Any, scatter: Scatter) -> dict[str, Any]:
    """The solution of scikit-learn's "svd": scaled by the spread within classes, then along the class means."""
    count, classes = int(scatter.counts.sum()), len(scatter.counts)
    priors = _priors(model, scatter)
    middle = priors @ scatter.means
    spread = np.sqrt(np.diagonal(scatter.within))
    spread = np.where(spread == 0, 1.0, spread)
    values, vectors = np.linalg.eigh(scatter.within / np.outer(spread, spread))
    if values[0] < SAFE_SHARE * values[-1] or values[0] <= model.tol**2:
        raise ValueError(COLLINEAR)
    scalings = vectors[:, ::-1] / spread[:, None] / np.sqrt(values[::-1])
    centres = np.sqrt(count * priors / (classes - 1))[:, None] * (scatter.means - middle) @ scalings
    _, sizes, turned = np.linalg.svd(centres, full_matrices=False)
    rank = int(np.sum(sizes > model.tol * sizes[0]))
    most = min(classes - 1, len(spread)) if model.n_components is None else model.n_components
    scalings = scalings @ turned.T[:, :rank]
    inside = (scatter.means - middle) @ scalings
    coef = inside @ scalings.T
    return {
        "priors_": priors,
        "means_": scatter.means,
        "xbar_": middle,
        "scalings_": scalings,
        "explained_variance_ratio_": (sizes**2 / np.sum(sizes**2))[:most],
        "coef_": coef,
        "intercept_": -0.5 * np.sum(inside**2, axis=1) + np.log(priors) - middle @ coef.T,
        "_max_components": most,
        "_n_features_out": most,
    }


def _by_lsqr(model: Any, scatter: Scatter) -> dict[str, Any]:
    priors = _priors(model, scatter)
    shrinkage = 0.0 if model.shrinkage is None else float(model.shrinkage)
    covariance = (1 - shrinkage) * scatter.within
    covariance.flat[:: len(covariance) + 1] += shrinkage * np.trace(scatter.within) / len(covariance)
    unit = np.sqrt(np.diagonal(covariance))
    if not unit.all():
        raise ValueError(COLLINEAR)
    values = np.linalg.eigvalsh(covariance / np.outer(unit, unit))
    if values[0] < SAFE_SHARE * values[-1]:
        raise ValueError(COLLINEAR)
    coef = (np.linalg.solve(covariance / np.outer(unit, unit), (scatter.means / unit).T).T) / unit
    most = min(len(scatter.counts) - 1, len(covariance)) if model.n_components is None else model.n_components
    return {
        "priors_": priors,
        "means_": scatter.means,
        "covariance_": covariance,
        "coef_": coef,
        "intercept_": -0.5 * np.einsum("cj,cj->c", scatter.means, coef) + np.log(priors),
        "_max_components": most,
        "_n_features_out": most,
    }


def _priors(model: Any, scatter: Scatter) -> Floats:
    if model.priors is None:
        return np.asarray(scatter.counts / scatter.counts.sum())
    priors = np.asarray(model.priors, dtype=np.float64)
    if priors.shape != scatter.counts.shape or (priors < 0).any():
        raise ValueError("priors must be a number from 0 up for each class.")
    return np.asarray(priors / priors.sum())


def _of_two_classes(learned: dict[str, Any]) -> dict[str, Any]:
    """Two classes have one decision function: the difference."""
    if len(learned["classes_"]) != 2:
        return learned
    coef, intercept = learned["coef_"], learned["intercept_"]
    return learned | {"coef_": coef[1:] - coef[:1], "intercept_": intercept[1:] - intercept[:1]}
