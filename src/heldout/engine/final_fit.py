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
from heldout.planner.checked_cells import SpotCheck
from heldout.planner.plan import Plan
from heldout.search.search import Search
from heldout.study.pose import FINAL
from heldout.study.study import Study


class FinalFit(NamedTuple):
    """A predictor on all rows, which kernel made it, and the seconds it took."""

    predictor: Any
    kernel: str
    tier: str
    seconds: float


class Asked(NamedTuple):
    """A chosen candidate, and the kernel that answered each of its cells and can make predictors."""

    candidate: int
    kernel: str
    tier: str


class Early(NamedTuple):
    """What was made before the kernel's check was over; None where only scikit-learn's own fit will do."""

    asked: Asked
    made: FinalFit | None


def calls_user(search: Search) -> bool:
    """Whether a function of the user's chooses: it sees no numbers before their check is over."""
    return callable(search.choose) or callable(search.simplest)


def may_be_early(search: Search, plans: Sequence[Plan]) -> bool:
    """Whether a predictor may be made before a check is over."""
    return any(step.kernel in FITTED for plan in plans for step in plan.steps) and not calls_user(search)


def make_early(study: Study, plans: Sequence[Plan], work: Work) -> Early | None:
    """The chosen candidate on all rows, while a check of its kernel may still run.

    An error is nobody's yet: where the kernel passes, the same is tried again, and then it is told.
    """
    asked = _asked(study, plans, work)
    if asked is None:
        return None
    try:
        return Early(asked, _fit(asked, work))
    except Exception:
        return None


def final_by_kernel(
    study: Study, plans: Sequence[Plan], checks: Iterable[SpotCheck], work: Work, *, early: Early | None = None
) -> FinalFit | None:
    """The chosen candidate on all rows, by the kernel that answered each of its cells and passed its checks."""
    asked = _asked(study, plans, work)
    if asked is None:
        return None
    own = [check for check in checks if check.kernel == asked.kernel]
    if not own or not all(check.passed for check in own):
        return None
    return early.made if early is not None and early.asked == asked else _fit(asked, work)


def _asked(study: Study, plans: Sequence[Plan], work: Work) -> Asked | None:
    chosen = study.chosen[FINAL].candidate if FINAL in study.chosen else None
    if chosen is None or study.search.final != "retrain" or work.fit_params:
        return None
    answered = {(step.kernel, step.tier) for plan in plans for step in plan.steps if chosen in step.candidates}
    if len(answered) != 1:
        return None
    ((kernel, tier),) = answered
    return Asked(chosen, kernel, tier) if kernel in FITTED else None


def _fit(asked: Asked, work: Work) -> FinalFit | None:
    started = perf_counter()
    with one_thread(), sklearn.config_context(**work.config), naming_the_way_out(asked.kernel):
        predictor = FITTED[asked.kernel](make_candidate(work.search, asked.candidate), work, FINAL)
    return None if predictor is None else FinalFit(predictor, asked.kernel, asked.tier, perf_counter() - started)
