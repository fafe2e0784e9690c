"""Which estimate speaks of the final predictor, and how far."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.base.shown import html_of
from heldout.losses import Loss
from heldout.results.corrections import least_optimistic
from heldout.results.estimates import size_at_all_rows, sizes_of
from heldout.results.selection import BEST_VALIDATION, FOLD_PREDICTORS, Selection
from heldout.risk.estimands import Sizes, rows_words
from heldout.search.search import Search
from heldout.study.study import OUTER, Study
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Covers:
    """Which estimate speaks of the final predictor, and how far."""

    estimate: str
    exactly: bool  # the estimate is of this very predictor
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return html_of("covers", {"sentence": self.sentence})


def scope_of(study: Study, task: Task, *, extrapolated: bool = False) -> Covers:
    """The estimate that speaks of ``result.predictor``: exactly, at a smaller training size, or as a bound.

    `extrapolated` says that the risk was carried over to all rows.
    """
    outer, search = study.splits[OUTER], study.search
    sizes = sizes_of(study)
    if sizes is None:
        sentence = "The risk is that of this very predictor, which came fitted."
        return Covers(estimate="risk", exactly=True, sentence=sentence)
    if len(outer) == 1:
        sentence = f"The risk is that of this very predictor: the one that was tested. {_of_development(study)}"
        return Covers(estimate="risk", exactly=True, sentence=sentence.strip())
    if extrapolated:
        size = f"extrapolated to all {task.size} rows"
    else:
        size = f"that of the learner at {rows_words(sizes)}"
    sentence = (
        f"{_made_from(search, size_at_all_rows(task, study))}; the risk is {size}. {_how_far(search, extrapolated)}"
    )
    if search.tuned and search.final == "ensemble":
        sentence += f" {_of_ensemble(study.reported[0])}"
    return Covers(estimate="risk", exactly=False, sentence=sentence.strip())


def scope_of_tuning(selection: Selection, *, rows: int) -> Covers:
    """The estimate of ``tuned.estimates_`` that speaks of the predictor of a tuned learner that was fitted."""
    search, several = selection.study.search, selection.candidates > 1
    size = rows_words(selection.sizes)
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
    """How well the mean risk of the fold predictors is known."""
    if not several:
        return f"{estimate!r} estimates that mean on rows that neither trained nor chose them."
    corrected = "" if estimate == BEST_VALIDATION else f"; {estimate!r} corrects it as a rule of thumb"
    return (
        f"But the estimate of that mean, {BEST_VALIDATION!r}, is optimistic, because the same rows chose the "
        f"candidate{corrected}."
    )


def _of_development(study: Study) -> str:
    """Whether bounds from a development set hold for the predictor; nothing is said where there is none."""
    search = study.search
    single = all(len(study.validation_splits(choice)) == 1 for choice in study.choices)
    if not search.tuned or search.final == "ensemble" or not single:
        return ""
    if search.final == "keep":
        return "It was trained without the development rows, so the development-set bound, if any, holds for it too."
    return "It was retrained on training and development rows together, so no development-set bound holds for it."


def _made_from(search: Search, sizes: Sizes) -> str:
    rows, fit = f"all {sizes.mean:.0f} rows", "" if sizes.fit is None else f"about {sizes.fit:.0f}"
    if search.tuned and search.final == "ensemble":
        return f"The predictor averages fold predictors chosen and trained on parts of {rows}, each on {fit}"
    if search.tuned and search.final == "keep":
        return f"The predictor is chosen on development rows and trained on the others, {fit} of {rows}"
    return f"The predictor is trained on {rows}"


def _how_far(search: Search, extrapolated: bool) -> str:
    worse = "" if extrapolated else ", which is usually a little worse than one trained on all rows"
    return f"That is the risk of a typical predictor of this learner{worse}; it is not measured on this very predictor."


def _of_ensemble(loss: Loss) -> str:
    """Whether the mean risk of the fold predictors bounds that of their average: by Jensen, where the loss is convex.

    However the candidate was chosen, the inequality holds for the predictors at hand. What choosing spoils is the
    estimate of its right side by the losses that chose.
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
