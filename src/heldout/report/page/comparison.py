"""What the page of a comparison shows, in the order of its sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import line
from heldout.report.page.record import facts_of, programs_of
from heldout.report.page.result import choices_table
from heldout.report.page.sections import MOST_FINDINGS, counts_of, figures_of, graves_first, sections_of
from heldout.report.page.tables import Shown, Table, make_table
from heldout.report.page.words import between

MOST_LEARNERS = 50  # whose choices are told one by one
MOST_PAIRS, MOST_WAYS = 500, 5
CHOICES_ROOM = 8_000  # bytes of the choices of one learner

_TITLES = {
    "ranking": (
        "Ranking",
        "Each interval holds by itself: two that overlap do not mean that there is no difference.",
    ),
    "differences": (
        "Differences, pair by pair",
        "These intervals hold together, and they are what tells whether two learners differ.",
    ),
    "paired": ("The same folds, side by side", "Each line follows one fold through the learners."),
    "learners": ("Each learner by itself", "What it is, what its folds chose, and what it cost."),
    "findings": ("Findings", "What a reader should know before believing the numbers."),
    "failures": ("Failures", "Learners without a result, and why."),
    "record": ("How to get it again", "The data, the splits, the versions and the call that this page rests on."),
}


def comparison_view(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the template `comparison.html.j2`."""
    figures = figures_of(summary["figures"])
    present = {"ranking", "findings", "record"}
    present |= {"differences"} if summary["pairs"] else set()
    present |= {"paired"} if figures.get("paired_folds") else set()
    present |= {"learners"} if summary["learners"] else set()
    present |= {"failures"} if summary["failures"] else set()
    findings = graves_first(summary["findings"])
    about = {"level": summary["level"], **summary["about"]}
    return {
        "about": about,
        "verdict": summary["verdict"],
        "names": ", ".join(line(one["name"]) for one in summary["ranking"]),
        "rope": summary["rope"],
        "level": summary["level"],
        "sections": sections_of(_TITLES, present),
        "figures": figures,
        "ranking": summary["ranking"],
        "pairs": _pairs_table(summary),
        "ways": _ways(summary["pairs"]),
        "learners": [_learner(name, one) for name, one in list(summary["learners"].items())[:MOST_LEARNERS]],
        "learners_left_out": max(0, len(summary["learners"]) - MOST_LEARNERS),
        "findings": findings[:MOST_FINDINGS],
        "findings_left_out": len(findings[MOST_FINDINGS:]),
        "counts": counts_of(findings),
        "failures": make_table("Learners without a result", ("Learner", "Why"), summary["failures"].items()),
        "tracebacks": [],
        "facts": facts_of(about),
        "programs": programs_of(about),
    }


def _pairs_table(summary: Mapping[str, Any]) -> Table:
    """A row a pair: the difference of the first less the second, and what it shows."""
    pairs = summary["pairs"]
    chances = [
        (title, key)
        for title, key in (
            ("Chance first better", "chance_first_better"),
            ("Chance equal", "chance_equal"),
            ("Chance second better", "chance_second_better"),
        )
        if any(pair[key] is not None for pair in pairs)
    ]
    sizes, tests = ["Difference", "Interval"], ["p", "p by Holm", *(title for title, _ in chances)]
    rows = (
        [
            pair["first"],
            pair["second"],
            pair["difference"],
            Shown(words=between(pair), by=_finite(pair["low"])),
            pair["verdict"],
            pair["p"],
            pair["p_holm"],
            *(pair[key] for _, key in chances),
        ]
        for pair in pairs
    )
    head = ["First", "Second", *sizes, "What it shows", *tests]
    caption = "Differences of all pairs, first less second"
    return make_table(caption, head, rows, numeric=[*sizes, *tests], most=MOST_PAIRS)


def _finite(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None


def _ways(pairs: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """How the differences were made, each way once: what they estimate, and by which method."""
    made = dict.fromkeys(
        (str(pair["estimand"]), f"{pair['method']}, {pair['guarantee']}; p by {pair['p_method']}")
        for pair in pairs
        if pair["method"]
    )
    return list(made)[:MOST_WAYS]


def _learner(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "facts": facts_of(one["about"]),
        "choices": choices_table(one["choices"], room=CHOICES_ROOM) if one["choices"] else None,
        "seconds": one["seconds"],
    }
