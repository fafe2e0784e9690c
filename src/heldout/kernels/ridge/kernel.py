"""The kernel `ridge`: linear least squares with a quadratic penalty, from sufficient statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heldout.kernels.claims import Claims
from heldout.kernels.ridge.answer import answer
from heldout.kernels.ridge.recognise import Reader, claim, refuse_training, takes_all
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class RidgeKernel:
    """LinearRegression, Ridge and RidgeClassifier, alone or behind StandardScaler. Tier: rounding.

    float32 data are answered from float64 sums and rounded once, so each response is at least as near to the
    float64 fit as scikit-learn's own float32 fit.
    """

    name = "ridge"
    tier = "rounding"
    leaves_rows_out = True

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(task, parts, splits)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return 0 if len(splits.rows) > (task.n_columns or 1) + 2 else None

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)

    def ignores_origin(self, search: Search, task: Task, candidate: int) -> bool:
        return Reader(search, task).read(candidate)[0].intercept


KERNEL = RidgeKernel()
