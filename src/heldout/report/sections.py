"""Defines the sections of a page: their order, and the blocks in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.base.words import short_names
from heldout.report.blocks import Block, Cell, Code, Details, Facts, Figure, Note, Number, Span, Table
from heldout.report.comparison import (
    ALONE,
    choices_table,
    comparison_facts,
    failed_table,
    leaders_table,
    p_value_table,
    pairs_table,
)
from heldout.report.figures.catalogue import KINDS
from heldout.report.first_screen import checked_words, metrics_table, no_value_words
from heldout.report.glossary import words_in
from heldout.report.plan import plan_blocks
from heldout.report.result import (
    OPTIMISTIC,
    explained,
    failures_table,
    findings_block,
    folds_table,
    made_by,
    meanings,
    value_cell,
)
from heldout.report.words import between, counted, parameter_value, row_count

NONE = {"none": ""}  # a figure that a summary does not have
MOST_LEARNERS = 50  # learners of a comparison whose choices are listed one by one
MOST_PARAMS = 8  # columns of candidates; the other parameters share one
MOST_TRACEBACKS = 5
_ROOM = 500_000  # bytes of the table of candidates: a thousand rows must fit into the page
_CHOICES_ROOM = 8_000  # bytes of the choices of one of several learners

_TITLES = {  # of each section: its title, and a sentence on how to read it
    "scores": ("The scores", "On held-out rows alone, beside what no model scores on the same rows."),
    "splits": ("How the rows were split", "Each lane is one round: what was trained on, and what was held out."),
    "folds": ("How it did in each fold", "The wider the dots lie apart, the less one number says."),
    "estimates": (
        "The number, and the numbers beside it",
        "Optimistic numbers were seen while choosing, so on average they are better than what to expect.",
    ),
    "parameters": (
        "Risk against each parameter",
        "Validation only: these numbers chose, so the best of them is too good. Bars are one standard error.",
    ),
    "candidates": ("All candidates", "By their validation loss, the best first. Select a heading to sort by it."),
    "stability": ("Is the choice stable?", "How often each choice won over the folds of the test."),
    "predictions": ("Where it errs", "Answers on held-out rows alone."),
    "subgroups": ("For whom it works", "The intervals of all groups hold together; small groups tell little."),
    "inputs": ("What the model uses", "What helps to predict need not cause anything."),
    "learning": ("Would more rows help?", "The risk at smaller training sizes, and where it seems to be going."),
    "time": ("Where the time went", "Seconds of fitting and scoring, summed over all workers."),
    "plan": ("The plan and what its rules saved", "What was done to get the same numbers with less work."),
    "ranking": ("Ranking", ALONE),
    "differences": (
        "Differences, pair by pair",
        "These intervals hold together, and they are what tells whether two learners differ.",
    ),
    "paired": ("The same folds, side by side", "Each line follows one fold through the learners."),
    "learners": ("Each learner by itself", "What it is, what its folds chose, and what it cost."),
    "findings": ("What was checked and found", "What a reader should know before believing the numbers."),
    "failures": ("Failures", "What failed is named, never averaged away."),
    "record": ("How to get it again", "The data, the splits, the versions and the call that this page rests on."),
    "words": ("The words of this page", "A line for each word that may be new."),
}
_OF_PREDICTIONS = ("confusion", "residuals", "roc", "pr", "calibration", "gains", "thresholds", "classes")


@dataclass(frozen=True, slots=True)
class Section:
    """Holds a section: its key, its title, a sentence on how to read it, and its blocks."""

    key: str
    title: str
    lede: str
    blocks: tuple[Block, ...]


def _sections(blocks: Mapping[str, Sequence[Block]]) -> list[Section]:
    return [Section(key, *_TITLES[key], tuple(shown)) for key, shown in blocks.items()]


def result_sections(summary: Mapping[str, Any]) -> list[Section]:
    """Return the sections of a result's page. `render_page` leaves out those whose blocks are empty."""
    figures, failures = summary["figures"], summary["failures"]
    return _sections(
        {
            "findings": _findings(summary),
            "failures": [failures_table(failures), *_tracebacks(failures)],
            "scores": [metrics_table(summary["metrics"]), Facts({"no value": no_value_words(summary)})],
            "predictions": _predictions(figures),
            "subgroups": _figures(figures, "subgroups"),
            "inputs": _figures(figures, "importance", "coefficients"),
            "folds": [*_figures(figures, "folds"), folds_table(summary)] if len(summary["folds"]) > 1 else [],
            "estimates": _estimates(summary),
            "parameters": [
                *_figures(figures, "parameters"),
                _not_drawn(figures["parameters"].get("left_out", ())),
            ],
            "candidates": [candidates_table(summary)],
            "stability": _stability(summary) if summary["choices"] else [],
            "learning": [
                *_figures(figures, "learning_curve"),
                _quiet(figures.get("learning_curve", {}).get("none", "")),
            ],
            "splits": _figures(figures, "splits"),
            "time": _figures(figures, "time"),
            "plan": plan_blocks(summary["plan"]),
            "record": made_by(summary["about"]),
        }
    )


def words_section(text: str) -> Section:
    """Return the section that explains the words which a page uses."""
    return Section("words", *_TITLES["words"], (Facts(words_in(text)),))


def comparison_sections(summary: Mapping[str, Any]) -> list[Section]:
    """Return the sections of a comparison's page."""
    alike = dict.fromkeys(("ranking", "comparison", "paired_folds"), summary["figures"]["comparison"])
    pairs = summary["pairs"]
    differences: list[Block] = [pairs_table(pairs), p_value_table(pairs), comparison_facts(summary)]
    return _sections(
        {
            "findings": _findings(summary),
            "failures": [failed_table(summary["failures"])],
            "ranking": [*_figures(alike, "ranking"), leaders_table(summary)],
            "differences": [*_figures(alike, "comparison"), *differences] if pairs else [],
            "paired": _figures(alike, "paired_folds"),
            "learners": _learners(summary["learners"]),
            "record": made_by({"level": summary["level"], **summary["about"]}),
        }
    )


def _figures(figures: Mapping[str, Any], *names: str) -> tuple[Figure, ...]:
    return tuple(
        Figure(name, figures[name]) for name in names if name in KINDS and "none" not in figures.get(name, NONE)
    )


def _quiet(text: str) -> Note:
    return Note(Span(text, "quiet") if text else "")


def _findings(summary: Mapping[str, Any]) -> list[Block]:
    """Return the findings, then what was looked for and what was not; without a check nothing is said to be clean."""
    checks = summary.get("checks") or {}
    looked, not_looked = (tuple(map(str, checks.get(name, ()))) for name in ("looked", "not_looked"))
    ignored = ", ".join(map(str, checks.get("ignored", ())))
    clean = checked_words(summary) or _quiet("No finding.").text
    return [
        findings_block(summary["findings"]) if summary["findings"] else Note(clean),
        Facts({"ignored": ignored}),
        Details("What was looked for", (Note(items=looked),)),
        Details("What was not looked for", (Note(items=not_looked),)),
    ]


def _not_drawn(left_out: Sequence[Any]) -> Note:
    count = len(left_out)
    more = f"{counted(count, 'more parameter')} {'is' if count == 1 else 'are'}"
    return _quiet(f"{more} not drawn; the table of candidates has them." if count else "")


def _estimates(summary: Mapping[str, Any]) -> tuple[Block, ...]:
    """Return a table of every estimate, with a figure if there are several."""
    figures, texts = summary["figures"], summary["verdict"]["meanings"]
    rows = tuple(
        (
            texts[name]["label"],
            estimate["loss"],
            value_cell(estimate),
            Number(estimate["low"], between(estimate)),
            Number(estimate["train_size"], row_count(estimate["train_size"])),
            estimate["n"],
            OPTIMISTIC if estimate["optimistic"] else estimate["guarantee"] or "no interval",
        )
        for name, estimate in explained(summary).items()
    )
    head = ("estimate", "loss", "value", "interval", "training rows", "held-out rows", "kind")
    table = Table(title="Every estimate of this study", head=head, rows=rows, key="estimates")
    drawn = _figures(figures, "estimates") if len(figures["estimates"].get("rows", ())) > 1 else ()
    return (*drawn, table, Details("What the numbers mean", (meanings(summary),)))


def _stability(summary: Mapping[str, Any]) -> tuple[Block, ...]:
    table = choices_table("", summary["choices"], key="choices")
    return (*_figures(summary["figures"], "stability"), Details("What each fold chose", (table,)))


def _predictions(figures: Mapping[str, Any]) -> list[Block]:
    reason = figures["calibration"].get("none") if "none" not in figures["confusion"] else None
    drawn = _figures(figures, *_OF_PREDICTIONS)
    return [*drawn, _quiet(f"No calibration curve: {reason}" if reason else "")]


def _tracebacks(failures: Sequence[Mapping[str, Any]]) -> list[Details]:
    """Return the first distinct tracebacks, each titled with its error."""
    errors = {row["traceback"]: row["error"] for row in failures if row.get("traceback")}
    shown = list(errors.items())[:MOST_TRACEBACKS]
    return [Details(f"Traceback of {error}", (Code(text, "Traceback"),)) for text, error in shown]


def _learners(learners: Mapping[str, Mapping[str, Any]]) -> tuple[Block, ...]:
    blocks: list[Block] = [
        Details(
            name,
            (
                choices_table(name, learner["choices"], room=_CHOICES_ROOM),
                Facts({"took": f"{learner['seconds']['total']:.3g} s"}),
                *made_by(learner["about"]),
            ),
            opened=len(learners) <= 2,
        )
        for name, learner in list(learners.items())[:MOST_LEARNERS]
    ]
    more = len(learners) - MOST_LEARNERS
    return (*blocks, _quiet(f"{counted(more, 'more learner')} left out here." if more > 0 else ""))


def candidates_table(summary: Mapping[str, Any]) -> Table:
    """Return a table with one row per candidate, the best first, and a column for each of the first parameters."""
    rows = summary.get("candidates") or []
    params = list(dict.fromkeys(name for row in rows for name in row["params"]))
    shown, rest = params[:MOST_PARAMS], params[MOST_PARAMS:]
    families = len({row["family"] for row in rows}) > 1
    made: list[tuple[Cell, ...]] = [
        (
            place,
            row["family"] if families else "",
            *(parameter_value(row["params"].get(name, "")) for name in shown),
            ", ".join(f"{name}={row['params'][name]}" for name in rest if name in row["params"]),
            row["mean"],
            row["se"],
            row["chosen"],
            row["note"] or "",
        )
        for place, row in enumerate(rows, start=1)
    ]
    head = (
        "place",
        "family",
        *short_names(shown),
        "other parameters",
        f"validation {summary['about']['chosen_by']}",
        "standard error",
        "chosen in folds",
        "note",
    )
    return Table(
        title="All candidates, the best first",
        head=head,
        rows=tuple(made),
        most=len(rows),
        room=_ROOM,
        left_out=max(summary["about"]["candidates"] - len(rows), 0),
        key="candidates",
        titled=False,
    )
