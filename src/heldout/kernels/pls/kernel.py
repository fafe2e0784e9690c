"""The kernel `pls`: PLSRegression of one target, all numbers of components from one run on products of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.cross_decomposition import PLSRegression

from heldout.base.rowkeys import Rows
from heldout.kernels.driver.contract import Group, HeldOutNumbers, Kernel, Needs, Numbers
from heldout.kernels.driver.parameters import is_number, read_flag
from heldout.kernels.pls.jobs import answer_jobs, make_jobs
from heldout.kernels.step import Training
from heldout.kernels.sums.dataset import Layout
from heldout.kernels.sums.rounding import Bools, Refuse
from heldout.kernels.sums.sums import Sums
from heldout.search.search import Search
from heldout.task.task import Task

FEWEST_ROWS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Partial least squares. Equal forms differ in nothing but the number of components."""

    scale: bool  # PLSRegression's own scaling, after that of a StandardScaler in front


class PLSKernel(Kernel):
    """PLSRegression of a single target, alone or behind StandardScaler. Tier: rounding."""

    name = "pls"
    models: ClassVar[Mapping[type, tuple[str, ...]]] = {PLSRegression: ("n_components",)}
    words = "PLSRegression"

    def read(self, model: Any, task: Task) -> Form:
        if task.y.ndim > 1 and task.y.shape[1] > 1:
            raise Refuse("with several targets scikit-learn's iteration stops at a tolerance")
        scale = read_flag("scale", model.scale)
        if not read_flag("copy", model.copy):
            raise Refuse("copy=False writes into the training rows")
        if not _is_count(model.max_iter) or not is_number(model.tol):
            raise Refuse("scikit-learn refuses this max_iter or tol")
        return Form(scale=scale)

    def value(self, form: Form, n_components: Any = 2) -> int:
        if not _is_count(n_components):
            raise Refuse(f"n_components={n_components!r} is no whole number from 1")
        return int(n_components)

    def needs(self, form: Form) -> Needs:
        return Needs(numbers=True, weights=False, float32=False)

    def layout(self, form: Form) -> Layout:
        return Layout(targets="numbers")

    def refuses_size(self, search: Search, task: Task, rows: int) -> str | None:
        return "fewer than three training rows" if rows < FEWEST_ROWS else None

    def solve(self, group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers]:
        return answer_jobs(group, make_jobs(group, batch))

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> Any:
        raise NotImplementedError("training sets are solved side by side")

    def respond(self, group: Group, learned: Any, rows: Rows, methods: frozenset[str]) -> tuple[Numbers, Bools]:
        raise NotImplementedError("training sets are solved side by side")


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and int(value) >= 1
