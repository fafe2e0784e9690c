"""Verdicts and sentences on the comparison of learners, from intervals and Holm's p-values; Bayesian probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import stdtr

from heldout.risk.estimands import risk_words
from heldout.risk.estimate import Estimate
from heldout.risk.intervals.method import standard_deviation
from heldout.risk.record import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilities:
    """Holds the probabilities that the true difference of losses lies below, within or above ±rope.

    Lower losses are better, so `left` is the probability that the first learner is better.
    """

    left: float
    rope: float
    right: float


def correlated_t(differences: Floats, *, test_ratio: float, rope: float = 0.0) -> Probabilities:
    """Return the posterior probabilities of the Bayesian correlated t test over J splits (Benavoli et al. 2017).

    The posterior of the mean difference is a t with J − 1 degrees of freedom around the mean, with the squared scale
    s²(1/J + ρ/(1 − ρ)), ρ = n_test/n, so that ρ/(1 − ρ) is the `test_ratio` n_test/n_train of the corrected t.

    `differences` has the first learner's loss minus the second's for each split. `rope` is half the width of the region
    of practical equivalence, in the unit of the loss.

    >>> found = correlated_t(np.array([-0.05, -0.02, -0.04, -0.03, -0.01]), test_ratio=0.25, rope=0.01)
    >>> round(found.left, 3), round(found.rope, 3), round(found.right, 3)
    (0.934, 0.056, 0.01)
    """
    splits = len(differences)
    mean = float(np.mean(differences))
    scale = standard_deviation(differences) * sqrt(1 / splits + test_ratio)
    return t_posterior(mean, scale, splits - 1, rope=rope)


def t_posterior(mean: float, scale: float, freedom: float, *, rope: float = 0.0) -> Probabilities:
    """Return the probabilities of a t posterior around the mean, as a flat prior gives it."""
    if scale == 0:
        inside = abs(mean) <= rope and rope > 0
        half = 0.5 if mean == 0 else float(mean < 0)
        return Probabilities(left=0.0 if inside else half, rope=float(inside), right=0.0 if inside else 1 - half)
    left = float(stdtr(freedom, (-rope - mean) / scale))
    right = float(stdtr(freedom, (mean - rope) / scale))
    return Probabilities(left=left, rope=max(0.0, 1 - left - right) if rope > 0 else 0.0, right=right)


DRAWS = 20_000
PRIOR = 0.5  # the weight of the prior pseudo-dataset, on which the learners are equal
_AT_ONCE = 1 << 21  # numbers in memory


def signed_rank(differences: Floats, *, rope: float = 0.0, seed: int, draws: int = DRAWS) -> Probabilities:
    """Return the probabilities of the Bayesian signed rank test over datasets (Benavoli et al. 2014, 2017).

    Each draw weights the datasets by a Dirichlet sample, and each pair of differences by the product of its weights. It
    sums the weights of pairs whose mean lies below −rope, within ±rope or above rope, and votes for the largest sum.
    The probabilities are the shares of votes. Differences must be on one scale, such as that of error rates.

    `differences` has the first learner's loss minus the second's for each dataset. The standard error of a probability
    is at most 0.5/√draws, 0.0035 by default.

    >>> found = signed_rank(np.array([-0.05, -0.02, -0.04, -0.03, 0.01, -0.06]), rope=0.01, seed=0)
    >>> found.left > 0.9
    True
    """
    values = np.concatenate([[0.0], np.asarray(differences, dtype=np.float64)])
    sums = values[:, None] + values[None, :]
    below, above = _step(-sums - 2 * rope), _step(sums - 2 * rope)
    prior = np.concatenate([[PRIOR], np.ones(len(values) - 1)])
    rng = np.random.default_rng(seed)
    shares = []
    for size in _blocks(draws, len(values)):
        weights = rng.dirichlet(prior, size)
        left = np.einsum("si,si->s", weights @ below, weights)
        right = np.einsum("si,si->s", weights @ above, weights)
        shares.append(np.stack([left, 1 - left - right, right], axis=1))
    if rope == 0:
        return _two_sided(np.concatenate(shares))
    counts = np.bincount(np.argmax(np.concatenate(shares), axis=1), minlength=3) / draws
    return Probabilities(left=float(counts[0]), rope=float(counts[1]), right=float(counts[2]))


def _two_sided(shares: Floats) -> Probabilities:
    """Return the probabilities for rope = 0, where a tied draw counts half for each side."""
    left = float(np.mean(shares[:, 0] > shares[:, 2]) + np.mean(shares[:, 0] == shares[:, 2]) / 2)
    return Probabilities(left=left, rope=0.0, right=1 - left)


def _step(values: Floats) -> Floats:
    return np.heaviside(values, 0.5)


def _blocks(draws: int, width: int) -> list[int]:
    most = max(1, _AT_ONCE // width)
    return [most] * (draws // most) + ([draws % most] if draws % most else [])


class Verdict(StrEnum):
    """The outcome of a comparison; a difference can be real ("better") and too small to matter ("equal") at once."""

    FIRST = "first better"
    SECOND = "second better"
    FIRST_BUT_EQUAL = "first better, practically equal"
    SECOND_BUT_EQUAL = "second better, practically equal"
    EQUAL = "practically equal"
    NOT_SHOWN = "no difference shown"
    NONE = "not compared"


_TURNED = {  # the verdict for the two learners in the other order, if it differs
    Verdict.FIRST: Verdict.SECOND,
    Verdict.SECOND: Verdict.FIRST,
    Verdict.FIRST_BUT_EQUAL: Verdict.SECOND_BUT_EQUAL,
    Verdict.SECOND_BUT_EQUAL: Verdict.FIRST_BUT_EQUAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Holds the comparison of two learners; the difference is first minus second, in the user's own sign."""

    first: str
    second: str
    difference: Estimate  # its level is that of this one interval, its `family_level` that of all of them together
    family_level: float
    p: float | None
    p_method: str | None
    p_holm: float | None = None
    probabilities: Probabilities | None  # left: the first is better
    rope: float | None
    verdict: Verdict = Verdict.NONE
    sentence: str = ""


def judge(difference: Estimate, p_holm: float | None, *, level: float, rope: float | None) -> Verdict:
    """Return the verdict on a difference (first minus second, in the user's own sign).

    A learner is better if Holm's p is at most 1 − level. Two are practically equal if the whole interval lies within
    ±rope.
    """
    value, low, high = difference.value, difference.low, difference.high
    if value is None:
        return Verdict.NONE
    if low is None or high is None:
        return Verdict.NOT_SHOWN
    # The tolerance of 1e-9: 1 − level is rounded, and a p-value of exactly 0.05 must not depend on that.
    shown = p_holm is not None and p_holm <= (1 - level) * (1 + 1e-9) and value != 0
    equal = rope is not None and -rope <= low and high <= rope
    if not shown:
        return Verdict.EQUAL if equal else Verdict.NOT_SHOWN
    if (value > 0) == difference.greater_is_better:
        return Verdict.FIRST_BUT_EQUAL if equal else Verdict.FIRST
    return Verdict.SECOND_BUT_EQUAL if equal else Verdict.SECOND


def pair_sentence(pair: Pair) -> str:
    """Return the verdict as a sentence, with the numbers it rests on."""
    first, second, difference, verdict = pair.first, pair.second, pair.difference, pair.verdict
    if verdict is Verdict.NONE:
        return f"{first} and {second} cannot be compared. {difference.reason}"
    if difference.low is None or difference.high is None:
        return f"No difference shown between {first} and {second}. {difference.reason}"
    between = f"{_number(difference.low)} to {_number(difference.high)}"
    if verdict is Verdict.NOT_SHOWN:
        return f"No difference shown between {first} and {second}: the interval of {first} minus {second} is {between}."
    equal = f"practically equal (within ±{_number(pair.rope or 0.0)})"
    if verdict is Verdict.EQUAL:
        return f"{first} and {second} are {equal}: the interval of their difference is {between}."
    better, worse = (first, second) if verdict in (Verdict.FIRST, Verdict.FIRST_BUT_EQUAL) else (second, first)
    tail = f", {equal}" if verdict in (Verdict.FIRST_BUT_EQUAL, Verdict.SECOND_BUT_EQUAL) else ""
    if difference.low <= 0 <= difference.high:
        adjusted = "p" if pair.p == pair.p_holm else "Holm p"
        return (
            f"{better} is better than {worse} ({adjusted} = {_number(pair.p_holm or 0.0)}){tail}; by how much is not "
            f"shown: the interval of {first} minus {second} is {between}."
        )
    least, most = sorted((abs(difference.low), abs(difference.high)))
    return f"{better} is better than {worse} by {_number(least)} to {_number(most)}{tail}."


def _number(value: float) -> str:
    """Format a number to three significant digits; from 1,000 to 10 million without an exponent.

    >>> _number(1331.7), _number(-0.01234), _number(2.5e-9)
    ('1,332', '−0.0123', '2.5e-09')
    """
    size = abs(value)
    text = f"{size:,.0f}" if 1000 <= size < 1e7 else f"{size:.3g}"
    return f"−{text}" if value < 0 else text


MOST_NAMED = 6  # learners in a sentence


def verdict_of_comparison(ranking: Mapping[str, Estimate], pairs: Sequence[Pair], *, level: float) -> dict[str, Any]:
    """Return sentences: on the best learner, on the guarantee of the intervals, and on what would narrow them."""
    valued = [name for name, estimate in ranking.items() if estimate.value is not None]
    if not valued:
        return {"sentence": "No learner has a risk, so there is nothing to compare.", "promise": "", "surer": []}
    best, others = valued[0], [name for name in ranking if name != valued[0]]
    risk = ranking[best]
    said = {name: _CLAUSES[_verdict_on(best, name, pairs)] for name in others}
    most = "largest" if risk.greater_is_better else "smallest"
    assert risk.value is not None  # the ranking has values first
    quantity = risk_words(risk.loss, -1 if risk.greater_is_better else 1)
    head = f"{best} has the {most} {quantity}, {_number(risk.value)}"
    clauses = [
        f"{words} {_listed([name for name in others if said[name] == words])}"
        for words in dict.fromkeys(_CLAUSES.values())
        if words in said.values()
    ]
    return {
        "sentence": f"{head}; it is {', '.join(clauses)}." if clauses else f"{head}.",
        "promise": _promise(pairs, level),
        "surer": _surer(pairs),
    }


_CLAUSES = {
    Verdict.FIRST: "shown to be better than",
    Verdict.FIRST_BUT_EQUAL: "shown to be better than, though practically equal to,",
    Verdict.EQUAL: "practically equal to",
    Verdict.SECOND: "nevertheless shown to be worse than",
    Verdict.SECOND_BUT_EQUAL: "nevertheless shown to be worse than",
    Verdict.NOT_SHOWN: "not shown to differ from",
    Verdict.NONE: "not comparable with",
}


def _verdict_on(best: str, other: str, pairs: Sequence[Pair]) -> Verdict:
    """Return the verdict on the best learner and another one, with the best as the first."""
    for pair in pairs:
        if {pair.first, pair.second} == {best, other}:
            return pair.verdict if pair.first == best else _TURNED.get(pair.verdict, pair.verdict)
    return Verdict.NONE


def _promise(pairs: Sequence[Pair], level: float) -> str:
    made = [pair.difference for pair in pairs if pair.difference.low is not None]
    if not made:
        return "There are no intervals of differences."
    kinds = ", ".join(dict.fromkeys(str(difference.guarantee) for difference in made))
    together = "hold together" if len(made) > 1 else "is"
    what = "The intervals of the differences" if len(made) > 1 else "The interval of the difference"
    return f"{what} {together} at {100 * level:.4g} % ({kinds})."


def _surer(pairs: Sequence[Pair]) -> list[str]:
    undecided = [pair.difference for pair in pairs if pair.verdict is Verdict.NOT_SHOWN]
    widths = [
        difference.high - difference.low
        for difference in undecided
        if difference.low is not None and difference.high is not None
    ]
    if not widths:
        return []
    return [
        "Four times as many rows would about halve the intervals of the differences that are open, the widest of which "
        f"is {_number(max(widths))} wide."
    ]


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        return f"{', '.join(shown)} and {len(names) - MOST_NAMED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
