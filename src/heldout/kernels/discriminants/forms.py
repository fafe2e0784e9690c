"""The settings of a discriminant analysis that candidates of one group share: all but the shrinkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from heldout.kernels.driver.contract import is_count, is_number, read_flag, read_number, read_priors
from heldout.kernels.sums.rounding import Refuse
from heldout.task.task import Task

MODELS = {LinearDiscriminantAnalysis: ("shrinkage",), QuadraticDiscriminantAnalysis: ("reg_param", "shrinkage")}
SOLVERS = {LinearDiscriminantAnalysis: ("svd", "lsqr", "eigen"), QuadraticDiscriminantAnalysis: ("svd", "eigen")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The settings of a discriminant analysis. Candidates with equal forms differ only in their shrinkage."""

    quadratic: bool
    solver: str  # "svd", "lsqr" or "eigen"
    tol: float
    priors: tuple[float, ...] | None  # None: the shares of classes among the training rows

    @property
    def whitens(self) -> bool:
        """Whether scikit-learn first scales columns to equal spread within classes, so that units do not matter."""
        return not self.quadratic and self.solver == "svd"

    @property
    def to_trace(self) -> bool:
        """Whether scatter is shrunk towards its mean variance. Otherwise it is shrunk towards 1."""
        return not (self.quadratic and self.solver == "svd")


def read_form(model: Any, task: Task) -> Form:
    """Return the form of an unfitted model. Raises Refuse where the kernel cannot answer it."""
    quadratic = type(model) is QuadraticDiscriminantAnalysis
    read_flag("store_covariance", model.store_covariance)
    if model.covariance_estimator is not None:
        raise Refuse("covariance_estimator= looks at single rows")
    if model.solver not in SOLVERS[type(model)]:
        raise Refuse(f"solver={model.solver!r} is unknown")
    if not quadratic:
        _check_components(model, task)
    priors = read_priors(model.priors, task)
    if priors is not None and not quadratic:
        _check_sum(priors)
    return Form(quadratic=quadratic, solver=str(model.solver), tol=read_number("tol", model.tol), priors=priors)


def read_shrinkage(form: Form, *raw: Any) -> float:
    """Return the shrinkage, or QDA's reg_param with solver "svd". Raises Refuse where it is not a fixed number."""
    shrinkage, reg_param = raw[-1], raw[0] if form.quadratic else 0.0
    if form.solver == "svd" and shrinkage is not None:
        raise Refuse("solver='svd' takes no shrinkage")
    reg_param = read_number("reg_param", reg_param, 1.0)
    if form.solver == "svd":
        return reg_param
    if shrinkage is not None and not (is_number(shrinkage) and float(shrinkage) <= 1):
        raise Refuse(f"shrinkage={shrinkage!r} looks at single rows; a number between 0 and 1 does not")
    return 0.0 if shrinkage is None else float(shrinkage)


def _check_sum(priors: tuple[float, ...]) -> None:
    """Raise Refuse if the priors do not sum to 1: scikit-learn divides them by their sum, and warns at every fit."""
    if abs(sum(priors) - 1.0) > 0.99e-5:
        raise Refuse("the priors do not sum to 1")


def _check_components(model: Any, task: Task) -> None:
    wanted = model.n_components
    if wanted is None:
        return
    if not is_count(wanted):
        raise Refuse(f"n_components={wanted!r} is no whole number from 1 up")
    classes = 1 if task.classes is None else len(task.classes)
    if int(wanted) > min(classes - 1, task.n_columns or 1):
        raise Refuse("n_components is above the number of classes less one, or of columns")
