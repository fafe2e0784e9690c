"""The learner against no model: a constant answer taken from each part's training rows, on the same held-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.api.recorded import pooled_score
from heldout.base.errors import HeldoutError
from heldout.base.losses import Loss, mean_loss, row_losses
from heldout.base.losses.scorers import scorer_parts
from heldout.base.responses import Responses, cut_rows
from heldout.base.warned import catch_warnings
from heldout.engine.run import Outcome
from heldout.risk.comparison import compare_records
from heldout.risk.comparison.sentences import Verdict
from heldout.risk.estimates import failed_parts, inside_value
from heldout.risk.record import Floats, Record
from heldout.risk.verdict import BETTER, NOT_SHOWN, WORSE, Reference
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.pose import OUTER
from heldout.task import Task

MOST_COUNTS = 20_000_000  # parts × classes: 160 MB

# What the best constant is, by scikit-learn's name of the score function, or heldout's of the loss.
_MEAN = frozenset(
    (
        *("squared", "mean_squared_error", "root_mean_squared_error", "r2_score", "explained_variance_score"),
        *("mean_poisson_deviance", "mean_gamma_deviance", "mean_tweedie_deviance", "d2_tweedie_score"),
    )
)
_MEDIAN = frozenset(("absolute", "mean_absolute_error", "median_absolute_error", "d2_absolute_error_score"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _NoModel:
    """What no model answers on all held-out rows, end to end, and what that is called."""

    responses: Responses
    words: str


def against_no_model(
    task: Task, outcome: Outcome, record: Record, *, level: float, pool: bool | None, interval: str | None = None
) -> Reference:
    """The learner compared with no model as `compare` would compare them; where that has no meaning, the reason."""
    study = outcome.study
    outer, loss = study.splits[OUTER], study.reported[0]
    if isinstance(outer, CellSplits):
        return Reference(reason="A stream does not keep the targets that a constant answer would be taken from.")
    if inside_value(record, pool=pool) is None:
        return Reference(reason=failed_parts(record))
    answered = _answer(task, outer, loss)
    if isinstance(answered, str):
        return Reference(reason=answered)
    try:
        with catch_warnings(record=True):
            plain = _record(task, outer, loss, record, answered.responses)
    except (HeldoutError, ValueError, FloatingPointError) as error:
        return Reference(reason=f"A constant answer has no {loss.name!r}: {str(error).splitlines()[0]}")
    value = inside_value(plain, pool=pool)
    if value is None or not np.isfinite(value):
        return Reference(reason=f"A constant answer has no {loss.name!r} on these parts.")
    (pair,) = compare_records({"the learner": record, "no model": plain}, level=level, pool=pool, interval=interval)
    difference = pair.difference
    verdicts = {Verdict.FIRST: BETTER, Verdict.SECOND: WORSE}
    return Reference(
        words=answered.words,
        value=loss.sign * value + 0.0,
        difference=difference.value,
        low=difference.low,
        high=difference.high,
        level=difference.level,
        method=difference.method,
        guarantee=difference.guarantee,
        p=pair.p,
        verdict=verdicts.get(pair.verdict, NOT_SHOWN),
        parts=record.parts,
        estimand=difference.estimand,
        reason=difference.reason,
    )


def _record(task: Task, outer: Splits, loss: Loss, record: Record, responses: Responses) -> Record:
    """What no model loses, as the record of a learner."""
    y, cuts = task.y[outer.held], outer.held_cuts
    weight = None if task.weight is None else task.weight[outer.held]
    parts = [slice(int(start), int(stop)) for start, stop in pairwise(cuts)]
    rows = row_losses(loss, y, responses)
    if rows is not None and record.row_losses is not None:
        means = [np.average(rows[part], weights=None if weight is None else weight[part]) for part in parts]
        return replace(record, fold_losses=np.array(means), row_losses=tuple(rows[part] for part in parts))
    cut = [cut_rows(responses, part) for part in parts]
    pooled = pooled_score(task, outer, loss, cut)
    folds = np.full(len(parts), np.nan)
    for place, part in enumerate(parts):
        try:
            folds[place] = mean_loss(loss, y[part], cut[place], None if weight is None else weight[part])
        except HeldoutError:  # R² of a single row, where all rows together have one
            if pooled is None:
                raise
    return replace(record, fold_losses=folds, row_losses=None, pooled=pooled, answers=None)


def _answer(task: Task, outer: Splits, loss: Loss) -> _NoModel | str:
    """The constant answer of each part's training rows, repeated for its held-out rows; or why there is none."""
    if loss.asks_predictor:
        return f"The loss {loss.name!r} asks the predictor itself, and no model is none."
    if not outer.train_sizes.all():
        return "There are no training rows that a constant answer could be taken from."
    part = np.repeat(np.arange(len(outer)), outer.held_sizes)
    if task.classification:
        if task.classes is None or len(task.classes) * len(outer) > MOST_COUNTS:
            return "Several labels a row, or so many classes, have no commonest answer."
        return _classes(task, outer, part, shares=not any("predict" in methods for methods in loss.methods))
    parts = None if loss.scorer is None else scorer_parts(loss.scorer)
    name = loss.name if loss.scorer is None else (None if parts is None else parts.known_name)
    if name not in _MEAN | _MEDIAN or task.y.dtype.kind not in "iufb":
        return f"No constant answer is known to be good by the loss {loss.name!r}."
    columns = task.y.astype(np.float64).reshape(len(task.y), -1)
    constant = _means if name in _MEAN else _medians
    answers = np.stack([constant(task, outer, column) for column in columns.T], axis=1)
    predicted = answers[part] if task.y.ndim > 1 else answers[part, 0]
    what = "mean" if name in _MEAN else "median"
    return _NoModel(responses=Responses(predict=predicted), words=f"always answering the {what} of the training rows")


def _classes(task: Task, outer: Splits, part: NDArray[np.intp], *, shares: bool) -> _NoModel:
    assert task.classes is not None
    codes = np.searchsorted(task.classes, task.y)
    counts = np.stack([_sums(task, outer, codes == code) for code in range(len(task.classes))], axis=1)
    best = counts.argmax(axis=1)
    probabilities = counts / counts.sum(axis=1, keepdims=True)
    responses = Responses(
        predict=task.classes[best[part]], predict_proba=probabilities[part], classes=np.asarray(task.classes)
    )
    if shares:
        return _NoModel(responses=responses, words="always giving each class its share of the training rows")
    if (best != best[0]).any():
        return _NoModel(responses=responses, words="always answering the commonest class of the training rows")
    label = str(task.classes[best[0]])
    return _NoModel(responses=responses, words=f"always answering {label if len(label) <= 40 else label[:39] + '…'!r}")


def _sums(task: Task, outer: Splits, values: NDArray[Any]) -> Floats:
    """The weighted sum of some values over the training rows of each part, without visiting them part by part."""
    weighed = values.astype(np.float64) if task.weight is None else values * task.weight
    if outer.train is not None and outer.train_cuts is not None:
        of_train = np.repeat(np.arange(len(outer)), outer.train_sizes)
        sums: Floats = np.bincount(of_train, weights=weighed[outer.train], minlength=len(outer)).astype(np.float64)
        return sums
    of_held = np.repeat(np.arange(len(outer)), outer.held_sizes)
    held = np.bincount(of_held, weights=weighed[outer.held], minlength=len(outer))
    rest: Floats = weighed[outer.rows].sum() - held
    return rest


def _means(task: Task, outer: Splits, column: Floats) -> Floats:
    """Around the mean of all rows, so that subtracting held-out rows from all of them loses no digits."""
    middle = float(np.mean(column[outer.rows]))
    means: Floats = middle + _sums(task, outer, column - middle) / _sums(task, outer, np.ones(len(column)))
    return means


def _medians(task: Task, outer: Splits, column: Floats) -> Floats:
    return np.fromiter(_each_median(task, outer, column), dtype=np.float64, count=len(outer))


def _each_median(task: Task, outer: Splits, column: Floats) -> Iterator[float]:
    if outer.train is not None or task.weight is not None:
        for part in range(len(outer)):
            rows = outer.train_rows(part)
            yield _median(column[rows], None if task.weight is None else task.weight[rows])
        return
    order = np.argsort(column[outer.rows], kind="stable")
    ordered = column[outer.rows][order]
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order))
    for part in range(len(outer)):
        dropped = np.sort(ranks[np.searchsorted(outer.rows, outer.held_rows(part))])
        before = dropped - np.arange(len(dropped))  # how many stay below each that is dropped
        left = len(ordered) - len(dropped)
        middle = np.array([(left - 1) // 2, left // 2])
        yield float(np.mean(ordered[middle + np.searchsorted(before, middle, side="right")]))


def _median(values: Floats, weight: Floats | None) -> float:
    if weight is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])
