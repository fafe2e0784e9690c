"""Reads the test losses of a study, once, into the records that estimates, intervals and tables need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.engine.run import Outcome
from heldout.engine.stream_passes import Tally
from heldout.engine.stream_sample import SampledRows
from heldout.losses import AREA, Loss, family_of, is_pooled, parts_score, pool_score, row_losses
from heldout.results import evidence
from heldout.risk.estimate import Estimate, EstimateInfo, Interval, LossRange, user_estimate
from heldout.risk.intervals.auc import area_influences
from heldout.risk.intervals.method import NO_WIDTH, has_no_width
from heldout.risk.record import Answers, Floats, PooledScore, Record
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.answers import Rows as RowLosses
from heldout.study.study import OUTER, TEST, Study
from heldout.task import Task

RANKING = ("predict_proba", "decision_function")  # the responses that AUC of several classes ranks rows by


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestedPart:
    """Holds the results of one test part: for each reported loss its value and its row losses, and the responses."""

    __test__: ClassVar[bool] = False  # no test, whatever its name begins with

    part: int
    losses: Floats
    row_losses: RowLosses  # one array a reported loss; None for a loss that has none
    responses: Responses | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestLosses:
    """Holds the tested parts of a study, and for each reported loss the record that its estimate needs."""

    __test__: ClassVar[bool] = False  # no test, whatever its name begins with

    parts: tuple[TestedPart, ...]
    records: tuple[Record, ...]


def read_test_losses(task: Task, outcome: Outcome, *, seed: int = 0, candidate: int = 0) -> TestLosses:
    """Read the test panels of a finished study. Intervals that draw at random derive their seeds from `seed`.

    Where several untuned candidates are tested side by side, `candidate` is the one to read.
    """
    everywhere = evidence.fold_predictor_responses(outcome)
    parts = tuple(_tested_parts(task, outcome, {one.part: one for one in everywhere}, candidate))
    records = []
    for number, loss in enumerate(outcome.study.reported):
        known = [(one.losses[number], one.row_losses[number]) for one in parts]
        record = record_of(task, outcome, loss, parts, known=known, everywhere=everywhere)
        if outcome.stream is not None:
            record = record_of_stream(record, outcome, loss, task, pooled=outcome.stream.pooled[number])
        records.append(record)
    return TestLosses(parts=parts, records=tuple(replace(record, seed=seed) for record in records))


def _tested_parts(
    task: Task, outcome: Outcome, everywhere: Mapping[int, evidence.FoldResponses], line: int
) -> Iterator[TestedPart]:
    study = outcome.study
    for panel in study.of_level(TEST):
        table = outcome.tables.panels.get(panel.key)
        if table is None or not len(table.candidates):
            continue
        for place, part in enumerate(table.parts):
            held = study.splits[OUTER].held_rows(part)
            own, rows = table.responses(table.candidates[line], part), table.row_losses(table.candidates[line], part)
            responses, losses = evidence.with_probabilities(own, everywhere.get(part), held), table.losses[line, place]
            if rows is None and responses is not None:  # no row losses were kept if one of several losses failed
                taken = zip(study.reported, np.isfinite(losses), strict=True)
                rows = tuple(row_losses(loss, task.y[held], responses) if had else None for loss, had in taken)
            rows = rows or (None,) * len(study.reported)
            yield TestedPart(part=part, losses=losses, row_losses=rows, responses=responses)


def record_of(
    task: Task,
    outcome: Outcome,
    loss: Loss,
    parts: Sequence[TestedPart],
    *,
    known: Sequence[tuple[float, Floats | None]],
    everywhere: Sequence[evidence.FoldResponses],
) -> Record:
    """Build the record of one loss, whose value and row losses are `known` for each tested part."""
    study = outcome.study
    outer = study.splits[OUTER]
    folds = np.full(outer.parts, np.nan)
    rows: list[Floats | None] = [None] * outer.parts
    for tested, (value, losses) in zip(parts, known, strict=True):
        folds[tested.part], rows[tested.part] = value, losses
    there = tuple(one for one in rows if one is not None)
    kept = there if len(there) == outer.parts else None
    answered = tuple(one.responses for one in parts if one.responses is not None)
    responses = answered if len(answered) == outer.parts and not isinstance(outer, CellSplits) else None
    told = None if responses is None else _without_recorded(responses, loss, study.everywhere.recorded)
    answers = None if told is None else evidence.answers_of(task, outer, loss, told, _only_estimator(study))
    return Record(
        **recipe_of(task, study, loss),
        fold_losses=folds,
        row_losses=kept,
        train_sizes=trained_sizes(study),
        pooled=None if responses is None or kept is not None else pooled_score(task, outer, loss, responses),
        answers=answers,
        elsewhere=None if answers is None or outer.parts == 1 else evidence.elsewhere_of(task, loss, everywhere),
        least_squares=all(evidence.is_least_squares(family.estimator) for family in study.search.families),
    )


def _without_recorded(responses: Sequence[Responses], loss: Loss, recorded: tuple[str, ...]) -> Sequence[Responses]:
    """Return the responses without those that are recorded for familiar scores alone, unless this loss needs them.

    An interval is then the same whether or not other scores are shown beside it.
    """
    if not recorded or any(recorded[0] in alternatives for alternatives in loss.methods):
        return responses
    cleared: dict[str, Any] = {recorded[0]: None}
    return [replace(one, **cleared) for one in responses]


def _only_estimator(study: Study) -> Any:
    families = study.search.families
    return families[0].estimator if len(families) == 1 else None


def record_of_stream(record: Record, outcome: Outcome, loss: Loss, task: Task, *, pooled: float | None) -> Record:
    """Add to the record of a stream what its kept rows or its sampled rows give, and its score of all rows together."""
    assert outcome.stream is not None
    stream, study = outcome.stream, outcome.study
    sampled = stream.sampled
    if pooled is not None:
        record = replace(record, pooled=PooledScore(value=pooled))
    kept = stream.kept is not None and all(one.predicted for one in stream.kept)
    if stream.kept is not None and kept:
        record = replace(record, rows=tuple(np.concatenate(one.rows).astype(np.intp) for one in stream.kept))
        record = record if task.classification else _with_numbers(record, stream.kept, loss)
    if sampled is None or np.isnan(record.fold_losses).any():  # a failed loss has no row losses either
        return record
    sample = record_of_sample(record, sampled, study, loss)
    if not kept:
        return replace(record, sample=replace(sample, share=len(sampled.task) / task.size))
    if task.classification and len(sampled.task) == task.size:  # only the sample has probabilities
        record = replace(record, answers=sample.answers)
    return record if record.answers is None else replace(record, elsewhere=sample.elsewhere)


def _with_numbers(record: Record, kept: Sequence[Tally], loss: Loss) -> Record:
    """Add the targets and predictions of all rows, and the influence of each row on a pooled score."""
    truth = [np.concatenate(one.y) for one in kept]
    predicted = [np.concatenate(one.predicted) for one in kept]
    score = pool_score(loss, truth, [Responses(predict=one) for one in predicted], None) if loss.rows is None else None
    if score is not None and score.influence is not None and record.pooled is not None:
        record = replace(record, pooled=replace(record.pooled, influence=score.influence))
    return replace(record, answers=Answers(truth=evidence.as_floats(truth), predicted=evidence.as_floats(predicted)))


def record_of_sample(record: Record, sampled: SampledRows, study: Study, loss: Loss) -> Record:
    """Build the record of the sampled rows of a stream, with all responses on them."""
    task, outer = sampled.task, sampled.outer
    rows = evidence.in_parts(outer, outer.held)
    losses = [row_losses(loss, task.y[held], one) for held, one in zip(rows, sampled.held, strict=True)]
    known = tuple(one for one in losses if one is not None)
    everywhere = [
        evidence.FoldResponses(part, sampled.asked, one, np.isin(sampled.asked, outer.train_rows(part)))
        for part, one in sampled.everywhere.items()
    ]
    return replace(
        record,
        row_losses=known if len(known) == len(losses) else None,
        rows=rows,
        held_sizes=outer.held_sizes,
        pooled=pooled_score(task, outer, loss, sampled.held) if loss.rows is None else None,
        answers=evidence.answers_of(task, outer, loss, sampled.held, _only_estimator(study)),
        elsewhere=evidence.elsewhere_of(task, loss, everywhere),
    )


def blank_record(task: Task, study: Study, number: int, *, rows: bool = True) -> Record:
    """Return a record with NaN for each loss, before any fit, to check which intervals are possible."""
    outer, loss = study.splits[OUTER], study.reported[number]
    unknown = tuple(np.full(size, np.nan) for size in outer.held_sizes)
    kept = None if loss.rows is None or not rows else unknown
    folds, sizes = np.full(outer.parts, np.nan), trained_sizes(study)
    record = Record(**recipe_of(task, study, loss), fold_losses=folds, row_losses=kept, train_sizes=sizes)
    return record if rows or loss.rows is None else replace(record, sample=replace(record, row_losses=unknown))


def shown_estimate(loss: Loss, about: EstimateInfo, value: float | None, interval: Interval | None = None) -> Estimate:
    """Return an estimate in the user's own sign. An interval of zero width is left out, with the reason."""
    if interval is not None and has_no_width(interval):
        about, interval = replace(about, reason=NO_WIDTH), None
    scale = LossRange(loss=loss.name, sign=loss.sign, low=loss.low, high=loss.high)
    return user_estimate(scale, about, value=value, interval=interval)


def splits_facts(loss: Loss, splits: Splits) -> dict[str, Any]:
    """Return the fields of a record that describe the loss and the splits, without the data."""
    of_recipe = ("kind", "stratified", "grouped", "drawn", "partition", "repeats")
    return {
        "loss": loss.name,
        **{name: getattr(loss, name) for name in ("sign", "low", "high")},
        "held_sizes": splits.held_sizes,
        **{name: getattr(splits.recipe, name) for name in of_recipe},
    }


def recipe_of(task: Task, study: Study, loss: Loss) -> dict[str, Any]:
    """Return the fields of a record that describe the loss, the splits and the roles of rows."""
    outer, weight, groups = study.splits[OUTER], task.weight, task.groups
    timed = task.time is not None or goes_forward(outer)
    return {
        **splits_facts(loss, outer),
        "weights": None if weight is None else evidence.in_parts(outer, weight[outer.held]),
        "groups": None if groups is None else evidence.in_parts(outer, groups[outer.held]),
        "rows": None if isinstance(outer, CellSplits) else evidence.in_parts(outer, outer.held),
        "order": _order(task, outer) if timed else None,
        "halves": _halves(outer),
        "timed": timed,
        "family": _family(loss, task),
    }


def trained_sizes(study: Study) -> NDArray[np.intp]:
    """Return the number of training rows of each part; 0 for a predictor fitted beforehand, where it is unknown.

    A learner with final="keep" or "ensemble" fits each predictor on fewer rows: see `fit_size`.
    """
    outer = study.splits[OUTER]
    if isinstance(study.search.families[0].estimator, FrozenEstimator):
        return np.zeros(outer.parts, dtype=np.intp)
    return outer.train_sizes


def goes_forward(splits: Splits) -> bool:
    """Return whether parts are blocks of time, or there are several that each test on rows after all training rows.

    This also recognises scikit-learn's TimeSeriesSplit where no time was declared.
    """
    if splits.recipe.timed:
        return True
    if splits.train is None or len(splits) < 2:
        return False
    parts = ((splits.train_rows(part), splits.held_rows(part)) for part in range(len(splits)))
    return all(len(train) and train.max() < held.min() for train, held in parts)


def _order(task: Task, outer: Splits) -> tuple[Rows, ...]:
    """Return the rank in time of each held-out row; without declared time, its row number."""
    places = task.all_rows if task.time is None else np.unique(task.time, return_inverse=True)[1].astype(np.intp)
    return evidence.in_parts(outer, places[outer.held])


def _halves(splits: Splits) -> NDArray[np.intp] | None:
    """Return the half of the data that each part uses, for the conservative Z; halves 2i and 2i + 1 share no row.

    Successive parts that use the same rows, training and held-out together, belong to one half. Return None if the
    parts do not come in such halves; splits without named training rows never do, since each part uses all rows.
    """
    if splits.train is None or len(splits) < 2:
        return None
    numbers: list[int] = []
    halves: list[Rows] = []
    for part in range(len(splits)):
        used = np.union1d(splits.train_rows(part), splits.held_rows(part))
        if not halves or not np.array_equal(used, halves[-1]):
            halves.append(used)
        numbers.append(len(halves) - 1)
    pairs = zip(halves[::2], halves[1::2], strict=False)
    if len(halves) % 2 or any(len(np.intersect1d(first, second)) for first, second in pairs):
        return None
    return np.array(numbers, dtype=np.intp)


def _family(loss: Loss, task: Task) -> str:
    """Return the family of interval methods that suits the loss; for several targets, "means" or "other"."""
    if task.y.ndim == 1 and (family := loss.row_family) is not None:
        return family
    if task.y.ndim == 1:
        return family_of(loss) if _has_rules(loss, task) else "other"
    return "means" if is_pooled(loss) else "other"


def _has_rules(loss: Loss, task: Task) -> bool:
    """Return whether interval methods know this loss; ROC AUC needs two classes."""
    return family_of(loss) != "auc" or (task.classes is not None and len(task.classes) == 2)


def pooled_score(task: Task, outer: Splits, loss: Loss, responses: Sequence[Responses]) -> PooledScore | None:
    """Return a set score over all held-out rows, with the influence of each row; None if it cannot be computed."""
    y = evidence.in_parts(outer, task.y[outer.held])
    weights = None if task.weight is None else evidence.in_parts(outer, task.weight[outer.held])
    if loss.asks_predictor or not _has_rules(loss, task):
        return None
    if family_of(loss) == "auc":
        return _mean_area(task, y, evidence.ranking_scores(responses, np.asarray(task.classes)), weights, code=1)
    if loss.scorer is AREA:
        return _mean_area_of_rest(task, y, responses, weights)
    return (pool_score if is_pooled(loss) else parts_score)(loss, y, responses, weights)


def _mean_area(
    task: Task,
    y: Sequence[NDArray[Any]],
    scores: Sequence[Floats] | None,
    weights: Sequence[Floats] | None,
    *,
    code: int,
) -> PooledScore | None:
    """Return minus the mean ROC AUC of one class over the parts, with the influence of each row.

    None without scores, or if a part lacks the class or all others.
    """
    positive = evidence.as_floats([one == np.asarray(task.classes)[code] for one in y])
    masses = [np.ones(len(one)) for one in y] if weights is None else weights
    both = all(mass[one == side].any() for mass, one in zip(masses, positive, strict=True) for side in (0, 1))
    if scores is None or not both:
        return None
    area, influence = area_influences(scores, positive, weights, grouped=task.groups is not None)
    return PooledScore(value=-area, influence=tuple(-part for part in influence))


def _mean_area_of_rest(
    task: Task, y: Sequence[NDArray[Any]], responses: Sequence[Responses], weights: Sequence[Floats] | None
) -> PooledScore | None:
    """Return the mean over classes of minus the ROC AUC of each against all others, with the influence of each row."""
    areas = list[PooledScore]()
    for code in range(len(np.asarray(task.classes))):
        columns = (evidence.class_column(responses, np.asarray(task.classes), code, method) for method in RANKING)
        scores = next((one for one in columns if one is not None), None)
        area = _mean_area(task, y, scores, weights, code=code)
        if area is None:
            return None
        areas.append(area)
    influences = zip(*(one.influence or () for one in areas), strict=True)
    return PooledScore(
        value=float(np.mean([one.value for one in areas])),
        influence=tuple(np.mean(of_classes, axis=0) for of_classes in influences),
    )
