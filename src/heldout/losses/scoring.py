"""Computes losses from recorded responses.

scikit-learn's scorers are called with a stand-in estimator that returns the recorded responses, so no fitted model is
needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

from heldout.base.errors import LossError, first_line
from heldout.base.responses import METHODS, Responses, cut_rows
from heldout.base.warnings import catch_warnings
from heldout.losses.loss import Loss, OwnRows
from heldout.losses.quick_scores import quick_score
from heldout.losses.rows import BrierRows, ErrorRows, TopRows, absolute_rows, accuracy_rows, squared_rows
from heldout.losses.scorers import accepts_weight


class Replay:
    """Stand-in estimator that returns recorded responses, whatever X it is given.

    It has only the methods that were recorded, because a scorer takes the first method that an estimator has. It is a
    classifier if classes were recorded, else a regressor; scikit-learn's scorers need no more.

    Probabilities of several outputs may be recorded as a list with an array for each output, as scikit-learn's forests
    return them, or as one array of shape (rows, outputs, classes).
    """

    def __init__(self, responses: Responses) -> None:
        for method in METHODS:
            answer = getattr(responses, method)
            if isinstance(answer, np.ndarray) and answer.ndim == 3:
                answer = list(np.moveaxis(answer, 1, 0))
            if answer is not None:
                setattr(self, method, _repeating(method, answer))
        self._is_classifier = responses.classes is not None
        if self._is_classifier:
            self.classes_ = responses.classes

    def __sklearn_tags__(self) -> Tags:
        return Tags(
            estimator_type="classifier" if self._is_classifier else "regressor",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if self._is_classifier else None,
            regressor_tags=None if self._is_classifier else RegressorTags(),
        )


def _repeating(method: str, answer: Any) -> Callable[[Any], Any]:
    def repeat(X: Any) -> Any:
        return answer

    repeat.__name__ = method  # scikit-learn identifies methods by their names
    return repeat


def row_losses(loss: Loss, y: NDArray[Any], responses: Responses) -> NDArray[np.float64] | None:
    """Return the loss of each row, lower is better; None for a loss of whole sets."""
    return None if loss.rows is None else loss.rows(y, responses)


def mean_loss(loss: Loss, y: NDArray[Any], responses: Responses, weight: NDArray[np.float64] | None = None) -> float:
    """Return the loss of one held-out set, lower is better: a mean over rows, or minus the scorer's value.

    >>> from heldout.losses.loss import ZERO_ONE
    >>> mean_loss(ZERO_ONE, np.array([0, 1, 1, 0]), Responses(predict=np.array([0, 1, 0, 0])))
    0.25
    """
    if loss.asks_predictor:
        try:
            return responses.asked[loss.name]
        except KeyError:
            raise LossError(
                f"The loss {loss.name!r} asks the predictor itself, and its answer was not recorded."
            ) from None
    if loss.scorer is not None and not is_mean_of_rows(loss, y, responses, weight):
        quick = quick_score(loss, y, responses) if weight is None else None
        return call_scorer(loss, Replay(responses), None, y, weight) if quick is None else quick
    rows = row_losses(loss, y, responses)
    if rows is None:
        raise LossError(f"The loss {loss.name!r} has neither row losses nor a scorer.")
    return float(np.mean(rows) if weight is None else np.average(rows, weights=weight))


BlockLosses = tuple[NDArray[np.float64], NDArray[np.float64] | None]


def block_losses(
    losses: Sequence[Loss], y: NDArray[Any], weight: Any, responses: Sequence[Responses], cuts: NDArray[np.intp]
) -> list[BlockLosses] | None:
    """Return each loss of several candidates on consecutive parts, from responses on all rows of those parts.

    `cuts` has the first row of each part and the end. Each loss gives mean losses (candidates × parts) and row losses
    (candidates × rows; None for set scores). Return None if a scorer or a user's function gave a warning: it belongs to
    a single cell of the block, and the caller has to find which.
    """
    are_means = [all(is_mean_of_rows(loss, y, answer, weight) for answer in responses) for loss in losses]
    if all(are_means) and not any(isinstance(loss.rows, OwnRows) for loss in losses):
        return [_one_block(loss, y, weight, responses, cuts, is_mean=True) for loss in losses]
    with recorded_warnings() as caught:
        answers = [
            _one_block(loss, y, weight, responses, cuts, is_mean=mean)
            for loss, mean in zip(losses, are_means, strict=True)
        ]
    return None if caught else answers


def _one_block(
    loss: Loss,
    y: NDArray[Any],
    weight: Any,
    responses: Sequence[Responses],
    cuts: NDArray[np.intp],
    *,
    is_mean: bool,
) -> BlockLosses:
    table = None if loss.rows is None else np.stack([loss.rows(y, answer) for answer in responses])
    parts = len(cuts) - 1
    if table is not None and is_mean and parts == len(y):  # leave-one-out: a mean is its row's loss
        return table.astype(float), table
    means = np.empty((len(responses), parts))
    for part in range(parts):
        rows = slice(cuts[part], cuts[part + 1])
        weights = None if weight is None else weight[rows]
        if table is None or not is_mean:
            means[:, part] = [mean_loss(loss, y[rows], cut_rows(answer, rows), weights) for answer in responses]
        elif weights is None:
            means[:, part] = table[:, rows].mean(axis=1)
        else:
            means[:, part] = np.average(table[:, rows], axis=1, weights=weights)
    return means, table


_RECORDING = Lock()


@contextmanager
def recorded_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Yield a list that records warnings of scores; one thread at a time, because warning filters are global."""
    with _RECORDING, catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def is_mean_of_rows(loss: Loss, y: NDArray[Any], responses: Responses, weight: Any = None) -> bool:
    """Return whether the loss is the mean of its row losses, bit for bit, so that its scorer need not be called.

    This holds for accuracy on plain labels of one type and for errors of plain numbers. scikit-learn's checks of them
    take longer than a small fit, and can find nothing wrong. With two classes it also holds for the Brier score and the
    top-1 accuracy, with one exception: if a held-out part lacks a class, or all decisions happen to lie between 0 and
    1, scikit-learn misinterprets them, and the row losses are right.
    """
    if loss.scorer is None:
        return loss.rows is not None
    if isinstance(loss.rows, BrierRows | TopRows):
        return _is_of_two_classes(loss.rows, y, responses)
    predicted = responses.predict
    if predicted is None or not (y.ndim == predicted.ndim == 1 and y.dtype == predicted.dtype):
        return False
    if loss.rows is accuracy_rows:
        return y.dtype.kind in "biuU"
    errors = loss.rows in (squared_rows, absolute_rows)
    errors |= isinstance(loss.rows, ErrorRows) and loss.rows.outputs is None
    return errors and weight is None and y.dtype == np.float64


def _is_of_two_classes(rows: BrierRows | TopRows, y: NDArray[Any], responses: Responses) -> bool:
    """Return whether these labels and responses of two classes would pass all of scikit-learn's checks."""
    classes = responses.classes
    if not isinstance(classes, np.ndarray) or len(classes) != 2 or y.ndim != 1 or y.dtype != classes.dtype:
        return False
    if y.dtype.kind not in "biuU" or not np.isin(y, classes).all():
        return False
    if isinstance(rows, TopRows):
        return rows.k == 1
    if rows.positive is None and y.dtype.kind == "U":
        return False  # for text labels scikit-learn asks which class is positive
    proba = responses.predict_proba
    plain = proba is not None and proba.shape == (len(y), 2) and proba.dtype == np.float64
    return plain and (rows.positive is None or rows.positive in classes.tolist())


def call_scorer(
    loss: Loss, estimator: Any, X: Any, y: NDArray[Any], weight: NDArray[np.float64] | None = None
) -> float:
    """Return the loss of a held-out set, lower is better: minus the value of its scorer for an estimator."""
    if loss.scorer is None:
        raise LossError(f"The loss {loss.name!r} has no scorer to call.")
    if weight is not None and not accepts_weight(loss.scorer):
        raise weightless(loss)
    options = {} if weight is None else {"sample_weight": weight}
    try:
        answer = loss.scorer(estimator, X, y, **options)
    except Exception as error:
        classes = getattr(estimator, "classes_", None)
        lacking = classes is not None and y.ndim == 1 and len(np.unique(y)) < len(classes)
        message = f"{loss.name!r} failed on {len(y)} held-out rows: {first_line(error)}."
        raise LossError(f"{message} {_MORE_CLASSES}" if lacking else message) from error
    value = as_number(loss, answer)
    if not np.isfinite(value):
        raise LossError(
            f"{loss.name!r} is not defined on these {len(y)} held-out rows: it gave {value}. "
            "Hold out more rows, stratify, or take a loss that each row has, such as 'zero_one' or 'squared'."
        )
    return -value


def as_number(loss: Loss, answer: Any) -> float:
    """Return the scorer's answer as a float; raise a LossError if it is not a single number."""
    if isinstance(answer, dict):
        names = ", ".join(map(repr, answer))
        raise LossError(
            f"{loss.name!r} gave several scores ({names}). Pass one scorer for each, as in loss={{name: scorer}}."
        )
    try:
        return float(answer)
    except (TypeError, ValueError):
        raise LossError(f"{loss.name!r} gave {type(answer).__name__} where one number was due.") from None


def weightless(loss: Loss) -> LossError:
    """Return the error for a scorer that takes no sample_weight although rows have weights."""
    return LossError(
        f"{loss.name!r} takes no sample_weight, but the rows have weights. "
        "Leave sample_weight out, or take a loss that weighs rows."
    )


_MORE_CLASSES = (
    "They lack a class that the predictor knows: hold out more rows, stratify, or take a loss that each row has, such "
    "as 'log' or 'zero_one'."
)
