"""The kernel `pls`: PLSRegression of one target, all numbers of components from one run on products of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.cross_decomposition import PLSRegression

from heldout.base.rowkeys import Rows
from heldout.kernels.driver.contract import Group, HeldOutNumbers, Kernel, Needs, Numbers
from heldout.kernels.driver.driver import Driver
from heldout.kernels.pls.fitted import fitted
from heldout.kernels.pls.forms import Form, read_count, read_scale
from heldout.kernels.pls.jobs import answer_jobs, make_jobs
from heldout.kernels.step import Training, Work
from heldout.kernels.sums.dataset import Layout
from heldout.kernels.sums.rounding import Bools
from heldout.kernels.sums.sums import Sums
from heldout.search.search import Search
from heldout.task.task import Task

MODELS = {PLSRegression: ("n_components",)}


class PLSKernel(Kernel):
    """PLSRegression of a single target, alone or behind StandardScaler. Tier: rounding.

    Training sets go side by side: see `jobs`.
    """

    name = "pls"
    models = MODELS
    words = "PLSRegression"

    def read(self, model: Any, task: Task) -> bool:
        return read_scale(model, task)

    def value(self, form: bool, *raw: Any) -> int:
        return read_count(raw[0])

    def needs(self, form: bool) -> Needs:
        return Needs(numbers=True, weights=False)

    def layout(self, form: bool) -> Layout:
        return Layout(targets="numbers")

    def solve(self, group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers]:
        return answer_jobs(group, make_jobs(_form_of(group), group, batch))

    def refuses_size(self, search: Search, task: Task, rows: int) -> str | None:
        return "fewer than three training rows" if rows < 3 else None

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> Any:
        raise NotImplementedError("training sets are solved side by side")

    def respond(self, group: Group, learned: Any, rows: Rows, methods: frozenset[str]) -> tuple[Numbers, Bools]:
        raise NotImplementedError("training sets are solved side by side")


def _form_of(group: Group) -> Form:
    """The form on the columns of the data, which are those that the model sees."""
    return Form(columns=replace(group.columns, places=None), scale=group.form)


class PLSDriver(Driver):
    """The driver of a kernel that makes the final predictor too."""

    def fitted(self, estimator: Any, work: Work, splits: str) -> Any | None:
        return fitted(self.kernel, estimator, work, splits)


KERNEL = PLSDriver(PLSKernel())
