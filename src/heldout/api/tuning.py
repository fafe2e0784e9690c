"""Fits a `Tuned`: runs its validation study, fits the final predictor and sets the fitted attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import process_routing

from heldout.backends.threads import one_thread
from heldout.base.errors import FitFailed, InputError, LearnerError, OptionError
from heldout.base.options import Options
from heldout.base.rowkeys import Rows
from heldout.engine.run import Outcome, Running, run_study
from heldout.kernels.brute import check_search, fit_on_rows, make_candidate
from heldout.kernels.ensemble import average
from heldout.losses import for_target
from heldout.planner.passes import check_rules
from heldout.results.estimates import scope_of_tuning
from heldout.results.selection import Selection
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import mean_over_parts
from heldout.study.choose import as_cv_results
from heldout.study.race import race_of
from heldout.study.study import FINAL, TEST, VALIDATION, pose_tuning
from heldout.task import Task, declare

if TYPE_CHECKING:
    from heldout.api.tuned import Tuned

WEIGHT = "sample_weight"
OF_A_FIT = ("precision", "race", "race_level", "rules", "fit_timeout", "fit_memory", "memory", "on_event", "queue_seed")
LEVEL = 0.95  # of the intervals in `estimates_`


def routed_fit_params(tuned: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fit parameters for the estimator: the routed ones if metadata routing is enabled, else all."""
    if not get_config()["enable_metadata_routing"] or not params:
        return dict(params)
    routed = process_routing(tuned, "fit", **params)
    first, *others = (routed[name].fit for name in tuned.routed_names())
    if any(other.keys() != first.keys() for other in others):
        raise LearnerError("Families that compete must ask for the same metadata; see their set_fit_request.")
    return dict(first)


def fit_tuned(tuned: Tuned, X: Any, y: Any, *, roles: dict[str, Any], params: dict[str, Any]) -> Tuned:
    """Choose a candidate, fit the final predictor, and set the attributes of a fitted search."""
    weight = params.pop(WEIGHT, None)
    task = declare(X, y, classification=is_classifier(tuned), sample_weight=weight, **roles)
    if task.size == 1:
        raise InputError("Tuned holds rows out to choose by, but there is only 1 sample. Pass more rows.")
    search = tuned.as_search(seed=int(np.random.default_rng().integers(2**31)), timed=task.time is not None)
    search = replace(search, losses=for_target(search.losses, task.classes))
    check_search(search, task)
    fit_params = {name: _as_array(value, task.size) for name, value in params.items()}
    options = own_options(tuned.options)
    study = pose_tuning(search, task, task.all_rows, race=race_of(options) if options.race else None)
    how = Running(jobs=tuned.jobs, options=options)
    outcome = run_study(study, task, how, fit_params=fit_params)
    chosen = chosen_or_refuse(outcome)
    predictor, seconds = final_of(outcome, task, chosen, fit_params=fit_params)
    _leave_attributes(tuned, outcome, predictor, chosen=chosen, seconds=seconds)
    tuned._estimates = Selection.of(task, outcome, level=LEVEL)
    tuned._covers = scope_of_tuning(tuned._estimates, rows=task.size)
    return tuned


def own_options(options: Options | None) -> Options:
    """Return the options of a fit; refuse those that only a study has, such as an interval or a time limit."""
    usual = Options()
    if options is None:
        return usual
    if not isinstance(options, Options):
        raise OptionError(f"options= takes heldout.Options(…), not {type(options).__name__}.")
    check_rules(options.rules)
    others = [f.name for f in fields(Options) if f.name not in OF_A_FIT]
    for name in others:
        if getattr(options, name) != getattr(usual, name):
            raise OptionError(
                f"Options({name}=…) has no meaning where a learner is fitted by itself. Give it to "
                f"evaluate(options=…); Tuned takes {', '.join(OF_A_FIT)}."
            )
    return options


def chosen_or_refuse(outcome: Outcome) -> int:
    """Return the candidate chosen on all rows; raise FitFailed with the cause if there is none."""
    chosen = outcome.study.chosen[FINAL].candidate if FINAL in outcome.study.chosen else None
    if chosen is None and outcome.stopped is not None:
        raise FitFailed(f"{outcome.stopped}, so no candidate is chosen. Give it longer: Options(timeout=…).")
    if chosen is None:
        raise FitFailed(describe_all_failed(outcome))
    return chosen


def describe_all_failed(outcome: Outcome) -> str:
    """Build the error message for the case that all fits failed, with the traceback of the first failure."""
    panel, candidate, part, failure = outcome.tables.failures()[0]
    return (
        f"{_count_failed(outcome)}: {outcome.study.search.brief(candidate)} on {panel}, part {part}, "
        f"in {failure.stage}: {failure.kind}: {failure.message}\n{failure.traceback}"
    ).rstrip()


def _count_failed(outcome: Outcome) -> str:
    """Write how many cells failed at each level; the description of the first failure follows this text."""
    counts = {}
    for level in (VALIDATION, TEST):
        tables = [outcome.tables[p.key] for p in outcome.study.of_level(level) if p.key in outcome.tables.panels]
        failed, asked = sum(len(table.failures) for table in tables), sum(table.answered.size for table in tables)
        if failed:
            counts[level] = (failed, asked)
    if len(counts) == 1:
        ((level, (failed, asked)),) = counts.items()
        if failed == asked:
            return f"The only {level} cell failed" if asked == 1 else f"All {asked:,} {level} cells failed. The first"
        return f"{failed:,} of {asked:,} {level} cells failed, at least one of each candidate. The first"
    words = [f"{failed:,} of {asked:,} {level} cells" for level, (failed, asked) in counts.items()]
    return f"{' and '.join(words)} failed. The first"


def final_of(outcome: Outcome, task: Task, chosen: int, *, fit_params: Mapping[str, Any]) -> tuple[Any, float]:
    """Fit the final predictor of the candidate that was chosen on all rows. Return it and the seconds it took."""
    started = perf_counter()
    search, inner = outcome.study.search, outcome.study.splits[FINAL]
    with one_thread():
        predictor = make_final(search, chosen, task, task.all_rows, inner, fit_params=fit_params)
    return predictor, perf_counter() - started


def make_final(
    search: Search, candidate: int, task: Task, rows: Rows, inner: Splits | None, *, fit_params: Mapping[str, Any]
) -> Any:
    """Fit the final predictor of a candidate: on all `rows`, on the first inner part, or averaged over inner parts."""
    if inner is None or search.final == "retrain":
        trains = [rows]
    else:
        trains = [inner.train_rows(part) for part in range(len(inner))]
    members = [
        fit_on_rows(make_candidate(search, candidate), task, train, seed=search.seed, fit_params=fit_params)
        for train in trains
    ]
    return average(members) if search.final == "ensemble" and inner is not None else members[0]


def _leave_attributes(tuned: Any, outcome: Outcome, predictor: Any, *, chosen: int, seconds: float) -> None:
    search, table = outcome.study.search, outcome.tables[VALIDATION]
    tuned.best_estimator_ = predictor
    tuned.best_index_ = chosen
    tuned.best_params_ = search.params_of(chosen)
    tuned.best_family_ = search.family_of(chosen).name
    tuned.best_score_ = float(-mean_over_parts(table.losses[chosen : chosen + 1, :, 0], table.weights)[0])
    tuned.cv_results_ = as_cv_results(search, table)
    tuned.losses_ = search.losses
    tuned.multimetric_ = len(search.losses) > 1
    tuned.splits_ = outcome.study.splits[FINAL]
    tuned.n_splits_ = len(tuned.splits_)
    tuned.plan_ = outcome.account
    tuned.failures_ = [
        {
            "candidate": search.describe(candidate),
            "part": part,
            "stage": failure.stage,
            "error": f"{failure.kind}: {failure.message}",
            "traceback": failure.traceback,
        }
        for _, candidate, part, failure in outcome.tables.failures()
    ]
    tuned.warnings_ = [
        {"category": category, "message": message, "times": len(places)}
        for category, message, places in outcome.tables.warnings_in_order()
    ]
    tuned.refit_time_ = seconds


def _as_array(value: Any, n: int) -> Any:
    if hasattr(value, "__len__") and not isinstance(value, str | dict) and len(value) == n:
        return np.asarray(value)
    return value
