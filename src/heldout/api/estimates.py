"""Every estimate a study affords, by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from heldout.api.recorded import blank_record, test_records
from heldout.api.selection import FOLD_PREDICTORS, NOT_HERE, Selection
from heldout.base.finding import Finding
from heldout.base.losses import Loss
from heldout.engine.run import Outcome
from heldout.risk.choose import WITH_FITS, check_asked
from heldout.risk.doubt import doubts
from heldout.risk.estimands import (
    best_validation,
    estimand_of,
    family_risk,
    fold_predictors_risk,
    learner_risk,
    predictor_risk,
)
from heldout.risk.estimate import Estimate
from heldout.risk.estimates import estimate_risk
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.bayle import BAYLE
from heldout.risk.record import Record
from heldout.splits.drawn import Splits
from heldout.study.panels import VALIDATION, Study
from heldout.study.pose import FINAL, OUTER
from heldout.task import Task

RISK, BEST_VALIDATION = "risk", "best_validation"


def study_estimates(
    task: Task,
    outcome: Outcome,
    records: Sequence[Record],
    *,
    level: float,
    pool: bool | None,
    interval: str | None = None,
) -> dict[str, Estimate]:
    """The risk for each reported loss; beside it the optimistic number and the fold predictors' mean risk.

    An `interval` method that was asked for is that of the risk. Of other losses it is too where it suits them;
    otherwise they get the one that suits, and their `reason` says so.
    """
    asked = None if interval in WITH_FITS else interval
    study = outcome.study
    outer = study.splits[OUTER]
    sizes = trained_sizes(study, outer)
    trained = float(np.mean(sizes)) or None  # None: fitted beforehand
    found: dict[str, Estimate] = {}
    for number, (loss, record) in enumerate(zip(study.reported, records, strict=True)):
        name = RISK if number == 0 else f"{RISK}_{loss.name}"
        words = estimand_of(
            record.kind,
            parts=record.parts,
            tuned=study.search.tuned,
            train_size=trained,
            loss=loss.name,
            sign=loss.sign,
        )
        found[name] = estimate_risk(
            record, name=name, estimand=words, level=level, interval=asked, strict=number == 0, pool=pool
        )
        if number == 0 and record.parts > 1 and trained is not None:
            words = fold_predictors_risk(loss.name, train_size=trained, parts=record.parts, sign=loss.sign)
            found[FOLD_PREDICTORS] = fold_predictors_estimate(record, words, level=level, pool=pool, asked=asked)
    if study.search.tuned:
        found[BEST_VALIDATION] = best_validation_estimate(study, level=level)
        found |= Selection.of(task, outcome, level=level).estimates()
    return found


def fold_predictors_estimate(
    record: Record, words: str, *, level: float, pool: bool | None, asked: str | None = None
) -> Estimate:
    """The mean risk of the fold predictors, with the interval of Bayle et al. where the recipe allows it."""
    method = asked if asked is not None and METHODS[asked].belongs_to == FOLD_PREDICTORS else BAYLE.key
    refusal = METHODS[method].refusal(record)
    return estimate_risk(
        record,
        name=FOLD_PREDICTORS,
        estimand=words,
        level=level,
        interval=method,
        pool=pool,
        reason=None if refusal is None else f"No interval: {refusal}.",
    )


def check_interval(task: Task, study: Study, interval: str | None, *, rows: bool = True) -> None:
    """Refuse an interval method that is unknown, or that the recipe and the first loss rule out, before any fit.

    `rows` says whether the losses of single rows will be known.
    """
    if interval is None or interval in WITH_FITS:
        return
    sizes = trained_sizes(study, study.splits[OUTER])
    check_asked(blank_record(task, study, 0, sizes, rows=rows), interval)


def trained_sizes(study: Study, outer: Splits) -> NDArray[np.intp]:
    """How many rows the tested predictor of each part was trained on: fewer where development rows stay out, 0 for
    a predictor fitted beforehand on we do not know how many.
    """
    if isinstance(study.search.families[0].estimator, FrozenEstimator):
        return np.zeros(len(outer), dtype=np.intp)
    if not study.search.tuned or study.search.final == "retrain":
        return outer.train_sizes
    sizes = [round(float(np.mean(study.splits[f"inner/{part}"].train_sizes))) for part in range(len(outer))]
    return np.array(sizes, dtype=np.intp)


def size_at_all_rows(task: Task, study: Study) -> float:
    """How many rows the learner trains on when it is given all of them: fewer where development rows stay out."""
    outer = study.splits[OUTER]
    return len(task) * float(np.mean(trained_sizes(study, outer)) / np.mean(outer.train_sizes))


def records_of(task: Task, outcome: Outcome, *, seed: int = 0) -> list[Record]:
    """What the test panels recorded of every reported loss."""
    study = outcome.study
    return test_records(task, outcome, trained_sizes(study, study.splits[OUTER]), seed=seed)


def interval_findings(task: Task, records: Sequence[Record]) -> list[Finding]:
    """What the losses themselves say against their intervals."""
    return [finding for record in records for finding in doubts(record, columns=task.n_columns)]


def best_validation_estimate(study: Study, *, level: float) -> Estimate:
    """The validation loss of what was chosen, averaged over the choices of a study: optimistic, and marked so.

    With a single candidate nothing was chosen, and nothing is optimistic.
    """
    loss: Loss = study.search.losses[0]
    inner = [study.splits[study.panel(choice.panel).splits] for choice in study.choices]
    chosen = [study.chosen[choice.key].inside for choice in study.choices]
    sizes = np.array([float(np.mean(one.train_sizes)) for one in inner])
    size, candidates = float(np.mean(sizes)), len(study.search)
    single = FINAL in study.splits and len(inner[0]) == 1
    record = Record(
        loss=loss.name,
        sign=loss.sign,
        low=loss.low,
        high=loss.high,
        fold_losses=np.array([np.nan if value is None else value for value in chosen]),
        row_losses=None,
        train_sizes=sizes,
        held_sizes=np.array([one.held_sizes.sum() for one in inner], dtype=np.intp),
        kind=VALIDATION,
    )
    if candidates > 1:
        words = family_risk if single else best_validation
        estimand = words(loss.name, train_size=size, candidates=candidates, sign=loss.sign)
        return estimate_risk(record, name=BEST_VALIDATION, estimand=estimand, level=level, optimistic=True)
    if single and study.search.final == "keep":
        estimand = predictor_risk(loss.name, train_size=size, sign=loss.sign)
    else:
        estimand = learner_risk(loss.name, train_size=size, tuned=False, sign=loss.sign)
    return estimate_risk(record, name=BEST_VALIDATION, estimand=estimand, level=level, reason=NOT_HERE)
