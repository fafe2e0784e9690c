"""The kernel `lasso`: least squares with an absolute penalty, on products of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.kernels.claims import Claims
from heldout.kernels.lasso.answer import answer
from heldout.kernels.lasso.recognise import claim, refuse_training, takes_all
from heldout.kernels.lasso.sharpen import sharpened
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class LassoKernel:
    """Lasso, ElasticNet and their multi-task forms, alone or behind StandardScaler. Tier: solver.

    Every fit is nearer its optimum than scikit-learn's at the default tolerance: its duality gap is looked at, and
    one that is not small enough is left to brute force.
    """

    name = "lasso"
    tier = "solver"
    sharp_may_stop = True  # descent on strongly correlated columns crawls for longer than a check may take

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(search, task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(search, task, parts, splits)

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)

    def sharpened(self, estimator: Any) -> Any:
        return sharpened(estimator)


KERNEL = LassoKernel()
