"""The final predictor of a study: the one that was tested, made again, or the learner on all rows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from heldout.api.tuning import chosen_or_refuse, final_of, make_final
from heldout.backends.threads import one_thread
from heldout.base.errors import FitFailed
from heldout.base.findings import Finding
from heldout.base.options import switched_rules
from heldout.engine.run import Outcome, Running, run_study
from heldout.engine.spot_compare import ROUNDING
from heldout.kernels.perform import FITS_EACH
from heldout.planner.account import Account
from heldout.planner.cost import operations
from heldout.planner.passes import make_plan
from heldout.results.inside import inner_of
from heldout.study.pose import OUTER, pose_tuning
from heldout.study.study import TEST, Study
from heldout.task import Task


def final_predictor(
    outcome: Outcome, task: Task, learner: Any, *, tuning: Outcome | None
) -> tuple[Any, tuple[Finding, ...]]:
    """The fitted predictor, and what was noticed while making it. `tuning` is the choice on all rows, if one is due."""
    if isinstance(learner, FrozenEstimator):
        return learner, ()
    if len(outcome.study.splits[OUTER]) == 1:
        return _tested_again(outcome, task)
    if tuning is None:
        with one_thread():
            return make_final(outcome.study.search, 0, task, task.all_rows, None, fit_params={}), ()
    return final_of(tuning, task, chosen_or_refuse(tuning), fit_params={})[0], ()


def chooses_on_all_rows(study: Study) -> bool:
    """Whether the final predictor is chosen on all rows: by a tuned learner that several parts tested."""
    return study.search.tuned and len(study.splits[OUTER]) > 1


def tune_on_all_rows(outcome: Outcome, task: Task, how: Running) -> Outcome:
    """The choice on all rows by the learner's own validation, and the final predictor where a kernel makes it."""
    return run_study(_posed(outcome.study, task), task, how, finally_fit=True)


def is_cheap(outcome: Outcome, task: Task, how: Running) -> bool:
    """Whether the choice on all rows is made unasked: kernels that proved right answer it, and it is small work."""
    if outcome.stopped is not None or not all(check.passed for check in outcome.checks):
        return False
    planned = {
        "rules": switched_rules(how.options.rules, os.environ),
        "precision": how.options.precision,
        "limited": how.options.limits_fits,
    }
    return price_choice(outcome.study, task, outcome.account, planned).cheap


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoicePrice:
    """What the choice on all rows takes beyond the study."""

    fits: int
    cheap: bool  # kernels answer it in no more operations than they take for the study itself


def price_choice(study: Study, task: Task, account: Account, how: Mapping[str, Any]) -> ChoicePrice:
    """The price of the choice on all rows; `how` is what a plan is made by besides the study.

    What is cheap is decided by the plan's operation counts, never by the clock; steps that fit each candidate are not.
    Raises SplitError where validation fits into the training parts alone.
    """
    posed = _posed(study, task)
    plan = make_plan(posed, task, done=frozenset(), **how)
    costs = [None if step.kernel in FITS_EACH else operations(step, task, posed.splits) for step in plan.steps]
    own = sum(line.operations or 0.0 for line in account.lines)
    cheap = None not in costs and sum(filter(None, costs)) <= own
    return ChoicePrice(fits=sum(step.fits for step in plan.steps), cheap=cheap)


def _posed(study: Study, task: Task) -> Study:
    return pose_tuning(study.search, task, task.all_rows, outer=study.splits[OUTER], race=study.race)


def _tested_again(outcome: Outcome, task: Task) -> tuple[Any, tuple[Finding, ...]]:
    """The tested predictor on the same rows and seed; its test predictions must be the recorded ones."""
    study = outcome.study
    panel = study.of_level(TEST)[0]
    table = outcome.tables[panel.key]
    recorded = table.responses(table.candidates[0], 0) if len(table.candidates) else None
    if recorded is None or recorded.predict is None:
        raise FitFailed("The predictor that was to be tested failed, so there is none to give. See result.failures.")
    outer = study.splits[OUTER]
    inner = next((inner_of(study, choice) for choice in study.choices), None)
    with one_thread():
        predictor = make_final(study.search, table.candidates[0], task, outer.train_rows(0), inner, fit_params={})
        again = np.asarray(predictor.predict(task.take(outer.held_rows(0))))
    differ = int(np.count_nonzero((again != recorded.predict).reshape(len(again), -1).any(axis=1)))
    tiers = {line.tier for line in outcome.account.lines if line.level == TEST}
    if not differ or ("rounding" in tiers and _relative(again, recorded.predict) <= _rounding(again)):
        return predictor, ()
    rows = f"{differ} of {len(again)} test rows"
    severity, text = (
        "warning",
        (
            f"Fitted again on the same rows and seed, the predictor differs on {rows}: the learner is not "
            "deterministic. Set its random_state, or its thread count."
        ),
    )
    if "approximate" in tiers:
        severity, text = (
            "info",
            (
                "The test was answered by an approximation. The predictor is "
                f"scikit-learn's own fit: it differs on {rows}{_by_how_much(again, recorded.predict)}."
            ),
        )
    return predictor, (Finding(code="H204", severity=severity, message=text),)


def _rounding(again: Any) -> float:
    """What rounding may make of a prediction; fits in single precision are this far from their own exact answer."""
    return ROUNDING if again.dtype == np.float64 else float(np.sqrt(np.finfo(np.float32).eps))


def _relative(again: Any, recorded: Any) -> float:
    """The largest difference of numbers as a share of the largest; labels that differ have no such share."""
    if again.dtype.kind != "f" or again.shape != recorded.shape:
        return float("inf")
    return float(np.abs(again - recorded).max() / (np.abs(recorded).max() or 1.0))


def _by_how_much(again: Any, recorded: Any) -> str:
    share = _relative(again, recorded)
    return f", by {share:.1g} of the largest prediction at most" if np.isfinite(share) else ""
