"""Which estimate speaks of the final predictor, and how far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.api.estimates import trained_sizes
from heldout.base.losses import Loss
from heldout.base.markup import element, view
from heldout.risk.estimands import rows_words
from heldout.splits.drawn import Splits
from heldout.study.panels import Study
from heldout.study.pose import OUTER
from heldout.study.search import Search
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
        return view(element("p", self.sentence))


def covers_of(study: Study, task: Task, *, extrapolated: bool = False) -> dict[str, Any]:
    """The estimate that speaks of ``result.predictor``: exactly, at a smaller training size, or as a bound.

    `extrapolated` says that the risk was carried over to all rows.
    """
    outer, search = study.splits[OUTER], study.search
    sizes = trained_sizes(study, outer)
    if not sizes.any():
        sentence = "The risk is that of this very predictor, which came fitted."
        return {"estimate": "risk", "exactly": True, "sentence": sentence}
    if len(outer) == 1:
        sentence = f"The risk is that of this very predictor: the one that was tested. {_of_development(search)}"
        return {"estimate": "risk", "exactly": True, "sentence": sentence.strip()}
    if extrapolated:
        size = f"extrapolated to all {len(task)} rows"
    else:
        size = f"that of the learner at {rows_words(float(np.mean(sizes)))}"
    sentence = f"{_made_from(search, len(task))}; the risk is {size}. {_how_far(search, extrapolated)}"
    if search.tuned and search.final == "ensemble":
        sentence += f" {_of_ensemble(search, study.reported[0])}"
    return {"estimate": "risk", "exactly": False, "sentence": sentence.strip()}


def covers_of_tuning(search: Search, inner: Splits) -> dict[str, Any]:
    """The estimate of ``tuned.estimates_`` that speaks of the predictor of a tuned learner that was fitted."""
    several = len(search) > 1
    if search.final == "keep" and several:
        sentence = (
            "The predictor was trained without the development rows that chose it, so the interval of "
            "'development_chosen', where it has one, is of this very predictor."
        )
        return {"estimate": "development_chosen", "exactly": True, "sentence": sentence}
    if search.final == "keep":
        sentence = "The predictor was trained without the development rows and was not chosen by them."
        return {"estimate": "best_validation", "exactly": True, "sentence": sentence}
    if search.final == "ensemble":
        return {
            "estimate": "best_validation" if several else "fold_predictors",
            "exactly": False,
            "sentence": _of_ensemble(search, search.losses[0]),
        }
    estimate = _of_fewer_rows(search, inner)
    how = "" if not several else ", optimistically" if estimate == "best_validation" else ", as a rule of thumb"
    sentence = (
        f"The predictor was trained on all rows; {estimate!r} speaks of the learner at fewer rows{how}. "
        "evaluate estimates its risk on rows that neither trained nor chose it."
    )
    return {"estimate": estimate, "exactly": False, "sentence": sentence}


def _of_fewer_rows(search: Search, inner: Splits) -> str:
    """The least optimistic number that these validation splits and this loss afford, whatever the losses are."""
    if len(search) == 1 or search.choose != "best":
        return "best_validation"
    if len(inner) > 1 and (inner.held_sizes > 1).any():
        return "best_validation_tt"
    return "best_validation" if search.losses[0].rows is None or inner.recipe.timed else "best_validation_bbc"


def _of_development(search: Search) -> str:
    if not search.tuned or search.final == "ensemble":
        return ""
    if search.final == "keep":
        return "It was trained without the development rows, so the development-set bound, if any, holds for it too."
    return "It was retrained on training and development rows together, so no development-set bound holds for it."


def _made_from(search: Search, rows: int) -> str:
    if search.tuned and search.final == "ensemble":
        return f"The predictor averages fold predictors chosen and trained on parts of all {rows} rows"
    if search.tuned and search.final == "keep":
        return f"The predictor is chosen on development rows and trained on the others of all {rows} rows"
    return f"The predictor is trained on all {rows} rows"


def _how_far(search: Search, extrapolated: bool) -> str:
    worse = "" if extrapolated else ", usually a little worse than one made from all rows"
    return f"It speaks of a typical predictor of this learner{worse}, not of this one."


def _of_ensemble(search: Search, loss: Loss) -> str:
    """Whether the mean risk of the fold predictors bounds that of their average: θ fixed, and the loss convex."""
    if not loss.convex:
        return (
            f"The mean risk of the fold predictors does not bound that of their average, since {loss.name!r} is not "
            "convex in what is averaged."
        )
    if len(search) > 1:
        return (
            "The mean risk of the fold predictors does not bound that of their average here, since the same rows "
            "chose the candidate."
        )
    return (
        f"The candidate is fixed and {loss.name!r} is convex in what is averaged, so the risk of the average is at "
        "most the mean risk of the fold predictors: the estimate 'fold_predictors' of the fitted Tuned."
    )
