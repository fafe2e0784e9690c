"""What choosing did to the best validation number, and what corrects it.

Nothing is fitted for any of these. The Tibshirani correction needs fold means; BBC-CV needs the losses of single rows,
which are kept up to a size that the engine fixes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.api.development import development_estimates
from heldout.api.inside import inner_of, mean_train_size, shown_beside
from heldout.api.timing import goes_forward
from heldout.base.losses import Loss
from heldout.base.seeds import derive
from heldout.engine.run import MOST_KEPT_ROW_LOSSES, MOST_ROWS_INSIDE, Outcome
from heldout.engine.threads import one_thread
from heldout.risk.estimands import corrected_validation, fold_predictors_risk
from heldout.risk.estimate import Estimate
from heldout.risk.intervals.ends import NO_WIDTH, has_no_width
from heldout.risk.selection import Correction, bbc, tibshirani
from heldout.risk.shown import About
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.panels import Choice, Study
from heldout.study.pose import FINAL
from heldout.study.tables import PanelTable, Tables
from heldout.task import Task

FOLD_PREDICTORS = "fold_predictors"
NOT_HERE = "No interval is made here; evaluate gives one for the learner."
BEST_BBC, BEST_TT = "best_validation_bbc", "best_validation_tt"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """What BBC-CV draws for one choice: which rows belong together, what each counts for, and the seed."""

    units: NDArray[np.intp]
    weights: NDArray[np.float64]
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """The choices of a study that ran, without its data: all that their estimates are made from."""

    study: Study
    tables: Tables
    drawings: Mapping[str, Drawing]  # by choice
    weighted: bool
    timed: bool
    level: float

    @classmethod
    def of(cls, task: Task, outcome: Outcome, *, level: float) -> Selection:
        study = outcome.study
        draws = study.choices if _draws(study) else ()
        drawings = {choice.key: _drawing(task, study, inner_of(study, choice)) for choice in draws}
        roles = {"weighted": task.weight is not None, "timed": task.time is not None}
        return cls(study=study, tables=outcome.tables, drawings=drawings, level=level, **roles)

    def estimates(self) -> dict[str, Estimate]:
        """What stands beside the best validation number of a tuned learner."""
        study = self.study
        if len(study.search) == 1:  # nothing was chosen, so nothing is optimistic
            return _fold_predictors(self) if FINAL in study.splits else {}
        found = {
            BEST_BBC: _averaged(self, BEST_BBC, _bbc_of_all(self)),
            BEST_TT: _averaged(self, BEST_TT, [_tibshirani(self, choice) for choice in study.choices]),
        }
        if len(study.choices) == 1 and len(inner_of(study, study.choices[0])) == 1:
            roles = {"weighted": self.weighted, "timed": self.timed}
            found |= development_estimates(study, self.tables, level=self.level, **roles)
        return found


def _draws(study: Study) -> bool:
    """Whether BBC-CV is made: always where tuning is all there is, under outer splits where it takes no time."""
    if _is_streamed(study):
        return False
    return FINAL in study.splits or _held_rows(study) <= MOST_ROWS_INSIDE


def _is_streamed(study: Study) -> bool:
    """Whether splits are of cells of a stream, whose rows are gone once they have passed."""
    return any(isinstance(inner_of(study, choice), CellSplits) for choice in study.choices)


def _held_rows(study: Study) -> int:
    return sum(int(inner_of(study, choice).held_sizes.sum()) for choice in study.choices)


def _drawing(task: Task, study: Study, inner: Splits) -> Drawing:
    """Rows, or their groups, are drawn; weights make the mean over all rows the mean that chooses.

    That is the mean of the fold means, or where rows have weights of their own the weighted mean over all rows.
    """
    if task.weight is None:
        weights = np.repeat(1.0 / inner.held_sizes, inner.held_sizes)
    else:
        weights = task.weight[inner.held] / task.weight[inner.held].sum()
    return Drawing(
        units=inner.held if task.groups is None else task.groups[inner.held],
        weights=np.asarray(weights, dtype=np.float64),
        # By targets alone: nothing else of a fit may want a pass over all columns.
        seed=derive(study.search.seed, "bbc", task.target_key(inner.rows)),
    )


def _fold_predictors(own: Selection) -> dict[str, Estimate]:
    """The mean risk of the fold predictors of the only candidate, which bounds that of their average."""
    study, choice = own.study, own.study.choices[0]
    inner, loss, value = inner_of(study, choice), study.search.losses[0], study.chosen[choice.key].inside
    if len(inner) == 1:
        return {}
    size = mean_train_size(study)
    about = About(
        name=FOLD_PREDICTORS,
        estimand=fold_predictors_risk(loss.name, train_size=size, parts=len(inner), sign=loss.sign),
        level=own.level,
        train_size=size,
        n=_predicted(inner),
        reason=NOT_HERE,
    )
    return {FOLD_PREDICTORS: shown_beside(study, about, value, None)}


def _averaged(own: Selection, name: str, found: Sequence[Correction | str]) -> Estimate:
    """The mean over the choices of a study; the interval where there is one choice; the first reason if any lacks."""
    study = own.study
    loss = study.search.losses[0]
    reason = next((one for one in found if isinstance(one, str)), None)
    values = [one.value for one in found if isinstance(one, Correction)]
    alone = found[0] if len(found) == 1 and isinstance(found[0], Correction) else None
    interval = None if alone is None else alone.interval
    if interval is not None and has_no_width(interval):
        interval, reason = None, NO_WIDTH
    if reason is None and interval is None:
        several = f"it is a mean over {len(found)} choices" if len(found) > 1 else "the method gives a value alone"
        reason = f"No interval: {several}."
    complete = len(values) == len(found)
    return shown_beside(
        study,
        About(
            name=name,
            estimand=corrected_validation(
                loss.name, train_size=mean_train_size(study), candidates=len(study.search), sign=loss.sign
            ),
            level=own.level,
            train_size=mean_train_size(study),
            n=round(float(np.mean([_predicted(inner_of(study, choice)) for choice in study.choices]))),
            reason=reason,
        ),
        float(np.mean(values)) if complete else None,
        interval,
    )


def _tibshirani(own: Selection, choice: Choice) -> Correction | str:
    table, inner = own.tables[choice.panel], inner_of(own.study, choice)
    if (reason := _refusal(own.study, table)) is not None:
        return reason
    if len(inner) < 2:
        return "No value: the Tibshirani correction needs several held-out parts, and there is one."
    if (inner.held_sizes == 1).all():
        return "No value: a part of a single row does not tell which candidate is best on it."
    return tibshirani(table.losses[:, :, 0], table.weights)


def _bbc_of_all(own: Selection) -> list[Correction | str]:
    study = own.study
    if _is_streamed(study):
        return ["No value: BBC-CV needs the losses of single rows, and a stream keeps none of validation."]
    if not _draws(study):
        return [
            f"No value: under outer splits BBC-CV is made for at most {MOST_ROWS_INSIDE:,} held-out rows, and there "
            f"are {_held_rows(study):,}. The risk needs no such correction; Tuned(…).fit has it in estimates_."
        ]
    return [_bbc(own, choice) for choice in study.choices]


def _bbc(own: Selection, choice: Choice) -> Correction | str:
    study, table, inner = own.study, own.tables[choice.panel], inner_of(own.study, choice)
    if (reason := _refusal(study, table)) is not None:
        return reason
    loss: Loss = study.search.losses[0]
    if loss.rows is None:
        return f"No value: BBC-CV draws rows, and {loss.name!r} belongs to whole sets."
    if own.timed or goes_forward(inner):
        return "No value: BBC-CV draws rows as if they were independent, and these follow each other in time."
    drawing = own.drawings[choice.key]
    if len(np.unique(drawing.units[drawing.weights > 0])) < 2:
        return "No value: BBC-CV draws rows, or whole groups, and needs at least two."
    matrix = table.row_matrix(0, inner.held_sizes)
    if matrix is None:
        return (
            f"No value: BBC-CV needs the losses of all {len(study.search):,} candidates on every row, and past "
            f"{MOST_KEPT_ROW_LOSSES:,} numbers they are not kept."
        )
    with one_thread():
        return bbc(matrix, level=own.level, seed=drawing.seed, units=drawing.units, weights=drawing.weights)


def _refusal(study: Study, table: PanelTable) -> str | None:
    """Why no correction can be made of this choice, or None."""
    if study.search.choose != "best":
        return "No value: the correction is for the choice of the smallest mean, and choose= asks for another."
    if study.races and not table.complete:
        return "No value: a race left candidates unfinished, and the correction needs the losses of all on every part."
    if table.failures or not np.isfinite(table.losses[:, :, 0]).all():
        return "No value: a fit failed, and the correction needs the losses of every candidate on every part."
    return None


def _predicted(inner: Splits) -> int:
    """How many rows are held out at least once."""
    if inner.recipe.partition:
        return int(inner.held_sizes.sum()) // inner.recipe.repeats
    return len(np.unique(inner.held))
