"""The kernel `lasso`: scikit-learn's own coordinate descent for every penalty, on the Gram matrix instead of rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso

from heldout.base.rowkeys import Rows
from heldout.base.warnings import catch_warnings
from heldout.kernels.designs.linear import LinearPredictors, linear_numbers, linear_predictors, normal_equations
from heldout.kernels.driver.contract import (
    Group,
    HeldOutNumbers,
    Kernel,
    Needs,
    Numbers,
    is_count,
    read_flag,
    read_number,
)
from heldout.kernels.driver.driver import Driver, solve_each
from heldout.kernels.lasso.descent import Penalty, Problem, descend, is_steady
from heldout.kernels.step import Training
from heldout.kernels.sums.dataset import Layout
from heldout.kernels.sums.rounding import Bools, Refuse
from heldout.kernels.sums.training_sums import Sums
from heldout.search.search import Search
from heldout.task.task import Task

MODELS = {Lasso: ("alpha", "tol", "max_iter"), ElasticNet: ("alpha", "tol", "max_iter", "l1_ratio")}
PASSES = 25  # over the columns that a fit takes, roughly, at scikit-learn's default tolerance
SHARED_BY = 4  # at least so many training sets share the products of a block of rows
LARGEST_SUMS = 1 << 27  # bytes: several of them must fit a step's memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Settings of Lasso or ElasticNet. Candidates with equal forms differ only in the penalty and the stopping rule."""

    intercept: bool
    positive: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """Holds the predictors of one training set, and which candidates' fits rounding errors leave unchanged."""

    predictors: LinearPredictors
    steady: Bools


class LassoKernel(Kernel):
    """Lasso and ElasticNet with cyclic descent, alone or behind StandardScaler. Tier: rounding."""

    name = "lasso"
    models = MODELS
    words = "Lasso or ElasticNet"

    def read(self, model: Any, task: Task) -> Form:
        if not isinstance(model.precompute, bool | np.bool_):
            raise Refuse("precompute= holds products of rows that are not those of the training sets")
        if model.selection != "cyclic":
            raise Refuse(f"selection={model.selection!r}: only 'cyclic' takes the same steps on products of columns")
        for name in ("warm_start", "copy_X"):
            read_flag(name, getattr(model, name))
        return Form(
            intercept=read_flag("fit_intercept", model.fit_intercept), positive=read_flag("positive", model.positive)
        )

    def value(self, form: Form, *raw: Any) -> Penalty:
        alpha, tol, max_iter, l1_ratio = (*raw, 1.0) if len(raw) == 3 else raw
        if not is_count(max_iter):
            raise Refuse(f"max_iter={max_iter!r} is no whole number from 1 up")
        penalty = Penalty(
            alpha=read_number("alpha", alpha),
            l1_ratio=read_number("l1_ratio", l1_ratio, 1.0),
            tol=read_number("tol", tol),
            max_iter=int(max_iter),
        )
        if penalty.alpha == 0 or penalty.l1_ratio == 0:
            raise Refuse("without an absolute penalty scikit-learn's descent warns, and its own fit must say so")
        return penalty

    def needs(self, form: Form) -> Needs:
        return Needs(numbers=True, one_output=True, float32=False, largest=LARGEST_SUMS)

    def layout(self, form: Form) -> Layout:
        return Layout(targets="numbers")

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> Fitted:
        equations = normal_equations(group.columns, sums, intercept=group.form.intercept)
        weight = equations.count / equations.weight  # scikit-learn brings weights to a mean of 1
        problem = Problem(
            C=np.ascontiguousarray(weight * equations.C),
            d=np.ascontiguousarray(weight * equations.d[:, 0]),
            length=float(np.sqrt(weight * equations.yy[0])),
        )
        weights = np.empty((len(problem.d), len(group.values), 1))
        steady = np.zeros(len(group.values), dtype=bool)
        for place, (alpha, l1_ratio, tol, max_iter) in enumerate(group.values.tolist()):
            penalty = Penalty(alpha, l1_ratio, tol, int(max_iter))
            descent = descend(problem, penalty, equations.count, positive=group.form.positive)
            weights[:, place, 0] = descent.weights
            steady[place] = is_steady(problem, penalty, equations.count, descent, positive=group.form.positive)
        return Fitted(predictors=linear_predictors(equations, weights), steady=steady)

    def respond(self, group: Group, learned: Fitted, rows: Rows, methods: frozenset[str]) -> tuple[Numbers, Bools]:
        numbers, reliable = linear_numbers(learned.predictors, group.data, rows)
        return (numbers,), reliable & learned.steady

    def solve(self, group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers]:
        with catch_warnings():  # here and not in the threads, since filters are of the whole process
            warnings.simplefilter("ignore", ConvergenceWarning)  # such fits are left to brute force, which warns
            return solve_each(self, group, batch)

    def refuses_size(self, search: Search, task: Task, rows: int) -> str | None:
        """Return why Gram matrices would take more operations than descents over rows, or None."""
        columns, fits = task.n_columns or 1, max(1, len(search))
        products = rows * columns**2 / SHARED_BY + fits * PASSES * columns**2
        if columns <= 2 * rows and products <= fits * PASSES * 2 * rows * columns:
            return None
        return f"products of {columns:,} columns cost more than descents of {fits:,} candidates over {rows:,} rows"

    def ignores_origin(self, form: Form) -> bool:
        return form.intercept


KERNEL = Driver(LassoKernel())
