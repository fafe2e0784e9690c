"""What the kernel reads of a candidate: the kernel function that it shares, and the machine itself."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from heldout.kernels.driver.contract import is_number
from heldout.kernels.driver.prepared import Candidate
from heldout.kernels.sums.rounding import Refuse
from heldout.kernels.within.signature import signature
from heldout.task.task import Task

MODELS = (SVC, SVR, NuSVC, NuSVR)
CLASSIFIERS = (SVC, NuSVC)
WORDS = "SVC, SVR, NuSVC or NuSVR"
SHAPES = ("linear", "poly", "rbf", "sigmoid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A kernel function. Candidates with the same shape and preprocessing share their kernel matrices."""

    kernel: str
    gamma: str | float = 0.0  # "scale" and "auto" are resolved for each training set
    degree: int = 0
    coef0: float = 0.0

    @property
    def base(self) -> str:
        """What its values are computed from: squared distances, or inner products."""
        return "distances" if self.kernel == "rbf" else "products"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Machine(Candidate):
    """Holds what the kernel reads from one SVM candidate."""

    shape: Shape
    all_but_bound: Hashable  # all parameters of the machine but C

    @property
    def classifies(self) -> bool:
        return type(self.model) in CLASSIFIERS

    @property
    def group(self) -> Hashable:
        return self.preparation, self.classifies

    def methods(self, task: Task) -> tuple[str, ...]:
        return ("predict", "decision_function") if self.classifies else ("predict",)

    @property
    def bound(self) -> float:
        """The C that bounds dual coefficients, where a larger C may have the same solution; otherwise infinity."""
        if type(self.model) is SVC or (type(self.model) is SVR and self.model.epsilon > 0):
            return float(self.model.C)
        return np.inf


def read_machine(candidate: Candidate) -> Machine:
    """Read one unfitted candidate. Raises Refuse with the reason where the kernel cannot answer it."""
    model = candidate.model
    if type(model) in CLASSIFIERS and model.probability is True:
        raise Refuse("probability=True calibrates by a cross-validation of its own")
    if type(model) in CLASSIFIERS and model.break_ties and model.decision_function_shape == "ovo":
        raise Refuse("break_ties=True with decision_function_shape='ovo' cannot predict")
    if model.max_iter != -1:
        raise Refuse(f"max_iter={model.max_iter!r} may end a fit before its tolerance")
    if model.verbose:
        raise Refuse("a verbose fit prints, which only its own fit does")
    for name in ("C", "nu", "epsilon"):
        if hasattr(model, name) and not is_number(getattr(model, name)):
            raise Refuse(f"{name}={getattr(model, name)!r} is no number from 0 up")
    return Machine(
        number=candidate.number,
        before=candidate.before,
        model=model,
        shape=_shape(model),
        all_but_bound=signature(model, without=("C",)),
    )


def _shape(model: Any) -> Shape:
    kernel = model.kernel
    if not isinstance(kernel, str) or kernel not in SHAPES:
        words = "a function of your own" if callable(kernel) else repr(kernel)
        raise Refuse(f"the kernel is {words}; only {', '.join(SHAPES)} are shared")
    if kernel == "linear":
        return Shape(kernel=kernel)
    gamma = model.gamma
    if not (is_number(gamma) or (isinstance(gamma, str) and gamma in ("scale", "auto"))):
        raise Refuse(f"gamma={gamma!r} is neither 'scale', 'auto' nor a number from 0 up")
    gamma = gamma if isinstance(gamma, str) else float(gamma)
    if kernel == "rbf":
        return Shape(kernel=kernel, gamma=gamma)
    if not isinstance(model.coef0, Real) or not np.isfinite(float(model.coef0)):
        raise Refuse(f"coef0={model.coef0!r} is no number")
    if kernel == "sigmoid":
        return Shape(kernel=kernel, gamma=gamma, coef0=float(model.coef0))
    if not isinstance(model.degree, Integral) or model.degree < 0:
        raise Refuse(f"degree={model.degree!r} is no whole number from 0 up")
    return Shape(kernel=kernel, gamma=gamma, coef0=float(model.coef0), degree=int(model.degree))
