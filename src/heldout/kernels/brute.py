"""Brute force: fit every candidate on every training set and ask it. The plan that every other one must equal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

from heldout.base.responses import Responses
from heldout.base.warnings import catch_warnings
from heldout.kernels.ensemble import average
from heldout.kernels.fitting import fit_on_rows, make_candidate
from heldout.kernels.scoring import (
    ask_probabilities,
    ask_responses,
    failed_cell,
    failure_of,
    plain_warnings,
    score_cell,
)
from heldout.kernels.step import Held, Step, Training, Work
from heldout.losses import call_scorer, needed_methods
from heldout.study.answers import Answer
from heldout.study.study import EVERYWHERE, PROBABILITIES


def answer_by_brute_force(step: Step, work: Work) -> Iterator[Answer]:
    """Fit each candidate in each training of the step, and ask it on each held-out side it serves."""
    for training in step.trainings:
        for candidate in step.candidates:
            yield from answer_candidate(training, work, candidate)


def answer_candidate(training: Training, work: Work, candidate: int) -> Iterator[Answer]:
    """One candidate in one training, asked on each held-out side.

    Where all that is asked is for intervals alone nothing is fitted, and nothing answered.
    """
    if all(held.level == EVERYWHERE for held in training.answers):
        return
    started = perf_counter()
    with catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
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
        with catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = _answer_held(predictor, work, held, candidate, fit_seconds)
        answer = replace(answer, score_seconds=perf_counter() - started)
        yield answer.warned((*fit_warnings, *plain_warnings(caught)))


def answer_quietly(training: Training, work: Work, candidate: int) -> Answer:
    """One cell, without recording warnings: catching them is not safe while other threads work."""
    held = training.answers[0]
    try:
        predictor = fit_predictor(training, work, candidate)
    except (Exception, SystemExit) as error:
        return failed_cell(work, held, candidate, failure_of(error, "fit"))
    return _answer_held(predictor, work, held, candidate, 0.0)


def fit_predictor(training: Training, work: Work, candidate: int) -> Any:
    """The candidate's predictor: trained on the training's rows, or averaged over one for each of its row sets."""
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
        responses = _asked(predictor, responses, work, held)
    except (Exception, SystemExit) as error:
        return failed_cell(work, held, candidate, failure_of(error, "predict"), fit_seconds=fit_seconds)
    return score_cell(work, held, candidate, responses, fit_seconds=fit_seconds)


def _asked(predictor: Any, responses: Responses, work: Work, held: Held) -> Responses:
    """Losses whose scorer calls the estimator itself are taken here, where the predictor still is."""
    asking = [loss for loss in work.losses[held.level] if loss.asks_predictor]
    if not asking:
        return responses
    rows = work.held_rows(held)
    X, y = work.task.take(rows), work.task.y[rows]
    weight = None if work.task.weight is None else work.task.weight[rows]
    return replace(responses, asked={loss.name: call_scorer(loss, predictor, X, y, weight) for loss in asking})
