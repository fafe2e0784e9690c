"""Finds the constant answer: for each part, the constant with the least loss on the training rows.

In regression it is the mean for squared errors and deviances, a quantile for absolute and pinball errors, and the
result of a grid search for any other row loss, such as a user's own. In classification it is the commonest class, or
the class that costs least by a user's own loss; probabilities are the class shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import HeldoutError
from heldout.base.responses import Responses, cut_rows
from heldout.base.words import clipped
from heldout.losses import Loss, mean_loss, row_losses
from heldout.losses.loss import OwnRows, RangedRows, RowLoss
from heldout.losses.rows import (
    ErrorRows,
    absolute_error,
    absolute_rows,
    deviance,
    pinball_error,
    squared_error,
    squared_log_error,
    squared_rows,
)
from heldout.losses.scorers import scorer_parts
from heldout.risk.record import Floats
from heldout.splits.drawn import Splits
from heldout.task import Task

MOST_COUNTS = 20_000_000  # parts × classes: 160 MB
MOST_TRIED = 50  # classes that a score is tried on
MOST_COSTS = 1_000_000  # classes × classes: the cost matrix
POINTS, ROUNDS = 17, 4  # of the grid search: points of a grid, and how often it is refined

# Scores of whole sets for which the constant with the smallest mean row loss is best.
_BEST_BY: Mapping[str, Callable[[Mapping[str, Any]], RowLoss]] = {
    "r2_score": lambda _: squared_rows,
    "explained_variance_score": lambda _: squared_rows,
    "root_mean_squared_error": lambda _: squared_rows,
    "root_mean_squared_log_error": lambda _: ErrorRows(error=squared_log_error),
    "median_absolute_error": lambda _: absolute_rows,  # nearly
    "d2_absolute_error_score": lambda _: absolute_rows,
    "d2_pinball_score": lambda options: ErrorRows(error=pinball_error, option=options.get("alpha", 0.5)),
    "d2_tweedie_score": lambda options: ErrorRows(error=deviance, option=options.get("power", 0)),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConstantAnswer:
    """Holds the constant of each part, one row for each part, and a description such as "always answering …"."""

    responses: Responses
    words: str

    def on_held_rows(self, outer: Splits) -> Responses:
        """Repeat the constant of each part for all its held-out rows, part after part."""
        return cut_rows(self.responses, np.repeat(np.arange(outer.parts), outer.held_sizes))


def constant_answer(task: Task, outer: Splits, loss: Loss) -> ConstantAnswer | str:
    """Return the constant answer of each part, or the reason why there is none. A user's own loss may raise here."""
    if (reason := no_constant(task, outer, loss)) is not None:
        return reason
    if task.classes is not None:
        codes = np.searchsorted(task.classes, task.y)
        counts = np.stack([_sums(task, outer, codes == code) for code in range(len(task.classes))], axis=1)
        return answer_of_counts(loss, np.asarray(task.classes), counts)
    rows = deciding_rows(loss)
    assert rows is not None
    columns = task.y.astype(np.float64).reshape(len(task.y), -1)
    answers = np.stack([_numbers(task, outer, rows, column) for column in columns.T], axis=1)
    return answer_of_numbers(rows, answers if task.y.ndim > 1 else answers[:, 0])


def no_constant(task: Task, outer: Splits, loss: Loss) -> str | None:
    """Return why there is no constant answer to compare a learner with; None if there may be one."""
    if loss.asks_predictor:
        return f"The loss {loss.name!r} asks the predictor itself, and no model is none."
    if not outer.train_sizes.all():
        return "There are no training rows that a constant answer could be taken from."
    if any(set(methods) == {"decision_function"} for methods in loss.methods):
        return f"The loss {loss.name!r} takes decisions, and no constant decision is known to be good."
    if task.classification:
        if task.classes is None or len(task.classes) * outer.parts > MOST_COUNTS:
            return "Several labels a row, or so many classes, have no commonest answer."
        return None
    rows = deciding_rows(loss)
    if rows is None:
        return (
            f"{loss.name!r} belongs to whole sets, and no constant answer is known to be good by it. A loss of rows "
            "has one: see row_loss."
        )
    if isinstance(rows, OwnRows) and task.y.ndim > 1:
        return f"{loss.name!r} is of several targets together, for which no constant answer is searched."
    return None if task.y.dtype.kind in "iufb" else "The target holds no plain numbers to take a constant from."


def deciding_rows(loss: Loss) -> RowLoss | None:
    """Return the row loss whose mean the best constant number minimises; None for a score without one."""
    if loss.rows is not None:
        return loss.rows.rows if isinstance(loss.rows, RangedRows) else loss.rows
    parts = None if loss.scorer is None else scorer_parts(loss.scorer)
    found = None if parts is None else _BEST_BY.get(parts.known_name or "")
    return None if parts is None or found is None else found(parts.options)


def is_best_at_mean(rows: RowLoss) -> bool:
    """Return whether the mean is the best constant, as for squared errors and a deviance of any power."""
    return rows is squared_rows or (isinstance(rows, ErrorRows) and rows.error in (squared_error, deviance))


def best_quantile(rows: RowLoss) -> float | None:
    """Return which quantile is the best constant, between 0 and 1; None if none is known to be."""
    if rows is absolute_rows:
        return 0.5
    if not isinstance(rows, ErrorRows):
        return None
    return 0.5 if rows.error is absolute_error else rows.option if rows.error is pinball_error else None


def answer_of_numbers(rows: RowLoss, answers: Floats) -> ConstantAnswer:
    """Build the constant answer from one number for each part, and describe it."""
    quantile = best_quantile(rows)
    if is_best_at_mean(rows):
        what = "mean of the training rows"
    elif quantile is None:
        what = "number that loses least on the training rows"
    else:
        what = "median of the training rows" if quantile == 0.5 else f"{quantile:g} quantile of the training rows"
    return ConstantAnswer(responses=Responses(predict=answers), words=f"always answering the {what}")


def answer_of_counts(loss: Loss, classes: NDArray[Any], counts: Floats) -> ConstantAnswer:
    """Build the constant answer from class counts, or summed weights, of training rows: parts × classes."""
    best = _cheapest(loss, classes, counts)
    responses = Responses(
        predict=classes[best], predict_proba=counts / counts.sum(axis=1, keepdims=True), classes=classes
    )
    if not any("predict" in methods for methods in loss.methods):
        return ConstantAnswer(responses=responses, words="always giving each class its share of the training rows")
    if (best != best[0]).any():
        which = "cheapest" if isinstance(loss.rows, OwnRows) else "commonest"
        return ConstantAnswer(responses=responses, words=f"always answering the {which} class of the training rows")
    return ConstantAnswer(responses=responses, words=f"always answering {clipped(str(classes[best[0]]), 40)!r}")


def _cheapest(loss: Loss, classes: NDArray[Any], counts: Floats) -> NDArray[np.intp]:
    """Return the position of each part's best class: by a user's own loss or a score of labels, else the commonest."""
    if loss.rows is None and loss.methods == (("predict",),) and len(classes) <= MOST_TRIED:
        return np.array([_best_by_score(loss, classes, of_part) for of_part in counts], dtype=np.intp)
    if not (isinstance(loss.rows, OwnRows) and loss.rows.response == "predict" and len(classes) ** 2 <= MOST_COSTS):
        return np.asarray(counts.argmax(axis=1))
    costs = np.empty((len(classes), len(classes)))  # answers × true classes
    for place, label in enumerate(classes):
        found = row_losses(loss, classes, Responses(predict=np.full(len(classes), label), classes=classes))
        assert found is not None
        costs[place] = found
    return np.asarray((counts @ costs.T).argmin(axis=1))


def _best_by_score(loss: Loss, classes: NDArray[Any], counts: Floats) -> int:
    """Return the position of the class that scores best where every row is answered by it; the commoner one if tied."""
    best, least = int(counts.argmax()), np.inf
    for place in np.argsort(-counts, kind="stable").tolist():
        same = Responses(predict=np.full(len(classes), classes[place]), classes=classes)
        try:
            value = mean_loss(loss, classes, same, counts)
        except (HeldoutError, ValueError, TypeError):  # a score without weights
            continue
        if value < least - 1e-12:
            best, least = place, value
    return best


def _numbers(task: Task, outer: Splits, rows: RowLoss, column: Floats) -> Floats:
    if is_best_at_mean(rows):
        return _means(task, outer, column)
    quantile = best_quantile(rows)
    if quantile is not None:
        return np.fromiter(_quantiles(task, outer, column, quantile), dtype=np.float64, count=outer.parts)
    return _searched(task, outer, rows, column)


def _sums(task: Task, outer: Splits, values: NDArray[Any]) -> Floats:
    """Sum values, times weights, over the training rows of each part, without a loop over parts."""
    weighed = values.astype(np.float64) if task.weight is None else values * task.weight
    if outer.train is not None and outer.train_cuts is not None:
        of_train = np.repeat(np.arange(outer.parts), outer.train_sizes)
        sums: Floats = np.bincount(of_train, weights=weighed[outer.train], minlength=outer.parts).astype(np.float64)
        return sums
    of_held = np.repeat(np.arange(outer.parts), outer.held_sizes)
    held = np.bincount(of_held, weights=weighed[outer.held], minlength=outer.parts)
    rest: Floats = weighed[outer.rows].sum() - held
    return rest


def _means(task: Task, outer: Splits, column: Floats) -> Floats:
    """Return the mean over the training rows of each part; values are centred first, so that no digits are lost."""
    middle = float(np.mean(column[outer.rows]))
    means: Floats = middle + _sums(task, outer, column - middle) / _sums(task, outer, np.ones(len(column)))
    return means


def _searched(task: Task, outer: Splits, rows: RowLoss, column: Floats) -> Floats:
    """Search the number between the smallest and largest target with the least loss on the training rows of each part.

    The first grid holds quantiles of the target; each later grid lies between the neighbours of the best numbers. All
    parts share one grid, so that the loss of a row is computed once for each number and not once for each part.
    """
    grid = np.quantile(column[outer.rows], np.linspace(0, 1, POINTS))
    best, least = np.full(outer.parts, np.nan), np.full(outer.parts, np.inf)
    for _ in range(ROUNDS):
        totals = np.stack([_total(task, outer, rows, column, float(number)) for number in grid])
        place = totals.argmin(axis=0)
        found = totals[place, np.arange(outer.parts)]
        best, least = np.where(found < least, grid[place], best), np.minimum(found, least)
        grid = np.linspace(grid[max(place.min() - 1, 0)], grid[min(place.max() + 1, POINTS - 1)], POINTS)
    if not np.isfinite(best).all():
        rows(column, Responses(predict=np.full(len(column), np.median(column[outer.rows]))))  # raises why none will do
    return best


def _total(task: Task, outer: Splits, rows: RowLoss, column: Floats, number: float) -> Floats:
    """Return the summed loss of a number on the training rows of each part; infinite if the loss does not accept it."""
    try:
        return _sums(task, outer, rows(column, Responses(predict=np.full(len(column), number))))
    except HeldoutError:
        return np.full(outer.parts, np.inf)


def _quantiles(task: Task, outer: Splits, column: Floats, share: float) -> Iterator[float]:
    if outer.train is not None or task.weight is not None:
        for part in range(outer.parts):
            rows = outer.train_rows(part)
            yield _quantile(column[rows], None if task.weight is None else task.weight[rows], share)
        return
    order = np.argsort(column[outer.rows], kind="stable")
    ordered = column[outer.rows][order]
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order))
    for part in range(outer.parts):
        dropped = np.sort(ranks[np.searchsorted(outer.rows, outer.held_rows(part))])
        before = dropped - np.arange(len(dropped))  # how many remaining values lie below each dropped one
        middle = _places(len(ordered) - len(dropped), share)
        yield float(np.mean(ordered[middle + np.searchsorted(before, middle, side="right")]))


def _places(count: int, share: float) -> NDArray[np.intp]:
    """Return the positions of the two sorted values that enclose the quantile; usually they are the same."""
    place = round(count * share, 9)
    return np.array([np.ceil(place) - 1, np.floor(place)]).clip(0, count - 1).astype(np.intp)


def _quantile(values: Floats, weight: Floats | None, share: float) -> float:
    if weight is None:
        return float(np.mean(np.sort(values)[_places(len(values), share)]))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][min(int(np.searchsorted(reached, share * reached[-1])), len(values) - 1)])
