"""Computes the familiar scores of a study from its recorded responses: each with an interval and against no model.

No kernel and no cell knows of them: a score that was not asked for never fails a study, and says why it has no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.base.options import Options
from heldout.base.shown import plain
from heldout.engine.run import Outcome
from heldout.losses import Loss, default_losses, is_pooled, label_and_unit, on_target
from heldout.results.estimates import risk_estimand, risk_name, sizes_of
from heldout.results.no_model import against_no_model
from heldout.results.test_losses import TestLosses, further_record
from heldout.risk.estimands import taken_over
from heldout.risk.estimate import Estimate
from heldout.risk.estimate_risk import estimate_risk
from heldout.risk.record import POOLED, Record
from heldout.risk.verdict import Reference
from heldout.task import Task

MOST_FOLDS = 200  # whose scores are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Holds a familiar score of a study, and the same score of the best constant answer on the same held-out rows."""

    label: str
    unit: str  # "share", "target" (the unit of the target) or ""
    estimate: Estimate
    against: Reference
    asked: bool
    decides: bool  # it is `result.risk`, or the familiar form of it: the accuracy of a zero-one loss
    folds: tuple[float | None, ...] = ()  # the score of each fold; none of a single one, or of very many

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of a summary, as docs/summary.md describes it."""
        one, against = self.estimate, self.against
        words = None if against.words is None else against.words.replace("always answering", "always", 1)
        return {
            "name": one.loss,
            "label": self.label,
            "unit": self.unit,
            "greater_is_better": one.greater_is_better,
            **{name: getattr(one, name) for name in ("value", "low", "high", "level", "method", "guarantee", "reason")},
            "estimand": one.estimand,
            "folds": list(self.folds),
            "no_model": against.value,
            "no_model_words": None if words is None else words.removesuffix(" of the training rows"),
            "gain": self.gain,
            "decides": self.decides,
            "asked": self.asked,
        }

    @property
    def gain(self) -> dict[str, Any] | None:
        """The paired difference to the constant answer on the same rows, turned so that positive is better."""
        against = self.against
        if against.difference is None:
            return None
        sign = 1 if self.estimate.greater_is_better else -1
        ends = [None if end is None else sign * end + 0.0 for end in (against.low, against.high)][::sign]
        return {
            "value": sign * against.difference + 0.0,
            "low": ends[0],
            "high": ends[1],
            "level": against.level,
            "p": against.p,
            "verdict": against.verdict,
            "reason": against.reason,
        }


def metrics_of(
    task: Task,
    outcome: Outcome,
    losses: TestLosses,
    estimates: Mapping[str, Estimate],
    *,
    asked: bool,
    no_model: Reference | None,
    options: Options,
) -> tuple[Metric, ...]:
    """Return the losses that were asked for and then the familiar ones, each with its interval and against no model.

    `asked` says whether the reported losses are the user's choice; the losses that a learner takes where nobody chose
    any are replaced by their familiar forms.
    """
    reported, level = outcome.study.reported, estimates["risk"].level
    found: list[Metric] = []
    for number, loss in enumerate(reported if asked else ()):
        record, estimate = losses.records[number], estimates[risk_name(number, loss)]
        against = no_model if number == 0 else None
        against = against or against_no_model(task, outcome, loss, record, level=level, options=options)
        found.append(_metric(loss, estimate, against, record, asked=True, decides=number == 0))
    known = {one.label for one in found}
    for loss in on_target(default_losses(classification=task.classification), task.classes):
        if label_and_unit(loss)[0] in known:
            continue
        record = further_record(task, outcome, losses, loss, pool=options.pool)
        estimate = _estimate(task, outcome, loss, record, level=level, options=options)
        against = against_no_model(task, outcome, loss, record, level=level, options=options)
        found.append(_metric(loss, estimate, against, record, asked=False, decides=not asked and not found))
    return tuple(found)


def leading_record(task: Task, outcome: Outcome, losses: TestLosses, *, asked: bool, options: Options) -> Record:
    """Return the record of the score that leads a report: the first loss that was asked for, or its familiar form."""
    if asked:
        return losses.records[0]
    (loss,) = on_target(default_losses(classification=task.classification)[:1], task.classes)
    return further_record(task, outcome, losses, loss, pool=options.pool)


def _metric(
    loss: Loss, estimate: Estimate, against: Reference, record: Record, *, asked: bool, decides: bool
) -> Metric:
    (label, unit), folds = label_and_unit(loss), record.fold_losses
    several = estimate.value is not None and 1 < len(folds) <= MOST_FOLDS
    values = tuple(plain((loss.sign * folds + 0.0).tolist())) if several else ()
    return Metric(
        label=label, unit=unit, estimate=estimate, against=against, asked=asked, decides=decides, folds=values
    )


def _estimate(task: Task, outcome: Outcome, loss: Loss, record: Record, *, level: float, options: Options) -> Estimate:
    """Estimate a score that was not asked for, by the default interval of its kind."""
    study, pool = outcome.study, options.pool
    if loss.rows is None and not is_pooled(loss):
        pool = None  # rows of different predictors cannot be ranked together, whatever was asked of the first loss
    words = risk_estimand(task, study, loss, sizes_of(study))
    if record.parts > 1 and loss.rows is None:
        words += taken_over(pooled=pool is not False and record.family in POOLED)
    return estimate_risk(record, name=f"risk_{loss.name}", estimand=words, level=level, pool=pool)


def columns_of(metrics: Sequence[Metric]) -> dict[str, list[Any]]:
    """Return one row for each score, as columns of a tidy table."""
    rows = [one.as_dict() for one in metrics]
    names = [name for name in (rows[0] if rows else {}) if name != "gain"]
    columns = {name: [row[name] for row in rows] for name in names}
    for name in ("value", "low", "high", "p", "verdict"):
        gains = [row["gain"] for row in rows]
        columns["gain" if name == "value" else f"gain_{name}"] = [None if one is None else one[name] for one in gains]
    return columns
