"""What the test panels of a study recorded, read once: the losses that estimates, intervals and tables are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.engine.run import Outcome
from heldout.engine.stream_passes import Tally
from heldout.engine.stream_sample import OfStream, SampledRows
from heldout.losses import Loss, family_of, is_pooled, parts_score, pool_score, row_losses
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestedPart:
    """What one test part recorded: the loss of the part for each reported loss, those of its rows, the responses."""

    part: int
    losses: Floats
    row_losses: RowLosses  # one array a reported loss; None for a loss that has none
    responses: Responses | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestLosses:
    """The tested parts of a study, and for each reported loss the record that its estimate is made from."""

    parts: tuple[TestedPart, ...]
    records: tuple[Record, ...]


def read_test_losses(task: Task, outcome: Outcome, *, seed: int = 0) -> TestLosses:
    """Read the test panels of a study that ran. `seed` is what intervals that draw derive their own from."""
    everywhere = evidence.fold_predictor_responses(outcome)
    parts = tuple(_tested_parts(task, outcome, {one.part: one for one in everywhere}))
    records = [
        _record(task, outcome, number, parts, everywhere=everywhere) for number in range(len(outcome.study.reported))
    ]
    return TestLosses(parts=parts, records=tuple(replace(record, seed=seed) for record in records))


def _tested_parts(
    task: Task, outcome: Outcome, everywhere: Mapping[int, evidence.FoldResponses]
) -> Iterator[TestedPart]:
    study = outcome.study
    for panel in study.of_level(TEST):
        table = outcome.tables.panels.get(panel.key)
        if table is None or not len(table.candidates):
            continue
        for place, part in enumerate(table.parts):
            held = study.splits[OUTER].held_rows(part)
            responses = evidence.with_probabilities(
                table.responses(table.candidates[0], part), everywhere.get(part), held
            )
            losses = table.losses[0, place]
            rows = table.row_losses(table.candidates[0], part)
            if rows is None and responses is not None:  # where one of several losses could not be taken none was kept
                taken = zip(study.reported, np.isfinite(losses), strict=True)
                rows = tuple(row_losses(loss, task.y[held], responses) if had else None for loss, had in taken)
            rows = rows or (None,) * len(study.reported)
            yield TestedPart(part=part, losses=losses, row_losses=rows, responses=responses)


def _record(
    task: Task,
    outcome: Outcome,
    number: int,
    parts: Sequence[TestedPart],
    *,
    everywhere: Sequence[evidence.FoldResponses],
) -> Record:
    """The record of one reported loss."""
    study = outcome.study
    outer, loss = study.splits[OUTER], study.reported[number]
    folds = np.full(len(outer), np.nan)
    rows: list[Floats | None] = [None] * len(outer)
    for tested in parts:
        folds[tested.part], rows[tested.part] = tested.losses[number], tested.row_losses[number]
    known = tuple(one for one in rows if one is not None)
    kept = known if len(known) == len(outer) else None
    answered = tuple(one.responses for one in parts if one.responses is not None)
    responses = answered if len(answered) == len(outer) and not isinstance(outer, CellSplits) else None
    answers = None if responses is None else evidence.answers_of(task, outer, loss, responses, _only_estimator(study))
    record = Record(
        **recipe_of(task, study, loss),
        fold_losses=folds,
        row_losses=kept,
        train_sizes=trained_sizes(study),
        pooled=None if responses is None or kept is not None else pooled_score(task, outer, loss, responses),
        answers=answers,
        elsewhere=None if answers is None or len(outer) == 1 else evidence.elsewhere_of(task, loss, everywhere),
        least_squares=all(evidence.is_least_squares(family.estimator) for family in study.search.families),
    )
    return record if outcome.stream is None else _record_of_stream(record, outcome.stream, study, number, task)


def _only_estimator(study: Study) -> Any:
    families = study.search.families
    return families[0].estimator if len(families) == 1 else None


def _record_of_stream(record: Record, stream: OfStream, study: Study, number: int, task: Task) -> Record:
    """The record of a stream, with that of the rows that were kept while they passed."""
    loss, value, sampled = study.reported[number], stream.pooled[number], stream.sampled
    if value is not None:
        record = replace(record, pooled=PooledScore(value=value))
    kept = stream.kept is not None and all(one.predicted for one in stream.kept)
    if stream.kept is not None and kept:
        record = replace(record, rows=tuple(np.concatenate(one.rows).astype(np.intp) for one in stream.kept))
        record = record if task.classification else _with_numbers(record, stream.kept, loss)
    if sampled is None or np.isnan(record.fold_losses).any():  # a loss that failed has none on single rows either
        return record
    sample = _record_of_sample(record, sampled, study, number)
    if not kept:
        return replace(record, sample=replace(sample, share=len(sampled.task) / task.size))
    if task.classification and len(sampled.task) == task.size:  # probabilities are known of the sample alone
        record = replace(record, answers=sample.answers)
    return record if record.answers is None else replace(record, elsewhere=sample.elsewhere)


def _with_numbers(record: Record, kept: Sequence[Tally], loss: Loss) -> Record:
    """The record with what was true and predicted on all rows, and what each adds to a score of whole sets."""
    truth = [np.concatenate(one.y) for one in kept]
    predicted = [np.concatenate(one.predicted) for one in kept]
    score = pool_score(loss, truth, [Responses(predict=one) for one in predicted], None) if loss.rows is None else None
    if score is not None and score.influence is not None and record.pooled is not None:
        record = replace(record, pooled=replace(record.pooled, influence=score.influence))
    return replace(record, answers=Answers(truth=evidence.as_floats(truth), predicted=evidence.as_floats(predicted)))


def _record_of_sample(record: Record, sampled: SampledRows, study: Study, number: int) -> Record:
    """The record of some of the rows, with all that their predictors answered."""
    loss, task, outer = study.reported[number], sampled.task, sampled.outer
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
    """A record before any fit, with NaN for each loss: it tells which intervals the recipe allows."""
    outer, loss = study.splits[OUTER], study.reported[number]
    unknown = tuple(np.full(size, np.nan) for size in outer.held_sizes)
    kept = None if loss.rows is None or not rows else unknown
    folds, sizes = np.full(len(outer), np.nan), trained_sizes(study)
    record = Record(**recipe_of(task, study, loss), fold_losses=folds, row_losses=kept, train_sizes=sizes)
    return record if rows or loss.rows is None else replace(record, sample=replace(record, row_losses=unknown))


def shown_estimate(loss: Loss, about: EstimateInfo, value: float | None, interval: Interval | None = None) -> Estimate:
    """An estimate in the user's own sign. An interval of no width is left out, and the estimate says why."""
    if interval is not None and has_no_width(interval):
        about, interval = replace(about, reason=NO_WIDTH), None
    scale = LossRange(loss=loss.name, sign=loss.sign, low=loss.low, high=loss.high)
    return user_estimate(scale, about, value=value, interval=interval)


def splits_facts(loss: Loss, splits: Splits) -> dict[str, Any]:
    """What a record says of the loss and of the splits, whatever the data."""
    of_recipe = ("kind", "stratified", "grouped", "drawn", "partition", "repeats")
    return {
        "loss": loss.name,
        **{name: getattr(loss, name) for name in ("sign", "low", "high")},
        "held_sizes": splits.held_sizes,
        **{name: getattr(splits.recipe, name) for name in of_recipe},
    }


def recipe_of(task: Task, study: Study, loss: Loss) -> dict[str, Any]:
    """What a record says of the loss, and of how its parts came about."""
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
    """How many rows the learner was given in each part; 0 for a predictor fitted beforehand on we do not know how many.

    A learner that keeps or averages predictors trains each on fewer of them: `fit_size`.
    """
    outer = study.splits[OUTER]
    if isinstance(study.search.families[0].estimator, FrozenEstimator):
        return np.zeros(len(outer), dtype=np.intp)
    return outer.train_sizes


def goes_forward(splits: Splits) -> bool:
    """Whether parts are blocks of time, or each of several holds out rows that come after all it trains on.

    So scikit-learn's TimeSeriesSplit is known for what it is, also where no time was declared.
    """
    if splits.recipe.timed:
        return True
    if splits.train is None or len(splits) < 2:
        return False
    parts = ((splits.train_rows(part), splits.held_rows(part)) for part in range(len(splits)))
    return all(len(train) and train.max() < held.min() for train, held in parts)


def _order(task: Task, outer: Splits) -> tuple[Rows, ...]:
    """The place of each held-out row in time; rows are in order where no time was declared."""
    places = task.all_rows if task.time is None else np.unique(task.time, return_inverse=True)[1].astype(np.intp)
    return evidence.in_parts(outer, places[outer.held])


def _halves(splits: Splits) -> NDArray[np.intp] | None:
    """For the conservative Z: the half that each part lies in, numbered so that 2i and 2i + 1 share no row.

    Parts that follow each other and use the same rows, training and held-out together, are of one half. None where
    parts are not such: only splits that name their training rows can be, otherwise each part uses all rows.
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
    """The rule of intervals; of several targets all that is known is whether the score is a function of means."""
    if task.y.ndim == 1:
        return family_of(loss) if _has_rules(loss, task) else "other"
    return "means" if is_pooled(loss) else "other"


def _has_rules(loss: Loss, task: Task) -> bool:
    """The area under a curve has rules for two classes."""
    return family_of(loss) != "auc" or (task.classes is not None and len(task.classes) == 2)


def pooled_score(task: Task, outer: Splits, loss: Loss, responses: Sequence[Responses]) -> PooledScore | None:
    """A score of whole sets of all held-out rows together, with what each row adds to it; None where it has none."""
    y = evidence.in_parts(outer, task.y[outer.held])
    weights = None if task.weight is None else evidence.in_parts(outer, task.weight[outer.held])
    if loss.asks_predictor or not _has_rules(loss, task):
        return None
    if family_of(loss) == "auc":
        return _mean_area(task, y, responses, weights)
    return (pool_score if is_pooled(loss) else parts_score)(loss, y, responses, weights)


def _mean_area(
    task: Task, y: Sequence[NDArray[Any]], responses: Sequence[Responses], weights: Sequence[Floats] | None
) -> PooledScore | None:
    """The mean of the areas under the ROC curve of the parts, and what each row adds to it."""
    classes = np.asarray(task.classes)
    scores, positive = evidence.ranking_scores(responses, classes), evidence.as_floats([one == classes[1] for one in y])
    masses = [np.ones(len(one)) for one in y] if weights is None else weights
    both = all(mass[one == code].any() for mass, one in zip(masses, positive, strict=True) for code in (0, 1))
    if scores is None or not both:
        return None
    area, influence = area_influences(scores, positive, weights, grouped=task.groups is not None)
    return PooledScore(value=-area, influence=tuple(-part for part in influence))
