"""GaussianNB and LinearDiscriminantAnalysis from statistics: class counts, class means, variances and scatter."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from heldout.kernels.statistics.family import EstimatorFamily
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.statistics.moments import Chain, Moments
from heldout.kernels.sums.rounding import Floats, LostDigits, Refuse

SAFE_SHARE = 1e-6  # smallest over largest eigenvalue of the scatter: below it nine digits are not certain
COLLINEAR = (
    "columns are nearly collinear within classes, so that statistics cannot vouch for nine digits. "
    "Leave columns out, use solver='lsqr' with shrinkage, or load the data"
)
LEFT_IN_CLASS = 1e-5  # of the squares about the shift: below this the variance of a class has under ten digits


class BayesFamily(EstimatorFamily):
    """Gaussian naive Bayes with any priors and smoothing."""

    def learned(self, chain: Chain, moments: Moments, rows: Statistics) -> dict[str, Any]:
        model: GaussianNB = chain.model
        means, variances = class_moments(rows)
        centre, scale = chain.centre_and_scale(moments)
        counts = rows.counts[0].astype(np.float64)
        epsilon = model.var_smoothing * float(np.max(moments.variance / scale**2))
        return {
            "classes_": rows.classes,
            "class_count_": counts,
            "class_prior_": counts / counts.sum() if model.priors is None else _bayes_priors(model.priors, len(counts)),
            "epsilon_": epsilon,
            "theta_": (means - centre) / scale,
            "var_": variances / scale**2 + epsilon,
        }


def class_moments(rows: Statistics) -> tuple[Floats, Floats]:
    """Return each class's column means and variances. Raise LostDigits if a class lies far from the shift."""
    grams, counts, columns = rows.grams[0], rows.counts[0][:, None], rows.columns
    offsets = grams[:, :columns, -1] / counts
    around = np.einsum("cii->ci", grams)[:, :columns]
    squares = around - counts * offsets**2
    if (squares < LEFT_IN_CLASS * around).any():
        raise LostDigits
    return offsets + rows.shift.x, squares / counts


def _bayes_priors(given: Any, classes: int) -> NDArray[np.float64]:
    """Return the user's priors. Raise ValueError for those that scikit-learn refuses, in its words."""
    priors = np.asarray(given, dtype=np.float64)
    if priors.shape != (classes,):
        raise ValueError("Number of priors must match number of classes.")
    if not np.isclose(priors.sum(), 1.0):
        raise ValueError("The sum of the priors should be 1.")
    if (priors < 0).any():
        raise ValueError("Priors must be non-negative.")
    return priors


# ---------------------------------------------------------------------- discriminants


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """Holds what discriminants need of some rows, in the coordinates that a scaler gives."""

    means: Floats  # classes × columns
    within: Floats  # columns × columns: mean product about the class means
    counts: NDArray[np.int64]


class DiscriminantFamily(EstimatorFamily):
    """Linear discriminant analysis by solver "svd", or by "lsqr" with a fixed shrinkage."""

    def learned(self, chain: Chain, moments: Moments, rows: Statistics) -> dict[str, Any]:
        model, scatter = chain.model, scatter_of(rows, *chain.centre_and_scale(moments))
        columns, classes = len(scatter.within), len(scatter.counts)
        priors = _priors(model, scatter)
        most = min(classes - 1, columns) if model.n_components is None else model.n_components
        found = (_by_svd if model.solver == "svd" else _by_lsqr)(model, scatter, priors)
        if "explained_variance_ratio_" in found:
            found["explained_variance_ratio_"] = found["explained_variance_ratio_"][:most]
        if classes == 2:  # which have one decision function: the difference
            coef, intercept = found["coef_"], found["intercept_"]
            found |= {"coef_": coef[1:] - coef[:1], "intercept_": intercept[1:] - intercept[:1]}
        shared = {"classes_": rows.classes, "priors_": priors, "means_": scatter.means}
        return shared | {"_max_components": most, "_n_features_out": most} | found


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
    """Return class means and the scatter within classes, after a scaler."""
    columns, counts = rows.columns, rows.counts[0]
    means, variances = class_moments(rows)
    offsets = means - rows.shift.x
    products = rows.grams[0, :, :columns, :columns].sum(axis=0)
    within = (products - (offsets * counts[:, None]).T @ offsets) / counts.sum()
    np.fill_diagonal(within, counts @ variances / counts.sum())
    return Scatter(means=(means - centre) / scale, within=within / np.outer(scale, scale), counts=counts)


def _by_svd(model: Any, scatter: Scatter, priors: Floats) -> dict[str, Any]:
    """Return what scikit-learn's "svd" learns: it scales by the spread within classes, then projects on class means."""
    count, classes = int(scatter.counts.sum()), len(scatter.counts)
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
    scalings = scalings @ turned.T[:, :rank]
    inside = (scatter.means - middle) @ scalings
    coef = inside @ scalings.T
    return {
        "xbar_": middle,
        "scalings_": scalings,
        "explained_variance_ratio_": sizes**2 / np.sum(sizes**2),
        "coef_": coef,
        "intercept_": -0.5 * np.sum(inside**2, axis=1) + np.log(priors) - middle @ coef.T,
    }


def _by_lsqr(model: Any, scatter: Scatter, priors: Floats) -> dict[str, Any]:
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
    return {
        "covariance_": covariance,
        "coef_": coef,
        "intercept_": -0.5 * np.einsum("cj,cj->c", scatter.means, coef) + np.log(priors),
    }


def _priors(model: Any, scatter: Scatter) -> Floats:
    if model.priors is None:
        return np.asarray(scatter.counts / scatter.counts.sum())
    priors = np.asarray(model.priors, dtype=np.float64)
    if priors.shape != scatter.counts.shape or (priors < 0).any():
        raise ValueError("priors must be a number from 0 up for each class.")
    return np.asarray(priors / priors.sum())
