"""What each estimate means, in plain language: a few words for a label, and a sentence or two behind it."""

from __future__ import annotations

from heldout.risk.estimands import risk_words, rows_words
from heldout.risk.estimate import Estimate

_LABELS = {
    "risk": "risk",
    "fold_predictors": "fold predictors",
    "best_validation": "best validation number",
    "best_validation_bbc": "corrected by BBC-CV",
    "best_validation_tt": "corrected by Tibshirani",
    "development_chosen": "chosen predictor",
    "development_best": "best of the family",
    "development_gap": "cost of choosing",
    "extrapolated": "extrapolated to all rows",
}


def label_of(estimate: Estimate) -> str:
    """A few words for an estimate: the risk of a further loss is called by that loss."""
    if estimate.name in _LABELS:
        return _LABELS[estimate.name]
    return risk_words(estimate.loss, -1 if estimate.greater_is_better else 1)


def meaning_of(estimate: Estimate) -> str:
    """What an estimate estimates, and at which training size, for someone who has not read the manual."""
    words = _MEANINGS.get(estimate.name)
    if words is None:
        words = _of_learner(estimate) if estimate.estimand.startswith("expected") else _of_predictor(estimate)
    if estimate.value is None and estimate.answer is None and estimate.reason:
        return f"{words} {estimate.reason}"
    size = "" if estimate.sizes is None else f" Training size: {rows_words(estimate.sizes)}."
    return f"{words} It rests on {estimate.n:,} predicted rows.{size}"


def _of_learner(estimate: Estimate) -> str:
    tuned = "tuned learner" in estimate.estimand
    how = ", its parameters chosen anew inside every training part," if tuned else ""
    return (
        f"If the learner were trained{how} on other data of the same kind and size, and asked about rows it has not "
        f"seen, this is the {_noun(estimate)} to expect on average over such data. It is no promise about one "
        "particular predictor."
    )


def _of_predictor(estimate: Estimate) -> str:
    return (
        f"This is the {_noun(estimate)} to expect of this very predictor on new rows that come about as the test rows "
        "did. No test row had a part in training or choosing it."
    )


def _noun(estimate: Estimate) -> str:
    words = risk_words(estimate.loss, 1).removesuffix(" risk")
    return f"{words} score" if estimate.greater_is_better else f"{words} loss"


_MEANINGS = {
    "fold_predictors": (
        "The mean risk of the predictors that the folds trained. For a convex loss the average of these predictors "
        "does at least as well, however their parameters were chosen."
    ),
    "best_validation": (
        "The number that a plain grid search reports. The rows that it is measured on also chose the winner, so it "
        "flatters: do not quote it as the risk."
    ),
    "best_validation_bbc": (
        "The best validation number corrected for the flattery of choosing, by drawing rows again and again and "
        "judging each choice on the rows that were left out (Tsamardinos et al. 2018)."
    ),
    "best_validation_tt": (
        "The best validation number plus an estimate of its optimism: how much worse the winner is in each part than "
        "that part's own best (Tibshirani and Tibshirani 2009)."
    ),
    "development_chosen": (
        "The risk of the predictor that was chosen, with a bound that allows for choosing it: it holds for all "
        "candidates at once."
    ),
    "development_best": "The smallest risk that any candidate of the family has on this training set.",
    "development_gap": "How much worse the chosen predictor may be than the best one of the family.",
    "extrapolated": (
        "The learning curve, carried on to a training set of all rows by a power law. A rule of thumb: curves may bend."
    ),
}
