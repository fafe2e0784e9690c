"""The kernel `smoothers`: kernel ridge and Gaussian processes, whose predictions are linear in y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.driver.contract import Group, HeldOutNumbers, Kernel, Needs, Numbers, is_number
from heldout.kernels.driver.driver import Driver
from heldout.kernels.smoothers.grams import OF_COUNTS, read_gram, read_process
from heldout.kernels.smoothers.solve import (
    EIGEN,
    FACTOR,
    MATRICES,
    Smoother,
    leave_each_out,
    solve_trainings,
)
from heldout.kernels.step import Training, remember
from heldout.kernels.sums.dataset import Layout, data_problem, matrix_of
from heldout.kernels.sums.rounding import Bools, LostDigits, Refuse
from heldout.kernels.sums.training_sums import Sums
from heldout.task.task import Task

MOST_BYTES = 1 << 30  # memory that the matrices of one kernel on all rows may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Settings shared by candidates. The Gram matrix, penalty and centring of y are read for each candidate."""

    process: bool  # a GaussianProcessRegressor, which predicts a single column of targets as a vector
    optimised: bool  # its optimizer is not None
    columns: int
    counts: bool  # X has no negative numbers


class SmoothersKernel(Kernel):
    """KernelRidge, and GaussianProcessRegressor whose kernel is not optimised. Tier: rounding."""

    name = "smoothers"
    models: ClassVar[Mapping[type, tuple[str, ...]]] = {
        KernelRidge: ("alpha", "kernel", "gamma", "degree", "coef0"),
        GaussianProcessRegressor: ("alpha", "kernel", "normalize_y"),
    }
    words = "KernelRidge or GaussianProcessRegressor"
    leaves_rows_out = True

    def read(self, model: Any, task: Task) -> Form:
        process = type(model) is GaussianProcessRegressor
        if process and model.n_targets is not None:
            raise Refuse("n_targets is checked in each fit")
        if not process and model.kernel_params:
            raise Refuse("kernel_params are for kernels that are functions")
        if MATRICES * 8 * len(task) ** 2 > MOST_BYTES:
            gigabytes = 8e-9 * len(task) ** 2
            raise Refuse(f"a kernel matrix of {len(task):,} rows takes {gigabytes:.1f} GB, and several are needed")
        if task.weight is not None and task.weight.min() <= 0:
            raise Refuse("some rows have weight 0")
        if task.y.dtype.kind == "b" or (task.y.dtype.kind == "f" and task.y.dtype != np.float64):
            raise Refuse(f"y is of type {task.y.dtype}")
        return Form(
            process=process,
            optimised=process and model.optimizer is not None,
            columns=task.n_columns or 1,
            counts=remember(task.memo, "no negative numbers", lambda: _has_no_negative_numbers(task)),
        )

    def value(self, form: Form, *raw: Any) -> Smoother:
        alpha, kernel, *others = raw
        if not is_number(alpha):
            raise Refuse("alpha is not one number from 0 up")
        if form.process:
            gram, centred = read_process(kernel, optimised=form.optimised), bool(others[0])
        else:
            gamma, degree, coef0 = others
            gram, centred = read_gram(kernel, form.columns, gamma=gamma, degree=degree, coef0=coef0), False
        if gram.name in OF_COUNTS and not form.counts:
            raise Refuse(f"the kernel {gram.name!r} takes no negative numbers")
        return Smoother(gram, float(alpha), centred)

    def needs(self, form: Form) -> Needs:
        return Needs(numbers=True, weights=not form.process, float32=False, columns=False)

    def layout(self, form: Form) -> Layout:
        return Layout(kind="totals", targets="numbers")

    def solve(self, group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers]:
        return solve_trainings(group, batch)

    def can_leave_one_out(self, group: Group, rows: int) -> bool:
        grams = len({(smoother.gram, smoother.centred) for smoother in group.values})
        return rows * FACTOR * len(group.values) > EIGEN * grams

    def leave_one_out(
        self, group: Group, total: Sums, rows: Rows | None, held: Rows, methods: frozenset[str]
    ) -> tuple[Numbers, Bools]:
        if rows is None:
            raise LostDigits  # this needs the rows; the driver tries again with them
        numbers, reliable = leave_each_out(group, rows, held)
        return (numbers,), reliable

    def leave_one_out_fits(self, task: Task, rows: int) -> int | None:
        return 0

    def responses(self, group: Group, numbers: Numbers, methods: frozenset[str]) -> list[Responses]:
        if group.form.process and numbers[0].shape[2] == 1:
            return [Responses(predict=np.ascontiguousarray(values)) for values in numbers[0][:, :, 0].T]
        return super().responses(group, numbers, methods)


def _has_no_negative_numbers(task: Task) -> bool:
    return not data_problem(task) and bool((matrix_of(task) >= 0).all())


KERNEL = Driver(SmoothersKernel())
