"""The kernel `vectors`: support vector machines on kernel matrices that candidates and training sets share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.kernels.claims import Claims
from heldout.kernels.step import Step, Training, Work
from heldout.kernels.vectors.answer import answer
from heldout.kernels.vectors.recognise import claim, refuse
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class VectorsKernel:
    """SVC, SVR, NuSVC and NuSVR, alone or behind other steps of a Pipeline. Tier: solver.

    The machine is solved by scikit-learn's own library to the user's own tolerance, on a kernel matrix that differs
    from the library's in its last bits, if at all.
    """

    name = "vectors"
    tier = "solver"
    fits_each = "kernel matrices"

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse(task, training, splits)

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)

    def sharpened(self, estimator: Any) -> Any:
        """The estimator as it is: both sides are one solver with one stopping rule, so they end at the same duals.

        At a tolerance of its own the check would measure how loose the user's tolerance is, not the kernel.
        """
        return estimator


KERNEL = VectorsKernel()
