"""The kernel `discriminants`: linear and quadratic discriminant analysis, from products of columns within classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heldout.kernels.claims import Claims
from heldout.kernels.discriminants.answer import answer
from heldout.kernels.discriminants.recognise import claim
from heldout.kernels.ridge.recognise import refuse_training, takes_all
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class DiscriminantsKernel:
    """LinearDiscriminantAnalysis and QuadraticDiscriminantAnalysis, alone or behind StandardScaler. Tier: rounding."""

    name = "discriminants"
    tier = "rounding"
    leaves_rows_out = True

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(task, parts, splits)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        kinds = 0 if task.classes is None else len(task.classes)
        return 0 if len(splits.rows) > (task.n_columns or 1) + kinds + 1 else None

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)


KERNEL = DiscriminantsKernel()
