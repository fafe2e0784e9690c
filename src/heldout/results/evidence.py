"""Collects what interval methods need beside the losses of a finished study, without any further fit.

That is the responses of predictors on their test rows, the responses of some of them on a fixed set of rows that
includes training rows, and two facts about the learner: whether it fits least squares, and its class weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_class_weight

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.engine.run import Outcome
from heldout.losses import Loss, family_of, positive_label, row_losses
from heldout.risk.record import Answers, Elsewhere, Floats
from heldout.splits.drawn import Splits
from heldout.study.study import EVERYWHERE
from heldout.task import Task

# Class names of linear estimators that minimise a squared loss; derived classes count too.
LEAST_SQUARES = {
    *("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV", "Lars", "LarsCV"),
    *("LassoLars", "LassoLarsCV", "LassoLarsIC", "OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV"),
    *("MultiTaskLasso", "MultiTaskLassoCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV"),
    *("BayesianRidge", "ARDRegression", "PLSRegression", "KernelRidge"),
    *("HuberRegressor", "GammaRegressor", "PoissonRegressor", "TweedieRegressor"),  # nearly: reweighted squares
}


class FoldResponses(NamedTuple):
    """Holds the responses of one test part's predictor on a fixed set of rows."""

    part: int
    rows: Rows
    responses: Responses
    trained: NDArray[np.bool_]  # whether the predictor was trained on the row


def fold_predictor_responses(outcome: Outcome) -> list[FoldResponses]:
    """Return the responses of several test parts' predictors on the same rows; empty if the study did not ask for them.

    At most ten parts of the first repeat are asked. A predictor that failed on these rows is left out.
    """
    study = outcome.study
    found: list[FoldResponses] = []
    if not study.everywhere.parts:
        return found
    asked, rows = outcome.tables.everywhere(study), study.splits[EVERYWHERE].rows
    sides = {ref: study.splits[ref.splits].train_rows(ref.part) for _, trains, _ in asked for ref in trains}
    for part, trains, responses in asked:
        # The predictor of an average was trained on the rows of any of its members.
        trained = np.isin(rows, np.concatenate([sides[ref] for ref in trains]))
        found.append(FoldResponses(part, rows, responses, trained))
    return found


def with_probabilities(own: Responses | None, everywhere: FoldResponses | None, held: Rows) -> Responses | None:
    """Add to a part's responses the probabilities that its predictor gave on the fixed rows, if it gave any."""
    if own is None or own.predict_proba is not None or everywhere is None or everywhere.responses.predict_proba is None:
        return own
    places = np.searchsorted(everywhere.rows, held)
    known = places < len(everywhere.rows)
    if not known.all() or not np.array_equal(everywhere.rows[places], held):
        return own
    return replace(own, predict_proba=everywhere.responses.predict_proba[places], classes=everywhere.responses.classes)


def answers_of(task: Task, outer: Splits, loss: Loss, responses: Sequence[Responses], estimator: Any) -> Answers | None:
    """Return targets and predictions of each part, as numbers or class codes; None for several targets."""
    truth = in_parts(outer, task.y[outer.held])
    predicted = [one.predict for one in responses]
    if any(one is None or one.ndim != 1 for one in predicted) or task.y.ndim != 1:
        return None
    if task.classes is None:
        return Answers(truth=as_floats(truth), predicted=as_floats(predicted))
    classes = np.asarray(task.classes)
    coded = [_codes(classes, one) for one in predicted]
    if any(one is None for one in coded):
        return None
    label = positive_label(loss)
    two, ranked = len(classes) == 2, family_of(loss) == "auc"
    places = np.flatnonzero(classes == label) if two and not ranked else np.array([1])  # scores rank the second class
    positive = int(places[0]) if len(places) else 1
    return Answers(
        truth=tuple(one for one in (_codes(classes, part) for part in truth) if one is not None),
        predicted=tuple(one for one in coded if one is not None),
        classes=len(classes),
        positive=positive,
        probability=class_column(responses, classes, positive) if two else None,
        scores=ranking_scores(responses, classes) if two and ranked else None,
        class_weights=None if estimator is None else class_weights_of(estimator, task.y),
    )


def elsewhere_of(task: Task, loss: Loss, everywhere: Sequence[FoldResponses]) -> Elsewhere | None:
    """Stack what fold predictors answered on the same rows, as arrays of predictors × rows; None if not numeric."""
    if not everywhere or any(one.responses.predict is None or one.responses.predict.ndim != 1 for one in everywhere):
        return None
    y = task.y[everywhere[0].rows]
    classes = None if task.classes is None else np.asarray(task.classes)
    predicted = [_as_numbers(classes, one.responses.predict) for one in everywhere]
    truth = _as_numbers(classes, y)
    if truth is None or any(one is None for one in predicted):
        return None
    losses: Floats | None = None
    if loss.rows is not None:
        try:
            losses = np.stack([np.asarray(row_losses(loss, y, one.responses)) for one in everywhere])
        except Exception:  # a response that this loss needs was not asked for on these rows
            losses = None
    return Elsewhere(
        trained=np.stack([one.trained for one in everywhere]),
        losses=losses,
        predicted=np.stack([one for one in predicted if one is not None]),
        truth=truth,
    )


def in_parts(splits: Splits, values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Cut an array over all held-out rows, one part after the other, into one array a part."""
    return tuple(np.split(values, splits.held_cuts[1:-1]))


def as_floats(parts: Sequence[Any]) -> tuple[Floats, ...]:
    return tuple(np.asarray(part, dtype=np.float64) for part in parts)


def ranking_scores(responses: Sequence[Responses], classes: NDArray[Any]) -> tuple[Floats, ...] | None:
    """Return the scores that ROC AUC ranks rows by: decision values if every part has them, else probabilities."""
    decisions = [one.decision_function for one in responses]
    if all(one is not None and one.ndim == 1 for one in decisions):
        return as_floats(decisions)
    return class_column(responses, classes, 1)


def class_column(
    responses: Sequence[Responses], classes: NDArray[Any], positive: int, method: str = "predict_proba"
) -> tuple[Floats, ...] | None:
    """Return the probability, or the decision, of one class for each part.

    None if a predictor gave none, or lacks the class.
    """
    columns = []
    for one in responses:
        answer = getattr(one, method)
        if answer is None or answer.ndim != 2 or one.classes is None or len(one.classes) != answer.shape[1]:
            return None
        place = np.flatnonzero(np.asarray(one.classes) == classes[positive])
        if len(place) != 1:
            return None
        columns.append(np.asarray(answer[:, place[0]], dtype=np.float64))
    return tuple(columns)


def _as_numbers(classes: NDArray[Any] | None, values: Any) -> Floats | None:
    return np.asarray(values, dtype=np.float64) if classes is None else _codes(classes, values)


def _codes(classes: NDArray[Any], labels: Any) -> Floats | None:
    """Return the position of each label in the sorted classes; None if a label is not among them."""
    place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return place.astype(np.float64) if np.array_equal(classes[place], labels) else None


def is_least_squares(estimator: Any) -> bool:
    """Return whether the last step is linear in its features and minimises a squared loss, penalised or not.

    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> is_least_squares(make_pipeline(StandardScaler(), Ridge()))
    True
    """
    return all(
        last.loss == "squared_error"
        if isinstance(last, SGDRegressor)
        else any(kind.__name__ in LEAST_SQUARES for kind in type(last).__mro__)
        for last in _last_steps(estimator)
    )


def class_weights_of(estimator: Any, y: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the weight of each class of `y`, by sorted label, from the `class_weight` parameter of the last step.

    Return None if the parameter is missing or not set, or if the families of a learner differ in it.

    >>> from sklearn.linear_model import LogisticRegression
    >>> class_weights_of(LogisticRegression(class_weight="balanced"), np.array([0, 0, 0, 1]))
    array([0.66666667, 2.        ])
    """
    classes = np.unique(y)
    weights = [_weights_of(getattr(last, "class_weight", None), classes, y) for last in _last_steps(estimator)]
    first = weights[0] if weights else None
    same = first is not None and all(one is not None and np.array_equal(one, first) for one in weights)
    return first if same else None


def _weights_of(weight: Any, classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64] | None:
    if isinstance(weight, str) and weight in ("balanced", "balanced_subsample"):
        weight = "balanced"
    elif not isinstance(weight, Mapping):
        return None
    return np.asarray(compute_class_weight(weight, classes=classes, y=y), dtype=np.float64)


def _last_steps(estimator: Any) -> list[Any]:
    """Return the last step of a Pipeline, those of all families of a search, or else the estimator itself."""
    if isinstance(estimator, Pipeline):
        return _last_steps(estimator.steps[-1][1])
    if isinstance(estimator, Mapping):  # the families of a Tuned
        return [last for family, _ in estimator.values() for last in _last_steps(family)]
    inside = getattr(estimator, "estimator", None)
    searches = inside is not None and (hasattr(estimator, "space") or hasattr(estimator, "refit"))
    return _last_steps(inside) if searches else [estimator]
