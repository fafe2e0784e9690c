"""The kernel `ridge`: linear least squares with a quadratic penalty, every alpha from sums over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.designs.columns import Columns
from heldout.kernels.designs.equations import normal_equations
from heldout.kernels.designs.linear import LinearPredictors, class_responses, linear_numbers
from heldout.kernels.driver.contract import Group, Kernel, Needs, Numbers
from heldout.kernels.driver.parameters import is_number
from heldout.kernels.ridge.dual import solve_dual
from heldout.kernels.ridge.forms import MODELS, Form, read_form
from heldout.kernels.ridge.leave_one_out import applies, leave_one_out
from heldout.kernels.ridge.solve import solve
from heldout.kernels.sums.data import numeric_type
from heldout.kernels.sums.dataset import Layout
from heldout.kernels.sums.rounding import Bools, Refuse, Undecided
from heldout.kernels.sums.sums import Sums
from heldout.task.task import Task


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
        return read_form(model, task)

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
