"""Checks that losses suit the target, before anything is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names

from heldout.base.errors import Argument, LossError, PredictionError, Sentence, TargetError
from heldout.base.responses import Responses
from heldout.base.warnings import catch_warnings
from heldout.losses.loss import CLASSES, NUMBERS, Loss, OwnRows, RangedRows, on_target
from heldout.losses.quick_scores import quick_score
from heldout.losses.rows import absolute_rows, squared_rows
from heldout.losses.scorers import ScorerParts, accepts_weight, scorer_parts
from heldout.losses.scoring import Replay, as_number, weightless

_FEW_ROWS = 500  # rows of a trial: it needs every class, but not every row


def check_losses(losses: Sequence[Loss], y: NDArray[Any], classification: bool, *, weighted: bool = False) -> None:
    """Raise an error for losses that cannot score this target, by trying them on made-up near-perfect predictions.

    A scorer that calls the estimator itself cannot be tried without one, so it is accepted. A user's row loss must
    return an array of the right length; its values can be checked only on real responses.

    >>> from heldout.losses.loss import ZERO_ONE
    >>> try:
    ...     check_losses([ZERO_ONE], np.array([1.5, 2.5]), classification=False)
    ... except LossError as error:
    ...     str(error)
    "'zero_one' is a loss for classes, but this learner predicts numbers. Use 'squared' or 'absolute'."
    """
    if not classification:
        _refuse_text(y)
    trial: tuple[NDArray[Any], Responses] | None = None
    for loss in losses:
        if weighted and loss.scorer is not None and not accepts_weight(loss.scorer):
            raise weightless(loss)
        _check_kind(loss, y, classification)
        takes_any = loss.rows in (squared_rows, absolute_rows) and (loss.scorer is None or not classification)
        if takes_any or loss.target == CLASSES or loss.asks_predictor:
            continue  # accepts any numbers or any labels, or cannot be tried without an estimator
        trial = trial or (_trial_classes(y) if classification else _trial_numbers(y))
        if loss.scorer is None:
            _try_rows(loss, *trial, classification)
        else:
            _try_scorer(loss, *trial, classification)


def _refuse_text(y: NDArray[Any]) -> None:
    """Raise an error if the target of a learner that predicts numbers holds text."""
    text = next((value for value in y.flat if isinstance(value, str | bytes)), None) if y.dtype.kind in "OSTU" else None
    if text is not None:
        raise TargetError(
            f"This learner predicts numbers, but the target holds text ({str(text)!r}). Take a classifier, or turn the "
            "target into numbers."
        )


def _check_kind(loss: Loss, y: NDArray[Any], classification: bool) -> None:
    """Raise an error if the loss is for another kind of target."""
    methods = list(dict.fromkeys(method for alternatives in loss.methods for method in alternatives))
    if loss.target == CLASSES and not classification:
        raise LossError(
            f"{loss.name!r} is a loss for classes, but this learner predicts numbers. Use 'squared' or 'absolute'."
        )
    if loss.target == NUMBERS and classification:
        raise LossError(
            f"{loss.name!r} is a loss for numbers, but this learner predicts classes. Use 'zero_one' or 'log'."
        )
    if not classification and methods and "predict" not in methods:
        raise LossError(
            f"{loss.name!r} needs {' or '.join(methods)}, which a learner that predicts numbers has not. "
            "Use a loss for numbers, such as 'squared' or 'absolute'."
        )
    if loss.scorer is None and "predict_proba" in methods and y.ndim > 1:
        raise LossError(
            f"{loss.name!r} takes one label a row, but the target has {y.shape[1]} columns. Use 'zero_one'."
        )


def _try_rows(loss: Loss, y: NDArray[Any], responses: Responses, classification: bool) -> None:
    """Raise an error if a row loss cannot be computed on nearly perfect responses."""
    (known,) = on_target([loss], responses.classes if classification and y.ndim == 1 else None)
    # The responses are made up, so losses may lie outside a declared range; the range is not checked here.
    rows = known.rows.rows if isinstance(known.rows, RangedRows) else known.rows
    assert rows is not None, "a loss without a scorer has rows"
    if isinstance(rows, OwnRows):
        with catch_warnings():
            warnings.simplefilter("ignore")
            rows.losses(y, replace(responses, predict=y))  # perfect responses
        return
    with suppress(PredictionError):  # caused by the made-up responses; real ones may be fine
        rows(y, responses)


def _try_scorer(loss: Loss, y: NDArray[Any], responses: Responses, classification: bool) -> None:
    parts = scorer_parts(loss.scorer)
    assert parts is not None, "a scorer that asks the predictor is not tried"
    if quick_score(loss, y, responses) is not None:
        return
    try:
        with catch_warnings():
            warnings.simplefilter("ignore")  # few rows with perfect predictions may be degenerate
            answer = loss.scorer(Replay(responses), None, y)  # type: ignore[misc]
    except Exception as error:
        raise LossError(_refusal(loss, parts, responses, str(error).strip(), classification)) from error
    as_number(loss, answer)


def _refusal(
    loss: Loss, parts: ScorerParts, responses: Responses, message: str, classification: bool
) -> str | Sentence:
    """Return the error text for a scorer that failed its trial with this message: the cause and a way out."""
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
        return Sentence(
            "{!r} does not know which of the labels {!r} and {!r} is the positive one. Use {} or {}. Pass {} where a "
            "learner is fitted by itself.",
            *(name, low, high, Argument("positive", high), Argument("positive", low)),
            _spelled(parts, pos_label=high),
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
    """Return the source of the make_scorer call that gives this scorer with some options changed."""
    words = [parts.function_name]
    if parts.sign < 0:
        words.append("greater_is_better=False")
    if parts.methods != ("predict",):
        methods = parts.methods[0] if len(parts.methods) == 1 else parts.methods
        words.append(f"response_method={methods!r}")
    words += [f"{option}={value!r}" for option, value in {**parts.options, **changed}.items()]
    return f"make_scorer({', '.join(words)})"


def _trial_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Responses]:
    """Return some rows of y with every class among them, and the responses of a perfect classifier on them."""
    if y.ndim > 1:
        sample = y[:_FEW_ROWS]
        right = np.stack([sample != 1, sample == 1], axis=2)  # rows, outputs, classes
        classes: Any = [np.unique(column) for column in y.T]
        decision = np.where(sample == 1, 1.0, -1.0)
        return sample, Responses(
            predict=sample, predict_proba=0.1 + 0.8 * right, decision_function=decision, classes=classes
        )
    _, firsts = np.unique(y, return_index=True)
    y = y[_few_rows(y, firsts)]
    classes, codes = np.unique(y, return_inverse=True)
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
    """Return some rows of y, including the smallest and the largest, and near-perfect predictions for them.

    Predictions are too high by 0.375. A fraction shows scores for classes that these are not labels, and too high
    rather than too low keeps them positive for deviances that need positive predictions.
    """
    total = y.reshape(len(y), -1).sum(axis=1)
    y = y[_few_rows(y, [total.argmin(), total.argmax()])]
    return y, Responses(predict=np.asarray(y, dtype=np.float64) + 0.375)


def _few_rows(y: NDArray[Any], needed: Any) -> NDArray[np.intp]:
    """Return the sorted positions of the first rows and of the needed rows."""
    return np.unique([*range(min(len(y), _FEW_ROWS)), *needed])
