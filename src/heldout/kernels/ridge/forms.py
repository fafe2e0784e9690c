"""The form of a linear model: all of it but its alpha."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier

from heldout.kernels.driver.parameters import is_number, read_flag, read_number
from heldout.kernels.sums.rounding import Refuse
from heldout.task.task import Task

MODELS = {LinearRegression: (), Ridge: ("alpha",), RidgeClassifier: ("alpha",)}
SOLVERS = ("auto", "cholesky", "svd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A linear model. Equal forms differ in nothing but alpha."""

    kind: type
    intercept: bool
    class_weight: str | tuple[tuple[Any, float], ...] | None = None  # "balanced", or a weight for each class named
    cutoff: float | None = None  # least squares: singular values below this share of the largest count as zero

    @property
    def classifies(self) -> bool:
        return self.kind is RidgeClassifier


def read_form(model: Any, task: Task) -> Form:
    """The form of an unfitted model. Raises Refuse."""
    kind = type(model)
    if model.positive is not False:
        raise Refuse(f"{kind.__name__}(positive=True) is solved by another method")
    intercept = read_flag("fit_intercept", model.fit_intercept)
    if kind is LinearRegression:
        return Form(kind=kind, intercept=intercept, cutoff=read_number("tol", model.tol))
    if model.solver not in SOLVERS:
        raise Refuse(f"solver={model.solver!r} stops at a tolerance; only {', '.join(SOLVERS)} are exact")
    weight = _class_weight(model.class_weight, task) if kind is RidgeClassifier else None
    return Form(kind=kind, intercept=intercept, class_weight=weight)


def _class_weight(weight: Any, task: Task) -> str | tuple[tuple[Any, float], ...] | None:
    if weight is None or (isinstance(weight, str) and weight == "balanced"):
        return weight
    if not isinstance(weight, Mapping):
        raise Refuse(f"class_weight={weight!r} is neither 'balanced' nor a dict")
    known = set(np.asarray(task.classes).tolist()) if task.classes is not None else set()
    if any(label not in known for label in weight):
        raise Refuse("class_weight names a class that y does not have")
    if not all(is_number(value) and value > 0 for value in weight.values()):
        raise Refuse("class_weight has a weight that is not above 0")
    return tuple((label, float(value)) for label, value in weight.items()) or None
