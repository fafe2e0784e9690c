"""The form of a candidate: all of a discriminant but its shrinkage. Candidates of one form are solved together."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from heldout.kernels.claims import chain_of
from heldout.kernels.ridge.columns import Unreadable
from heldout.task.task import Task

MODELS = (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A discriminant on scaled columns. Equal forms differ in nothing but how far scatter is shrunk."""

    model: str  # "linear" or "quadratic"
    solver: str  # "svd", "lsqr" or "eigen"
    tol: float
    priors: tuple[float, ...] | None  # None: the shares of classes among the training rows
    centred: bool = False
    scaled: bool = False

    @property
    def quadratic(self) -> bool:
        return self.model == "quadratic"

    @property
    def whitens(self) -> bool:
        """Whether scikit-learn brings columns to equal spread first, so that their units do not matter."""
        return not self.quadratic and self.solver == "svd"

    @property
    def to_trace(self) -> bool:
        """Whether scatter is shrunk towards its mean variance; else towards 1."""
        return not (self.quadratic and self.solver == "svd")


def no_model(kind: type) -> str:
    """Why a learner of this type is refused."""
    return f"{kind.__name__} is not LinearDiscriminantAnalysis or QuadraticDiscriminantAnalysis"


def read_form(estimator: Any, task: Task) -> tuple[Form, float]:
    """The form of an unfitted estimator and its shrinkage; raises Unreadable with the reason where it is refused."""
    chain = chain_of(estimator)
    model, before = chain[-1][1], [step for _, step in chain[:-1]]
    if type(model) not in MODELS:
        raise Unreadable(no_model(type(model)))
    if len(before) > 1:
        raise Unreadable("more than one step stands before the discriminant")
    if before and type(before[0]) is not StandardScaler:
        raise Unreadable(f"{type(before[0]).__name__} stands before the discriminant; only StandardScaler may")
    flags = [getattr(step, name) for step in before for name in ("with_mean", "with_std")] + [model.store_covariance]
    if any(type(flag) not in (bool, np.bool_) for flag in flags):
        raise Unreadable("a parameter that is True or False has another value")
    if model.covariance_estimator is not None:
        raise Unreadable("covariance_estimator= looks at single rows")
    if not _is_number(model.tol):
        raise Unreadable(f"tol={model.tol!r} is no number from 0 up")
    quadratic = type(model) is QuadraticDiscriminantAnalysis
    if model.solver not in (("svd", "eigen") if quadratic else ("svd", "lsqr", "eigen")):
        raise Unreadable(f"solver={model.solver!r} is unknown")
    if not quadratic:
        _check_components(model, task)
    form = Form(
        model="quadratic" if quadratic else "linear",
        solver=str(model.solver),
        tol=float(model.tol),
        priors=_priors(model, task, renormalised=not quadratic),
        centred=bool(before and before[0].with_mean),
        scaled=bool(before and before[0].with_std),
    )
    return form, _shrinkage(model, form)


def _shrinkage(model: Any, form: Form) -> float:
    if form.solver == "svd" and model.shrinkage is not None:
        raise Unreadable("solver='svd' takes no shrinkage")
    if form.quadratic and not _is_share(model.reg_param):
        raise Unreadable(f"reg_param={model.reg_param!r} is no number between 0 and 1")
    if form.solver == "svd":
        return float(model.reg_param) if form.quadratic else 0.0
    if model.shrinkage is not None and not _is_share(model.shrinkage):
        raise Unreadable(f"shrinkage={model.shrinkage!r} looks at single rows; a number between 0 and 1 does not")
    return 0.0 if model.shrinkage is None else float(model.shrinkage)


def _priors(model: Any, task: Task, *, renormalised: bool) -> tuple[float, ...] | None:
    if model.priors is None:
        return None
    try:
        priors = np.asarray(model.priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise Unreadable("priors are no numbers") from None
    count = 0 if task.classes is None else len(task.classes)
    if priors.shape != (count,) or not np.isfinite(priors).all() or (priors <= 0).any():
        raise Unreadable("priors are not one number above 0 for each class")
    if renormalised and abs(priors.sum() - 1.0) > 1e-5:
        if abs(abs(priors.sum() - 1.0) - 1e-5) < 1e-12:
            raise Unreadable("rounding decides whether the priors sum to 1")
        priors = priors / priors.sum()
    return tuple(priors.tolist())


def _check_components(model: Any, task: Task) -> None:
    if model.n_components is None:
        return
    if (
        not isinstance(model.n_components, Integral)
        or isinstance(model.n_components, bool)
        or int(model.n_components) < 1
    ):
        raise Unreadable(f"n_components={model.n_components!r} is no whole number from 1 up")
    classes = 1 if task.classes is None else len(task.classes)
    if int(model.n_components) > min(classes - 1, task.n_columns or 1):
        raise Unreadable("n_components is above the number of classes less one, or of columns")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) < np.inf


def _is_share(value: Any) -> bool:
    return _is_number(value) and float(value) <= 1.0
