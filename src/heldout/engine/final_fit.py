"""The final predictor of a choice, from the kernel that answered the chosen candidate, where it can make one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import sklearn

from heldout.backends.threads import one_thread
from heldout.kernels.fitting import make_candidate
from heldout.kernels.perform import FITTED, naming_the_way_out
from heldout.kernels.step import Work
from heldout.planner.checked_cells import KernelCheck
from heldout.planner.plan import Plan
from heldout.search.search import Search
from heldout.study.study import FINAL, Study


class FinalFit(NamedTuple):
    """A predictor on all rows, which kernel made it, and the seconds it took."""

    predictor: Any
    kernel: str
    tier: str
    seconds: float


def calls_user(search: Search) -> bool:
    """Whether a function of the user's chooses: it sees no numbers before their check is over."""
    return callable(search.choose) or callable(search.simplest)


def final_by_kernel(study: Study, plans: Sequence[Plan], checks: Iterable[KernelCheck], work: Work) -> FinalFit | None:
    """The chosen candidate on all rows, by the kernel that answered each of its cells and passed its checks.

    None where only scikit-learn's own fit will do.
    """
    candidate = study.chosen[FINAL].candidate if FINAL in study.chosen else None
    if candidate is None or study.search.final != "retrain" or work.fit_params:
        return None
    answered = {(step.kernel, step.tier) for plan in plans for step in plan.steps if candidate in step.candidates}
    if len(answered) != 1:
        return None
    ((kernel, tier),) = answered
    made = [check for check in checks if check.kernel == kernel]
    if kernel not in FITTED or not made or not all(check.passed for check in made):
        return None
    started = perf_counter()
    with one_thread(), sklearn.config_context(**work.config), naming_the_way_out(kernel):
        predictor = FITTED[kernel](make_candidate(work.search, candidate), work, FINAL)
    return None if predictor is None else FinalFit(predictor, kernel, tier, perf_counter() - started)
