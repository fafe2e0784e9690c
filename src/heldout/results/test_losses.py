"""The records of a study: what its test panels recorded of each reported loss, for estimates and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.engine.run import Outcome
from heldout.engine.streaming.rows import Tally
from heldout.engine.streaming.sampled import OfStream, SampledRows
from heldout.losses import Loss, family_of, is_pooled, parts_score, pool_score, positive_label, row_losses
from heldout.results.evidence import (
    FoldResponses,
    class_weights_of,
    fold_predictor_responses,
    held_out_responses,
    is_least_squares,
)
from heldout.results.halves import halves_of
from heldout.results.tested import tested_rows
from heldout.results.timing import goes_forward
from heldout.risk.intervals.auc import area_influences
from heldout.risk.record import Answers, Elsewhere, Floats, PooledScore, Record
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.pose import OUTER
from heldout.study.study import TEST, Study
from heldout.task import Task


def test_records(task: Task, outcome: Outcome, sizes: Rows, *, seed: int = 0) -> list[Record]:  # noqa: PT028
    """What the test panels recorded of every reported loss."""
    responses = held_out_responses(task, outcome)
    return [
        _record_of(task, outcome, number, sizes, responses=responses, seed=seed)
        for number in range(len(outcome.study.reported))
    ]


def test_record(task: Task, outcome: Outcome, number: int, sizes: Rows, *, seed: int = 0) -> Record:  # noqa: PT028
    """What the test panels recorded of one reported loss, part by part."""
    return _record_of(task, outcome, number, sizes, responses=held_out_responses(task, outcome), seed=seed)


def _record_of(
    task: Task, outcome: Outcome, number: int, sizes: Rows, *, responses: tuple[Responses | None, ...], seed: int
) -> Record:
    study = outcome.study
    outer, loss = study.splits[OUTER], study.reported[number]
    folds, rows = _losses(task, outcome, number)
    known = [one for one in responses if one is not None]
    complete = tuple(known) if len(known) == len(outer) and not isinstance(outer, CellSplits) else None
    about = recipe_of(task, study, loss)
    estimator = study.search.families[0].estimator if len(study.search.families) == 1 else None
    least_squares = all(is_least_squares(family.estimator) for family in study.search.families)
    answers = None if complete is None else _answers(task, outer, loss, complete, estimator)
    asked = None if answers is None or len(outer) == 1 else fold_predictor_responses(task, outcome)
    record = Record(
        **about,
        fold_losses=folds,
        row_losses=rows,
        train_sizes=sizes,
        seed=seed,
        pooled=None if complete is None or rows is not None else pooled_score(task, outer, loss, complete),
        answers=answers,
        elsewhere=_elsewhere(task, loss, asked),
        least_squares=least_squares,
    )
    return record if outcome.stream is None else _of_stream(record, outcome.stream, study, number, task)


def _of_stream(record: Record, stream: OfStream, study: Study, number: int, task: Task) -> Record:
    """The record of a stream, with that of the rows that were kept while they passed."""
    loss, value, sampled = study.reported[number], stream.pooled[number], stream.sampled
    if value is not None:
        record = replace(record, pooled=PooledScore(value=value))
    kept = stream.kept is not None and all(one.predicted for one in stream.kept)
    if stream.kept is not None and kept:
        record = replace(record, rows=tuple(np.concatenate(one.rows).astype(np.intp) for one in stream.kept))
        record = record if task.classification else _of_numbers(record, stream.kept, loss)
    if sampled is None or np.isnan(record.fold_losses).any():  # a loss that failed has none on single rows either
        return record
    sample = _of_sample(record, sampled, study, number)
    if not kept:
        return replace(record, sample=replace(sample, share=len(sampled.task) / len(task)))
    if task.classification and len(sampled.task) == len(task):  # probabilities are known of the sample alone
        record = replace(record, answers=sample.answers)
    return record if record.answers is None else replace(record, elsewhere=sample.elsewhere)


def _of_numbers(record: Record, kept: Sequence[Tally], loss: Loss) -> Record:
    """The record with what was true and predicted on all rows, and what each adds to a score of whole sets."""
    truth = [np.concatenate(one.y) for one in kept]
    predicted = [np.concatenate(one.predicted) for one in kept]
    found = pool_score(loss, truth, [Responses(predict=one) for one in predicted], None) if loss.rows is None else None
    if found is not None and found.influence is not None and record.pooled is not None:
        influence = tuple(np.split(found.influence, np.cumsum(record.held_sizes)[:-1]))
        record = replace(record, pooled=replace(record.pooled, influence=influence))
    return replace(record, answers=Answers(truth=_floats(truth), predicted=_floats(predicted)))


def _of_sample(record: Record, sampled: SampledRows, study: Study, number: int) -> Record:
    """The record of some of the rows, with all that their predictors answered."""
    loss, task, outer = study.reported[number], sampled.task, sampled.outer
    estimator = study.search.families[0].estimator if len(study.search.families) == 1 else None
    rows = tuple(outer.held_rows(part) for part in range(len(outer)))
    losses = [row_losses(loss, task.y[held], one) for held, one in zip(rows, sampled.held, strict=True)]
    known = tuple(one for one in losses if one is not None)
    asked = [
        FoldResponses(part, sampled.asked, one, np.isin(sampled.asked, outer.train_rows(part)))
        for part, one in sampled.everywhere.items()
    ]
    return replace(
        record,
        row_losses=known if len(known) == len(losses) else None,
        rows=rows,
        held_sizes=outer.held_sizes,
        pooled=pooled_score(task, outer, loss, sampled.held) if loss.rows is None else None,
        answers=_answers(task, outer, loss, sampled.held, estimator),
        elsewhere=_elsewhere(task, loss, asked),
    )


def blank_record(task: Task, study: Study, number: int, sizes: Rows, *, rows: bool = True) -> Record:
    """A record before any fit, with NaN for each loss: it tells which intervals the recipe allows."""
    outer, loss = study.splits[OUTER], study.reported[number]
    unknown = tuple(np.full(size, np.nan) for size in outer.held_sizes)
    kept = None if loss.rows is None or not rows else unknown
    folds = np.full(len(outer), np.nan)
    record = Record(**recipe_of(task, study, loss), fold_losses=folds, row_losses=kept, train_sizes=sizes)
    return record if rows or loss.rows is None else replace(record, sample=replace(record, row_losses=unknown))


def recipe_of(task: Task, study: Study, loss: Loss) -> dict[str, Any]:
    """What a record says of the loss, and of how its parts came about."""
    outer = study.splits[OUTER]
    parts, recipe = range(len(outer)), outer.recipe
    weight, groups = task.weight, task.groups
    timed = task.time is not None or goes_forward(outer)
    return {
        "loss": loss.name,
        "sign": loss.sign,
        "low": loss.low,
        "high": loss.high,
        "weights": None if weight is None else tuple(weight[outer.held_rows(p)] for p in parts),
        "groups": None if groups is None else tuple(groups[outer.held_rows(p)] for p in parts),
        "rows": None if isinstance(outer, CellSplits) else tuple(outer.held_rows(p) for p in parts),
        "order": _order(task, outer) if timed else None,
        "halves": halves_of(outer),
        "held_sizes": outer.held_sizes,
        "kind": recipe.kind,
        "stratified": recipe.stratified,
        "grouped": recipe.grouped,
        "timed": timed,
        "drawn": recipe.drawn,
        "partition": recipe.partition,
        "repeats": recipe.repeats,
        "family": _family(loss, task),
    }


def _order(task: Task, outer: Splits) -> tuple[Rows, ...]:
    """The place of each held-out row in time; rows are in order where no time was declared."""
    places = task.all_rows if task.time is None else np.unique(task.time, return_inverse=True)[1].astype(np.intp)
    return tuple(places[outer.held_rows(part)] for part in range(len(outer)))


def _family(loss: Loss, task: Task) -> str:
    """The rule of intervals; of several targets all that is known is whether the score is a function of means."""
    if task.y.ndim == 1:
        return family_of(loss) if _fits(loss, task) else "other"
    return "means" if is_pooled(loss) else "other"


def _fits(loss: Loss, task: Task) -> bool:
    """The area under a curve has rules for two classes."""
    return family_of(loss) != "auc" or (task.classes is not None and len(task.classes) == 2)


def _losses(
    task: Task, outcome: Outcome, number: int
) -> tuple[NDArray[np.float64], tuple[NDArray[np.float64], ...] | None]:
    """The loss of each part, and of each row where every part has them."""
    study = outcome.study
    count = len(study.splits[OUTER])
    folds = np.full(count, np.nan)
    rows: list[NDArray[np.float64] | None] = [None] * count
    for panel in study.of_level(TEST):
        table = outcome.tables.panels.get(panel.key)
        if table is None or len(table.candidates) == 0:
            continue
        for place, part in enumerate(table.parts):
            folds[part] = table.losses[0, place, number]
            rows[part] = tested_rows(task, study, table, part)[number]
    complete = [one for one in rows if one is not None]
    return folds, tuple(complete) if len(complete) == count else None


def pooled_score(task: Task, outer: Splits, loss: Loss, responses: Sequence[Responses]) -> PooledScore | None:
    """A score of whole sets of all held-out rows together, with what each row adds to it; None where it has none."""
    parts = range(len(outer))
    y = [task.y[outer.held_rows(part)] for part in parts]
    weights = None if task.weight is None else [task.weight[outer.held_rows(part)] for part in parts]
    if loss.asks_predictor or not _fits(loss, task):
        return None
    if family_of(loss) == "auc":
        return _mean_area(task, y, responses, weights)
    found = (pool_score if is_pooled(loss) else parts_score)(loss, y, responses, weights)
    if found is None:
        return None
    cuts = outer.held_cuts[1:-1]
    return PooledScore(
        value=found.value,
        influence=None if found.influence is None else tuple(np.split(found.influence, cuts)),
        blocks=None if found.blocks is None else tuple(np.split(found.blocks, cuts)),
    )


def _mean_area(
    task: Task, y: Sequence[NDArray[Any]], responses: Sequence[Responses], weights: Sequence[Floats] | None
) -> PooledScore | None:
    """The mean of the areas under the ROC curve of the parts, and what each row adds to it."""
    classes = np.asarray(task.classes)
    scores, positive = _ranking(responses, classes), _floats([one == classes[1] for one in y])
    masses = [np.ones(len(one)) for one in y] if weights is None else weights
    both = all(mass[one == code].any() for mass, one in zip(masses, positive, strict=True) for code in (0, 1))
    if scores is None or not both:
        return None
    area, influence = area_influences(scores, positive, weights, grouped=task.groups is not None)
    return PooledScore(value=-area, influence=tuple(-part for part in influence))


def _answers(task: Task, outer: Splits, loss: Loss, responses: Sequence[Responses], estimator: Any) -> Answers | None:
    """What was true and predicted, as numbers or codes; None for several targets."""
    truth = [task.y[outer.held_rows(part)] for part in range(len(outer))]
    predicted = [one.predict for one in responses]
    if any(one is None or one.ndim != 1 for one in predicted) or task.y.ndim != 1:
        return None
    if task.classes is None:
        return Answers(truth=_floats(truth), predicted=_floats(predicted))
    classes = np.asarray(task.classes)
    coded = [_codes(classes, one) for one in predicted]
    if any(one is None for one in coded):
        return None
    label = positive_label(loss)
    two, ranked = len(classes) == 2, family_of(loss) == "auc"
    found = np.flatnonzero(classes == label) if two and not ranked else np.array([1])  # scores rank the second class
    positive = int(found[0]) if len(found) else 1
    return Answers(
        truth=tuple(one for one in (_codes(classes, part) for part in truth) if one is not None),
        predicted=tuple(one for one in coded if one is not None),
        classes=len(classes),
        positive=positive,
        probability=_column(responses, "predict_proba", classes, positive) if two else None,
        scores=_ranking(responses, classes) if two and ranked else None,
        class_weights=None if estimator is None else class_weights_of(estimator, task.y),
    )


def _elsewhere(task: Task, loss: Loss, found: Sequence[FoldResponses] | None) -> Elsewhere | None:
    """The fold predictors on the same rows."""
    if not found or any(one.responses.predict is None or one.responses.predict.ndim != 1 for one in found):
        return None
    rows = found[0].rows
    y = task.y[rows]
    classes = None if task.classes is None else np.asarray(task.classes)
    predicted = [_as_numbers(classes, one.responses.predict) for one in found]
    truth = _as_numbers(classes, y)
    if truth is None or any(one is None for one in predicted):
        return None
    losses: Floats | None = None
    if loss.rows is not None:
        try:
            losses = np.stack([np.asarray(row_losses(loss, y, one.responses)) for one in found])
        except Exception:  # a response that this loss needs was not asked for on these rows
            losses = None
    return Elsewhere(
        trained=np.stack([one.trained for one in found]),
        losses=losses,
        predicted=np.stack([one for one in predicted if one is not None]),
        truth=truth,
    )


def _as_numbers(classes: NDArray[Any] | None, values: Any) -> Floats | None:
    return np.asarray(values, dtype=np.float64) if classes is None else _codes(classes, values)


def _floats(parts: Sequence[Any]) -> tuple[Floats, ...]:
    return tuple(np.asarray(part, dtype=np.float64) for part in parts)


def _codes(classes: NDArray[Any], labels: Any) -> Floats | None:
    """The place of each label among the sorted classes; None where one is none of them."""
    place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return place.astype(np.float64) if np.array_equal(classes[place], labels) else None


def _column(
    responses: Sequence[Responses], method: str, classes: NDArray[Any], positive: int
) -> tuple[Floats, ...] | None:
    """The probability of one class in every part; None where a predictor was not asked, or lacks a class."""
    found = []
    for one in responses:
        answer = getattr(one, method)
        if answer is None or answer.ndim != 2 or one.classes is None or len(one.classes) != answer.shape[1]:
            return None
        place = np.flatnonzero(np.asarray(one.classes) == classes[positive])
        if len(place) != 1:
            return None
        found.append(np.asarray(answer[:, place[0]], dtype=np.float64))
    return tuple(found)


def _ranking(responses: Sequence[Responses], classes: NDArray[Any]) -> tuple[Floats, ...] | None:
    """What the area under the curve ranks rows by: decisions where there are any, else probabilities."""
    decisions = [one.decision_function for one in responses]
    if all(one is not None and one.ndim == 1 for one in decisions):
        return _floats(decisions)
    return _column(responses, "predict_proba", classes, 1)
