"""The kernel `glm`: generalised linear models with a quadratic penalty, by Newton steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.kernels.claims import Claims
from heldout.kernels.glm.answer import answer
from heldout.kernels.glm.recognise import claim, refuse_training, takes_all
from heldout.kernels.glm.sharpen import sharpened
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class GlmKernel:
    """LogisticRegression (l2), Poisson-, Gamma- and TweedieRegressor, alone or behind StandardScaler. Tier: solver."""

    name = "glm"
    tier = "solver"

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(task, parts, splits)

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)

    def sharpened(self, estimator: Any) -> Any:
        return sharpened(estimator)


KERNEL = GlmKernel()
