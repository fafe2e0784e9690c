"""The verdict on a study in sentences that anyone can read, and that never say more than the estimates do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.base.words import share
from heldout.risk.estimands import LATER, Sizes, risk_words, rows_words
from heldout.risk.estimate import Estimate
from heldout.risk.meanings import label_of, meaning_of

FEWEST_ROWS = 10  # predicted rows from which on widths fall about as the root says
_SHARES = {"zero_one": "wrong", "accuracy": "right"}  # losses that count rows, and what they count
_PROMISES = {
    "exact": "The interval holds the true value in at least {level} of such studies, whatever the data, as long as the "
    "test rows come about as the rows to come will.",
    "finite-sample": "The interval holds the true value in at least {level} of such studies, however few the rows, as "
    "long as the test rows come about as the rows to come will.",
    "asymptotic": "The interval holds the true value in about {level} of such studies where the test rows are many; "
    "with few of them less often.",
    "heuristic": "The interval is a rule of thumb that aims at {level}: nothing is proved of it.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What an answer without any model costs on the same rows, in the user's own sign."""

    value: float
    words: str  # "always answering 'no'"


def verdict_of(
    estimates: Mapping[str, Estimate], reference: Reference | None = None, *, rows: int, units: str = "rows"
) -> dict[str, Any]:
    """The sentences of a report's first lines, and what each number means.

    `rows` are those of the study, `units` what is independent among them.
    """
    risk = estimates["risk"]
    return {
        "sentence": sentence_of(risk),
        "promise": promise_of(risk),
        "against": None if reference is None else _against(risk, reference),
        "optimism": _optimism(risk, estimates.get("best_validation")),
        "surer": surer(risk, rows=rows, units=units),
        "meanings": {name: {"label": label_of(one), "text": meaning_of(one)} for name, one in estimates.items()},
    }


def sentence_of(risk: Estimate) -> str:
    """The risk and its interval in a sentence.

    >>> from heldout.risk.estimate import Estimate
    >>> sure = {"low": 0.01, "high": 0.108, "level": 0.95, "method": "corrected t", "guarantee": "heuristic"}
    >>> words = "expected zero-one risk of the learner trained on 120 rows"
    >>> of = {"name": "risk", "loss": "zero_one", "estimand": words, "train_size": 120, "n": 150}
    >>> print(sentence_of(Estimate(value=0.04, **of, **sure)))
    On new rows the learner, trained on 120 rows, is expected to be wrong 4.0% of the time (95% interval 1.0% to 10.8%).
    """
    if risk.value is None and risk.answer is None:
        return f"This study has no risk to tell. {risk.reason or ''}".strip()
    between = ""
    if risk.low is not None and risk.high is not None:
        between = f" ({_percent(risk.level)} interval {_said(risk, risk.low)} to {_said(risk, risk.high)})"
    rows = "On later rows" if LATER in risk.estimand else "On new rows"
    if risk.value is None:
        who = _subject(risk).removesuffix(",")
        return f"All that is told of {who}, on {rows.removeprefix('On ')} and by {_loss(risk)}: {risk.answer}{between}."
    coarse = "" if risk.answer is None else f", {risk.answer}"
    return f"{rows} {_subject(risk)} is expected to {_predicate(risk)}{coarse}{between}."


def promise_of(risk: Estimate) -> str:
    """What the interval promises, or why there is none."""
    if risk.low is None or risk.guarantee is None:
        return risk.reason or "There is no interval."
    text = _PROMISES[risk.guarantee].format(level=_percent(risk.level))
    return f"{text} {risk.reason}" if risk.reason else text


def surer(risk: Estimate, *, rows: int, units: str = "rows") -> list[str]:
    """What would make the number more certain. The width of every interval here falls with the root of the rows."""
    if risk.value is None or risk.low is None or risk.high is None or risk.n < FEWEST_ROWS:
        return []
    width = risk.high - risk.low if risk.unclipped is None else risk.unclipped[1] - risk.unclipped[0]
    if not width > 0:
        return []
    learner = risk.estimand.startswith("expected")
    count, of_test = (rows, "") if learner else (risk.n, "test ")
    told = f" ({4 * count:,} instead of {count:,})" if units == "rows" else ""
    found = [
        f"Four times as many {of_test}{units}{told} would about halve the interval, from {_size(risk, width)} to "
        f"{_size(risk, width / 2)} wide."
    ]
    if not learner and risk.train_size is not None and risk.train_size > risk.n:
        found.append(
            "Cross-validation would test on every row in turn; it speaks of the learner, not of this predictor."
        )
    return found


def _against(risk: Estimate, reference: Reference) -> str | None:
    if risk.value is None:
        return None
    head = f"On the same rows {reference.words} would {_predicate(risk, reference.value)}."
    if risk.low is None or risk.high is None:
        return head
    worst = risk.low if risk.greater_is_better else risk.high
    better = worst > reference.value if risk.greater_is_better else worst < reference.value
    best = risk.high if risk.greater_is_better else risk.low
    worse = best < reference.value if risk.greater_is_better else best > reference.value
    if better:
        return f"{head} The whole interval is better than that."
    if worse:
        return f"{head} The whole interval is worse than that."
    return f"{head} The interval includes that, so this study does not show that the learner is any better."


def _optimism(risk: Estimate, best: Estimate | None) -> str | None:
    """The best validation number, and by how much it is better than the risk."""
    if best is None or not best.optimistic or best.loss != risk.loss:
        return None
    if best.value is None:
        return f"There is no best validation number to set beside the risk. {best.reason or ''}".strip()
    size = "" if best.sizes is None else f", from training sets of {rows_words(best.sizes)}"
    head = (
        f"The best validation number is {_said(best, best.value)}{size}. Such numbers flatter on average, since the "
        "same rows chose the winner"
    )
    if risk.value is None:
        return f"{head}."
    gap, of = risk.value - best.value, "the risk minus that number"
    if risk.greater_is_better:
        gap, of = -gap, "that number minus the score to quote"
    text = f"{head}; the number to quote is {_said(risk, risk.value)}. The optimism is {_size(risk, gap)}: {of}."
    both = Sizes.of([risk.train_size or 0.0, best.train_size or 0.0])
    if both is not None and both.range is not None:
        text += " The training sizes differ, and part of that difference is theirs."
    return text


def _subject(risk: Estimate) -> str:
    if not risk.estimand.startswith("expected"):
        origin = "" if risk.sizes is None else f", trained on {rows_words(risk.sizes)},"
        return f"this predictor{origin}"
    who = "the tuned learner" if "tuned learner" in risk.estimand else "the learner"
    return f"{who}, trained on {rows_words(risk.sizes or 0.0)},"


def _predicate(risk: Estimate, value: float | None = None) -> str:
    value = risk.value if value is None else value
    assert value is not None  # asked for only where there is a value
    if risk.loss in _SHARES:
        return f"be {_SHARES[risk.loss]} {_said(risk, value)} of the time"
    if risk.greater_is_better:
        return f"score {_said(risk, value)} by {_loss(risk)}"
    return f"have a mean {_loss(risk)} loss of {_said(risk, value)}"


def _loss(risk: Estimate) -> str:
    return risk_words(risk.loss, 1).removesuffix(" risk")


def _said(risk: Estimate, value: float) -> str:
    """A value of this loss as people say it: shares in per cent, everything else to three digits."""
    if risk.loss in _SHARES:
        return share(value)
    size = abs(value)
    return f"{value:,.0f}" if 1000 <= size < 1e7 else f"{value:.3g}"


def _size(risk: Estimate, width: float) -> str:
    return share(width).removesuffix("%") + " points" if risk.loss in _SHARES else _said(risk, width)


def _percent(level: float) -> str:
    return f"{100 * level:.4g}%"
