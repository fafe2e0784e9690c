"""Scores responses: the one place where losses are computed, whichever kernel answered."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import FitFailed, HeldoutError, PredictionError, describe_error
from heldout.base.responses import METHODS, Responses, as_response, cut_rows, own_copy
from heldout.base.rowkeys import Rows
from heldout.base.warnings import catch_warnings
from heldout.kernels.step import Held, Work
from heldout.losses import (
    Loss,
    block_losses,
    is_defined_on_one_row,
    is_pooled,
    mean_loss,
    recorded_warnings,
    row_losses,
)
from heldout.study.answers import Answer, Failure, FitWarning
from heldout.study.study import OPTIONAL, TEST, VALIDATION

LARGEST_STORED_WARNING = 2_000  # characters
MOST_STORED_WARNINGS = 20  # of one fit: learners that put a number into each message give thousands


def score_cell(work: Work, held: Held, candidate: int, responses: Responses, **seconds: Any) -> Answer:
    """Return the answer of one cell from its responses.

    If the first loss cannot be computed the cell is a failure. Any other such loss is NaN alone, with a warning.
    """
    rows = work.held_rows(held)
    y = work.task.y[rows]
    weight = None if work.task.weight is None else work.task.weight[rows]
    asked = work.losses[held.level]
    values: list[float] = []
    missing: list[FitWarning] = []
    try:
        for loss in asked:
            if held.level == TEST and len(rows) == 1 and not is_defined_on_one_row(loss):
                values.append(np.nan)  # it is computed over all parts together
                continue
            try:
                values.append(_finite_loss(loss, y, responses, weight))
            except Exception as error:
                if held.level == TEST and is_pooled(loss):  # it is computed over all parts together
                    values.append(np.nan)
                    continue
                if not values:
                    raise
                values.append(np.nan)
                missing.append(FitWarning(category=type(error).__name__, message=describe_error(error)[1]))
        keep = held.panel in work.keep_rows and not missing
        taken = [row_losses(loss, y, responses) for loss in asked] if keep else None
        kept = None if taken is None else tuple(None if one is None else one[None] for one in taken)
    except Exception as error:
        return failed_cell(work, held, candidate, failure_of(error, "score"), **seconds)
    cell = candidate, held.part
    return Answer.of_cell(
        held.panel,
        cell,
        values,
        rows=kept,
        responses=(responses,) if held.panel in work.keep_responses else None,
        watched={cell: own_copy(responses)} if (held.panel, *cell) in work.watched else {},
        warnings={cell: tuple(missing)} if missing else {},
        **seconds,
    )


def _finite_loss(loss: Loss, y: NDArray[Any], responses: Responses, weight: Any) -> float:
    value = mean_loss(loss, y, responses, weight)
    if not np.isfinite(value):
        raise PredictionError(f"The loss {loss.name!r} is not a finite number on these {len(y)} rows: {value}.")
    return value


def failed_cell(
    work: Work, held: Held, candidate: int, failure: Failure, *, warnings: tuple[FitWarning, ...] = (), **seconds: Any
) -> Answer:
    """Return the answer of a cell that failed."""
    losses = [failed_loss(work, held.level, candidate, failure)] * len(work.losses[held.level])
    cell = candidate, held.part
    return Answer.of_cell(held.panel, cell, losses, failures={cell: failure}, **seconds).warned(warnings)


def failed_loss(work: Work, level: str, candidate: int, failure: Failure) -> float:
    """Return the loss of a failed cell: NaN, or for validation cells minus the search's `error_score`.

    Raise FitFailed if a validation cell failed and the search has error_score="raise".
    """
    error_score = work.search.error_score
    if error_score == "raise" and level == VALIDATION:
        raise FitFailed(
            f"{work.search.describe(candidate)} failed ({failure.kind}: {failure.message}) and the search says "
            f'error_score="raise".\n{failure.traceback}'.rstrip()
        )
    return np.nan if error_score is None or level != VALIDATION else -float(error_score)


def failure_of(error: BaseException, stage: str) -> Failure:
    """Return the failure that an error describes, without a traceback if heldout itself raised the error."""
    kind, message, trace = describe_error(error)
    own = isinstance(error, HeldoutError) and error.__cause__ is None
    return Failure(kind=kind, message=message, traceback="" if own else trace, stage=stage)


def ask_responses(predictor: Any, X: Any, methods: Iterable[tuple[str, ...]], rows: Rows) -> Responses:
    """Return the predictor's responses by each method that the losses need, checked for length and finiteness.

    Responses that no loss needs, but an interval or a familiar score, are left out if they are invalid.
    """
    answers: dict[str, NDArray[Any]] = {}
    wanted, asked = ["predict"], tuple(methods)
    for alternatives in asked:
        if OPTIONAL in alternatives:
            continue
        method = next((m for m in alternatives if hasattr(predictor, m)), None)
        if method is None:
            raise PredictionError(
                f"{type(predictor).__name__} has no {' or '.join(alternatives)}, which the loss needs. "
                "Choose another loss, or a learner that has it."
            )
        wanted.append(method)
    for method in dict.fromkeys(wanted):
        if method == "predict" and not hasattr(predictor, "predict"):
            raise PredictionError(f"{type(predictor).__name__} has no predict.")
        answers[method] = checked_response(getattr(predictor, method)(X), method, len(rows))
    if "predict_proba" in answers:
        _check_columns(answers["predict_proba"], getattr(predictor, "classes_", None))
    for method in (alternatives[0] for alternatives in asked if OPTIONAL in alternatives):
        if method not in answers and hasattr(predictor, method):
            with suppress(Exception):
                answers[method] = _sound_scores(getattr(predictor, method)(X), method, predictor.classes_, len(rows))
    return Responses(
        predict=answers["predict"],
        predict_proba=answers.get("predict_proba"),
        decision_function=answers.get("decision_function"),
        classes=getattr(predictor, "classes_", None),
    )


def _check_columns(proba: Any, classes: Any) -> None:
    """Raise a PredictionError unless probabilities have a column for each class; several outputs are left alone."""
    if not isinstance(proba, np.ndarray) or not isinstance(classes, np.ndarray) or classes.ndim != 1:
        return
    if proba.shape[1:] != (len(classes),):
        raise PredictionError(
            f"predict_proba answered an array of shape {proba.shape} for {len(classes)} classes. It must give a column "
            "for each class."
        )


def ask_probabilities(predictor: Any, X: Any, rows: Rows) -> Responses:
    """Return the predictor's probabilities and its most probable labels, from one call of predict_proba."""
    classes = np.asarray(predictor.classes_)
    shares = _sound_scores(predictor.predict_proba(X), "predict_proba", classes, len(rows))
    return Responses(predict=classes[shares.argmax(axis=1)], predict_proba=shares, classes=classes)


def checked_response(answer: Any, method: str, n: int) -> NDArray[Any]:
    """Return one response as an array. Raise PredictionError if its length is wrong or it is not finite."""
    array = answer if type(answer) is np.ndarray else as_response(answer, method)
    return _checked_array(array, method, n)


def _sound_scores(answer: Any, method: str, classes: Any, n: int) -> NDArray[Any]:
    """Return probabilities or decisions that no loss needs as an array; raise PredictionError if they are not sound."""
    scores = checked_response(answer, method, n)
    sound = scores.dtype.kind == "f" and scores.shape[1:] in ((len(classes),), () if len(classes) == 2 else (0,))
    if method == "predict_proba":
        sound = sound and scores.ndim == 2 and scores.min() >= 0 and np.allclose(scores.sum(axis=1), 1, atol=1e-3)
    if not sound:
        raise PredictionError(f"{method} answered no {'shares' if method == 'predict_proba' else 'score'} of classes.")
    return scores


def _checked_array(array: NDArray[Any], method: str, n: int) -> NDArray[Any]:
    if array.ndim == 0 or len(array) != n:
        shape = "a single value" if array.ndim == 0 else f"{len(array)} rows"
        raise PredictionError(f"{method} answered {shape} for {n} held-out rows.")
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        bad = np.flatnonzero(~np.isfinite(array.reshape(n, -1)).all(axis=1))
        raise PredictionError(f"{method} answered NaN or infinity on {len(bad)} of {n} held-out rows.")
    return array


def score_block(
    work: Work, helds: Sequence[Held], candidates: tuple[int, ...], responses: Sequence[Responses], *, seconds: float
) -> list[Answer]:
    """Return the answers of several candidates on neighbouring parts of one panel, from responses on all their rows.

    Parameters
    ----------
    helds : sequence of Held
        Neighbouring parts of one panel, in order.
    responses : sequence of Responses
        One for each candidate, on the concatenated held-out rows of those parts.
    """
    panel, level = helds[0].panel, helds[0].level
    splits, parts = work.splits[helds[0].splits], range(helds[0].part, helds[-1].part + 1)
    cuts = splits.held_cuts[parts.start : parts.stop + 1]
    every, cuts = splits.held[cuts[0] : cuts[-1]], cuts - cuts[0]
    y = work.task.y[every]
    weight = None if work.task.weight is None else work.task.weight[every]
    one_row_each = level == TEST and len(parts) == len(y)
    taken = [not one_row_each or is_defined_on_one_row(loss) for loss in work.losses[level]]
    losses = [loss for loss, is_taken in zip(work.losses[level], taken, strict=True) if is_taken]
    means, sound = np.full((len(candidates), len(parts), len(taken)), np.nan), False
    tables: list[NDArray[np.float64] | None] = [None] * len(taken)
    with suppress(Exception):
        for one in responses:
            _check_finite(one)
        scores = block_losses(losses, y, weight, responses, cuts)
        if scores is not None:
            for number, (mean, table) in zip(np.flatnonzero(taken), scores, strict=True):
                means[:, :, number], tables[number] = mean, table
            sound = bool(np.isfinite(means[:, :, taken]).all())
    if not sound:  # something in the block fails or warns: find out which cell, one at a time
        return _score_one_by_one(work, helds, candidates, responses, cuts)
    return [
        Answer(
            panel=panel,
            candidates=candidates,
            parts=parts,
            losses=means,
            rows=tuple(tables) if panel in work.keep_rows else None,
            responses=tuple(responses) if panel in work.keep_responses else None,
            watched={
                (candidate, part): own_copy(cut_rows(responses[candidates.index(candidate)], slice(*ends)))
                for watched, candidate, part in work.watched
                if watched == panel and candidate in candidates and part in parts
                for ends in [cuts[part - parts.start : part - parts.start + 2]]
            },
            fit_seconds=seconds / max(1, means.shape[0] * means.shape[1]),
        )
    ]


def _score_one_by_one(
    work: Work, helds: Sequence[Held], candidates: tuple[int, ...], responses: Sequence[Responses], cuts: Any
) -> list[Answer]:
    answers: list[Answer] = []
    for candidate, whole in zip(candidates, responses, strict=True):
        for number, held in enumerate(helds):
            one = _less_unsound_wishes(cut_rows(whole, slice(cuts[number], cuts[number + 1])), work.losses[held.level])
            try:
                _check_finite(one)
            except PredictionError as error:
                answers.append(failed_cell(work, held, candidate, failure_of(error, "predict")))
                continue
            with recorded_warnings() as caught:
                answer = score_cell(work, held, candidate, one)
            answers.append(answer.warned(plain_warnings(caught)))
    return answers


def _less_unsound_wishes(responses: Responses, losses: Sequence[Loss]) -> Responses:
    """Return the responses without those that are not finite and that no loss needs."""
    every = [alternatives for loss in losses for alternatives in loss.methods]
    needed = {method for alternatives in every if OPTIONAL not in alternatives for method in alternatives}
    wishes = {alternatives[0] for alternatives in every if OPTIONAL in alternatives} - needed
    answers = {method: getattr(responses, method) for method in wishes}
    unsound = [method for method, answer in answers.items() if answer is not None and not np.isfinite(answer).all()]
    cleared: dict[str, Any] = dict.fromkeys(unsound)
    return replace(responses, **cleared)


def _check_finite(responses: Responses) -> None:
    for method in METHODS:
        answer = getattr(responses, method)
        if answer is not None:
            _checked_array(answer, method, len(answer))


@contextmanager
def catch_all_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Record every warning, whatever the program's filters say."""
    with catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def plain_warnings(caught: Any) -> tuple[FitWarning, ...]:
    """Return the distinct warnings of one fit as plain text: at most MOST_STORED_WARNINGS and a note on the rest."""
    found = tuple(
        dict.fromkeys(
            FitWarning(category=w.category.__name__, message=str(w.message)[:LARGEST_STORED_WARNING]) for w in caught
        )
    )
    if len(found) <= MOST_STORED_WARNINGS:
        return found
    more = f"({len(found) - MOST_STORED_WARNINGS:,} other warnings of one fit are not shown)"
    return (*found[:MOST_STORED_WARNINGS], FitWarning(category="UserWarning", message=more))
