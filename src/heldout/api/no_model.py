"""The learner against no model: a constant answer taken from each part's training rows, on the same held-out rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heldout.api.constant_answer import constant_answer
from heldout.api.recorded import pooled_score
from heldout.base.errors import HeldoutError
from heldout.base.losses import Loss, mean_loss, row_losses
from heldout.base.responses import Responses, cut_rows
from heldout.base.warned import catch_warnings
from heldout.engine.run import Outcome
from heldout.risk.comparison import compare_records
from heldout.risk.comparison.sentences import Verdict
from heldout.risk.estimates import failed_parts, inside_value
from heldout.risk.record import Record
from heldout.risk.verdict import BETTER, NOT_SHOWN, WORSE, Reference
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.pose import OUTER
from heldout.task import Task


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
    try:
        with catch_warnings(record=True):
            answered = constant_answer(task, outer, loss)
            if isinstance(answered, str):
                return Reference(reason=answered)
            plain = _record(task, outer, loss, record, answered.repeated(_part_of_each(outer)))
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


def _part_of_each(outer: Splits) -> NDArray[np.intp]:
    return np.repeat(np.arange(len(outer)), outer.held_sizes)


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
