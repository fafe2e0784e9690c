"""The final predictor of a choice, from the kernel that answered the chosen candidate, where it can make one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import sklearn

from heldout.engine.spots import SpotCheck
from heldout.engine.threads import one_thread
from heldout.kernels.fitting import make_candidate
from heldout.kernels.perform import FITTED, naming_the_way_out
from heldout.kernels.step import Work
from heldout.planner.plan import Plan
from heldout.study.panels import Study
from heldout.study.pose import FINAL


class FinalFit(NamedTuple):
    """A predictor on all rows, which kernel made it, and the seconds it took."""

    predictor: Any
    candidate: int
    kernel: str
    tier: str
    seconds: float


def final_by_kernel(study: Study, plans: Sequence[Plan], work: Work) -> FinalFit | None:
    """The chosen candidate on all rows, by the kernel that answered each of its cells."""
    chosen = study.chosen[FINAL].candidate if FINAL in study.chosen else None
    if chosen is None or study.search.final != "retrain" or work.fit_params:
        return None
    answered = {(step.kernel, step.tier) for plan in plans for step in plan.steps if chosen in step.candidates}
    if len(answered) != 1:
        return None
    ((kernel, tier),) = answered
    if kernel not in FITTED:
        return None
    started = perf_counter()
    with one_thread(), sklearn.config_context(**work.config), naming_the_way_out(kernel):
        predictor = FITTED[kernel](make_candidate(study.search, chosen), work, FINAL)
    return None if predictor is None else FinalFit(predictor, chosen, kernel, tier, perf_counter() - started)


def is_sound(final: FinalFit, study: Study, checks: Iterable[SpotCheck]) -> bool:
    """Whether the kernel passed its check, and its candidate is still the chosen one."""
    passed = {check.kernel for check in checks if check.passed and check.conclusive}
    chosen = study.chosen.get(FINAL)
    return final.kernel in passed and chosen is not None and chosen.candidate == final.candidate
