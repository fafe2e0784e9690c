"""The kernel `pls`: PLSRegression of one target, all numbers of components from one run on products of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.kernels.claims import Claims
from heldout.kernels.pls.answer import answer
from heldout.kernels.pls.fitted import fitted
from heldout.kernels.pls.recognise import claim, refuse_training, takes_all
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class PLSKernel:
    """PLSRegression of a single target, alone or behind StandardScaler. Tier: rounding."""

    name = "pls"
    tier = "rounding"

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(parts, splits)

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)

    def fitted(self, estimator: Any, work: Work, splits: str) -> Any | None:
        return fitted(estimator, work, splits)


KERNEL = PLSKernel()
