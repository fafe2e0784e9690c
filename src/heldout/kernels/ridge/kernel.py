"""The kernel `ridge`: solves least squares with a quadratic penalty, for all alphas, from sums over rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.designs.columns import Columns
from heldout.kernels.designs.linear import LinearPredictors, class_responses, linear_numbers, normal_equations
from heldout.kernels.driver.contract import Group, Kernel, Needs, Numbers, is_number, read_flag, read_number
from heldout.kernels.driver.driver import Driver
from heldout.kernels.ridge.leave_one_out import applies, leave_one_out
from heldout.kernels.ridge.solve import solve, solve_dual
from heldout.kernels.sums.dataset import Layout, numeric_type
from heldout.kernels.sums.rounding import Bools, Refuse, Undecided
from heldout.kernels.sums.training_sums import Sums
from heldout.task.task import Task

MODELS = {LinearRegression: (), Ridge: ("alpha",), RidgeClassifier: ("alpha",)}
SOLVERS = ("auto", "cholesky", "svd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Declares a linear model without its alpha: models of equal form differ in alpha alone."""

    kind: type
    intercept: bool
    class_weight: str | tuple[tuple[Any, float], ...] | None = None  # "balanced", or a weight for each class named
    cutoff: float | None = None  # least squares: singular values below this share of the largest count as zero

    @property
    def classifies(self) -> bool:
        return self.kind is RidgeClassifier


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


class RidgeKernel(Kernel):
    """LinearRegression, Ridge and RidgeClassifier, alone or behind StandardScaler. Tier: rounding.

    float32 data are answered from float64 sums and rounded once, so each response is at least as near to the
    float64 fit as scikit-learn's own float32 fit.
    """

    name = "ridge"
    models = MODELS
    words = "LinearRegression, Ridge or RidgeClassifier"
    leaves_rows_out = True

    def read(self, model: Any, task: Task) -> Form:
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

    def value(self, form: Form, alpha: Any = 0.0) -> float:
        if not is_number(alpha):
            raise Refuse("alpha is not one number from 0 up for all targets")
        return float(alpha)

    def needs(self, form: Form) -> Needs:
        return Needs(classes=form.classifies, numbers=not form.classifies)

    def methods(self, form: Form) -> tuple[str, ...]:
        return ("predict", "decision_function") if form.classifies else ("predict",)

    def layout(self, form: Form) -> Layout:
        fixed = form.class_weight if isinstance(form.class_weight, tuple) else ()
        targets = "signs" if form.classifies else "numbers"
        return Layout(targets=targets, by_class=form.class_weight == "balanced", class_weight=fixed)

    def dtype(self, form: Form, columns: Columns, task: Task) -> np.dtype[Any]:
        return numeric_type(task, columns.places, first_of_polars=form.cutoff is None or columns.prepared)

    def learns_from_rows(self, group: Group, rows: int) -> bool:
        return rows <= int(group.data.X.shape[1])

    def learn_from_rows(self, group: Group, rows: Rows) -> LinearPredictors:
        if len(rows) * group.data.X.shape[1] * 32 > group.work.budget:
            raise Undecided
        return solve_dual(group, rows)

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> LinearPredictors:
        equations = normal_equations(group.columns, sums, intercept=group.form.intercept)
        return solve(equations, group.values, cutoff=group.form.cutoff)

    def respond(
        self, group: Group, learned: LinearPredictors, rows: Rows, methods: frozenset[str]
    ) -> tuple[Numbers, Bools]:
        numbers, reliable = linear_numbers(learned, group.data, rows)
        return (numbers,), reliable

    def responses(self, group: Group, numbers: Numbers, methods: frozenset[str]) -> list[Responses]:
        if not group.form.classifies:
            return super().responses(group, numbers, methods)
        return class_responses(group.work.task, numbers[0], methods, group.dtype)

    def can_leave_one_out(self, group: Group, rows: int) -> bool:
        return applies(group, rows)

    def leave_one_out(
        self, group: Group, total: Sums, rows: Rows | None, held: Rows, methods: frozenset[str]
    ) -> tuple[Numbers, Bools]:
        numbers, reliable = leave_one_out(group, total, held)
        return (numbers,), reliable

    def leave_one_out_fits(self, task: Task, rows: int) -> int | None:
        return 0 if rows > (task.n_columns or 1) + 2 else None

    def ignores_origin(self, form: Form) -> bool:
        return form.intercept


KERNEL = Driver(RidgeKernel())
