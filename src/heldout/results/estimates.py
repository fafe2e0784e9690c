"""Every estimate a study affords, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heldout.base.options import Options
from heldout.engine.run import MOST_ROWS_INSIDE, Outcome
from heldout.losses import Loss
from heldout.results.corrections import tuning_estimates
from heldout.results.selection import FOLD_PREDICTORS, NOT_MADE, Selection, fold_predictors_estimate, waiting_estimates
from heldout.results.test_losses import blank_record, trained_sizes
from heldout.risk.choose_interval import WITH_FITS, check_asked
from heldout.risk.estimands import Estimand, Sizes, conditions, estimand_of, fold_predictors_risk, taken_over
from heldout.risk.estimate import Estimate
from heldout.risk.estimate_risk import estimate_risk
from heldout.risk.record import POOLED, Record
from heldout.splits.drawn import Splits
from heldout.study.study import OUTER, Study
from heldout.task import Task

RISK = "risk"


def study_estimates(
    task: Task, outcome: Outcome, records: Sequence[Record], *, level: float, options: Options
) -> dict[str, Estimate]:
    """The risk for each reported loss; beside it the optimistic number and the fold predictors' mean risk.

    An interval method that was asked for is that of the risk. Of other losses it is too where it suits them;
    otherwise they get the one that suits, and their `reason` says so.
    """
    pool, asked = options.pool, None if options.interval in WITH_FITS else options.interval
    study = outcome.study
    outer = study.splits[OUTER]
    trained = sizes_of(study)
    found: dict[str, Estimate] = {}
    for number, (loss, record) in enumerate(zip(study.reported, records, strict=True)):
        name = risk_name(number, loss)
        words = risk_estimand(task, study, loss)
        if record.parts > 1 and loss.rows is None:
            words += taken_over(pooled=pool is not False and record.family in POOLED)
        found[name] = estimate_risk(
            record, name=name, estimand=words, level=level, interval=asked, strict=number == 0, pool=pool
        )
        if number == 0 and record.parts > 1 and trained is not None:
            words = fold_predictors_risk(loss.name, train_size=trained, parts=record.parts, sign=loss.sign)
            words += conditions(stratified=keeps_classes(task, outer), weighted=task.weight is not None)
            found[FOLD_PREDICTORS] = fold_predictors_estimate(record, words, level=level, pool=pool, asked=asked)
    if trained is not None and trained.fit is not None:
        found = {name: replace(one, fit_size=trained.fit) for name, one in found.items()}
    if study.search.tuned and len(outer) > 1:
        found |= waiting_estimates(study, NOT_MADE, level=level)
    return _incomplete(found, outcome)


def sizes_of(study: Study) -> Sizes | None:
    """The training sizes of the test parts; None for a predictor that came fitted."""
    return Sizes.of(trained_sizes(study), fit=fit_size(study))


def risk_estimand(task: Task, study: Study, loss: Loss) -> Estimand:
    """What the test losses of a study estimate."""
    outer = study.splits[OUTER]
    return estimand_of(
        outer.recipe.kind,
        parts=len(outer),
        tuned=study.search.tuned,
        train_size=sizes_of(study),
        loss=loss.name,
        sign=loss.sign,
        stratified=keeps_classes(task, outer),
        weighted=task.weight is not None,
    )


def later_estimates(task: Task, outcome: Outcome, *, level: float) -> dict[str, Estimate]:
    """What the choice inside a single test set's training rows says: the best validation number and its corrections.

    They are made when they are shown, since drawing rows for BBC-CV may take as long as a small study.
    """
    study = outcome.study
    if not study.search.tuned or len(study.splits[OUTER]) > 1:
        return {}
    selection = Selection.of(task, outcome, level=level, most_rows=MOST_ROWS_INSIDE)
    return _incomplete(tuning_estimates(selection), outcome)


def _incomplete(estimates: dict[str, Estimate], outcome: Outcome) -> dict[str, Estimate]:
    """The estimates of a study that was stopped say so where they have no value."""
    if outcome.stopped is None:
        return estimates
    reason = f"Incomplete: {outcome.stopped[0].lower()}{outcome.stopped[1:]}."
    return {name: replace(one, reason=reason) if one.value is None else one for name, one in estimates.items()}


def risk_name(number: int, loss: Loss) -> str:
    """The name of the estimate of a reported loss: the first is the risk."""
    return RISK if number == 0 else f"{RISK}_{loss.name}"


def check_interval(task: Task, study: Study, interval: str | None, *, rows: bool = True) -> None:
    """Refuse an interval method that is unknown, or that the recipe and the first loss rule out, before any fit.

    `rows` says whether the losses of single rows will be known.
    """
    if interval is None or interval in WITH_FITS:
        return
    check_asked(blank_record(task, study, 0, rows=rows), interval)


def fit_size(study: Study) -> float | None:
    """How many rows a single fit of the tested predictor uses on average, where the learner holds some of them out."""
    if not study.search.tuned or study.search.final == "retrain":
        return None
    return float(np.mean([np.mean(study.validation_splits(choice).train_sizes) for choice in study.choices]))


def size_at_all_rows(task: Task, study: Study) -> Sizes:
    """All rows, and how many of them a single fit would use where development rows stay out."""
    rows, fit = float(task.size), fit_size(study)
    share = None if fit is None else fit / float(np.mean(study.splits[OUTER].train_sizes))
    return Sizes(rows, rows, rows, None if share is None else rows * share)


def keeps_classes(task: Task, outer: Splits) -> bool:
    """Whether every part has the class shares of the sample, so that the risk is meant at these."""
    return outer.recipe.stratified and task.classes is not None and task.strata is None
