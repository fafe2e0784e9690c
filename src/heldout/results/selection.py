"""Estimates from the validation losses of a choice: the best validation loss, and the risk of the fold predictors.

The choice may be that of `Tuned(…).fit`, the one inside the training rows of a single test set, or the choice on all
rows that gives the final predictor of a nested study. Nothing is fitted here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import derive
from heldout.engine.run import MOST_KEPT_ROW_LOSSES, Outcome
from heldout.losses import Loss
from heldout.results.evidence import in_parts
from heldout.results.test_losses import goes_forward, shown_estimate, splits_facts
from heldout.risk import estimands
from heldout.risk.estimate import Estimate, EstimateInfo, Interval
from heldout.risk.estimate_risk import OPTIMISTIC, estimate_risk
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.bayle import BAYLE
from heldout.risk.record import Record
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.answers import PanelTable, Tables
from heldout.study.study import FINAL, Choice, Study
from heldout.task import Task

FOLD_PREDICTORS = "fold_predictors"
NOT_HERE = "No interval is made here; evaluate gives one for the learner."
BEST_VALIDATION, BEST_BBC, BEST_TT = "best_validation", "best_validation_bbc", "best_validation_tt"
ON_ALL_ROWS = (BEST_VALIDATION, BEST_BBC, BEST_TT)  # what a nested study shows of the choice on all rows
NOT_MADE = "No value: it needs the validation fits on all rows, which result.predictor or --save model.skops makes."


@dataclass(frozen=True, kw_only=True, eq=False)
class Selection:
    """Holds all that the estimates of a choice need, without the data."""

    study: Study
    tables: Tables
    inner: Splits  # the validation splits
    timed: bool  # whether held-out rows follow each other in time
    level: float
    most_rows: int | None = None  # BBC-CV is refused for more held-out rows; None for no limit
    groups: NDArray[np.integer] | None = None  # of held-out rows
    weights: NDArray[np.float64] | None = None  # of held-out rows
    seed: int | None = None  # seed of BBC-CV; None for a stream, which keeps no row losses

    @classmethod
    def of(cls, task: Task, outcome: Outcome, *, level: float, most_rows: int | None = None) -> Selection:
        study = outcome.study
        inner = study.validation_splits(study.choices[0])
        known: dict[str, Any] = {"study": study, "tables": outcome.tables, "inner": inner, "level": level}
        if isinstance(inner, CellSplits):
            return cls(**known, timed=goes_forward(inner))
        return cls(
            **known,
            timed=task.time is not None or goes_forward(inner),
            most_rows=most_rows,
            groups=None if task.groups is None else task.groups[inner.held],
            weights=None if task.weight is None else task.weight[inner.held],
            # The key uses targets alone, since a pass over all columns may cost more than the rest of a fit.
            seed=derive(study.search.seed, "bbc", task.target_key(inner.rows)),
        )

    @property
    def choice(self) -> Choice:
        return self.study.choices[0]

    @cached_property
    def table(self) -> PanelTable:
        return self.tables.panels[self.choice.panel]

    @cached_property
    def loss(self) -> Loss:
        """The loss by which the candidate is chosen."""
        return self.study.search.losses[0]

    @cached_property
    def candidates(self) -> int:
        return self.study.search.size

    @cached_property
    def sizes(self) -> estimands.Sizes:
        """The training sizes of the validation fits."""
        sizes = estimands.Sizes.of(self.inner.train_sizes)
        assert sizes is not None  # a validation part has training rows
        return sizes

    def estimate(
        self,
        name: str,
        estimand: estimands.Estimand,
        value: float | None,
        interval: Interval | None = None,
        *,
        reason: str | None = None,
        optimistic: bool = False,
    ) -> Estimate:
        """Build an estimate in the loss that chooses; its `n` counts each held-out row once."""
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
    """Return estimates without a value, each with the reason, for a choice on all rows that was not made."""
    loss, candidates = study.search.losses[0], study.search.size
    estimates = {}
    for name in ON_ALL_ROWS if candidates > 1 else (BEST_VALIDATION,):
        words = estimands.best_validation if name == BEST_VALIDATION else estimands.corrected_validation
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
    """Return the validation loss of the chosen candidate, marked as optimistic if there were several candidates."""
    value, loss, several = selection.study.chosen[selection.choice.key].inside, selection.loss, selection.candidates > 1
    single = FINAL in selection.study.splits and selection.inner.parts == 1
    if several:
        words = estimands.family_risk if single else estimands.best_validation
        estimand = words(loss.name, train_size=selection.sizes, candidates=selection.candidates, sign=loss.sign)
    elif single and selection.study.search.final == "keep":
        estimand = estimands.predictor_risk(loss.name, train_size=selection.sizes, sign=loss.sign)
    else:
        estimand = estimands.learner_risk(loss.name, train_size=selection.sizes, tuned=False, sign=loss.sign)
    reason = "No value: a fit that it needs failed." if value is None else OPTIMISTIC if several else NOT_HERE
    return selection.estimate(BEST_VALIDATION, estimand, value, reason=reason, optimistic=several)


def fold_predictors_of_choice(selection: Selection) -> Estimate:
    """Estimate the mean risk of the only candidate's fold predictors, from its validation losses."""
    loss, record = selection.loss, _record(selection)
    words = estimands.fold_predictors_risk(loss.name, train_size=selection.sizes, parts=record.parts, sign=loss.sign)
    gone = record.row_losses is None and loss.rows is not None
    return fold_predictors_estimate(record, words, level=selection.level, gone=gone)


def fold_predictors_estimate(
    record: Record,
    words: estimands.Estimand,
    *,
    level: float,
    pool: bool | None = None,
    asked: str | None = None,
    gone: bool = False,
) -> Estimate:
    """Estimate the mean risk of the fold predictors, with the interval of Bayle et al. if the splits allow it.

    `asked` names the interval method that the user asked for. `gone` means that row losses were too many to be kept.
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
    """Return the validation losses of the only candidate as a Record."""
    inner, weights, groups = selection.inner, selection.weights, selection.groups
    matrix = None if selection.loss.rows is None else selection.table.row_matrix(0)
    return Record(
        **splits_facts(selection.loss, inner),
        timed=selection.timed,
        fold_losses=selection.table.losses[0, :, 0],
        row_losses=None if matrix is None else in_parts(inner, matrix[0]),
        weights=None if weights is None else in_parts(inner, weights),
        groups=None if groups is None else in_parts(inner, groups),
        train_sizes=inner.train_sizes,
    )
