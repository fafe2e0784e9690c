"""The learner against no model: the constant that loses least on each part's training rows, on the same held-out rows.

Of numbers it is the mean for squared errors and deviances, a quantile for absolute and pinball errors, and for any
other loss of rows, a user's own among them, the number that a search finds. Of classes it is the commonest one, or the
one that costs least by a user's own loss; for probabilities it is the share of each class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import HeldoutError
from heldout.base.options import Options
from heldout.base.responses import Responses, cut_rows
from heldout.base.warnings import catch_warnings
from heldout.base.words import clipped
from heldout.engine.run import Outcome
from heldout.engine.stream_sample import OfStream, TargetSums
from heldout.kernels.statistics.scores import from_squares, pool_squares
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
from heldout.results.test_losses import pooled_score
from heldout.risk.comparison.pairs import compare_records
from heldout.risk.comparison.sentences import Verdict
from heldout.risk.estimate_risk import failed_parts, record_value
from heldout.risk.record import Floats, PooledScore, Record
from heldout.risk.verdict import BETTER, NOT_SHOWN, WORSE, Reference
from heldout.splits.drawn import Recipe, Splits
from heldout.study.study import OUTER
from heldout.task import Task

MOST_COUNTS = 20_000_000  # parts × classes: 160 MB
MOST_COSTS = 1_000_000  # classes × classes: what each answer costs in each class
POINTS, ROUNDS = 17, 4  # of a search: numbers that are tried at once, and how often the best are looked at more closely

# Scores of whole sets that are best where the mean of a row loss is smallest.
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
    """The constant of each part, a row a part, and what answering it is called."""

    responses: Responses
    words: str

    def repeated(self, part: NDArray[np.intp]) -> Responses:
        """The answer on rows that these parts hold out."""
        return cut_rows(self.responses, part)


def constant_answer(task: Task, outer: Splits, loss: Loss) -> ConstantAnswer | str:
    """The constant answer of each part's training rows, or why there is none. Raises what a user's own loss raises."""
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
    """Why there is no constant answer that could be set beside a learner."""
    if loss.asks_predictor:
        return f"The loss {loss.name!r} asks the predictor itself, and no model is none."
    if not outer.train_sizes.all():
        return "There are no training rows that a constant answer could be taken from."
    if any(set(methods) == {"decision_function"} for methods in loss.methods):
        return f"The loss {loss.name!r} takes decisions, and no constant decision is known to be good."
    if task.classification:
        if task.classes is None or len(task.classes) * len(outer) > MOST_COUNTS:
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
    """The loss of rows whose mean decides which constant number is best; None for other scores of whole sets."""
    if loss.rows is not None:
        return loss.rows.rows if isinstance(loss.rows, RangedRows) else loss.rows
    parts = None if loss.scorer is None else scorer_parts(loss.scorer)
    found = None if parts is None else _BEST_BY.get(parts.known_name or "")
    return None if parts is None or found is None else found(parts.options)


def is_best_at_mean(rows: RowLoss) -> bool:
    """Whether the mean loses least: by squared errors, and by a deviance of any power."""
    return rows is squared_rows or (isinstance(rows, ErrorRows) and rows.error in (squared_error, deviance))


def best_quantile(rows: RowLoss) -> float | None:
    """The quantile that loses least, where one does."""
    if rows is absolute_rows:
        return 0.5
    if not isinstance(rows, ErrorRows):
        return None
    return 0.5 if rows.error is absolute_error else rows.option if rows.error is pinball_error else None


def answer_of_numbers(rows: RowLoss, answers: Floats) -> ConstantAnswer:
    """These numbers, one a part, and what they are by this loss."""
    quantile = best_quantile(rows)
    if is_best_at_mean(rows):
        what = "mean of the training rows"
    elif quantile is None:
        what = "number that loses least on the training rows"
    else:
        what = "median of the training rows" if quantile == 0.5 else f"{quantile:g} quantile of the training rows"
    return ConstantAnswer(responses=Responses(predict=answers), words=f"always answering the {what}")


def answer_of_counts(loss: Loss, classes: NDArray[Any], counts: Floats) -> ConstantAnswer:
    """The answer where the training rows of each part have these counts of classes, or weights."""
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
    """The commonest class of each part; by a user's own loss of labels the one whose answer costs least."""
    if not (isinstance(loss.rows, OwnRows) and loss.rows.response == "predict" and len(classes) ** 2 <= MOST_COSTS):
        return np.asarray(counts.argmax(axis=1))
    costs = np.empty((len(classes), len(classes)))  # of each answer in each class
    for place, label in enumerate(classes):
        found = row_losses(loss, classes, Responses(predict=np.full(len(classes), label), classes=classes))
        assert found is not None
        costs[place] = found
    return np.asarray((counts @ costs.T).argmin(axis=1))


def _numbers(task: Task, outer: Splits, rows: RowLoss, column: Floats) -> Floats:
    if is_best_at_mean(rows):
        return _means(task, outer, column)
    quantile = best_quantile(rows)
    if quantile is not None:
        return np.fromiter(_quantiles(task, outer, column, quantile), dtype=np.float64, count=len(outer))
    return _searched(task, outer, rows, column)


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


def _searched(task: Task, outer: Splits, rows: RowLoss, column: Floats) -> Floats:
    """The number between the smallest and the largest target that loses least on the training rows of each part.

    Quantiles of the target are tried first, then numbers between the neighbours of the best ones, closer and closer.
    All parts try the same numbers, so that a loss is taken once of each row and not once of each part.
    """
    grid = np.quantile(column[outer.rows], np.linspace(0, 1, POINTS))
    best, least = np.full(len(outer), np.nan), np.full(len(outer), np.inf)
    for _ in range(ROUNDS):
        totals = np.stack([_total(task, outer, rows, column, float(number)) for number in grid])
        place = totals.argmin(axis=0)
        found = totals[place, np.arange(len(outer))]
        best, least = np.where(found < least, grid[place], best), np.minimum(found, least)
        grid = np.linspace(grid[max(place.min() - 1, 0)], grid[min(place.max() + 1, POINTS - 1)], POINTS)
    if not np.isfinite(best).all():
        rows(column, Responses(predict=np.full(len(column), np.median(column[outer.rows]))))  # raises why none will do
    return best


def _total(task: Task, outer: Splits, rows: RowLoss, column: Floats, number: float) -> Floats:
    """What this number loses on the training rows of each part; infinite where it is no answer that the loss takes."""
    try:
        return _sums(task, outer, rows(column, Responses(predict=np.full(len(column), number))))
    except HeldoutError:
        return np.full(len(outer), np.inf)


def _quantiles(task: Task, outer: Splits, column: Floats, share: float) -> Iterator[float]:
    if outer.train is not None or task.weight is not None:
        for part in range(len(outer)):
            rows = outer.train_rows(part)
            yield _quantile(column[rows], None if task.weight is None else task.weight[rows], share)
        return
    order = np.argsort(column[outer.rows], kind="stable")
    ordered = column[outer.rows][order]
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order))
    for part in range(len(outer)):
        dropped = np.sort(ranks[np.searchsorted(outer.rows, outer.held_rows(part))])
        before = dropped - np.arange(len(dropped))  # how many stay below each that is dropped
        middle = _places(len(ordered) - len(dropped), share)
        yield float(np.mean(ordered[middle + np.searchsorted(before, middle, side="right")]))


def _places(count: int, share: float) -> NDArray[np.intp]:
    """The ordered values between which any number is a best quantile: mostly one and the same."""
    place = round(count * share, 9)
    return np.array([np.ceil(place) - 1, np.floor(place)]).clip(0, count - 1).astype(np.intp)


def _quantile(values: Floats, weight: Floats | None, share: float) -> float:
    if weight is None:
        return float(np.mean(np.sort(values)[_places(len(values), share)]))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][min(int(np.searchsorted(reached, share * reached[-1])), len(values) - 1)])


Paired = tuple[Record, Record, str]  # the learner and no model on the same rows, and what no model answers


def against_no_model(task: Task, outcome: Outcome, record: Record, *, level: float, options: Options) -> Reference:
    """The learner compared with no model as `compare` would compare them; where that has no meaning, the reason."""
    study, pool = outcome.study, options.pool
    outer, loss = study.splits[OUTER], study.reported[0]
    if record_value(record, pool=pool) is None:
        return Reference(reason=failed_parts(record))
    try:
        with catch_warnings(record=True):
            if outcome.stream is None:
                found = _paired(task, outer, loss, record)
            else:
                found = _paired_in_stream(task, outcome.stream, outer, loss, record)
    except (HeldoutError, ValueError, FloatingPointError) as error:
        return Reference(reason=f"A constant answer has no {loss.name!r}: {str(error).splitlines()[0]}")
    if isinstance(found, str):
        return Reference(reason=found)
    learner, plain, words = found
    value = record_value(plain, pool=pool)
    if value is None or not np.isfinite(value):
        return Reference(reason=f"A constant answer has no {loss.name!r} on these parts.")
    both = {"the learner": learner, "no model": plain}
    (pair,) = compare_records(both, level=level, pool=pool, interval=options.interval)
    difference = pair.difference
    verdicts = {Verdict.FIRST: BETTER, Verdict.SECOND: WORSE}
    return Reference(
        words=words,
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


def _part_of_each(outer: Splits) -> NDArray[np.intp]:
    return np.repeat(np.arange(len(outer)), outer.held_sizes)


def _paired(task: Task, outer: Splits, loss: Loss, record: Record) -> Paired | str:
    answered = constant_answer(task, outer, loss)
    if isinstance(answered, str):
        return answered
    plain = _record(task, outer, loss, record, answered.repeated(_part_of_each(outer)))
    return record, plain, answered.words


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


def _paired_in_stream(task: Task, stream: OfStream, outer: Splits, loss: Loss, record: Record) -> Paired | str:
    """The two on the rows that were kept, or on the sampled ones: values are those of all rows where sums tell them.

    The mean and the class shares of training rows come from sums, so that they are those of all training rows. Any
    other constant comes from the sample.
    """
    if (reason := no_constant(task, outer, loss)) is not None:
        return reason
    of_all = _from_sums(task, stream.targets, outer, loss)
    known = None if of_all is None else _means_of_sums(task, stream.targets, outer, loss, of_all)
    answered = of_all or _from_sample(stream, loss, record)
    if isinstance(answered, str):
        return answered
    kept, sampled, sample = _kept_rows(stream, task), stream.sampled, record.sample
    if kept is not None:
        learner, plain = record, _record(*kept, loss, record, answered.repeated(_part_of_each(kept[1])))
    elif sampled is not None and sample is not None:
        learner = sample
        plain = _record(sampled.task, sampled.outer, loss, sample, answered.repeated(_part_of_each(sampled.outer)))
        if known is not None:
            learner = _with_values(sample, record.fold_losses, record.pooled)
            plain = _with_values(plain, *known)
        elif sample.row_losses is not None:  # the difference is that of the sample, and not known any better
            means = np.array([part.mean() for part in sample.row_losses])
            learner, plain = replace(sample, fold_losses=means, share=1.0), replace(plain, share=1.0)
    elif known is not None:
        learner, plain = record, _with_values(record, *known)
    else:
        return "Sums do not tell what a constant answer costs, and the losses of single rows were not kept."
    return learner, plain, answered.words


def _from_sample(stream: OfStream, loss: Loss, record: Record) -> ConstantAnswer | str:
    if stream.sampled is None:
        return "Sums do not tell which constant answer is best, and of one test set a stream keeps no training rows."
    answered = constant_answer(stream.sampled.task, stream.sampled.outer, loss)
    if isinstance(answered, str) or record.sample is None or record.sample.share == 1:
        return answered
    return replace(answered, words=f"{answered.words}, as a sample tells it")


def _with_values(record: Record, folds: Floats, pooled: PooledScore | None) -> Record:
    """The record with these values of its parts, and of all held-out rows where that is no mean of them."""
    if pooled is not None and record.pooled is not None:
        pooled = replace(record.pooled, value=pooled.value)
    return replace(record, fold_losses=folds, pooled=pooled)


def _kept_rows(stream: OfStream, task: Task) -> tuple[Task, Splits] | None:
    """The held-out rows of a stream that kept them, each time that they are held out."""
    if stream.kept is None or not all(one.predicted for one in stream.kept):
        return None
    y = [np.concatenate(one.y) for one in stream.kept]
    sizes = np.array([len(part) for part in y], dtype=np.intp)
    rows = np.arange(int(sizes.sum()), dtype=np.intp)
    own = Task(X=np.empty((len(rows), 0)), y=np.concatenate(y), classification=task.classification)
    return own, Splits.from_sizes(rows, rows, sizes, Recipe(words="rows that were kept", kind="given"))


def _from_sums(task: Task, targets: TargetSums, outer: Splits, loss: Loss) -> ConstantAnswer | None:
    """The constant of each part's training cells; None where sums do not tell it."""
    counts = np.stack([targets.counts[outer.train_rows(part)].sum(axis=0) for part in range(len(outer))])
    if task.classes is not None:
        return answer_of_counts(loss, np.asarray(task.classes), counts.astype(np.float64))
    rows = deciding_rows(loss)
    assert rows is not None, "refused otherwise"
    if not is_best_at_mean(rows) or targets.sums is None:
        return None
    totals = np.array([targets.sums[outer.train_rows(part)].sum() for part in range(len(outer))])
    return answer_of_numbers(rows, targets.middle + totals / counts[:, 0])


def _means_of_sums(
    task: Task, targets: TargetSums, outer: Splits, loss: Loss, answered: ConstantAnswer
) -> tuple[Floats, PooledScore | None] | None:
    """What the constant of each part costs on all its held-out rows; None where sums do not tell it."""
    held = [outer.held_rows(part) for part in range(len(outer))]
    counts = np.stack([targets.counts[cells].sum(axis=0) for cells in held])
    if task.classes is not None:
        classes = np.asarray(task.classes)
        each = [answered.repeated(np.full(len(classes), part)) for part in range(len(outer))]
        return np.array([mean_loss(loss, classes, one, own) for one, own in zip(each, counts * 1.0, strict=True)]), None
    take, predicted = from_squares(loss), answered.responses.predict
    if take is None or targets.sums is None or targets.squares is None or predicted is None:
        return None
    parts = list[tuple[float, float, int]]()
    for cells, (count,), constant in zip(held, counts, predicted - targets.middle, strict=True):
        total, square = float(targets.sums[cells].sum()), float(targets.squares[cells].sum())
        spread = square - total**2 / count
        errors = spread + count * (total / count - constant) ** 2
        parts.append((take(errors, spread, int(count)), spread, int(count)))
    whole = [float(one[outer.held].sum()) for one in (targets.sums, targets.squares)]
    together = pool_squares(loss, parts, whole[1] - whole[0] ** 2 / float(counts.sum()))
    pooled = None if loss.rows is not None or together is None else PooledScore(value=together)
    return np.array([value for value, _, _ in parts]), pooled
