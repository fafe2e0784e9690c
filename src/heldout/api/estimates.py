"""Every estimate a study affords, by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from heldout.base.losses import Loss
from heldout.base.rowkeys import Rows
from heldout.engine.run import Outcome
from heldout.risk.estimands import best_validation, estimand_of, family_risk, fold_predictors_risk
from heldout.risk.estimate import Estimate
from heldout.risk.estimates import estimate_risk
from heldout.risk.record import Record
from heldout.splits.drawn import Splits
from heldout.study.panels import TEST, VALIDATION, Study
from heldout.study.pose import FINAL, OUTER
from heldout.task import Task

RISK, BEST_VALIDATION, FOLD_PREDICTORS = "risk", "best_validation", "fold_predictors"


def study_estimates(task: Task, outcome: Outcome, *, level: float, pool: bool) -> dict[str, Estimate]:
    """The risk for each reported loss; beside it the optimistic number and the fold predictors' mean risk."""
    study = outcome.study
    outer = study.splits[OUTER]
    sizes = trained_sizes(study, outer)
    trained = float(np.mean(sizes)) or None  # None: fitted beforehand
    found: dict[str, Estimate] = {}
    for number, loss in enumerate(study.reported):
        record = test_record(task, outcome, number, sizes)
        name = RISK if number == 0 else f"{RISK}_{loss.name}"
        words = estimand_of(
            record.kind,
            parts=record.parts,
            tuned=study.search.tuned,
            train_size=trained,
            loss=loss.name,
            sign=loss.sign,
        )
        found[name] = estimate_risk(record, name=name, estimand=words, level=level, pool=pool)
        if number == 0 and record.parts > 1 and trained is not None:
            words = fold_predictors_risk(loss.name, train_size=trained, parts=record.parts, sign=loss.sign)
            reason = "No interval is made for the fold predictors here; see the risk for one."
            found[FOLD_PREDICTORS] = estimate_risk(
                record, name=FOLD_PREDICTORS, estimand=words, level=level, pool=pool, reason=reason
            )
    if study.search.tuned:
        found[BEST_VALIDATION] = best_validation_estimate(study, level=level)
    return found


def trained_sizes(study: Study, outer: Splits) -> NDArray[np.intp]:
    """How many rows the tested predictor of each part was trained on: fewer where development rows stay out, 0 for
    a predictor fitted beforehand on we do not know how many.
    """
    if isinstance(study.search.families[0].estimator, FrozenEstimator):
        return np.zeros(len(outer), dtype=np.intp)
    if not study.search.tuned or study.search.final == "retrain":
        return outer.train_sizes
    sizes = [int(np.mean(study.splits[f"inner/{part}"].train_sizes)) for part in range(len(outer))]
    return np.array(sizes, dtype=np.intp)


def test_record(task: Task, outcome: Outcome, number: int, sizes: Rows) -> Record:
    """What the test panels recorded of one reported loss, part by part."""
    study = outcome.study
    outer, loss = study.splits[OUTER], study.reported[number]
    folds = np.full(len(outer), np.nan)
    rows: list[NDArray[np.float64] | None] = [None] * len(outer)
    for panel in study.of_level(TEST):
        table = outcome.tables.panels.get(panel.key)
        if table is None or len(table.candidates) == 0:
            continue
        for place, part in enumerate(table.parts):
            folds[part] = table.losses[0, place, number]
            kept = table.row_losses(table.candidates[0], part)
            rows[part] = None if kept is None else kept[number]
    complete = [r for r in rows if r is not None]
    weight = task.weight
    recipe = outer.recipe
    return Record(
        loss=loss.name,
        sign=loss.sign,
        low=loss.low,
        high=loss.high,
        fold_losses=folds,
        row_losses=tuple(complete) if len(complete) == len(rows) else None,
        weights=None if weight is None else tuple(weight[outer.held_rows(p)] for p in range(len(outer))),
        train_sizes=sizes,
        held_sizes=outer.held_sizes,
        kind=recipe.kind,
        stratified=recipe.stratified,
        grouped=recipe.grouped,
        timed=recipe.timed,
        drawn=recipe.drawn,
        partition=recipe.partition,
        repeats=recipe.repeats,
    )


def best_validation_estimate(study: Study, *, level: float) -> Estimate:
    """The validation loss of what was chosen, averaged over the choices of a study: optimistic, and marked so."""
    loss: Loss = study.search.losses[0]
    inner = [study.splits[study.panel(choice.panel).splits] for choice in study.choices]
    chosen = [study.chosen[choice.key].inside for choice in study.choices]
    sizes = np.array([float(np.mean(one.train_sizes)) for one in inner])
    size, candidates = float(np.mean(sizes)), len(study.search)
    single = FINAL in study.splits and len(inner[0]) == 1
    words = family_risk if single else best_validation
    record = Record(
        loss=loss.name,
        sign=loss.sign,
        low=loss.low,
        high=loss.high,
        fold_losses=np.array([np.nan if value is None else value for value in chosen]),
        row_losses=None,
        train_sizes=sizes.astype(np.intp),
        held_sizes=np.array([one.held_sizes.sum() for one in inner], dtype=np.intp),
        kind=VALIDATION,
    )
    estimand = words(loss.name, train_size=size, candidates=candidates, sign=loss.sign)
    return estimate_risk(record, name=BEST_VALIDATION, estimand=estimand, level=level, optimistic=True)
