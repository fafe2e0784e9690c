"""What choosing did to the best validation number, and what corrects it.

All of it speaks of one choice: that of `Tuned(…).fit` on its rows, that inside the training rows of a single test set,
or the choice on all rows that stands behind the final predictor of a nested study. Nothing is fitted here. The
Tibshirani correction needs fold means; BBC-CV needs the losses of single rows, which are kept up to a size that the
engine fixes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.backends.threads import one_thread
from heldout.base.seeds import derive
from heldout.engine.run import MOST_KEPT_ROW_LOSSES, MOST_ROWS_INSIDE, Outcome
from heldout.losses import Loss
from heldout.results.corrections import development_estimates, inner_of, shown_beside, validation_sizes
from heldout.results.test_losses import goes_forward
from heldout.risk.estimands import (
    best_validation,
    corrected_validation,
    family_risk,
    fold_predictors_risk,
    learner_risk,
    predictor_risk,
)
from heldout.risk.estimate import Estimate, EstimateInfo
from heldout.risk.estimate_risk import OPTIMISTIC, estimate_risk
from heldout.risk.intervals.bayle import BAYLE
from heldout.risk.intervals.method import NO_WIDTH, has_no_width
from heldout.risk.record import Record
from heldout.risk.selection import Correction, bbc, tibshirani
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.answers import PanelTable, Tables
from heldout.study.pose import FINAL
from heldout.study.study import Choice, Study
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
    held: Held | None  # None: a stream, whose rows are gone once they have passed
    level: float
    most_rows: int | None = None  # held-out rows up to which BBC-CV is made

    @classmethod
    def of(cls, task: Task, outcome: Outcome, *, level: float, most_rows: int | None = None) -> Selection:
        study = outcome.study
        inner = inner_of(study, study.choices[0])
        held = None if isinstance(inner, CellSplits) else Held.of(task, study, inner)
        return cls(study=study, tables=outcome.tables, held=held, level=level, most_rows=most_rows)

    @property
    def choice(self) -> Choice:
        return self.study.choices[0]

    @property
    def inner(self) -> Splits:
        return inner_of(self.study, self.choice)

    @property
    def table(self) -> PanelTable:
        return self.tables[self.choice.panel]

    @property
    def least_optimistic(self) -> str:
        """The name of the estimate to prefer among those that have a value: BBC-CV, then Tibshirani's correction.

        On a tuned ridge Tibshirani's was off by +.13 where BBC-CV was off by −.001.
        """
        if len(self.study.search) == 1:
            return BEST_VALIDATION
        if _bbc_refusal(self) is None:
            return BEST_BBC
        return BEST_TT if _tibshirani_refusal(self) is None else BEST_VALIDATION

    def estimates(self) -> dict[str, Estimate]:
        """What stands beside the best validation number of a tuned learner."""
        if len(self.study.search) == 1:  # nothing was chosen, so nothing is optimistic
            return _fold_predictors(self) if FINAL in self.study.splits else {}
        found = {
            BEST_BBC: _corrected(self, BEST_BBC, _bbc(self)),
            BEST_TT: _corrected(self, BEST_TT, _tibshirani(self)),
        }
        if len(self.inner) == 1:
            roles = {
                "weighted": self.held is not None and self.held.weights is not None,
                "timed": self.held is not None and self.held.timed,
            }
            found |= development_estimates(self.study, self.tables, level=self.level, **roles)
        return found


def tuning_estimates(selection: Selection) -> dict[str, Estimate]:
    """The estimates that a choice affords: the best validation number, and what corrects it."""
    best = best_validation_estimate(selection.study, level=selection.level)
    return {BEST_VALIDATION: best, **selection.estimates()}


def on_all_rows(task: Task, tuning: Outcome, *, level: float) -> dict[str, Estimate]:
    """What the choice on all rows says beside the risk of a nested study: the best number, and what corrects it."""
    found = tuning_estimates(Selection.of(task, tuning, level=level, most_rows=MOST_ROWS_INSIDE))
    return {name: found[name] for name in ON_ALL_ROWS if name in found}


def waiting_estimates(study: Study, reason: str, *, level: float) -> dict[str, Estimate]:
    """The estimates of a choice on all rows that was not made, each with the reason."""
    loss, candidates = study.search.losses[0], len(study.search)
    names = ON_ALL_ROWS if candidates > 1 else (BEST_VALIDATION,)
    found = {}
    for name in names:
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
        found[name] = shown_beside(study, about, None, None)
    return found


def best_validation_estimate(study: Study, *, level: float) -> Estimate:
    """The validation loss of what was chosen: optimistic, and marked so.

    With a single candidate nothing was chosen, and nothing is optimistic.
    """
    choice = study.choices[0]
    inner, value = inner_of(study, choice), study.chosen[choice.key].inside
    loss, size, candidates = study.search.losses[0], validation_sizes(study, choice), len(study.search)
    single = FINAL in study.splits and len(inner) == 1
    if candidates > 1:
        words = family_risk if single else best_validation
        estimand = words(loss.name, train_size=size, candidates=candidates, sign=loss.sign)
        reason = OPTIMISTIC
    else:
        reason = NOT_HERE
        if single and study.search.final == "keep":
            estimand = predictor_risk(loss.name, train_size=size, sign=loss.sign)
        else:
            estimand = learner_risk(loss.name, train_size=size, tuned=False, sign=loss.sign)
    about = EstimateInfo(
        name=BEST_VALIDATION,
        estimand=estimand,
        level=level,
        train_size=size,
        n=predicted(inner),
        reason=reason if value is not None else "No value: a fit that it needs failed.",
        optimistic=candidates > 1,
    )
    return shown_beside(study, about, value, None)


def _fold_predictors(own: Selection) -> dict[str, Estimate]:
    """The mean risk of the fold predictors of the only candidate, which bounds that of their average."""
    inner = own.inner
    if len(inner) == 1:
        return {}
    loss, size = own.study.search.losses[0], validation_sizes(own.study, own.choice)
    words = fold_predictors_risk(loss.name, train_size=size, parts=len(inner), sign=loss.sign)
    record = _record(own)
    refusal = BAYLE.refusal(record)
    if refusal is not None and record.row_losses is None and loss.rows is not None:
        refusal = f"it needs the losses of single rows, and past {MOST_KEPT_ROW_LOSSES:,} numbers they are not kept"
    estimate = estimate_risk(
        record,
        name=FOLD_PREDICTORS,
        estimand=words,
        level=own.level,
        interval=BAYLE.key,
        reason=None if refusal is None else f"No interval: {refusal}.",
    )
    return {FOLD_PREDICTORS: estimate}


def _record(own: Selection) -> Record:
    """What validation recorded of the only candidate, part by part."""
    inner, table, loss, recipe = own.inner, own.table, own.study.search.losses[0], own.inner.recipe
    matrix = None if loss.rows is None else table.row_matrix(0)
    groups = None if own.held is None else own.held.groups
    weights = None if own.held is None else own.held.weights
    return Record(
        loss=loss.name,
        sign=loss.sign,
        low=loss.low,
        high=loss.high,
        fold_losses=table.losses[0, :, 0],
        row_losses=None if matrix is None else _cut(matrix[0], inner),
        weights=None if weights is None else _cut(weights, inner),
        groups=None if groups is None else _cut(groups, inner),
        train_sizes=inner.train_sizes,
        held_sizes=inner.held_sizes,
        kind=recipe.kind,
        stratified=recipe.stratified,
        grouped=recipe.grouped,
        timed=(own.held is not None and own.held.timed) or goes_forward(inner),
        drawn=recipe.drawn,
        partition=recipe.partition,
        repeats=recipe.repeats,
    )


def _cut(values: NDArray[Any], inner: Splits) -> tuple[NDArray[Any], ...]:
    """Values of all held-out rows, part by part."""
    return tuple(np.split(values, inner.held_cuts[1:-1]))


def _corrected(own: Selection, name: str, found: Correction | str) -> Estimate:
    """A correction as an estimate: its interval where it has one, otherwise the reason."""
    study, size = own.study, validation_sizes(own.study, own.choice)
    loss = study.search.losses[0]
    made = None if isinstance(found, str) else found
    interval = None if made is None else made.interval
    reason = found if isinstance(found, str) else None
    if interval is not None and has_no_width(interval):
        interval, reason = None, NO_WIDTH
    elif made is not None and interval is None:
        reason = "No interval: the method gives a value alone."
    about = EstimateInfo(
        name=name,
        estimand=corrected_validation(loss.name, train_size=size, candidates=len(study.search), sign=loss.sign),
        level=own.level,
        train_size=size,
        n=predicted(own.inner),
        reason=reason,
    )
    return shown_beside(study, about, None if made is None else made.value, interval)


def _tibshirani(own: Selection) -> Correction | str:
    reason = _tibshirani_refusal(own)
    if reason is not None:
        return reason
    weights = None if own.held is None else own.held.weights
    parts = None if weights is None else np.add.reduceat(weights, own.inner.held_cuts[:-1])
    return tibshirani(own.table.losses[:, :, 0], weights=parts)


def _tibshirani_refusal(own: Selection) -> str | None:
    if (reason := _refusal(own.study, own.table)) is not None:
        return reason
    if len(own.inner) < 2:
        return "No value: the Tibshirani correction needs several held-out parts, and there is one."
    if (own.inner.held_sizes == 1).all():
        return "No value: a part of a single row does not tell which candidate is best on it."
    return None


def _bbc(own: Selection) -> Correction | str:
    reason = _bbc_refusal(own)
    if reason is not None:
        return reason
    inner, held = own.inner, own.held
    matrix = own.table.row_matrix(0)
    assert matrix is not None, "refused otherwise"
    assert held is not None, "refused otherwise"
    units, weights = _drawn(held, inner)
    with one_thread():
        return bbc(matrix, level=own.level, seed=held.seed, units=units, weights=weights)


def _bbc_refusal(own: Selection) -> str | None:
    study, inner, held, table = own.study, own.inner, own.held, own.table
    loss: Loss = study.search.losses[0]
    if held is None:
        return "No value: BBC-CV needs the losses of single rows, and a stream keeps none of validation."
    if own.most_rows is not None and len(inner.held) > own.most_rows:
        return (
            f"No value: under outer splits BBC-CV is made for at most {own.most_rows:,} held-out rows, and there "
            f"are {len(inner.held):,}. The risk needs no such correction; Tuned(…).fit has it in estimates_."
        )
    if (reason := _refusal(study, table)) is not None:
        return reason
    if loss.rows is None:
        return f"No value: BBC-CV draws rows, and {loss.name!r} belongs to whole sets."
    if held.timed or goes_forward(inner):
        return "No value: BBC-CV draws rows as if they were independent, and these follow each other in time."
    units, weights = _drawn(held, inner)
    if len(np.unique(units[weights > 0])) < 2:
        return "No value: BBC-CV draws rows, or whole groups, and needs at least two."
    if table.row_losses(table.candidates[0], table.parts[0]) is None:
        return (
            f"No value: BBC-CV needs the losses of all {len(study.search):,} candidates on every row, and past "
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


def _refusal(study: Study, table: PanelTable) -> str | None:
    """Why no correction can be made of this choice, or None."""
    if study.search.choose != "best":
        return "No value: the correction is for the choice of the smallest mean, and choose= asks for another."
    if study.races and not table.complete:
        return "No value: a race left candidates unfinished, and the correction needs the losses of all on every part."
    if table.failures or not np.isfinite(table.losses[:, :, 0]).all():
        return "No value: a fit failed, and the correction needs the losses of every candidate on every part."
    return None


def predicted(inner: Splits) -> int:
    """How many rows are held out at least once."""
    if inner.recipe.partition:
        return int(inner.held_sizes.sum()) // inner.recipe.repeats
    return len(np.unique(inner.held))
