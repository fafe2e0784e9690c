"""Brute force: clones, seeds and fits each candidate on each training set, and predicts the held-out rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from inspect import Parameter, signature
from time import perf_counter
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from heldout.base.errors import LearnerError, SpaceError, did_you_mean
from heldout.base.rowkeys import Rows, derive
from heldout.kernels.ensemble import average
from heldout.kernels.scoring import (
    ask_probabilities,
    ask_responses,
    catch_all_warnings,
    failed_cell,
    failure_of,
    plain_warnings,
    score_cell,
)
from heldout.kernels.step import Held, Step, Training, Work
from heldout.losses import Loss, call_scorer, check_losses, needed_methods
from heldout.search.search import Search
from heldout.search.simplicity import simplicity
from heldout.study.answers import Answer
from heldout.study.study import EVERYWHERE, PROBABILITIES
from heldout.task.task import Task


def make_candidate(search: Search, candidate: int) -> Any:
    """Return the candidate as an unfitted estimator: a clone of its family's, with its parameters set."""
    estimator = clone(search.family_of(candidate).estimator)
    params = search.params_of(candidate)
    if params:
        # Estimators among the values are cloned too, so that fits never share one.
        estimator.set_params(**{name: clone(value, safe=False) for name, value in params.items()})
    return _on_one_thread(estimator)


def _on_one_thread(estimator: Any) -> Any:
    """Set n_jobs=1 on LightGBM estimators that leave it unset, since LightGBM obeys no other thread limit."""
    if "lightgbm" not in sys.modules:
        return estimator
    for name, value in estimator.get_params(deep=True).items():
        if value is None and (name == "n_jobs" or name.endswith("__n_jobs")):
            owner = estimator.get_params(deep=True)[name.removesuffix("__n_jobs")] if "__" in name else estimator
            if type(owner).__module__.startswith("lightgbm."):
                estimator.set_params(**{name: 1})
    return estimator


def unseeded_names(estimator: Any) -> tuple[str, ...]:
    """Return the names of unseeded parameters at any depth: random_state=None, or an unseeded splitter."""
    return tuple(name for name, value in estimator.get_params(deep=True).items() if _is_unseeded(name, value))


def _is_unseeded(name: str, value: Any) -> bool:
    if value is None:
        return name == "random_state" or name.endswith("__random_state")
    shuffles = hasattr(value, "split") and getattr(value, "shuffle", True) is not False
    return shuffles and getattr(value, "random_state", 0) is None and not hasattr(value, "get_params")


def set_seeds(estimator: Any, seed: int, content_key: int, *, prefix: str = "") -> Any:
    """Set each unset random_state to a seed derived from the study's seed, its name and the training rows.

    `prefix` is the estimator's name if it is a step of a larger one.
    """
    names = unseeded_names(estimator)
    if names:
        values = estimator.get_params(deep=True)
        full = {name: f"{prefix}__{name}" if prefix else name for name in names}
        seeds = {name: _seeded(values[name], derive(seed, full[name], content_key)) for name in names}
        estimator.set_params(**seeds)
    return estimator


def _seeded(value: Any, seed: int) -> Any:
    if value is None:
        return seed
    splitter = deepcopy(value)
    splitter.random_state = seed
    return splitter


def fit_on_rows(estimator: Any, task: Task, rows: Rows, *, seed: int, fit_params: Mapping[str, Any]) -> Any:
    """Fit the estimator on a private copy of these rows, after seeding it from their content."""
    if unseeded_names(estimator):  # rows are hashed only if something needs a seed
        set_seeds(estimator, seed, task.content_key(rows))
    arguments = rows_of_params(fit_params, rows, task.size)
    if task.weight is not None and "sample_weight" not in arguments:
        arguments[weight_argument(estimator)] = task.weight[rows]
    return estimator.fit(task.take(rows), task.y[rows], **arguments)


def rows_of_params(fit_params: Mapping[str, Any], rows: Rows, n: int) -> dict[str, Any]:
    """Return the fit parameters for these rows: arrays with an entry for each row are sliced, others kept."""
    return {name: value[rows] if _per_row(value, n) else value for name, value in fit_params.items()}


def _per_row(value: Any, n: int) -> bool:
    return isinstance(value, np.ndarray) and value.ndim >= 1 and len(value) == n


def weight_argument(estimator: Any) -> str:
    """Return the name of fit's argument for sample weights: of a Pipeline's last step, unless metadata is routed."""
    if isinstance(estimator, Pipeline) and not get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        return f"{name}__{weight_argument(last)}"
    return "sample_weight"


def check_takes_weights(estimator: Any) -> None:
    """Raise LearnerError if the learner's fit accepts no sample weights, rather than ignore them silently."""
    if get_config()["enable_metadata_routing"]:
        return
    last = estimator
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    if not has_fit_parameter(last, "sample_weight") and not _takes_anything(last):
        raise LearnerError(
            f"{type(last).__name__}.fit takes no sample_weight, but the task has weights. "
            "Choose a learner that does, or leave sample_weight out."
        )


def _takes_anything(estimator: Any) -> bool:
    return any(p.kind is Parameter.VAR_KEYWORD for p in signature(estimator.fit).parameters.values())


def check_names(search: Search) -> None:
    """Raise SpaceError, before any fit, for a parameter that an estimator lacks, and suggest similar names."""
    for family in search.families:
        known = family.estimator.get_params(deep=True)
        for name in family.candidates.names:
            if name in known:
                continue
            try:  # a parameter of a step that another parameter replaces is known only to the candidate itself
                for index in range(min(len(family.candidates), 50)):
                    params = family.candidates[index]
                    if name in params:
                        clone(family.estimator).set_params(**params)
            except ValueError:
                raise SpaceError(
                    f"{type(family.estimator).__name__} has no parameter {name!r}. {did_you_mean(name, known)}"
                ) from None


def answer_by_brute_force(step: Step, work: Work) -> Iterator[Answer]:
    """Fit each candidate on each training set of the step, and yield its answers on the held-out sets."""
    for training in step.trainings:
        for candidate in step.candidates:
            yield from answer_candidate(training, work, candidate)


def answer_candidate(training: Training, work: Work, candidate: int) -> Iterator[Answer]:
    """Fit one candidate on one training set, and yield its answer on each held-out set.

    If all held-out sets serve intervals alone, nothing is fitted and nothing is yielded.
    """
    if all(held.level == EVERYWHERE for held in training.answers):
        return
    started = perf_counter()
    with catch_all_warnings() as caught:
        try:
            predictor = fit_predictor(training, work, candidate)
            failure = None
        except (Exception, SystemExit) as error:  # a fit may not end the program that asked for it
            failure = failure_of(error, "fit")
    fit_seconds = perf_counter() - started
    fit_warnings = plain_warnings(caught)
    for held in training.answers:
        if failure is not None:
            yield failed_cell(work, held, candidate, failure, warnings=fit_warnings, fit_seconds=fit_seconds)
            continue
        started = perf_counter()
        with catch_all_warnings() as caught:
            answer = _answer_held(predictor, work, held, candidate, fit_seconds)
        answer = replace(answer, score_seconds=perf_counter() - started)
        told = (*fit_warnings, *plain_warnings(caught))
        yield answer.warned(told) if told else answer


def answer_quietly(training: Training, work: Work, candidate: int) -> Answer:
    """Return the answer of one cell without recording warnings, because recording them is not thread-safe."""
    held = training.answers[0]
    try:
        predictor = fit_predictor(training, work, candidate)
    except (Exception, SystemExit) as error:
        return failed_cell(work, held, candidate, failure_of(error, "fit"))
    return _answer_held(predictor, work, held, candidate, 0.0)


def fit_predictor(training: Training, work: Work, candidate: int) -> Any:
    """Return the candidate fitted on the training rows, or the average of its fits on several sets of rows."""
    members = [
        fit_on_rows(
            make_candidate(work.search, candidate),
            work.task,
            work.train_rows(ref),
            seed=work.search.seed,
            fit_params=work.fit_params,
        )
        for ref in training.trains
    ]
    return average(members) if training.averaged else members[0]


def _answer_held(predictor: Any, work: Work, held: Held, candidate: int, fit_seconds: float) -> Answer:
    rows = work.held_rows(held)
    try:
        methods = needed_methods(work.losses[held.level])
        if held.level == EVERYWHERE and methods == (PROBABILITIES,) and hasattr(predictor, "predict_proba"):
            return score_cell(work, held, candidate, ask_probabilities(predictor, work.task.take(rows), rows))
        responses = ask_responses(predictor, work.task.take(rows), methods, rows)
        asking = [loss for loss in work.losses[held.level] if loss.asks_predictor]
        if asking:  # losses whose scorer calls the estimator itself are computed while the predictor exists
            X, y = work.task.take(rows), work.task.y[rows]
            weight = None if work.task.weight is None else work.task.weight[rows]
            asked = {loss.name: call_scorer(loss, predictor, X, y, weight) for loss in asking}
            responses = replace(responses, asked=asked)
    except (Exception, SystemExit) as error:
        return failed_cell(work, held, candidate, failure_of(error, "predict"), fit_seconds=fit_seconds)
    return score_cell(work, held, candidate, responses, fit_seconds=fit_seconds)


def check_search(search: Search, task: Task, *, checked: tuple[Loss, ...] = ()) -> None:
    """Refuse whatever is wrong with a search before the first fit; losses in `checked` are not checked again."""
    check_names(search)
    losses = [loss for loss in search.losses if loss not in checked]
    if losses:
        check_losses(losses, task.y, task.classification, weighted=task.weight is not None)
    if search.choose == "one_se":
        simplicity(search)  # refuses if it is unknown what simple means
    if search.final == "ensemble" and task.classification and task.y.ndim > 1:
        raise LearnerError('final="ensemble" cannot average classifiers with several outputs. Use final="retrain".')
    if task.weight is not None:
        for family in search.families:
            check_takes_weights(family.estimator)
