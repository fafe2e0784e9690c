"""Extra studies: the additional fits that an interval or a learning curve needs. They run after the main study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from heldout.base.errors import Argument, OptionError, Sentence, Splitter
from heldout.base.options import Options, plan_settings
from heldout.engine.run import Outcome
from heldout.losses import Loss
from heldout.planner.account import Account, account_for, merge_accounts, with_race
from heldout.planner.checked_cells import foreseen_checks
from heldout.planner.passes import make_plan, stand_in
from heldout.planner.plan import Plan
from heldout.planner.start_races import start_races
from heldout.results.estimates import risk_name, size_at_all_rows
from heldout.results.test_losses import TestLosses, read_test_losses, shown_estimate
from heldout.risk.estimands import Estimand, Subject, learner_risk
from heldout.risk.estimate import Estimate, EstimateInfo
from heldout.risk.estimate_risk import WITH_FITS, estimate_risk, record_value
from heldout.risk.intervals.bht import BHT_METHOD, RATIO_METHOD, Repetition, bht, ratio
from heldout.risk.learning_curve import FEWEST_SIZES, fit_power_law
from heldout.risk.record import Floats, Record
from heldout.splits import Given, KFold, SharedBlocks
from heldout.splits.learning_curve import smaller_training_sets
from heldout.study.study import BLOCKS, OUTER, VALIDATION, Study, pose_evaluation, pose_pairs_of_blocks, without
from heldout.task import Task

BHT, RATIO = WITH_FITS
METHOD_NAMES = {BHT: BHT_METHOD, RATIO: RATIO_METHOD}
FAILED = "a fit failed that the interval needs, and a mean over the others would mislead"
CROSS_VALIDATION = "cross_validation"
MOST_NUMBERS = 1 << 27  # row numbers in all, a gigabyte: leave-one-out would need n² for each training size
MISSING = (float("nan"), None)  # the losses of a part that failed
LEARNING_CURVE, EXTRAPOLATED = "learning_curve", "extrapolated"
SHARES = (0.2, 0.4, 0.6, 0.8)


def counted_with(outcome: Outcome, extra: Mapping[str, Outcome]) -> Outcome:
    """Add the plans and the checks of the extra studies to the outcome of the main study."""
    for name, ran in extra.items():
        account = merge_accounts(outcome.account, ran.account, words=name)
        outcome = replace(outcome, account=account, checks=(*outcome.checks, *ran.checks))
    return outcome


def plans_of(study: Study, task: Task, **settings: Any) -> tuple[Plan, Plan]:
    """Plan the first stage of a study, and the second as if the chosen candidate costs the average."""
    ready = frozenset(panel.key for panel in study.panels if panel.candidates is not None)
    first = make_plan(study, task, done=frozenset(), **settings)
    return first, make_plan(stand_in(study), task, done=ready, **settings)


def account_of(study: Study, task: Task, options: Options) -> Account:
    """Return the account of a study: its plan and cost, before anything is fitted."""
    plan, later = plans_of(study, task, **plan_settings(options))
    account = with_race(account_for(study, task, plan, later), start_races(study, task, plan))
    return replace(account, checked=foreseen_checks(study, task, (plan, later)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairsOfBlocks:
    """Holds the extra study that an interval needs: fits that leave out one or two blocks of rows."""

    method: str  # one of WITH_FITS
    study: Study
    known: int  # how many blocks the main study already answers

    @property
    def moves_risk(self) -> bool:
        """Whether the estimate becomes that of the risk for training on all rows, which replaces the plain one."""
        return self.method == BHT


def pose_pairs(study: Study, task: Task, test: Any, *, options: Options, seed: int) -> PairsOfBlocks | None:
    """Pose the extra study of the interval method; None if none needs one. Raise OptionError if it cannot be had."""
    method = options.interval
    if method not in WITH_FITS:
        return None
    reason = _refusal(study, task, test, options)
    if reason is not None:
        raise OptionError(
            Sentence("{} ({}) cannot be had here: {}.", Argument("interval", method), METHOD_NAMES[method], reason)
        )
    outer = study.splits[OUTER]
    repeats = max(options.repetitions, outer.recipe.repeats)
    # The same seed draws the same first blocks, so that the answers of the main study are used again.
    blocks = (
        outer
        if repeats == outer.recipe.repeats
        else replace(test, repeats=repeats).draw(task, task.all_rows, seed=seed)
    )
    posed = pose_pairs_of_blocks(study.search, task, blocks, known=len(outer), reported=study.reported)
    return PairsOfBlocks(method=method, study=replace(posed, race=study.race), known=len(outer))


def _refusal(study: Study, task: Task, test: Any, options: Options) -> str | Sentence | None:
    outer, search, loss = study.splits[OUTER], study.search, study.reported[0]
    rows_each = int(outer.held_sizes.min())
    named = len(outer.rows) * len(outer) // outer.recipe.repeats * max(options.repetitions, outer.recipe.repeats)
    k_fold = Splitter("KFold", "…")
    reasons: dict[str | Sentence, Any] = {
        Sentence("it needs {}, and the test is {!r}", Argument("test", k_fold), test): not isinstance(test, KFold),
        f"{named:,} held-out rows would have to be named; use fewer blocks": named > MOST_NUMBERS,
        "it needs at least 3 blocks": isinstance(test, KFold) and test.k < 3,
        "it needs at least two rows in each block": rows_each < 2,
        "the blocks follow each other in time": outer.recipe.timed or task.time is not None,
        "the rows come in groups, and it counts rows as independent": outer.recipe.grouped,
        "the rows have weights, and it counts each row once": task.weight is not None,
        f"{_whole_sets(loss)}, and it needs the losses of single rows": loss.rows is None,
        Sentence("{} asks for another value", Argument("pool", True)): options.pool and options.interval == BHT,
        Sentence(
            "SharedBlocks has no blocks inside a training set without two of them; use {}",
            Argument("validation", k_fold),
        ): isinstance(search.validation, SharedBlocks),
        f"folds that are not shuffled cannot be drawn {options.repetitions} times; use repetitions=1": isinstance(
            test, KFold
        )
        and test.shuffle is False
        and options.repetitions > 1,
    }
    return next((words for words, holds in reasons.items() if holds), None)


def interval_by_pairs(
    estimates: Mapping[str, Estimate], task: Task, outcome: Outcome, *, pairs: PairsOfBlocks, ran: Outcome
) -> dict[str, Estimate]:
    """Put the interval into the estimates of a study; `ran` is the outcome of the extra fits.

    The method of Bates, Hastie and Tibshirani estimates the risk for training on all rows, so the plain estimate is
    kept under another name. The ratio of jackknives gives an interval around the plain estimate.
    """
    study = outcome.study
    reported = {risk_name(number, loss): (number, loss) for number, loss in enumerate(study.reported)}
    changed: dict[str, Estimate] = {}
    for name, plain in estimates.items():
        if name not in reported:
            changed[name] = plain
            continue
        number, loss = reported[name]
        repetitions = None if loss.rows is None else _repetitions(outcome, ran, pairs.known, number)
        if pairs.moves_risk:
            changed[name] = _by_bht(plain, loss, repetitions, task=task, study=study)
            beside = CROSS_VALIDATION if number == 0 else f"{CROSS_VALIDATION}_{plain.loss}"
            changed[beside] = replace(plain, name=beside)
        else:
            changed[name] = _by_ratio(plain, loss, repetitions)
    return changed


def _by_bht(plain: Estimate, loss: Loss, repetitions: list[Repetition] | None, *, task: Task, study: Study) -> Estimate:
    """Return the estimate for training on all rows, which replaces the plain one."""
    size = size_at_all_rows(task, study)
    words = learner_risk(loss.name, train_size=size, tuned=study.search.tuned, sign=loss.sign)
    about = EstimateInfo(name=plain.name, estimand=words, level=plain.level, train_size=size, n=task.size)
    if repetitions is not None:
        made = bht(repetitions, level=plain.level)
        return shown_estimate(loss, about, made.centre, made.interval)
    reason = FAILED if loss.rows else f"{_whole_sets(loss)}, and this interval needs the losses of single rows"
    return shown_estimate(loss, replace(about, reason=f"No value: {reason}."), None)


def _by_ratio(plain: Estimate, loss: Loss, repetitions: list[Repetition] | None) -> Estimate:
    """Return the plain estimate with the interval of the ratio of jackknives."""
    if plain.value is None:
        return plain
    if loss.rows is None:
        reason = f"The {RATIO_METHOD} was asked for, but {_whole_sets(loss)}; so this is {plain.method}."
        return plain if plain.method is None else replace(plain, reason=reason)
    about = EstimateInfo(name=plain.name, estimand=plain.estimand, level=plain.level, train_size=plain.sizes, n=plain.n)
    value = loss.sign * plain.value
    if repetitions is None:
        return shown_estimate(loss, replace(about, reason=f"No interval: {FAILED}."), value)
    interval = ratio(repetitions, value=value, low=loss.low, high=loss.high, level=plain.level)
    return shown_estimate(loss, about, value, interval)


def _whole_sets(loss: Loss) -> str:
    return f"{loss.name!r} belongs to whole sets"


def _repetitions(outcome: Outcome, ran: Outcome, known: int, number: int) -> list[Repetition] | None:
    """Collect the losses of each repetition from the main study and the extra fits; None if a fit failed.

    The main study answers the first `known` blocks.
    """
    blocks = ran.study.splits[BLOCKS]
    k = len(blocks) // blocks.recipe.repeats
    losses = {**_losses(outcome, number), **_losses(ran, number)}
    repetitions = []
    for start in range(0, len(blocks), k):
        parts = range(start, start + k)
        folds = [losses.get((OUTER if part < known else BLOCKS, part), MISSING)[1] for part in parts]
        inner = np.zeros((k, k))
        for i in range(k):
            others = [losses.get((without(start + i), place), MISSING)[0] for place in range(k - 1)]
            inner[i, np.arange(k) != i] = others
        complete = tuple(fold for fold in folds if fold is not None)
        if len(complete) < k or not np.isfinite(inner).all():
            return None
        repetitions.append(Repetition(folds=complete, inner=inner))
    return repetitions


def _losses(outcome: Outcome, number: int) -> dict[tuple[str, int], tuple[float, Floats | None]]:
    """Return the mean and the row losses of one reported loss, by splits and part."""
    losses: dict[tuple[str, int], tuple[float, Floats | None]] = {}
    for panel in outcome.study.panels:
        table = outcome.tables.panels.get(panel.key)
        if panel.level == VALIDATION or table is None or not len(table.candidates):
            continue
        for place, part in enumerate(table.parts):
            rows = table.row_losses(table.candidates[0], part)
            mean = float(table.losses[0, place, number])
            losses[panel.splits, part] = mean, None if rows is None else rows[number]
    return losses


def pose_curve(study: Study, task: Task, sizes: Any, *, seed: int) -> Study | None:
    """Pose the study at smaller training sizes; None if not asked for. Raise OptionError if it cannot be had."""
    if sizes is None or sizes is False:
        return None
    shares: Sequence[float] = SHARES if sizes is True else tuple(sorted(sizes))
    search = study.search
    if isinstance(search.families[0].estimator, FrozenEstimator):
        raise OptionError("A predictor that came fitted has no learning curve: nothing is trained.")
    if isinstance(search.validation, SharedBlocks | Given):
        raise OptionError(
            f"A learning curve draws validation rows inside smaller training sets, and {search.validation!r} cannot. "
            "Use validation=KFold(…) or Holdout(…)."
        )
    if int(study.splits[OUTER].train_sizes.sum()) * len(shares) > MOST_NUMBERS:
        raise OptionError(
            f"A learning curve over {len(study.splits[OUTER]):,} test parts would name too many training rows. "
            "Use test=KFold(…) with fewer parts."
        )
    outer = smaller_training_sets(task, study.splits[OUTER], shares, seed=seed)
    return pose_evaluation(search, task, outer, reported=study.reported[:1], race=study.race)


def curve_of(
    task: Task, study: Study, losses: TestLosses, curve: Outcome, *, level: float
) -> tuple[dict[str, Any], Estimate]:
    """Return the learning curve as a table, and the estimate extrapolated to training on all rows.

    `losses` are those of the main study, which gives the last point of the curve without a fit. Each smaller size is
    estimated as a study of its own.
    """
    whole = replace(losses.records[0], seed=0)
    every = read_test_losses(task, curve).records[0]
    records = [*(_cut(every, whole, start) for start in range(0, every.parts, whole.parts)), whole]
    points = [
        estimate_risk(record, name=LEARNING_CURVE, estimand=Estimand("", Subject.LEARNER), level=level)
        for record in records
    ]
    columns = {
        "size": np.array([point.train_size for point in points], dtype=np.float64),
        "estimate": np.array([point.value for point in points], dtype=np.float64),
        "low": np.array([point.low for point in points], dtype=np.float64),
        "high": np.array([point.high for point in points], dtype=np.float64),
    }
    return columns, _extrapolated(task, study, records, level)


def _cut(every: Record, whole: Record, start: int) -> Record:
    """Cut out the record of one training size, whose parts begin at `start`; held-out rows are the main study's."""
    own = slice(start, start + whole.parts)
    return replace(
        whole,
        fold_losses=every.fold_losses[own],
        row_losses=None if every.row_losses is None else every.row_losses[own],
        train_sizes=every.train_sizes[own],
    )


def _extrapolated(task: Task, study: Study, records: Sequence[Record], level: float) -> Estimate:
    """Extrapolate the risk to all rows by an inverse power law; there is no interval, and the reason says why."""
    loss = study.reported[0]
    sizes = np.array([np.mean(record.train_sizes) for record in records])
    means = np.array([record_value(record) for record in records], dtype=np.float64)
    target = size_at_all_rows(task, study)
    about = EstimateInfo(
        name=EXTRAPOLATED,
        estimand=learner_risk(loss.name, train_size=target, tuned=study.search.tuned, sign=loss.sign)
        + ", extrapolated from smaller sizes",
        level=level,
        train_size=target,
        n=records[-1].predicted,
        reason="No interval: an inverse power law through the learning curve is a rule of thumb; it may bend.",
    )
    if len(np.unique(sizes)) < FEWEST_SIZES or not np.isfinite(means).all():
        reason = f"No value: a power law needs the losses at {FEWEST_SIZES} training sizes, and some are missing."
        return shown_estimate(loss, replace(about, reason=reason), None)
    law = fit_power_law(sizes, means, weights=_weights(records), low=loss.low)
    return shown_estimate(loss, about, law.at(target.mean))


def _weights(records: Sequence[Record]) -> Any:
    """Return inverse variances of the fold losses as weights, each variance at least a tenth of the mean variance."""
    if records[0].parts < 2:
        return None
    variances = np.array([np.var(record.fold_losses, ddof=1) for record in records])
    floor = 0.1 * float(np.mean(variances))
    return None if floor == 0 else 1 / np.maximum(variances, floor)
