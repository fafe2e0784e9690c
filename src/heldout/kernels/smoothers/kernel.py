"""The kernel `smoothers`: responses that are linear in y by a matrix that rows alone decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heldout.kernels.claims import Claims
from heldout.kernels.smoothers.answer import answer
from heldout.kernels.smoothers.recognise import claim, refuse_training, takes_all
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class SmoothersKernel:
    """KernelRidge, and GaussianProcessRegressor whose kernel is not optimised. Tier: rounding."""

    name = "smoothers"
    tier = "rounding"
    leaves_rows_out = True

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(splits)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return 0

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)


KERNEL = SmoothersKernel()
