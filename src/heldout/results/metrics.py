"""Computes the familiar scores of a study from its recorded responses: each with an interval and against no model.

No kernel and no cell knows of them: a score that was not asked for never fails a study, and says why it has no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heldout.base.options import Options
from heldout.base.responses import Responses
from heldout.base.shown import plain
from heldout.engine.run import Outcome
from heldout.engine.stream_sample import SampledRows
from heldout.kernels.claims import chain_of
from heldout.losses import SHARE, Loss, default_losses, for_target, is_pooled, label_and_unit
from heldout.results.estimates import risk_estimand, risk_name, sizes_of
from heldout.results.further_losses import further_record, record_in_stream
from heldout.results.no_model import LOOKED_BEFORE, against_no_model, without_interval
from heldout.results.test_losses import TestLosses
from heldout.risk.comparison.leaders import TIED, against_best, simplest_of
from heldout.risk.estimands import taken_over
from heldout.risk.estimate import Estimate
from heldout.risk.estimate_risk import estimate_risk
from heldout.risk.record import POOLED, Record
from heldout.risk.verdict import Reference
from heldout.search.simplicity import rank_of_learner
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
    folds: tuple[float | None, ...] = ()  # of the score that decides: that of each fold, if they are told and not many

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finished:
    """Holds a finished study with what was asked of it, and what its record may show."""

    task: Task
    outcome: Outcome
    losses: TestLosses
    options: Options
    asked: bool  # whether anyone chose the reported losses; else they are what learners take by default
    estimates: Mapping[str, Estimate]
    no_model: Reference | None
    answer: str = "full"
    looks_before: int = 0

    @property
    def reported(self) -> tuple[Loss, ...]:
        return self.outcome.study.reported

    @property
    def leads_with_reported(self) -> bool:
        """Whether the reported losses lead: if they were asked for, or if the test rows may answer nothing else."""
        return self.asked or self.answer != "full"

    @property
    def familiar(self) -> tuple[Loss, ...]:
        """The losses that are shown beside those that were asked for."""
        task = self.task
        losses = for_target(default_losses(classification=task.classification), task.classes)
        return losses[:1] if task.classification and task.classes is None else losses  # several labels a row


def metrics_of(study: Finished) -> tuple[Metric, ...]:
    """Return the losses that were asked for and then the familiar ones, each with its interval and against no model.

    A loss that a learner takes where nobody chose any is replaced by its familiar form, the accuracy or the RMSE.
    """
    found: list[Metric] = []
    for number, loss in enumerate(study.reported if study.leads_with_reported else ()):
        against = study.no_model if number == 0 else _against(study, loss, study.losses.records[number])
        estimate = study.estimates[risk_name(number, loss)]
        found.append(_metric(loss, estimate, against or Reference(), asked=study.asked, decides=number == 0))
    labels = {one.label for one in found}
    for loss in study.familiar:
        if label_and_unit(loss)[0] not in labels:
            found.append((None if found else _mirrored(study, loss)) or _further(study, loss, decides=not found))
    return (replace(found[0], folds=_folds(study, found[0].estimate)), *found[1:])


def _folds(study: Finished, lead: Estimate) -> tuple[float | None, ...]:
    """Return the leading score of each fold, from the reported loss; nothing if that does not tell it."""
    loss, values = study.reported[0], study.losses.records[0].fold_losses
    if lead.value is None or study.answer != "full" or not 1 < len(values) <= MOST_FOLDS:
        return ()
    values = loss.sign * values + 0.0
    if loss.counts_errors and lead.greater_is_better != (loss.sign < 0):
        values = 1 - values
    elif loss.name == "squared" and lead.loss == "rmse":
        values = np.sqrt(values)
    elif lead.loss != loss.name and not loss.counts_errors:
        return ()
    return tuple(plain(values.tolist()))


def best_of(
    studies: Mapping[str, Finished], metrics: Mapping[str, Sequence[Metric]], *, level: float, rope: float | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return by the score that leads which learner is best, tied and simplest, and how far each other one is from it.

    The rope is in the unit of the loss that was compared, which the accuracy shares with the zero-one loss.
    """
    leads = {name: next(one for one in scores if one.decides) for name, scores in metrics.items()}
    first, options = next(iter(leads.values())), next(iter(studies.values())).options
    best, others = against_best(
        {name: one.estimate.value for name, one in leads.items()},
        {name: _leading_record(study) for name, study in studies.items()},
        level=level,
        rope=rope if first.asked or first.unit == SHARE else None,
        pool=options.pool,
        interval=options.interval,
    )
    ties = [one["name"] for one in others if one["verdict"] in TIED]
    ranks = {name: rank_of_learner(study.outcome.study.search) for name, study in studies.items()}
    simplest = None if best is None else simplest_of([best, *ties], ranks)
    return {"best": best, "ties": ties, "simplest": simplest}, others


def _leading_record(study: Finished) -> Record:
    if study.leads_with_reported:
        return study.losses.records[0]
    return further_record(study.task, study.outcome, study.losses, study.familiar[0], pool=study.options.pool)


def _metric(loss: Loss, estimate: Estimate, against: Reference, *, asked: bool, decides: bool) -> Metric:
    label, unit = label_and_unit(loss)
    return Metric(label=label, unit=unit, estimate=estimate, against=against, asked=asked, decides=decides)


def _mirrored(study: Finished, loss: Loss) -> Metric | None:
    """Return the accuracy as 1 minus the share of errors, with the interval of that; None for other losses."""
    reported, risk, against = study.reported[0], study.estimates["risk"], study.no_model or Reference()
    if not (reported.counts_errors and loss.counts_errors):
        return None
    if reported.sign != loss.sign:
        words = risk_estimand(study.task, study.outcome.study, loss, sizes_of(study.outcome.study))
        value, low, high = _turned(risk.value, risk.high, risk.low)
        risk = replace(risk, value=value, low=low, high=high, estimand=words, greater_is_better=True, unclipped=None)
        away, low, high = _turned(against.difference, against.high, against.low, of=0)
        against = replace(against, value=_turned(against.value)[0], difference=away, low=low, high=high)
    return _metric(loss, replace(risk, loss=loss.name, name=f"risk_{loss.name}"), against, asked=False, decides=True)


def _turned(*values: float | None, of: float = 1.0) -> list[float | None]:
    return [None if value is None else of - value + 0.0 for value in values]


def _further(study: Finished, loss: Loss, *, decides: bool) -> Metric:
    """Return a score that was not asked for: without a value it carries the reason, and never fails anything."""
    reason, record, sampled = _reason_of_none(study, loss), None, None
    if reason is None and study.outcome.stream is not None:
        found = record_in_stream(study.task, study.outcome, study.losses, loss)
        record, sampled = found or (None, None)
        reason = None if found else _reason_in_stream(loss)
    elif reason is None:
        record = further_record(study.task, study.outcome, study.losses, loss, pool=study.options.pool)
    if record is None:
        first = study.losses.records[0]
        record = replace(first, loss=loss.name, sign=loss.sign, low=loss.low, high=loss.high, row_losses=None)
        record = replace(record, fold_losses=np.full(record.parts, np.nan), pooled=None, sample=None)
        against = Reference(reason=reason)
    else:
        against = _against(study, loss, record, sampled=sampled)
    estimate = _estimate(study, loss, record, reason=reason)
    if estimate.value is not None and sampled is not None and len(sampled.task) < study.task.size:
        sample = f"From a random sample of {len(sampled.task):,} of {study.task.size:,} rows."
        estimate = replace(estimate, reason=f"{sample} {estimate.reason or ''}".strip())
    if estimate.low is not None and study.looks_before:
        cleared: dict[str, Any] = dict.fromkeys(_OF_INTERVALS)
        estimate = replace(estimate, **cleared, reason=f"No interval: {LOOKED_BEFORE}")
    return _metric(loss, estimate, against, asked=False, decides=decides)


_OF_INTERVALS = ("low", "high", "unclipped", "method", "guarantee", "interval_seed")


def _reason_of_none(study: Finished, loss: Loss) -> str | None:
    """Return why a score that was not asked for has no value; None if it may have one."""
    if study.answer != "full":
        return f"No value: the test rows tell no more than was asked, as answer={study.answer!r} says."
    if study.outcome.stream is not None:
        sampled = study.outcome.stream.sampled
        responses = () if sampled is None else sampled.held
    else:
        responses = tuple(one.responses for one in study.losses.parts if one.responses is not None)
        if len(responses) < study.losses.records[0].parts:
            return study.estimates["risk"].reason or "No value: not every test part was answered."
    lacking = next((some for some in loss.methods if any(_has_none(one, some) for one in responses)), None)
    if lacking is None:
        return None
    what = " and no ".join({"predict_proba": "probabilities"}.get(one, "decisions") for one in sorted(lacking)[::-1])
    why = study.outcome.study.everywhere.unrecorded
    if why:
        return f"No value: {why}, so its {what} were not asked for. Naming it as a loss does: {loss.name!r}."
    models = (chain_of(family.estimator)[-1][1] for family in study.outcome.study.search.families)
    return f"No value: {' or '.join(dict.fromkeys(type(one).__name__ for one in models))} gives no {what}."


def _reason_in_stream(loss: Loss) -> str:
    alone = loss.rows is not None  # the loss of each row can be added up as the rows pass
    way_out = f"It is told where it is asked for, as a loss: {loss.name!r}." if alone else "Load the data for it."
    return f"No value: a stream keeps no rows of a single test set. {way_out}"


def _has_none(responses: Responses, methods: tuple[str, ...]) -> bool:
    return all(getattr(responses, method) is None for method in methods)


def _against(study: Finished, loss: Loss, record: Record, *, sampled: SampledRows | None = None) -> Reference:
    level, options = study.estimates["risk"].level, study.options
    if study.answer != "full":
        return Reference(reason="The results of single rows are withheld.")
    found = against_no_model(
        study.task, study.outcome, loss, record, level=level, options=_pooling(loss, options), sampled=sampled
    )
    return without_interval(found) if study.looks_before else found


def _pooling(loss: Loss, options: Options) -> Options:
    """Return the options without pool=True for a score whose rows cannot be ranked together."""
    return replace(options, pool=None) if options.pool and loss.rows is None and not is_pooled(loss) else options


def _estimate(study: Finished, loss: Loss, record: Record, *, reason: str | None) -> Estimate:
    """Estimate a score that was not asked for, by the default interval of its kind."""
    asked, pool = study.outcome.study, _pooling(loss, study.options).pool
    words = risk_estimand(study.task, asked, loss, sizes_of(asked))
    if record.parts > 1 and loss.rows is None:
        words += taken_over(pooled=pool is not False and record.family in POOLED)
    level = study.estimates["risk"].level
    return estimate_risk(record, name=f"risk_{loss.name}", estimand=words, level=level, pool=pool, reason=reason)


def columns_of(metrics: Sequence[Metric]) -> dict[str, list[Any]]:
    """Return one row for each score, as columns of a tidy table."""
    rows = [one.as_dict() for one in metrics]
    names = [name for name in (rows[0] if rows else {}) if name not in ("gain", "folds")]
    columns = {name: [row[name] for row in rows] for name in names}
    for name in ("value", "low", "high", "p", "verdict"):
        gains = [row["gain"] for row in rows]
        columns["gain" if name == "value" else f"gain_{name}"] = [None if one is None else one[name] for one in gains]
    return columns
