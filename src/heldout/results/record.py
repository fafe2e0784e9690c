"""Builds the record of a study, once, from its outcome: all that a result says, as plain values and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_classifier

from heldout.base.environment import environment
from heldout.base.words import clipped
from heldout.engine.run import Outcome
from heldout.results import tables
from heldout.results.estimates import risk_name, scope_of, study_estimates
from heldout.results.extra_fits import EXTRAPOLATED, LEARNING_CURVE, counted_with, curve_of, interval_by_pairs
from heldout.results.findings import findings_of, findings_of_fits, race_values
from heldout.results.headline import facts_of
from heldout.results.no_model import against_no_model
from heldout.results.selection import FOLD_PREDICTORS
from heldout.results.study_record import CURVE, Columns, Question, StudyRecord
from heldout.results.subgroups import SUBGROUPS, subgroup_columns
from heldout.results.test_losses import TestLosses
from heldout.results.test_set_history import TestSetHistory, disclosed
from heldout.risk.estimate import Estimate
from heldout.risk.record import Record
from heldout.risk.verdict import Reference
from heldout.study.study import OUTER, SPREAD, Study

Number = TypeVar("Number", Estimate, Reference)
NO_ROWS = (
    "the losses of single rows were not kept. options=Options(rows=True) keeps them, for one more pass over the data."
)


def build_record(
    question: Question,
    outcome: Outcome,
    losses: TestLosses,
    *,
    extra: Mapping[str, Outcome],
    history: TestSetHistory | None,
    asked_by: Mapping[str, Any],
) -> StudyRecord:
    """Build the record of a finished study and its extra studies, cut to what earlier looks at its test set allow.

    `asked_by` holds the call in Python or the command that asked. Slow numbers that few users ask for are left out:
    `later_estimates` and `one_se_columns` compute them when they are shown.
    """
    task, study, options, level = question.task, outcome.study, question.options, question.level
    estimates = study_estimates(task, outcome, losses.records, level=level, options=options)
    no_model = against_no_model(task, outcome, study.reported[0], losses.records[0], level=level, options=options)
    if outcome.stream is not None and outcome.stream.kept is None:
        estimates = _without_rows(estimates, study, losses)
        no_model = _with_reason(no_model) if _lacks_rows(no_model, losses.records[0], sampled=True) else no_model
    covers = scope_of(study, task)
    made: dict[str, Columns] = {
        "folds": tables.fold_columns(study, losses),
        "choices": tables.choice_columns(outcome),
        "candidates": tables.candidate_columns(outcome),
        "predictions": tables.prediction_columns(task, outcome, losses),
        "failures": tables.failure_columns(outcome),
        "warnings": tables.warning_columns(outcome),
    }
    if question.slices:
        made[SUBGROUPS] = subgroup_columns(question, outcome, losses)
    if question.pairs is not None:
        estimates = interval_by_pairs(estimates, task, outcome, pairs=question.pairs, ran=extra[SPREAD])
        covers = scope_of(study, task, extrapolated=question.pairs.moves_risk)
    if question.curve is not None:
        made[LEARNING_CURVE], estimates[EXTRAPOLATED] = curve_of(task, study, losses, extra[CURVE], level=level)
    counted = counted_with(outcome, extra) if extra else outcome
    findings = findings_of(question, outcome, losses)
    for name, ran in extra.items():
        findings += [replace(one, message=f"In the {name}: {one.message}") for one in findings_of_fits(ran)]
    record = StudyRecord(
        estimates=estimates,
        tables=made,
        findings=tuple(findings),
        covers=covers,
        plan={
            **asdict(counted.account),
            "text": str(counted.account),
            "checks": [asdict(check) for check in counted.checks],
        },
        about={**_about(question, outcome), **asked_by},
        seconds=_seconds(outcome, extra),
        frame=task.frame,
        no_model=no_model,
    )
    return record if history is None else disclosed(record, question, losses, history)


def _without_rows(estimates: dict[str, Estimate], study: Study, losses: TestLosses) -> dict[str, Estimate]:
    """Add a reason to each estimate that lacks an interval because the rows of the stream were not kept."""
    names = [risk_name(number, loss) for number, loss in enumerate(study.reported)]
    of_rows = {**dict(zip(names, losses.records, strict=True)), FOLD_PREDICTORS: losses.records[0]}
    lacking = {
        name: _with_reason(estimate)
        for name, estimate in estimates.items()
        if name in of_rows and _lacks_rows(estimate, of_rows[name], sampled=name != FOLD_PREDICTORS)
    }
    return {**estimates, **lacking}


def _lacks_rows(number: Estimate | Reference, record: Record, *, sampled: bool) -> bool:
    """Return whether the interval is missing because no row losses are known; if `sampled`, a sample is enough."""
    known = record.row_losses is not None or (sampled and record.sample is not None)
    return number.value is not None and number.low is None and not known


def _with_reason(number: Number) -> Number:
    return replace(number, reason=f"No interval: {NO_ROWS}")


def _about(question: Question, outcome: Outcome) -> dict[str, Any]:
    """Describe the learner, the data, the splits and the library versions as plain values."""
    task, study = question.task, outcome.study
    outer, families = study.splits[OUTER], study.search.families
    race = race_values(outcome)
    roles = {"groups": task.groups, "time": task.time, "sample_weight": task.weight, "strata": task.strata}
    stream = outcome.stream is not None and outcome.stream.kept is None
    return {
        "name": study.name,
        "target": task.target,
        "source": task.source,
        "read_as": task.read_as or None,
        "learner": families[0].name if len(families) == 1 else "families",
        "families": [family.name for family in families],
        "estimators": [clipped(" ".join(repr(family.estimator).split()), 498) for family in families],
        "parameters": {family.name: list(family.candidates.always) for family in families},
        "classification": bool(is_classifier(families[0].estimator)),
        "tuned": study.search.tuned,
        "candidates": study.search.size,
        "losses": [loss.name for loss in study.reported],
        **({} if race is None else {"race": race}),
        "positive": question.positive,
        "chosen_by": study.search.losses[0].name if study.search.tuned else None,
        "test": outer.recipe.words,
        "validation": outcome.account.inner,
        "splits_fingerprint": outer.fingerprint,
        "rows": task.size,
        "columns": task.n_columns,
        "roles": [name for name, role in roles.items() if role is not None],
        "classes": None if task.classes is None else np.asarray(task.classes).tolist(),
        "fingerprint": task.fingerprint,
        "seed": question.seed,
        "level": question.level,
        "environment": environment(),
        **facts_of(task, outcome),
        **({"no_predictions": f"This is a study of a stream: {NO_ROWS}"} if stream else {}),
    }


def _seconds(outcome: Outcome, extra: Mapping[str, Outcome]) -> dict[str, Any]:
    panels = outcome.tables.panels.values()
    return {
        "total": outcome.seconds + sum(ran.seconds for ran in extra.values()),
        "fit_seconds": float(sum(table.fit_seconds.sum() for table in panels)),
        "score_seconds": float(sum(table.score_seconds.sum() for table in panels)),
        "spent": tables.seconds_spent(outcome),
    }
