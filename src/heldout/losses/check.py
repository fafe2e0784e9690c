"""Whether losses fit the target, found out before anything is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names

from heldout.base.errors import LossError, PredictionError
from heldout.base.responses import Responses
from heldout.base.warnings import catch_warnings
from heldout.losses.loss import CLASSES, NUMBERS, Loss, on_target
from heldout.losses.own import OwnRows, RangedRows
from heldout.losses.rows import absolute_rows, squared_rows
from heldout.losses.scorers import ScorerParts, accepts_weight, scorer_parts
from heldout.losses.scoring import Replay, as_number, weightless

_FEW_ROWS = 500  # a trial needs every class, not every row


def check_losses(losses: Sequence[Loss], y: NDArray[Any], classification: bool, *, weighted: bool = False) -> None:
    """Refuse losses that cannot score this target, by trying them on made-up perfect predictions.

    A scorer that calls the estimator itself cannot be tried without one, and is let through. A user's function of rows
    must give an array of the right length; whether its numbers are finite and in range only real responses tell.

    >>> from heldout.losses.loss import ZERO_ONE
    >>> try:
    ...     check_losses([ZERO_ONE], np.array([1.5, 2.5]), classification=False)
    ... except LossError as error:
    ...     str(error)
    "'zero_one' is a loss for classes, but this learner predicts numbers. Use 'squared' or 'absolute'."
    """
    trial: tuple[NDArray[Any], Responses] | None = None
    for loss in losses:
        if weighted and loss.scorer is not None and not accepts_weight(loss.scorer):
            raise weightless(loss)
        if loss.scorer is None:
            _check_of_rows(loss, y, classification)
        elif (parts := scorer_parts(loss.scorer)) is not None:
            if not classification and "predict" not in parts.methods:
                raise LossError(
                    f"{loss.name!r} needs {' or '.join(parts.methods)}, which a learner that predicts numbers has not. "
                    "Use a loss for numbers, such as 'squared' or 'absolute'."
                )
            if not classification and loss.rows in (squared_rows, absolute_rows):
                continue  # any numbers will do
            trial = trial or (_trial_classes(y) if classification else _trial_numbers(y))
            _try(loss, parts, trial, classification)


def _check_of_rows(loss: Loss, y: NDArray[Any], classification: bool) -> None:
    """Refuse a loss of rows that is for another kind of target, or cannot be taken of nearly perfect responses."""
    if loss.target == CLASSES and not classification:
        raise LossError(
            f"{loss.name!r} is a loss for classes, but this learner predicts numbers. Use 'squared' or 'absolute'."
        )
    if loss.target == NUMBERS and classification:
        raise LossError(
            f"{loss.name!r} is a loss for numbers, but this learner predicts classes. Use 'zero_one' or 'log'."
        )
    methods = {method for alternatives in loss.methods for method in alternatives}
    if not classification and "predict" not in methods:
        raise LossError(
            f"{loss.name!r} needs {' or '.join(sorted(methods))}, which a learner that predicts numbers has not. "
            "Use a loss of predictions."
        )
    if "predict_proba" in methods and y.ndim > 1:
        raise LossError(
            f"{loss.name!r} takes one label a row, but the target has {y.shape[1]} columns. Use 'zero_one'."
        )
    if loss.rows in (squared_rows, absolute_rows) or loss.target == CLASSES:
        return  # any numbers will do, and any labels
    sample, responses = _trial_classes(y) if classification else _trial_numbers(y)
    classes = responses.classes if classification and y.ndim == 1 else None
    (known,) = on_target([loss], classes)
    assert known.rows is not None, "a loss without a scorer has rows"
    # What is said of responses that no predictor gave may be outside a range, so that no range is checked here.
    rows = known.rows.rows if isinstance(known.rows, RangedRows) else known.rows
    if isinstance(rows, OwnRows):
        with catch_warnings():
            warnings.simplefilter("ignore")
            rows.losses(sample, replace(responses, predict=sample))  # perfect responses
        return
    with suppress(PredictionError):  # the trial's responses are at fault, and those to come need not be
        rows(sample, responses)


def _try(loss: Loss, parts: ScorerParts, trial: tuple[NDArray[Any], Responses], classification: bool) -> None:
    y, responses = trial
    try:
        with catch_warnings():
            warnings.simplefilter("ignore")  # a handful of perfect rows may well be degenerate
            answer = loss.scorer(Replay(responses), None, y)  # type: ignore[misc]
    except Exception as error:
        raise LossError(_refusal(loss, parts, responses, str(error).strip(), classification)) from error
    as_number(loss, answer)


def _refusal(loss: Loss, parts: ScorerParts, responses: Responses, message: str, classification: bool) -> str:
    """What is wrong and the way out, for a scorer that failed on its trial with the words `said`."""
    name, classes = loss.name, responses.classes
    message = message if message.endswith((".", "!", "?")) else f"{message}."
    if not classification:
        return (
            f"{name!r} cannot score the numbers this learner predicts: {message} "
            "Use a loss for numbers, such as 'squared' or 'absolute'."
        )
    labels = classes.tolist() if isinstance(classes, np.ndarray) else []  # several outputs have a list of arrays
    if len(labels) == 2 and "pos_label" in message:
        low, high = labels
        return (
            f"{name!r} does not know which of the labels {low!r} and {high!r} is the positive one. "
            f"Pass {_spelled(parts, pos_label=high)}, or the same with pos_label={low!r}."
        )
    if len(labels) > 2:
        variants = [v for v in get_scorer_names() if v.startswith(f"{name}_") and not v.endswith("_samples")]
        if variants:
            way_out = f"Use {', '.join(variants[:-1])} or {variants[-1]}."
        elif "average" in message:
            way_out = f"Say how to average over classes: {_spelled(parts, average='macro')}."
        else:
            way_out = "Use a loss for several classes, such as 'zero_one' or 'balanced_accuracy'."
        return f"{name!r} cannot score {len(labels)} classes: {message} {way_out}"
    return f"{name!r} cannot score this target: {message} Use a loss for classes, such as 'zero_one'."


def _spelled(parts: ScorerParts, **changed: Any) -> str:
    """The call of make_scorer that makes this scorer with some options changed."""
    words = [parts.function_name]
    if parts.sign < 0:
        words.append("greater_is_better=False")
    if parts.methods != ("predict",):
        methods = parts.methods[0] if len(parts.methods) == 1 else parts.methods
        words.append(f"response_method={methods!r}")
    words += [f"{option}={value!r}" for option, value in {**parts.options, **changed}.items()]
    return f"make_scorer({', '.join(words)})"


def _trial_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Responses]:
    """Some rows of y that hold every class, and what a perfect classifier would answer on them."""
    if y.ndim > 1:
        sample = y[:_FEW_ROWS]
        right = np.stack([sample != 1, sample == 1], axis=2)  # rows, outputs, classes
        classes: Any = [np.unique(column) for column in y.T]
        decision = np.where(sample == 1, 1.0, -1.0)
        return sample, Responses(
            predict=sample, predict_proba=0.1 + 0.8 * right, decision_function=decision, classes=classes
        )
    classes, codes = np.unique(y, return_inverse=True)
    if len(y) > _FEW_ROWS:
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(classes)))
        seconds = np.minimum(starts + 1, len(y) - 1)
        kept = np.unique(order[np.concatenate([starts, seconds])])
        y, codes = y[kept], codes[kept]
    right = codes[:, None] == np.arange(len(classes))
    proba = np.where(right, 0.9, 0.1 / max(len(classes) - 1, 1))
    decision = np.where(right, 1.0, -1.0)
    return y, Responses(
        predict=y,
        predict_proba=proba,
        decision_function=decision[:, 1] if len(classes) == 2 else decision,
        classes=classes,
    )


def _trial_numbers(y: NDArray[Any]) -> tuple[NDArray[Any], Responses]:
    """Some rows of y, the smallest and the largest among them, and near-perfect predictions.

    Predictions are off by a fraction, so that a score for classes sees that they are no labels, and too high
    rather than too low, so that a deviance that needs positive predictions gets them.
    """
    if len(y) > _FEW_ROWS:
        total = y.reshape(len(y), -1).sum(axis=1)
        kept = np.unique([*range(_FEW_ROWS), total.argmin(), total.argmax()])
        y = y[kept]
    return y, Responses(predict=np.asarray(y, dtype=np.float64) + 0.375)
