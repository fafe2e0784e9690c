"""The verdict on a comparison: who is ahead, and of whom that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.risk.comparison.pairs import Pair
from heldout.risk.comparison.sentences import Verdict
from heldout.risk.estimands import risk_words
from heldout.risk.estimate import Estimate

MOST_NAMED = 6  # learners in a sentence


def verdict_of_comparison(ranking: Mapping[str, Estimate], pairs: Sequence[Pair], *, level: float) -> dict[str, Any]:
    """A sentence on the learner that is ahead, what the intervals promise, and what would make it surer."""
    valued = [name for name, one in ranking.items() if one.value is not None]
    if not valued:
        return {"sentence": "No learner has a risk, so there is nothing to compare.", "promise": "", "surer": []}
    best, others = valued[0], [name for name in ranking if name != valued[0]]
    risk = ranking[best]
    said = {name: _said_of(pairs, best, name) for name in others}
    most = "largest" if risk.greater_is_better else "smallest"
    head = f"{best} has the {most} {risk_words(risk.loss, -1 if risk.greater_is_better else 1)}, {_number(risk.value)}"
    clauses = [
        f"{words} {_listed([name for name in others if said[name] == kind])}"
        for kind, words in _CLAUSES.items()
        if kind in said.values()
    ]
    return {
        "sentence": f"{head}; it is {', '.join(clauses)}." if clauses else f"{head}.",
        "promise": _promise(pairs, level),
        "surer": _surer(pairs),
    }


_CLAUSES = {
    "better": "shown to be better than",
    "better, equal": "shown to be better than, though practically equal to,",
    "equal": "practically equal to",
    "worse": "nevertheless shown to be worse than",
    "not shown": "not shown to differ from",
    "not compared": "not comparable with",
}


def _said_of(pairs: Sequence[Pair], best: str, other: str) -> str:
    """What is shown of the best and another, from the best one's side."""
    for pair in pairs:
        if {pair.first, pair.second} == {best, other}:
            ahead = pair.first == best
            if pair.verdict in (Verdict.FIRST, Verdict.SECOND):
                return "better" if (pair.verdict is Verdict.FIRST) == ahead else "worse"
            if pair.verdict in (Verdict.FIRST_BUT_EQUAL, Verdict.SECOND_BUT_EQUAL):
                return "better, equal" if (pair.verdict is Verdict.FIRST_BUT_EQUAL) == ahead else "worse"
            return {Verdict.EQUAL: "equal", Verdict.NOT_SHOWN: "not shown"}.get(pair.verdict, "not compared")
    return "not compared"


def _promise(pairs: Sequence[Pair], level: float) -> str:
    made = [pair.difference for pair in pairs if pair.difference.low is not None]
    if not made:
        return "There are no intervals of differences."
    kinds = ", ".join(dict.fromkeys(str(one.guarantee) for one in made))
    together = "hold together" if len(made) > 1 else "is"
    what = "The intervals of the differences" if len(made) > 1 else "The interval of the difference"
    return f"{what} {together} at {100 * level:.4g}% ({kinds})."


def _surer(pairs: Sequence[Pair]) -> list[str]:
    undecided = [pair.difference for pair in pairs if pair.verdict is Verdict.NOT_SHOWN]
    widths = [one.high - one.low for one in undecided if one.low is not None and one.high is not None]
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


def _number(value: float | None) -> str:
    assert value is not None  # the ranking has values first
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"
