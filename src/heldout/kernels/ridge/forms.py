"""The form of a candidate: all of a linear learner but its alpha. Candidates of one form are solved together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.preprocessing import StandardScaler

from heldout.kernels.claims import chain_of
from heldout.kernels.ridge.columns import Columns, Unreadable, columns_of, is_column_step
from heldout.task.task import Task

MODELS = (LinearRegression, Ridge, RidgeClassifier)
SOLVERS = ("auto", "cholesky", "svd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A linear model on scaled columns. Equal forms differ in nothing but alpha."""

    model: str  # "ols", "ridge" or "classifier"
    intercept: bool
    columns: Columns
    class_weight: str | tuple[tuple[Any, float], ...] | None = None  # "balanced", or a weight for each class named
    cutoff: float | None = None  # least squares: singular values below this share of the largest count as zero

    @property
    def classifies(self) -> bool:
        return self.model == "classifier"

    @property
    def weighting(self) -> Any:
        """What the row weights of this form depend on, the task's own weights apart."""
        return (self.classifies, self.class_weight)


def no_model(kind: type) -> str:
    """Why a learner of this type is refused."""
    return f"{kind.__name__} is not LinearRegression, Ridge or RidgeClassifier"


def read_form(estimator: Any, task: Task) -> Form:
    """The form of an unfitted estimator; raises Unreadable with the reason when the kernel cannot answer it."""
    chain = chain_of(estimator)
    model, before = chain[-1][1], [step for _, step in chain[:-1]]
    if type(model) not in MODELS:
        raise Unreadable(no_model(type(model)))
    if model.positive is not False:
        raise Unreadable(f"{type(model).__name__}(positive=True) is solved by another method")
    if len(before) > 1:
        raise Unreadable("more than one step stands before the linear model")
    columns = _columns(before[0], task) if before else Columns()
    if type(model.fit_intercept) not in (bool, np.bool_):
        raise Unreadable(f"fit_intercept={model.fit_intercept!r} is neither True nor False")
    intercept = bool(model.fit_intercept)
    if type(model) is LinearRegression:
        if not _is_number(model.tol):
            raise Unreadable(f"tol={model.tol!r} is no number from 0 up")
        return Form(model="ols", intercept=intercept, columns=columns, cutoff=float(model.tol))
    if model.solver not in SOLVERS:
        raise Unreadable(f"solver={model.solver!r} stops at a tolerance; only {', '.join(SOLVERS)} are exact")
    if type(model) is Ridge:
        return Form(model="ridge", intercept=intercept, columns=columns)
    weight = _class_weight(model.class_weight, task)
    return Form(model="classifier", intercept=intercept, columns=columns, class_weight=weight)


def read_alpha(form: Form, value: Any) -> float:
    """One penalty as a float; raises Unreadable for one that scikit-learn refuses or gives each target its own."""
    if form.model == "ols":
        return 0.0
    if not _is_number(value):
        raise Unreadable("alpha is not one number from 0 up for all targets")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) < np.inf


def _columns(step: Any, task: Task) -> Columns:
    if type(step) is StandardScaler:
        return Columns(centred=bool(step.with_mean), scaled=bool(step.with_std))
    if is_column_step(step):
        return columns_of(step, task)
    raise Unreadable(f"{type(step).__name__} stands before the linear model; only StandardScaler, alone or in a "
                     "ColumnTransformer, may")  # fmt: skip


def _class_weight(weight: Any, task: Task) -> str | tuple[tuple[Any, float], ...] | None:
    if weight is None or (isinstance(weight, str) and weight == "balanced"):
        return weight
    if not isinstance(weight, Mapping):
        raise Unreadable(f"class_weight={weight!r} is neither 'balanced' nor a dict")
    if not weight:
        return None
    known = set(np.asarray(task.classes).tolist()) if task.classes is not None else set()
    if any(label not in known for label in weight):
        raise Unreadable("class_weight names a class that y does not have")
    if not all(_is_number(value) and value > 0 for value in weight.values()):
        raise Unreadable("class_weight has a weight that is not above 0")
    return tuple((label, float(value)) for label, value in weight.items())
