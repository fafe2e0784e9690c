"""Estimates the time of a study: the planner's fits, each as long as one timed fit of its family."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from sklearn.base import clone

from heldout.backends.limits import allowed_jobs
from heldout.backends.threads import one_thread
from heldout.base.errors import FitFailed
from heldout.kernels.step import operations
from heldout.results.extra_fits import plans_of
from heldout.results.study_record import Question

MOST_ROWS = 5_000  # of a timed fit, whose time is scaled to the training size
OPERATIONS_A_SECOND = 1e9  # of a kernel; an order of magnitude


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Holds the expected cost of a study."""

    cells: int
    fits: int
    seconds: float  # on all cores of this machine; an order of magnitude


def expected_cost(question: Question) -> Cost:
    """Estimate the cost of a study from its plan and one timed fit of each family.

    The timed candidate is the one in the middle of the space; nothing else is fitted.
    """
    seconds = _seconds_a_row(question)
    study, task = question.study, question.task
    rows = float(np.mean(study.splits["outer"].train_sizes))
    work, cells, fits = 0.0, 0, 0
    for step in (step for plan in plans_of(study, task, rules={}) for step in plan.steps):
        known = operations(step, task, study.splits)
        own = seconds[study.search.family_of(step.candidates[0]).name]
        work += known / OPERATIONS_A_SECOND if known is not None else step.fits * own * rows
        cells, fits = cells + step.cells, fits + step.fits
    return Cost(cells=cells, fits=fits, seconds=work / min(allowed_jobs(None), max(fits, 1)))


def _seconds_a_row(question: Question) -> dict[str, float]:
    """Return for each family the seconds that a fit takes per training row."""
    task = question.task
    rows = np.sort(np.random.default_rng(question.seed).permutation(task.size)[:MOST_ROWS])
    found = {}
    for family in question.study.search.families:
        params = family.candidates[len(family.candidates) // 2]
        estimator = clone(family.estimator).set_params(**params)
        X, y = task.take(rows), task.y[rows]
        began = perf_counter()
        try:
            with one_thread():
                estimator.fit(X, y)
        except Exception as error:  # a learner raises what it likes
            raise FitFailed(f"{family.name} could not be timed: {type(error).__name__}: {error}") from error
        found[family.name] = (perf_counter() - began) / len(rows)
    return found
