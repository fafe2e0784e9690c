"""Writes the sentences of a report: the verdict on a study, and the meaning of each number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from heldout.base.words import digits_of, percent, rounded, share
from heldout.risk.estimands import Sizes, Subject, risk_words, rows_words
from heldout.risk.estimate import Estimate

FEWEST_ROWS = 10  # predicted rows; with fewer, widths do not fall about as 1/√n
_SHARES = {"zero_one": "wrong", "accuracy": "right"}  # losses that count rows, and what they count
_PROMISES = {
    "exact": "The interval holds the true value in at least {level} of such studies, whatever the data, as long as new "
    "rows come from the same source as the test rows.",
    "finite-sample": "The interval holds the true value in at least {level} of such studies, however few the rows, as "
    "long as new rows come from the same source as the test rows.",
    "asymptotic": "The interval holds the true value in about {level} of such studies where the test rows are many; "
    "less often with few of them.",
    "heuristic": "The interval is a rule of thumb that aims at {level}: nothing is proved about it.",
}


BETTER, WORSE, NOT_SHOWN = "better", "worse", "not shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """Holds the estimate that a report leads with, and its label; "" where that is the name of the loss."""

    estimate: Estimate
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Holds the comparison of the learner with a constant prediction on the same rows, in the user's own sign."""

    words: str | None = None  # "always answering 'no'"; None without a comparison, and `reason` says why
    value: float | None = None  # the risk of the constant prediction
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str | None = None
    guarantee: str | None = None
    p: float | None = None
    verdict: str = NOT_SHOWN  # "better", "worse" or "not shown"
    parts: int = 1
    estimand: str | None = None
    reason: str | None = None


def verdict_of(
    estimates: Mapping[str, Estimate],
    reference: Reference | None = None,
    *,
    rows: int,
    units: str = "rows",
    leads: Leading | None = None,
) -> dict[str, Any]:
    """Return the sentences for the top of a report, and the meaning of each estimate.

    `rows` is the number of rows of the study, `units` the name of the independent units ("rows" or "groups"). `leads`
    is the familiar form of the risk that sentences tell, such as the accuracy; without it they tell the risk.
    """
    risk = estimates["risk"]
    leads = leads if leads is not None and leads.estimate.value is not None else Leading(estimate=risk)
    told = leads.estimate
    return {
        "sentence": sentence_of(told, label=leads.label),
        "promise": promise_of(told),
        "no_model": None if reference is None else asdict(reference),
        **_optimism(risk, estimates.get("best_validation"), leads),
        "surer": surer(told, rows=rows, units=units),
        "meanings": {
            name: {"label": label_of(estimate), "text": meaning_of(estimate)} for name, estimate in estimates.items()
        },
    }


def sentence_of(risk: Estimate, *, label: str = "") -> str:
    """Return a sentence with the risk and its interval; `label` is the familiar name of its loss.

    >>> from heldout.risk.estimate import Estimate
    >>> sure = {"low": 0.01, "high": 0.108, "level": 0.95, "method": "corrected t", "guarantee": "heuristic"}
    >>> from heldout.risk.estimands import learner_risk
    >>> words = learner_risk("zero_one", train_size=120, tuned=False)
    >>> of = {"name": "risk", "loss": "zero_one", "estimand": words, "train_size": 120, "n": 150}
    >>> sentence_of(Estimate(value=0.04, **of, **sure)).partition("expected to ")[2]
    'be wrong 4.0 % of the time (95 % interval 1.0 % to 10.8 %).'
    """
    if risk.value is None and risk.answer is None:
        return f"This study has no risk to tell. {risk.reason or ''}".strip()
    between = ""
    if risk.low is not None and risk.high is not None:
        between = f" ({_percent(risk.level)} interval {_amount(risk, risk.low)} to {_amount(risk, risk.high)})"
    rows = "On later rows" if risk.estimand.later else "On new rows"
    if risk.value is None:
        who = _subject(risk).removesuffix(",")
        return f"All that is told of {who}, on {rows.removeprefix('On ')} and by {_loss(risk)}: {risk.answer}{between}."
    coarse = "" if risk.answer is None else f", {risk.answer}"
    return f"{rows} {_subject(risk)} is expected to {_predicate(risk, label)}{coarse}{between}."


def promise_of(risk: Estimate) -> str:
    """Return the sentence that says what the interval guarantees, or why there is none."""
    if risk.low is None or risk.guarantee is None:
        return risk.reason or "There is no interval."
    text = _PROMISES[risk.guarantee].format(level=_percent(risk.level))
    return f"{text} {risk.reason}" if risk.reason else text


def surer(risk: Estimate, *, rows: int, units: str = "rows") -> list[str]:
    """Return sentences on what would narrow the interval; its width falls as one over the root of the rows."""
    if risk.value is None or risk.low is None or risk.high is None or risk.n < FEWEST_ROWS:
        return []
    width = risk.high - risk.low if risk.unclipped is None else risk.unclipped[1] - risk.unclipped[0]
    if not width > 0:
        return []
    learner = risk.estimand.of_learner
    count, of_test = (rows, "") if learner else (risk.n, "test ")
    numbers = f" ({4 * count:,} instead of {count:,})" if units == "rows" else ""
    sentences = [
        f"Four times as many {of_test}{units}{numbers} would about halve the interval, from {_size(risk, width)} to "
        f"{_size(risk, width / 2)} wide."
    ]
    if not learner and risk.train_size is not None and risk.train_size > risk.n:
        sentences.append(
            "Cross-validation would test on every row in turn; it speaks of the learner, not of this predictor."
        )
    return sentences


def _optimism(risk: Estimate, best: Estimate | None, leads: Leading) -> dict[str, str | None]:
    """Return how optimistic the best validation number is, at length and in a line; None without one for this loss."""
    if best is None or not best.optimistic or best.loss != risk.loss:
        return {"optimism": None, "flattery": None}
    if best.value is None:
        reason = f"There is no best validation number to set beside the risk. {best.reason or ''}".strip()
        return {"optimism": reason, "flattery": None}
    quoted, turn = leads.estimate, _turned(risk.loss, leads.estimate.loss)
    if turn is None:
        quoted, turn = risk, float
    size = "" if best.sizes is None else f", from training sets of {rows_words(best.sizes)}"
    number = _amount(quoted, turn(best.value))
    head = (
        f"The best validation number is {number}{size}. Such numbers flatter on average, since the "
        "same rows chose the winner"
    )
    if quoted.value is None:
        return {"optimism": f"{head}.", "flattery": None}
    gap, of = quoted.value - turn(best.value), "the number to quote minus that one"
    if quoted.greater_is_better:
        gap, of = -gap, "that number minus the one to quote"
    text = (
        f"{head}; the number to quote is {_amount(quoted, quoted.value)}. The optimism is {_size(quoted, gap)}: {of}."
    )
    if gap < 0:
        text += " It is negative: in this study the number to quote happens to be the better one."
    both = Sizes.of([risk.train_size or 0.0, best.train_size or 0.0])
    if both is not None and both.range is not None:
        text += " Part of it comes from the different training sizes."
    return {"optimism": text, "flattery": _flattery(quoted, turn(best.value), gap)}


def _flattery(quoted: Estimate, best: float, gap: float) -> str:
    """Return in a line by how much the best validation score is too good, rounded as the number to quote."""
    digits, share = digits_of(quoted.low, quoted.high), quoted.loss in _SHARES
    score = percent(best, digits or 3) if share else rounded(best, digits)
    size = percent(gap, digits or 3).removesuffix(" %") if share else rounded(gap, digits)
    if gap <= 0 or not float(size.replace(",", "")):
        return f"none here: the best validation score was {score}"
    unit = "" if not share else " point" if size == "1" else " points"
    return f"the best validation score ({score}) is {size}{unit} too good"


def _turned(loss: str, leading: str) -> Callable[[float], float] | None:
    """Return the function that turns values of a loss into those of its familiar form; None if none is known."""
    if loss == leading:
        return float
    return {("zero_one", "accuracy"): lambda value: 1 - value, ("squared", "rmse"): sqrt}.get((loss, leading))


def _subject(risk: Estimate) -> str:
    if not risk.estimand.of_learner:
        origin = "" if risk.sizes is None else f", trained on {rows_words(risk.sizes)},"
        return f"this predictor{origin}"
    return f"the {risk.estimand.subject}, trained on {rows_words(risk.sizes or 0.0)},"


def _predicate(risk: Estimate, label: str) -> str:
    assert risk.value is not None  # asked for only where there is a value
    amount = _amount(risk, risk.value)
    if risk.loss in _SHARES:
        return f"be {_SHARES[risk.loss]} {amount} of the time"
    if risk.greater_is_better:
        return f"score {amount} by {label or _loss(risk)}"
    if label.isupper():
        return f"have an {label} of {amount}"
    return f"have a mean {_loss(risk)} loss of {amount}"


def _loss(risk: Estimate) -> str:
    return risk_words(risk.loss, 1).removesuffix(" risk")


def _amount(risk: Estimate, value: float) -> str:
    """Format a value of this loss: shares in per cent, other values to three digits."""
    if risk.loss in _SHARES:
        return share(value)
    size = abs(value)
    return f"{value:,.0f}" if 1000 <= size < 1e7 else f"{value:.3g}"


def _size(risk: Estimate, width: float) -> str:
    return share(width).removesuffix(" %") + " points" if risk.loss in _SHARES else _amount(risk, width)


def _percent(level: float) -> str:
    return f"{100 * level:.4g} %"


def label_of(estimate: Estimate) -> str:
    """Return a short label for an estimate; the risk by a further loss is named after that loss."""
    if estimate.name in _KNOWN:
        return _KNOWN[estimate.name][0]
    return "risk" if estimate.name == "risk" else risk_words(estimate.loss, -1 if estimate.greater_is_better else 1)


def meaning_of(estimate: Estimate) -> str:
    """Explain in sentences what an estimate estimates and at which training size, for readers without the manual."""
    if estimate.name in _KNOWN:
        words = _KNOWN[estimate.name][1]
    else:
        words = _meaning_of_risk(estimate)
    if estimate.value is None and estimate.answer is None and estimate.reason:
        return f"{words} {estimate.reason}"
    size = "" if estimate.sizes is None else f" Training size: {rows_words(estimate.sizes)}."
    return f"{words} It rests on {estimate.n:,} predicted rows.{size}"


def _meaning_of_risk(estimate: Estimate) -> str:
    noun = f"{_loss(estimate)} {'score' if estimate.greater_is_better else 'loss'}"
    if not estimate.estimand.of_learner:
        return (
            f"This is the {noun} to expect of this very predictor on new rows that come about as the test rows did. No "
            "test row had a part in training or choosing it."
        )
    tuned = estimate.estimand.subject is Subject.TUNED_LEARNER
    how = ", its parameters chosen anew inside every training part," if tuned else ""
    return (
        f"If the learner were trained{how} on other data of the same kind and size, and asked about rows it has not "
        f"seen, this is the {noun} to expect on average over such data. It is no promise about one "
        "particular predictor."
    )


_KNOWN = {  # the estimates other than the risk: a label and an explanation
    "fold_predictors": (
        "fold predictors",
        "The mean risk of the predictors that the folds trained. For a convex loss the average of these predictors "
        "does at least as well, however their parameters were chosen.",
    ),
    "best_validation": (
        "best validation number",
        "The number that a plain grid search reports. The rows that it is measured on also chose the winner, so it "
        "flatters: do not quote it as the risk.",
    ),
    "best_validation_bbc": (
        "corrected by BBC-CV",
        "The best validation number corrected for the flattery of choosing, by drawing rows again and again and "
        "judging each choice on the rows that were left out (Tsamardinos et al. 2018).",
    ),
    "best_validation_tt": (
        "corrected by Tibshirani",
        "The best validation number plus an estimate of its optimism: how much worse the winner is in each part than "
        "that part's own best (Tibshirani and Tibshirani 2009).",
    ),
    "development_chosen": (
        "chosen predictor",
        "The risk of the predictor that was chosen, with a bound that allows for choosing it: it holds for all "
        "candidates at once.",
    ),
    "development_best": (
        "best of the family",
        "The smallest risk that any candidate of the family has on this training set.",
    ),
    "development_gap": (
        "cost of choosing",
        "How much worse the chosen predictor may be than the best one of the family.",
    ),
    "extrapolated": (
        "extrapolated to all rows",
        "The learning curve, carried on to a training set of all rows by a power law. A rule of thumb: curves may "
        "bend.",
    ),
}
