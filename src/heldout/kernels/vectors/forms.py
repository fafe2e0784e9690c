"""What the kernel reads of a candidate: its preparation, the shape of its kernel function, and the machine itself."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from heldout.kernels.within.signature import signature

MODELS = (SVC, SVR, NuSVC, NuSVR)
CLASSIFIERS = (SVC, NuSVC)
SHAPES = ("linear", "poly", "rbf", "sigmoid")


class Unreadable(Exception):
    """Why a candidate cannot be answered from a shared kernel matrix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A kernel function. Candidates of one shape and preparation share their matrices."""

    kernel: str
    gamma: str | float = 0.0  # "scale" and "auto" are resolved for each training set
    degree: int = 0
    coef0: float = 0.0

    @property
    def base(self) -> str:
        """What its values are computed from: squared distances, or inner products."""
        return "distances" if self.kernel == "rbf" else "products"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Machine:
    """One candidate, read."""

    candidate: int
    preparation: Hashable  # equal for candidates whose earlier steps are equal
    before: Pipeline | None  # those steps, not fitted; None where X goes straight to the machine
    model: Any  # the SVC, SVR, NuSVC or NuSVR, not fitted
    shape: Shape
    chain: Hashable  # all of the machine but its C

    @property
    def classifies(self) -> bool:
        return type(self.model) in CLASSIFIERS

    @property
    def bound(self) -> float:
        """The C that bounds duals, where a larger one may turn out to have the same solution; else infinity."""
        if type(self.model) is SVC or (type(self.model) is SVR and self.model.epsilon > 0):
            return float(self.model.C)
        return np.inf


def no_model(kind: type) -> str:
    """Why a learner of this type is refused."""
    return f"{kind.__name__} is not SVC, SVR, NuSVC or NuSVR"


def read_machine(candidate: int, estimator: Any) -> Machine:
    """One candidate, not fitted; raises Unreadable with the reason when the kernel cannot answer it."""
    before, model = _taken_apart(estimator)
    if type(model) not in MODELS:
        raise Unreadable(no_model(type(model)))
    if type(model) in CLASSIFIERS and model.probability is True:
        raise Unreadable("probability=True calibrates by a cross-validation of its own")
    if type(model) in CLASSIFIERS and model.break_ties and model.decision_function_shape == "ovo":
        raise Unreadable("break_ties=True with decision_function_shape='ovo' cannot predict")
    if model.max_iter != -1:
        raise Unreadable(f"max_iter={model.max_iter!r} may end a fit before its tolerance")
    if model.verbose:
        raise Unreadable("a verbose fit prints, which only its own fit does")
    for name in ("C", "nu", "epsilon"):
        if hasattr(model, name) and not _is_number(getattr(model, name)):
            raise Unreadable(f"{name}={getattr(model, name)!r} is no number from 0 up")
    return Machine(
        candidate=candidate,
        preparation=() if before is None else signature(before.steps),
        before=before,
        model=model,
        shape=_shape(model),
        chain=signature(model, without=("C",)),
    )


def _taken_apart(estimator: Any) -> tuple[Pipeline | None, Any]:
    if not isinstance(estimator, Pipeline):
        return None, estimator
    last = estimator.steps[-1][1]
    if type(last) not in MODELS:
        raise Unreadable(no_model(type(last)))
    if type(estimator) is not Pipeline:
        raise Unreadable(f"{type(estimator).__name__} is not scikit-learn's own Pipeline")
    if estimator.memory is not None:
        raise Unreadable("a Pipeline with memory keeps its own fitted steps")
    if getattr(estimator, "transform_input", None) is not None:
        raise Unreadable("a Pipeline with transform_input hands metadata to its steps")
    steps = [step for _, step in estimator.steps[:-1]]
    if all(step is None or (isinstance(step, str) and step == "passthrough") for step in steps):
        return None, last
    return Pipeline(estimator.steps[:-1]), last


def _shape(model: Any) -> Shape:
    kernel = model.kernel
    if not isinstance(kernel, str) or kernel not in SHAPES:
        words = "a function of your own" if callable(kernel) else repr(kernel)
        raise Unreadable(f"the kernel is {words}; only {', '.join(SHAPES)} are shared")
    if kernel == "linear":
        return Shape(kernel=kernel)
    gamma = model.gamma
    if not (_is_number(gamma) or (isinstance(gamma, str) and gamma in ("scale", "auto"))):
        raise Unreadable(f"gamma={gamma!r} is neither 'scale', 'auto' nor a number from 0 up")
    gamma = gamma if isinstance(gamma, str) else float(gamma)
    if kernel == "rbf":
        return Shape(kernel=kernel, gamma=gamma)
    if not isinstance(model.coef0, Real) or not np.isfinite(float(model.coef0)):
        raise Unreadable(f"coef0={model.coef0!r} is no number")
    if kernel == "sigmoid":
        return Shape(kernel=kernel, gamma=gamma, coef0=float(model.coef0))
    if not isinstance(model.degree, Integral) or model.degree < 0:
        raise Unreadable(f"degree={model.degree!r} is no whole number from 0 up")
    return Shape(kernel=kernel, gamma=gamma, coef0=float(model.coef0), degree=int(model.degree))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) < np.inf
