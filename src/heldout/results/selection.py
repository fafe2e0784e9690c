"""A choice that was made: its best validation number, what corrects it, and what a single development set bounds.

A choice is that of `Tuned(…).fit` on its rows, that inside the training rows of a single test set, or the choice on all
rows that stands behind the final predictor of a nested study. Nothing is fitted here.

The Tibshirani correction needs fold means; BBC-CV needs the losses of single rows, which are kept up to a size that the
engine fixes. The bounds of a development set need the mean loss of each candidate and nothing else, so that a hundred
thousand candidates take no room.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.backends.threads import one_thread
from heldout.base.rowkeys import derive
from heldout.engine.run import MOST_KEPT_ROW_LOSSES, MOST_ROWS_INSIDE, Outcome
from heldout.losses import Loss
from heldout.results.evidence import in_parts
from heldout.results.test_losses import goes_forward, shown_estimate, splits_facts
from heldout.risk.estimands import (
    Estimand,
    Sizes,
    best_validation,
    corrected_validation,
    excess_risk,
    family_risk,
    fold_predictors_risk,
    kept_predictor_risk,
    learner_risk,
    predictor_risk,
)
from heldout.risk.estimate import Estimate, EstimateInfo, Interval, LossRange, user_estimate
from heldout.risk.estimate_risk import OPTIMISTIC, estimate_risk
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.bayle import BAYLE
from heldout.risk.intervals.method import promised
from heldout.risk.record import Record
from heldout.risk.selection import Correction, Development, bbc, development_bounds, tibshirani
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.answers import PanelTable, Tables
from heldout.study.study import FINAL, Choice, Study
from heldout.task import Task

FOLD_PREDICTORS = "fold_predictors"
NOT_HERE = "No interval is made here; evaluate gives one for the learner."
BEST_VALIDATION, BEST_BBC, BEST_TT = "best_validation", "best_validation_bbc", "best_validation_tt"
ON_ALL_ROWS = (BEST_VALIDATION, BEST_BBC, BEST_TT)  # what a nested study takes from the choice on all rows
NOT_MADE = "No value: it needs the validation fits on all rows, which result.predictor or --save model.skops makes."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """The roles of the held-out rows of a choice: what its estimates need of the data."""

    groups: NDArray[np.integer] | None
    weights: NDArray[np.float64] | None
    timed: bool
    seed: int  # of what BBC-CV draws

    @classmethod
    def of(cls, task: Task, study: Study, inner: Splits) -> Held:
        return cls(
            groups=None if task.groups is None else task.groups[inner.held],
            weights=None if task.weight is None else task.weight[inner.held],
            timed=task.time is not None,
            # By targets alone: nothing else of a fit may want a pass over all columns.
            seed=derive(study.search.seed, "bbc", task.target_key(inner.rows)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """A choice that was made, without the data: all that its estimates are made from."""

    study: Study
    tables: Tables
    inner: Splits  # the validation splits
    held: Held | None  # None: a stream, whose rows are gone once they have passed
    level: float
    most_rows: int | None = None  # held-out rows up to which BBC-CV is made

    @classmethod
    def of(cls, task: Task, outcome: Outcome, *, level: float, most_rows: int | None = None) -> Selection:
        study = outcome.study
        inner = study.validation_splits(study.choices[0])
        held = None if isinstance(inner, CellSplits) else Held.of(task, study, inner)
        return cls(study=study, tables=outcome.tables, inner=inner, held=held, level=level, most_rows=most_rows)

    @property
    def choice(self) -> Choice:
        return self.study.choices[0]

    @property
    def table(self) -> PanelTable:
        return self.tables[self.choice.panel]

    @property
    def loss(self) -> Loss:
        """The loss that chooses."""
        return self.study.search.losses[0]

    @property
    def candidates(self) -> int:
        return len(self.study.search)

    @property
    def sizes(self) -> Sizes:
        """How many rows the predictors are trained on whose validation losses choose."""
        sizes = Sizes.of(self.inner.train_sizes)
        assert sizes is not None  # a validation part has training rows
        return sizes

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weights of the held-out rows, where they have any."""
        return None if self.held is None else self.held.weights

    @property
    def timed(self) -> bool:
        """Whether held-out rows follow each other in time."""
        return (self.held is not None and self.held.timed) or goes_forward(self.inner)

    def estimate(
        self,
        name: str,
        estimand: Estimand,
        value: float | None,
        interval: Interval | None = None,
        *,
        reason: str | None = None,
        optimistic: bool = False,
    ) -> Estimate:
        """An estimate in the loss that chooses, of the rows that are held out at least once."""
        inner, recipe = self.inner, self.inner.recipe
        about = EstimateInfo(
            name=name,
            estimand=estimand,
            level=self.level,
            train_size=self.sizes,
            n=int(inner.held_sizes.sum()) // recipe.repeats if recipe.partition else len(np.unique(inner.held)),
            reason=reason,
            optimistic=optimistic,
        )
        return shown_estimate(self.loss, about, value, interval)


def waiting_estimates(study: Study, reason: str, *, level: float) -> dict[str, Estimate]:
    """The estimates of a choice on all rows that was not made, each with the reason."""
    loss, candidates = study.search.losses[0], len(study.search)
    estimates = {}
    for name in ON_ALL_ROWS if candidates > 1 else (BEST_VALIDATION,):
        words = best_validation if name == BEST_VALIDATION else corrected_validation
        about = EstimateInfo(
            name=name,
            estimand=words(loss.name, train_size=None, candidates=candidates, sign=loss.sign),
            level=level,
            train_size=None,
            n=0,
            reason=reason,
            optimistic=name == BEST_VALIDATION and candidates > 1,
        )
        estimates[name] = shown_estimate(loss, about, None)
    return estimates


def best_validation_estimate(selection: Selection) -> Estimate:
    """The validation loss of what was chosen: optimistic, and marked so.

    With a single candidate nothing was chosen, and nothing is optimistic.
    """
    value, loss, several = selection.study.chosen[selection.choice.key].inside, selection.loss, selection.candidates > 1
    single = FINAL in selection.study.splits and len(selection.inner) == 1
    if several:
        words = family_risk if single else best_validation
        estimand = words(loss.name, train_size=selection.sizes, candidates=selection.candidates, sign=loss.sign)
    elif single and selection.study.search.final == "keep":
        estimand = predictor_risk(loss.name, train_size=selection.sizes, sign=loss.sign)
    else:
        estimand = learner_risk(loss.name, train_size=selection.sizes, tuned=False, sign=loss.sign)
    reason = "No value: a fit that it needs failed." if value is None else OPTIMISTIC if several else NOT_HERE
    return selection.estimate(BEST_VALIDATION, estimand, value, reason=reason, optimistic=several)


def fold_predictors_of_choice(selection: Selection) -> Estimate:
    """The mean risk of the fold predictors of the only candidate, which bounds that of their average."""
    loss, record = selection.loss, _record(selection)
    words = fold_predictors_risk(loss.name, train_size=selection.sizes, parts=record.parts, sign=loss.sign)
    gone = record.row_losses is None and loss.rows is not None
    return fold_predictors_estimate(record, words, level=selection.level, gone=gone)


def fold_predictors_estimate(
    record: Record,
    words: Estimand,
    *,
    level: float,
    pool: bool | None = None,
    asked: str | None = None,
    gone: bool = False,
) -> Estimate:
    """The mean risk of the fold predictors, with the interval of Bayle et al. where the recipe allows it.

    `gone` says that the losses of single rows were too many to be kept.
    """
    method = asked if asked is not None and METHODS[asked].belongs_to == FOLD_PREDICTORS else BAYLE.key
    refusal = METHODS[method].refusal(record)
    if refusal is not None and gone:
        refusal = f"it needs the losses of single rows, and past {MOST_KEPT_ROW_LOSSES:,} numbers they are not kept"
    return estimate_risk(
        record,
        name=FOLD_PREDICTORS,
        estimand=words,
        level=level,
        interval=method,
        pool=pool,
        reason=None if refusal is None else f"No interval: {refusal}.",
    )


def _record(selection: Selection) -> Record:
    """What validation recorded of the only candidate, part by part."""
    inner, weights = selection.inner, selection.weights
    matrix = None if selection.loss.rows is None else selection.table.row_matrix(0)
    groups = None if selection.held is None else selection.held.groups
    return Record(
        **splits_facts(selection.loss, inner),
        timed=selection.timed,
        fold_losses=selection.table.losses[0, :, 0],
        row_losses=None if matrix is None else in_parts(inner, matrix[0]),
        weights=None if weights is None else in_parts(inner, weights),
        groups=None if groups is None else in_parts(inner, groups),
        train_sizes=inner.train_sizes,
    )


DEV_CHOSEN, DEV_BEST, DEV_GAP = "development_chosen", "development_best", "development_gap"


def tuning_estimates(selection: Selection) -> dict[str, Estimate]:
    """The estimates that a choice affords: the best validation number, and what corrects it."""
    estimates = {BEST_VALIDATION: best_validation_estimate(selection)}
    if selection.candidates > 1:
        estimates[BEST_BBC] = _corrected(selection, BEST_BBC, _bbc_refusal(selection) or _bbc(selection))
        estimates[BEST_TT] = _corrected(selection, BEST_TT, _tibshirani_refusal(selection) or _tibshirani(selection))
        return estimates | (_development_estimates(selection) if len(selection.inner) == 1 else {})
    if FINAL in selection.study.splits and len(selection.inner) > 1:  # nothing was chosen, so nothing is optimistic
        estimates[FOLD_PREDICTORS] = fold_predictors_of_choice(selection)
    return estimates


def on_all_rows(task: Task, tuning: Outcome, *, level: float) -> dict[str, Estimate]:
    """What the choice on all rows says beside the risk of a nested study: the best number, and what corrects it."""
    estimates = tuning_estimates(Selection.of(task, tuning, level=level, most_rows=MOST_ROWS_INSIDE))
    return {name: estimates[name] for name in ON_ALL_ROWS if name in estimates}


def least_optimistic(selection: Selection) -> str:
    """The name of the estimate to prefer among those that have a value: BBC-CV, then Tibshirani's correction.

    On a tuned ridge Tibshirani's was off by +.13 where BBC-CV was off by −.001.
    """
    if selection.candidates == 1:
        return BEST_VALIDATION
    if _bbc_refusal(selection) is None:
        return BEST_BBC
    return BEST_TT if _tibshirani_refusal(selection) is None else BEST_VALIDATION


def _corrected(selection: Selection, name: str, correction: Correction | str) -> Estimate:
    """A correction as an estimate: its interval where it has one, otherwise the reason."""
    words = corrected_validation(
        selection.loss.name, train_size=selection.sizes, candidates=selection.candidates, sign=selection.loss.sign
    )
    if isinstance(correction, str):
        return selection.estimate(name, words, None, reason=correction)
    reason = "No interval: the method gives a value alone." if correction.interval is None else None
    return selection.estimate(name, words, correction.value, correction.interval, reason=reason)


def _tibshirani(selection: Selection) -> Correction:
    weights = None if selection.weights is None else np.add.reduceat(selection.weights, selection.inner.held_cuts[:-1])
    return tibshirani(selection.table.losses[:, :, 0], weights=weights)


def _tibshirani_refusal(selection: Selection) -> str | None:
    if (reason := _refusal(selection)) is not None:
        return reason
    if len(selection.inner) < 2:
        return "No value: the Tibshirani correction needs several held-out parts, and there is one."
    if (selection.inner.held_sizes == 1).all():
        return "No value: a part of a single row does not tell which candidate is best on it."
    return None


def _bbc(selection: Selection) -> Correction:
    matrix, held = selection.table.row_matrix(0), selection.held
    assert matrix is not None, "refused otherwise"
    assert held is not None, "refused otherwise"
    units, weights = _drawn(held, selection.inner)
    with one_thread():
        return bbc(matrix, level=selection.level, seed=held.seed, units=units, weights=weights)


def _bbc_refusal(selection: Selection) -> str | None:
    inner, held, table = selection.inner, selection.held, selection.table
    if held is None:
        return "No value: BBC-CV needs the losses of single rows, and a stream keeps none of validation."
    if selection.most_rows is not None and len(inner.held) > selection.most_rows:
        return (
            f"No value: under outer splits BBC-CV is made for at most {selection.most_rows:,} held-out rows, and there "
            f"are {len(inner.held):,}. The risk needs no such correction; Tuned(…).fit has it in estimates_."
        )
    if (reason := _refusal(selection)) is not None:
        return reason
    if selection.loss.rows is None:
        return f"No value: BBC-CV draws rows, and {selection.loss.name!r} belongs to whole sets."
    if selection.timed:
        return "No value: BBC-CV draws rows as if they were independent, and these follow each other in time."
    units, weights = _drawn(held, inner)
    if len(np.unique(units[weights > 0])) < 2:
        return "No value: BBC-CV draws rows, or whole groups, and needs at least two."
    if table.row_losses(table.candidates[0], table.parts[0]) is None:
        return (
            f"No value: BBC-CV needs the losses of all {selection.candidates:,} candidates on every row, and past "
            f"{MOST_KEPT_ROW_LOSSES:,} numbers they are not kept."
        )
    return None


def _drawn(held: Held, inner: Splits) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """What is drawn, rows or their groups, and what each row counts for in the mean that chooses.

    Parts count the same without weights, and otherwise as much as the weights of their rows.
    """
    units = inner.held if held.groups is None else held.groups
    weights = held.weights if held.weights is not None else 1.0 / np.repeat(inner.held_sizes, inner.held_sizes)
    return units, np.asarray(weights, dtype=np.float64)


def _refusal(selection: Selection) -> str | None:
    """Why no correction can be made of this choice, or None."""
    if selection.study.search.choose != "best":
        return "No value: the correction is for the choice of the smallest mean, and choose= asks for another."
    if selection.study.races and not selection.table.complete:
        return "No value: a race left candidates unfinished, and the correction needs the losses of all on every part."
    if selection.table.failures or not np.isfinite(selection.table.losses[:, :, 0]).all():
        return "No value: a fit failed, and the correction needs the losses of every candidate on every part."
    return None


def _development_estimates(selection: Selection) -> dict[str, Estimate]:
    """The chosen predictor, the smallest risk of the family, and how far they can be apart, from one dev set."""
    loss, size, count = selection.loss, selection.sizes, selection.candidates
    chosen, means = selection.study.chosen[selection.choice.key].candidate, selection.table.losses[:, 0, 0]
    value, reason = None if chosen is None else float(means[chosen]), _development_refusal(selection)
    bounds = None if reason is not None or chosen is None else _bounds(selection, means, chosen)
    of_chosen, of_best = (None, None) if bounds is None else (bounds.chosen, bounds.best)
    given_up = _given_up(selection.study.search.final)
    if given_up is not None:
        of_chosen = None
    kept = kept_predictor_risk(loss.name, train_size=size, sign=loss.sign)
    best = family_risk(loss.name, train_size=size, candidates=count, sign=loss.sign)
    estimates = {
        DEV_CHOSEN: selection.estimate(DEV_CHOSEN, kept, value, of_chosen, reason=reason or given_up, optimistic=True),
        DEV_BEST: selection.estimate(DEV_BEST, best, value, of_best, reason=reason, optimistic=True),
    }
    return estimates if bounds is None else {**estimates, DEV_GAP: _gap_estimate(selection, bounds)}


def _given_up(final: str) -> str | None:
    """Why the bound says nothing of the final predictor, or None."""
    if final == "keep":
        return None
    how = "averages predictors" if final == "ensemble" else "trains it again with the development rows"
    return f'No interval: final="{final}" {how}, so the bound does not speak of the predictor. final="keep" keeps it.'


def _bounds(selection: Selection, means: NDArray[np.float64], chosen: int) -> Development:
    return development_bounds(
        means,
        n=len(selection.inner.held),
        chosen=chosen,
        level=selection.level,
        low=selection.loss.low,
        high=selection.loss.high,
        counted=selection.loss.counts_errors,
        guarantee=promised("finite-sample", selection.inner.recipe),
    )


def _gap_estimate(selection: Selection, bounds: Development) -> Estimate:
    loss, size = selection.loss, selection.sizes
    about = EstimateInfo(
        name=DEV_GAP,
        estimand=excess_risk(loss.name, train_size=size, candidates=selection.candidates),
        level=selection.level,
        train_size=size,
        n=len(selection.inner.held),
    )
    interval = Interval(
        low=0.0,
        high=bounds.gap,
        level=selection.level,
        method="Chernoff–Hoeffding and union bound",
        guarantee=bounds.best.guarantee,
    )
    scale = LossRange(loss=loss.name, sign=1, low=0.0, high=loss.high - loss.low)
    return user_estimate(scale, about, value=0.0, interval=interval)


def _development_refusal(selection: Selection) -> str | None:
    loss, recipe = selection.loss, selection.inner.recipe
    timed = (selection.held is not None and selection.held.timed) or recipe.timed
    if selection.study.search.choose != "best":
        return "No interval: the bound is for the choice of the smallest mean, and choose= asks for another."
    if loss.rows is None:
        return f"No interval: the bound is for means over rows, and {loss.name!r} belongs to whole sets."
    if not np.isfinite(loss.high - loss.low):
        return f"No interval: the bound needs a loss of bounded range, and {loss.name!r} has none."
    if timed or recipe.grouped:
        how = "follow each other in time" if timed else "come in groups"
        return f"No interval: the development rows {how}, so they are not independent."
    if selection.weights is not None:
        return "No interval: the development rows have weights, and the bound counts each row once."
    return None
