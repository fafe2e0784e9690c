"""A kernel as the planner and the engine call it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heldout.kernels.claims import Claims
from heldout.kernels.driver.answer import answer
from heldout.kernels.driver.claim import Reader, claim, refuse_training, takes_all
from heldout.kernels.driver.contract import Kernel
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class Driver:
    """What `AcrossKernel` asks, answered for a kernel by its declaration."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.name, self.tier, self.leaves_rows_out = kernel.name, kernel.tier, kernel.leaves_rows_out
        self.models, self.words = kernel.models, kernel.words

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(self.kernel, search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(self.kernel, search, task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(self.kernel, search, task, parts, splits)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return self.kernel.leave_one_out_fits(task, len(splits.rows))

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(self.kernel, step, work)

    def ignores_origin(self, search: Search, task: Task, candidate: int) -> bool:
        form, _ = Reader(self.kernel, search, task).read_one(candidate)[0]
        return self.kernel.ignores_origin(form)
