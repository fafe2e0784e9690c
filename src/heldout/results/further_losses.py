"""Builds the records of losses that a study was not asked for, from the recorded responses of its tested predictors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import HeldoutError
from heldout.base.responses import Responses, join_rows
from heldout.base.warnings import catch_warnings
from heldout.engine.run import Outcome
from heldout.engine.stream_sample import OfStream, SampledRows
from heldout.kernels.statistics.scores import converted, pool_squares
from heldout.losses import Loss, is_pooled, mean_loss, row_losses
from heldout.results.evidence import fold_predictor_responses
from heldout.results.test_losses import TestedPart, TestLosses, record_of, record_of_sample, record_of_stream
from heldout.risk.record import Floats, Record
from heldout.splits.drawn import Splits
from heldout.study.study import OUTER
from heldout.task import Task

Scored = tuple[float, Floats | None]  # the loss of a part, and its row losses


def further_record(task: Task, outcome: Outcome, losses: TestLosses, loss: Loss, *, pool: bool | None = None) -> Record:
    """Build the record of a loss that a study in memory was not asked for. NaN stands for what is not defined."""
    known = _scored(task, outcome.study.splits[OUTER], loss, losses.parts, pool=pool)
    everywhere = fold_predictor_responses(outcome)
    record = record_of(task, outcome, loss, losses.parts, known=known, everywhere=everywhere)
    return replace(record, seed=losses.records[0].seed)


def _scored(task: Task, outer: Splits, loss: Loss, parts: Sequence[TestedPart], *, pool: bool | None) -> list[Scored]:
    nothing: Scored = (np.nan, None)
    pooled = loss.rows is None and is_pooled(loss)
    if pooled and pool is not False:
        return [nothing] * len(parts)  # it is computed of all held-out rows together
    if loss.rows is None and not pooled and task.classes is not None and outer.held_sizes.min() < len(task.classes):
        return [nothing] * len(parts)  # rows without each class rank nothing
    with catch_warnings():
        warnings.simplefilter("ignore")
        return _rows_together(task, outer, loss, parts) or [_one_part(task, outer, loss, one) for one in parts]


def _rows_together(task: Task, outer: Splits, loss: Loss, parts: Sequence[TestedPart]) -> list[Scored] | None:
    """Return the row losses of all parts and their means at once; None where each part is asked for itself."""
    responses = [one.responses for one in parts if one.responses is not None]
    if loss.rows is None or len(responses) < len(parts) or not _is_of_same_classes(responses):
        return None
    held = np.concatenate([outer.held_rows(one.part) for one in parts])
    try:
        rows = row_losses(loss, task.y[held], join_rows(responses))
    except (HeldoutError, ValueError, FloatingPointError, TypeError):
        return None
    assert rows is not None
    cuts = np.append(0, np.cumsum(outer.held_sizes[[one.part for one in parts]]))
    means = part_means(rows, cuts, None if task.weight is None else task.weight[held])
    return list(zip(means.tolist(), np.split(rows, cuts[1:-1]), strict=True))


def _is_of_same_classes(responses: Sequence[Responses]) -> bool:
    first = responses[0].classes
    same = isinstance(first, np.ndarray) and all(np.array_equal(one.classes, first) for one in responses)  # type: ignore[arg-type]
    return same or all(one.classes is None for one in responses)


def _one_part(task: Task, outer: Splits, loss: Loss, tested: TestedPart) -> Scored:
    held, responses = outer.held_rows(tested.part), tested.responses
    if responses is None:
        return np.nan, None
    y, weight = task.y[held], None if task.weight is None else task.weight[held]
    try:
        rows = row_losses(loss, y, responses)
        mean = mean_loss(loss, y, responses, weight) if rows is None else float(np.average(rows, weights=weight))
    except (HeldoutError, ValueError, FloatingPointError, TypeError):
        return np.nan, None
    return mean, rows


def part_means(rows: Floats, cuts: NDArray[np.intp], weight: Floats | None) -> Floats:
    """Return the weighted mean of the rows of each part, which begin at `cuts`; the last cut is the end."""
    weights = np.ones(len(rows)) if weight is None else weight
    sums = (np.add.reduceat(values, cuts[:-1]) for values in (rows * weights, weights))
    above, below = sums
    return np.asarray(above / below, dtype=np.float64)


def record_in_stream(
    task: Task, outcome: Outcome, losses: TestLosses, loss: Loss
) -> tuple[Record, SampledRows | None] | None:
    """Build the record of a loss that a study of a stream was not asked for; None if the stream kept too little.

    Sums of squared errors give it for all rows. Otherwise it is that of the sampled rows, which come with it.
    """
    stream, reported, first = outcome.stream, outcome.study.reported[0], losses.records[0]
    assert stream is not None
    turn, targets = converted(reported, loss), stream.targets
    plain = replace(record_of(task, outcome, loss, (), known=(), everywhere=()), seed=first.seed)
    if turn is not None and targets.sums is not None and np.isfinite(first.fold_losses).all():
        outer = outcome.study.splits[OUTER]
        spreads = [_spread(stream, outer.held_rows(part)) for part in range(outer.parts)]
        folds = [turn(value, *of) for value, of in zip(first.fold_losses.tolist(), spreads, strict=True)]
        parts = [(value, *of) for value, of in zip(folds, spreads, strict=True)]
        pooled = pool_squares(loss, parts, _spread(stream, outer.held)[0])
        plain, pooled = replace(plain, fold_losses=np.array(folds)), None if loss.rows is not None else pooled
        return record_of_stream(plain, outcome, loss, task, pooled=pooled), None
    if stream.sampled is None:
        return None
    record = record_of_sample(plain, stream.sampled, outcome.study, loss)
    return replace(record, fold_losses=np.array(_of_sample(stream.sampled, loss))), stream.sampled


def _of_sample(sampled: SampledRows, loss: Loss) -> list[float]:
    held = enumerate(sampled.held)
    parts = [TestedPart(part=part, losses=np.empty(0), row_losses=(), responses=one) for part, one in held]
    return [value for value, _ in _scored(sampled.task, sampled.outer, loss, parts, pool=None)]


def _spread(stream: OfStream, cells: NDArray[np.intp]) -> tuple[float, int]:
    """Return the sum of squares of the target about its mean over all rows of these cells, and their number."""
    targets = stream.targets
    assert targets.sums is not None
    assert targets.squares is not None
    count, total = int(targets.counts[cells].sum()), float(targets.sums[cells].sum())
    return float(targets.squares[cells].sum()) - total**2 / count, count
