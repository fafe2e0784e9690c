"""Compares the learner with no model, which is the best constant answer, on the same held-out rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from heldout.base.errors import HeldoutError
from heldout.base.options import Options
from heldout.base.responses import Responses, cut_rows
from heldout.base.warnings import catch_warnings
from heldout.engine.run import Outcome
from heldout.engine.stream_sample import OfStream, SampledRows, TargetSums
from heldout.kernels.statistics.scores import from_squares, pool_squares
from heldout.losses import Loss, mean_loss, row_losses
from heldout.results import constant_answer as constants
from heldout.results.evidence import in_parts
from heldout.results.further_losses import part_means
from heldout.results.test_losses import pooled_score
from heldout.risk.comparison.pairs import compare_records
from heldout.risk.comparison.sentences import Verdict
from heldout.risk.estimate_risk import failed_parts, record_value
from heldout.risk.record import Floats, PooledScore, Record
from heldout.risk.verdict import BETTER, NOT_SHOWN, WORSE, Reference
from heldout.splits.drawn import Recipe, Splits
from heldout.study.study import OUTER
from heldout.task import Task

LOOKED_BEFORE = "These test rows were looked at before, and the comparison takes no account of that."

Paired = tuple[Record, Record, str]  # the records of the learner and of no model, and a description of the constant


def against_no_model(
    task: Task,
    outcome: Outcome,
    loss: Loss,
    record: Record,
    *,
    level: float,
    options: Options,
    sampled: SampledRows | None = None,
) -> Reference:
    """Compare the learner with no model, as `compare` would, by the record of any loss.

    `sampled` are the rows that the record is made of, if it is the record of a sample of a stream. Without a result
    the Reference holds the reason.
    """
    outer, pool = outcome.study.splits[OUTER], options.pool
    if record_value(record, pool=pool) is None:
        return Reference(reason=failed_parts(record))
    try:
        with catch_warnings(record=True):
            if sampled is not None:
                found = _paired(sampled.task, sampled.outer, loss, record)
            elif outcome.stream is None:
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


def without_interval(reference: Reference) -> Reference:
    """Return the comparison without its interval, p-value and verdict, after an earlier look at the test rows."""
    if reference.value is None:
        return reference
    cleared: dict[str, Any] = dict.fromkeys(("low", "high", "method", "guarantee", "p"))
    return replace(reference, **cleared, verdict=NOT_SHOWN, reason=LOOKED_BEFORE)


def _paired(task: Task, outer: Splits, loss: Loss, record: Record) -> Paired | str:
    answered = constants.constant_answer(task, outer, loss)
    if isinstance(answered, str):
        return answered
    return record, _record(task, outer, loss, record, answered.on_held_rows(outer)), answered.words


def _record(task: Task, outer: Splits, loss: Loss, record: Record, responses: Responses) -> Record:
    """Return the losses of no model as a Record like that of the learner."""
    y, cuts = task.y[outer.held], outer.held_cuts
    weight = None if task.weight is None else task.weight[outer.held]
    rows = row_losses(loss, y, responses)
    if rows is not None and record.row_losses is not None:
        return replace(record, fold_losses=part_means(rows, cuts, weight), row_losses=in_parts(outer, rows))
    parts = [slice(int(start), int(stop)) for start, stop in pairwise(cuts)]
    cut = [cut_rows(responses, part) for part in parts]
    pooled = pooled_score(task, outer, loss, cut)
    folds = np.full(len(parts), np.nan)
    known = np.isfinite(record.fold_losses)
    for place, part in enumerate(parts if pooled is None or known.any() else ()):
        try:
            folds[place] = mean_loss(loss, y[part], cut[place], None if weight is None else weight[part])
        except HeldoutError:  # R² of a single row, where all rows together have one
            if pooled is None:
                raise
    return replace(record, fold_losses=folds, row_losses=None, pooled=pooled, answers=None)


def _paired_in_stream(task: Task, stream: OfStream, outer: Splits, loss: Loss, record: Record) -> Paired | str:
    """Return both records on the kept rows of a stream, or else on its sampled rows; or the reason why there are none.

    A mean or class shares are computed from sums over all training rows; any other constant is computed from the
    sample. Mean losses are those of all rows where sums are enough to compute them.
    """
    if (reason := constants.no_constant(task, outer, loss)) is not None:
        return reason
    of_all = _from_sums(task, stream.targets, outer, loss)
    known = None if of_all is None else _means_of_sums(task, stream.targets, outer, loss, of_all)
    answered = of_all or _from_sample(stream, loss, record)
    if isinstance(answered, str):
        return answered
    kept, sampled, sample = _kept_rows(stream, task), stream.sampled, record.sample
    if kept is not None:
        learner, plain = record, _record(*kept, loss, record, answered.on_held_rows(kept[1]))
    elif sampled is not None and sample is not None:
        learner = sample
        plain = _record(sampled.task, sampled.outer, loss, sample, answered.on_held_rows(sampled.outer))
        if known is not None:
            learner = _with_values(sample, record.fold_losses, record.pooled)
            plain = _with_values(plain, *known)
        elif sample.row_losses is not None:  # the difference is known on the sample alone
            means = np.array([part.mean() for part in sample.row_losses])
            learner, plain = replace(sample, fold_losses=means, share=1.0), replace(plain, share=1.0)
    elif known is not None:
        learner, plain = record, _with_values(record, *known)
    else:
        return "Sums do not tell what a constant answer costs, and the losses of single rows were not kept."
    return learner, plain, answered.words


def _from_sample(stream: OfStream, loss: Loss, record: Record) -> constants.ConstantAnswer | str:
    if stream.sampled is None:
        return "Sums do not tell which constant answer is best, and of one test set a stream keeps no training rows."
    answered = constants.constant_answer(stream.sampled.task, stream.sampled.outer, loss)
    if isinstance(answered, str) or record.sample is None or record.sample.share == 1:
        return answered
    return replace(answered, words=f"{answered.words}, as a sample tells it")


def _with_values(record: Record, folds: Floats, pooled: PooledScore | None) -> Record:
    """Replace the losses of the parts, and the pooled score if there is one, keeping its influences."""
    if pooled is not None and record.pooled is not None:
        pooled = replace(record.pooled, value=pooled.value)
    return replace(record, fold_losses=folds, pooled=pooled)


def _kept_rows(stream: OfStream, task: Task) -> tuple[Task, Splits] | None:
    """Return the kept held-out rows of a stream as a task with splits, a row once for each part; None if not kept."""
    if stream.kept is None or not all(one.predicted for one in stream.kept):
        return None
    y = [np.concatenate(one.y) for one in stream.kept]
    sizes = np.array([len(part) for part in y], dtype=np.intp)
    rows = np.arange(int(sizes.sum()), dtype=np.intp)
    own = Task(X=np.empty((len(rows), 0)), y=np.concatenate(y), classification=task.classification)
    return own, Splits.from_sizes(rows, rows, sizes, Recipe(words="rows that were kept", kind="given"))


def _from_sums(task: Task, targets: TargetSums, outer: Splits, loss: Loss) -> constants.ConstantAnswer | None:
    """Return the best constant of each part, from sums over its training cells; None if sums are not enough."""
    counts = np.stack([targets.counts[outer.train_rows(part)].sum(axis=0) for part in range(outer.parts)])
    if task.classes is not None:
        return constants.answer_of_counts(loss, np.asarray(task.classes), counts.astype(np.float64))
    rows = constants.deciding_rows(loss)
    assert rows is not None, "refused otherwise"
    if not constants.is_best_at_mean(rows) or targets.sums is None:
        return None
    totals = np.array([targets.sums[outer.train_rows(part)].sum() for part in range(outer.parts)])
    return constants.answer_of_numbers(rows, targets.middle + totals / counts[:, 0])


def _means_of_sums(
    task: Task, targets: TargetSums, outer: Splits, loss: Loss, answered: constants.ConstantAnswer
) -> tuple[Floats, PooledScore | None] | None:
    """Return the mean loss of each constant on its part's held-out rows, and the pooled score; None without sums."""
    held = [outer.held_rows(part) for part in range(outer.parts)]
    counts = np.stack([targets.counts[cells].sum(axis=0) for cells in held])
    if task.classes is not None:
        classes = np.asarray(task.classes)
        each = [cut_rows(answered.responses, np.full(len(classes), part)) for part in range(outer.parts)]
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
