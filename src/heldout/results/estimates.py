"""Builds the estimates of a study by name, and says which of them describes the final predictor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heldout.base.options import Options
from heldout.base.shown import html_of
from heldout.engine.run import MOST_ROWS_INSIDE, Outcome
from heldout.losses import Loss
from heldout.results.corrections import least_optimistic, tuning_estimates
from heldout.results.selection import (
    BEST_VALIDATION,
    FOLD_PREDICTORS,
    NOT_MADE,
    Selection,
    fold_predictors_estimate,
    waiting_estimates,
)
from heldout.results.test_losses import blank_record, trained_sizes
from heldout.risk import estimands
from heldout.risk.estimate import Estimate
from heldout.risk.estimate_risk import WITH_FITS, check_asked, estimate_risk
from heldout.risk.record import POOLED, Record
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.study import OUTER, Study
from heldout.task import Task

RISK = "risk"


def study_estimates(
    task: Task, outcome: Outcome, records: Sequence[Record], *, level: float, options: Options
) -> dict[str, Estimate]:
    """Estimate the risk for each reported loss and the fold predictors' mean risk.

    Estimates of the choice on all rows are added without a value, since they are computed later.

    The interval method that the user asked for must suit the first loss. Any other loss that it does not suit gets a
    suitable method, and `reason` says so.
    """
    pool, asked = options.pool, None if options.interval in WITH_FITS else options.interval
    study = outcome.study
    outer = study.splits[OUTER]
    trained = sizes_of(study)
    found: dict[str, Estimate] = {}
    for number, (loss, record) in enumerate(zip(study.reported, records, strict=True)):
        name = risk_name(number, loss)
        words = risk_estimand(task, study, loss, trained)
        if record.parts > 1 and loss.rows is None:
            words += estimands.taken_over(pooled=pool is not False and record.family in POOLED)
        found[name] = estimate_risk(
            record, name=name, estimand=words, level=level, interval=asked, strict=number == 0, pool=pool
        )
        if number == 0 and record.parts > 1 and trained is not None:
            words = estimands.fold_predictors_risk(loss.name, train_size=trained, parts=record.parts, sign=loss.sign)
            words += estimands.conditions(stratified=keeps_classes(task, outer), weighted=task.weight is not None)
            found[FOLD_PREDICTORS] = fold_predictors_estimate(record, words, level=level, pool=pool, asked=asked)
    if trained is not None and trained.fit is not None:
        found = {name: replace(one, fit_size=trained.fit) for name, one in found.items()}
    if study.search.tuned and outer.parts > 1:
        found |= waiting_estimates(study, NOT_MADE, level=level)
    return _incomplete(found, outcome)


def sizes_of(study: Study) -> estimands.Sizes | None:
    """Return the training sizes of the test parts; None for a predictor that was already fitted."""
    return estimands.Sizes.of(trained_sizes(study), fit=fit_size(study))


def risk_estimand(task: Task, study: Study, loss: Loss, trained: estimands.Sizes | None) -> estimands.Estimand:
    """Return the quantity that the test losses of a study estimate."""
    outer = study.splits[OUTER]
    return estimands.estimand_of(
        outer.recipe.kind,
        parts=outer.parts,
        tuned=study.search.tuned,
        train_size=trained,
        loss=loss.name,
        sign=loss.sign,
        stratified=keeps_classes(task, outer),
        weighted=task.weight is not None,
    )


def later_estimates(task: Task, outcome: Outcome, *, level: float) -> dict[str, Estimate]:
    """Estimate the best validation loss and its corrections, for a tuned learner with a single test set.

    This happens only when they are shown, since drawing rows for BBC-CV may take as long as a small study.
    """
    study = outcome.study
    if not study.search.tuned or study.splits[OUTER].parts > 1:
        return {}
    selection = Selection.of(task, outcome, level=level, most_rows=MOST_ROWS_INSIDE)
    return _incomplete(tuning_estimates(selection), outcome)


def _incomplete(estimates: dict[str, Estimate], outcome: Outcome) -> dict[str, Estimate]:
    """Add "Incomplete: …" as the reason of estimates without a value, if the study was stopped."""
    if outcome.stopped is None:
        return estimates
    reason = f"Incomplete: {outcome.stopped[0].lower()}{outcome.stopped[1:]}."
    return {name: replace(one, reason=reason) if one.value is None else one for name, one in estimates.items()}


def risk_name(number: int, loss: Loss) -> str:
    """Return the estimate's name for a reported loss: "risk" for the first, "risk_<loss>" for the others."""
    return RISK if number == 0 else f"{RISK}_{loss.name}"


def check_interval(task: Task, study: Study, interval: str | None, *, rows: bool = True) -> None:
    """Refuse, before any fit, an interval method that is unknown or does not suit the splits and the first loss.

    `rows` says whether row losses will be available.
    """
    if interval is None or interval in WITH_FITS:
        return
    check_asked(blank_record(task, study, 0, rows=rows), interval)


def fit_size(study: Study) -> float | None:
    """Return the mean number of rows of a single fit, if the final fits leave validation rows out; else None."""
    if not study.search.tuned or study.search.final == "retrain":
        return None
    return float(np.mean([np.mean(study.validation_splits(choice).train_sizes) for choice in study.choices]))


def size_at_all_rows(task: Task, study: Study) -> estimands.Sizes:
    """Return the training sizes of a learner given all rows; single fits use fewer if validation rows stay out."""
    rows, fit = float(task.size), fit_size(study)
    share = None if fit is None else fit / float(np.mean(study.splits[OUTER].train_sizes))
    return estimands.Sizes(rows, rows, rows, None if share is None else rows * share)


def keeps_classes(task: Task, outer: Splits) -> bool:
    """Return whether every part has the class shares of the sample, so that the risk refers to these shares."""
    return outer.recipe.stratified and task.classes is not None and task.strata is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Covers:
    """Says which estimate describes the final predictor, and how closely."""

    estimate: str
    exactly: bool  # the estimate is of this very predictor
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return html_of("covers", {"sentence": self.sentence})


def scope_of(study: Study, task: Task, *, extrapolated: bool = False) -> Covers:
    """Return which estimate describes ``result.predictor``: exactly, or at a smaller training size.

    `extrapolated` means that the risk is already that of training on all rows.
    """
    outer, search = study.splits[OUTER], study.search
    sizes = sizes_of(study)
    if sizes is None:
        sentence = "The risk is that of this very predictor, which came fitted."
        return Covers(estimate="risk", exactly=True, sentence=sentence)
    if outer.parts == 1:
        sentence = f"The risk is that of this very predictor: the one that was tested. {_of_development(study)}"
        return Covers(estimate="risk", exactly=True, sentence=sentence.strip())
    if extrapolated:
        size, worse = f"extrapolated to all {task.size} rows", ""
    else:
        size = f"that of the learner at {estimands.rows_words(sizes)}"
        worse = ", which is usually a little worse than one trained on all rows"
    sentence = (
        f"{_made_from(search, size_at_all_rows(task, study))}; the risk is {size}. That is the risk of a typical "
        f"predictor of this learner{worse}; it is not measured on this very predictor."
    )
    if search.tuned and search.final == "ensemble":
        sentence += f" {_of_ensemble(study.reported[0])}"
    return Covers(estimate="risk", exactly=False, sentence=sentence)


def scope_of_tuning(selection: Selection, *, rows: int) -> Covers:
    """Return which of ``tuned.estimates_`` describes the predictor of a fitted Tuned; `rows` counts all its rows."""
    search, several = selection.study.search, selection.candidates > 1
    size = estimands.rows_words(selection.sizes)
    if search.final == "keep":
        sentence = f"The predictor was trained on {size} of {rows}, without the development rows"
        if not several:
            sentence += ", and was not chosen by them."
            return Covers(estimate=BEST_VALIDATION, exactly=True, sentence=sentence)
        sentence += (
            " that chose it, so the interval of 'development_chosen', where it has one, is of this very predictor."
        )
        return Covers(estimate="development_chosen", exactly=True, sentence=sentence)
    estimate = least_optimistic(selection)
    if search.final == "ensemble":
        made = f"The predictor averages {len(selection.inner)} fold predictors, each trained on {size} of {rows}."
        if not several and len(selection.inner) > 1:
            estimate = FOLD_PREDICTORS
        sentence = f"{made} {_of_ensemble(search.losses[0])} {_of_their_mean(estimate, several=several)}"
        return Covers(estimate=estimate, exactly=False, sentence=sentence)
    how = "" if not several else ", optimistically" if estimate == BEST_VALIDATION else ", as a rule of thumb"
    sentence = (
        f"The predictor was trained on all {rows} rows; {estimate!r} speaks of the learner at {size}{how}. "
        "evaluate estimates its risk on rows that neither trained nor chose it."
    )
    return Covers(estimate=estimate, exactly=False, sentence=sentence)


def _of_their_mean(estimate: str, *, several: bool) -> str:
    """Say how well the mean risk of the fold predictors is known."""
    if not several:
        return f"{estimate!r} estimates that mean on rows that neither trained nor chose them."
    corrected = "" if estimate == BEST_VALIDATION else f"; {estimate!r} corrects it as a rule of thumb"
    return (
        f"But the estimate of that mean, {BEST_VALIDATION!r}, is optimistic, because the same rows chose the "
        f"candidate{corrected}."
    )


def _of_development(study: Study) -> str:
    """Say whether development-set bounds hold for the predictor; return "" if there is no development set."""
    search = study.search
    single = all(len(study.validation_splits(choice)) == 1 for choice in study.choices)
    if not search.tuned or search.final == "ensemble" or not single:
        return ""
    if search.final == "keep":
        return "It was trained without the development rows, so the development-set bound, if any, holds for it too."
    return "It was retrained on training and development rows together, so no development-set bound holds for it."


def _made_from(search: Search, sizes: estimands.Sizes) -> str:
    rows, fit = f"all {sizes.mean:.0f} rows", "" if sizes.fit is None else f"about {sizes.fit:.0f}"
    if search.tuned and search.final == "ensemble":
        return f"The predictor averages fold predictors chosen and trained on parts of {rows}, each on {fit}"
    if search.tuned and search.final == "keep":
        return f"The predictor is chosen on development rows and trained on the others, {fit} of {rows}"
    return f"The predictor is trained on {rows}"


def _of_ensemble(loss: Loss) -> str:
    """Say whether the mean risk of the fold predictors bounds that of their average: by Jensen, if the loss is convex.

    The inequality holds for the given predictors, however the candidate was chosen. But validation losses that chose
    the candidate are an optimistic estimate of the mean risk on its right side.
    """
    if not loss.convex:
        return (
            f"The mean risk of the fold predictors does not bound that of their average, since {loss.name!r} is not "
            "convex in what is averaged."
        )
    return (
        f"{loss.name!r} is convex in what is averaged, so the risk of the average is at most the mean risk of the fold "
        "predictors, however the candidate was chosen."
    )
