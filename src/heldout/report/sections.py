"""The sections of a page: which there are, in which order, and the blocks in each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.report.blocks import Block, Cell, Code, Details, Facts, Figure, Note, Number, Span, Table, Text
from heldout.report.comparison import (
    ALONE,
    choices_table,
    comparison_facts,
    failed_table,
    pairs_table,
    ranking_table,
    tests_table,
)
from heldout.report.plan import plan_blocks
from heldout.report.result import (
    OPTIMISTIC,
    failures_table,
    findings_block,
    folds_table,
    made_by,
    meanings,
    value_cell,
)
from heldout.report.words import between, counted, row_count
from heldout.results.summary import is_shown

MOST_LEARNERS = 50  # of a comparison, whose choices are listed one by one
MOST_PARAMS = 8  # columns of candidates; the other parameters share one
MOST_TRACEBACKS = 5
_ROOM = 500_000  # bytes of the table of candidates: a thousand rows must fit into the page
_CHOICES_ROOM = 8_000  # bytes of the choices of one of several learners
_NOTHING = Note(Span("Nothing was found.", "quiet"))


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its place in the page, its title, a sentence on how to read it, and what it shows."""

    key: str
    title: str
    lede: str
    blocks: tuple[Block, ...]


def result_sections(summary: Mapping[str, Any]) -> list[Section]:
    """The sections of the page of a result. Those whose blocks are empty are left out when the page is written."""
    figures = summary["figures"]
    missing = {name: data["none"] for name, data in figures.items() if "none" in data}
    return [
        Section(
            "splits",
            "How the rows were split",
            "Each lane is one round: what was trained on, and what was held out.",
            _figures(figures, "splits"),
        ),
        Section(
            "folds",
            "How it did in each fold",
            "The wider the dots lie apart, the less one number says.",
            (*_figures(figures, "folds"), folds_table(summary)) if len(summary["folds"]) > 1 else (),
        ),
        Section(
            "estimates",
            "The number, and the numbers beside it",
            "Optimistic numbers were seen while choosing, so on average they are better than what to expect.",
            _estimates(summary),
        ),
        Section(
            "parameters",
            "Risk against each parameter",
            "Validation only: these numbers chose, so the best of them is too good. Bars are one standard error.",
            (*_figures(figures, "parameters"), _not_drawn(figures["parameters"])),
        ),
        Section(
            "candidates",
            "All candidates",
            "By their validation loss, the best first. Select a heading to sort by it.",
            (candidates_table(summary),),
        ),
        Section(
            "stability",
            "Is the choice stable?",
            "How often each choice won over the folds of the test.",
            _stability(summary) if summary["choices"] else (),
        ),
        Section("predictions", "Where it errs", "Answers on held-out rows alone.", _predictions(figures, missing)),
        Section(
            "learning",
            "Would more rows help?",
            ""
            if "learning_curve" in missing
            else "The risk at smaller training sizes, and where it seems to be going.",
            (*_figures(figures, "learning_curve"), _quiet(missing.get("learning_curve", ""))),
        ),
        Section(
            "time",
            "Where the time went",
            "Seconds of fitting and scoring, summed over all workers.",
            _figures(figures, "time"),
        ),
        Section(
            "plan",
            "The plan and what its rules saved",
            "What was done to get the same numbers with less work.",
            tuple(plan_blocks(summary["plan"])),
        ),
        _findings(summary, "number"),
        Section(
            "failures",
            "Failures",
            "A fit that failed is named, never averaged away.",
            (failures_table(summary["failures"]), *_tracebacks(summary["failures"])),
        ),
        _record(summary["about"]),
    ]


def comparison_sections(summary: Mapping[str, Any]) -> list[Section]:
    """The sections of the page of a comparison."""
    figures = summary["figures"]
    alike = dict.fromkeys(("ranking", "comparison", "paired_folds"), figures["comparison"])
    return [
        Section("ranking", "Ranking", ALONE, (*_figures(alike, "ranking"), ranking_table(summary["ranking"]))),
        Section(
            "differences",
            "Differences, pair by pair",
            "These intervals hold together, and they are what tells whether two learners differ.",
            _differences(alike, summary) if summary["pairs"] else (),
        ),
        Section(
            "paired",
            "The same folds, side by side",
            "Each line follows one fold through the learners.",
            _figures(alike, "paired_folds"),
        ),
        Section(
            "learners",
            "Each learner by itself",
            "What it is, what its folds chose, and what it cost.",
            _learners(summary["learners"]),
        ),
        _findings(summary, "numbers"),
        Section("failures", "Failures", "Learners without a result, and why.", (failed_table(summary["failures"]),)),
        _record({"level": summary["level"], **summary["about"]}),
    ]


def _figures(figures: Mapping[str, Any], *names: str) -> tuple[Figure, ...]:
    return tuple(Figure(name, figures[name]) for name in names if "none" not in figures[name])


def _differences(figures: Mapping[str, Any], summary: Mapping[str, Any]) -> tuple[Block, ...]:
    pairs = summary["pairs"]
    return (*_figures(figures, "comparison"), pairs_table(pairs), tests_table(pairs), comparison_facts(summary))


def _quiet(text: str) -> Note:
    return Note(Span(text, "quiet") if text else "")


def _findings(summary: Mapping[str, Any], what: str) -> Section:
    blocks = (findings_block(summary["findings"]),) if summary["findings"] else (_NOTHING,)
    return Section("findings", "Findings", f"What a reader should know before believing the {what}.", blocks)


def _record(about: Mapping[str, Any]) -> Section:
    lede = "The data, the splits, the versions and the call that this page rests on."
    return Section("record", "How to get it again", lede, tuple(made_by(about)))


def _not_drawn(data: Mapping[str, Any]) -> Note:
    count = len(data.get("left_out", ()))
    verb = "is" if count == 1 else "are"
    return _quiet(
        f"{counted(count, 'more parameter')} {verb} not drawn; the table of candidates has them." if count else ""
    )


def _estimates(summary: Mapping[str, Any]) -> tuple[Block, ...]:
    """Every estimate with its kind; a figure where there are several to compare."""
    figures, texts = summary["figures"], summary["verdict"]["meanings"]
    shown = {
        name: one
        for name, one in summary["estimates"].items()
        if name in ("risk", "fold_predictors") or is_shown(name, one)
    }
    rows = tuple(
        (
            texts[name]["label"],
            one["loss"],
            value_cell(one),
            Number(one["low"], between(one)),
            Number(one["train_size"], row_count(one["train_size"])),
            one["n"],
            OPTIMISTIC if one["optimistic"] else one["guarantee"] or "no interval",
        )
        for name, one in shown.items()
    )
    head = ("estimate", "loss", "value", "interval", "training rows", "held-out rows", "kind")
    table = Table(title="Every estimate of this study", head=head, rows=rows, key="estimates")
    drawn = _figures(figures, "estimates") if len(figures["estimates"].get("rows", ())) > 1 else ()
    return (*drawn, table, Details("What the numbers mean", (meanings(summary),)))


def _stability(summary: Mapping[str, Any]) -> tuple[Block, ...]:
    table = choices_table("", summary["choices"], key="choices")
    return (*_figures(summary["figures"], "stability"), Details("What each fold chose", (table,)))


def _predictions(figures: Mapping[str, Any], missing: Mapping[str, str]) -> tuple[Block, ...]:
    drawn = _figures(figures, "confusion", "calibration", "residuals")
    uncalibrated = "confusion" not in missing and "calibration" in missing
    return (*drawn, _quiet(f"No calibration curve: {missing['calibration']}" if uncalibrated else ""))


def _tracebacks(failures: Sequence[Mapping[str, Any]]) -> list[Details]:
    """The first tracebacks that differ, each with the error it ends in."""
    found = {row["traceback"]: row["error"] for row in failures if row.get("traceback")}
    shown = list(found.items())[:MOST_TRACEBACKS]
    return [Details(f"Traceback of {error}", (Code(text, "Traceback"),)) for text, error in shown]


def _learners(learners: Mapping[str, Mapping[str, Any]]) -> tuple[Block, ...]:
    blocks: list[Block] = [
        Details(
            name,
            (
                choices_table(name, one["choices"], room=_CHOICES_ROOM),
                Facts({"took": f"{one['seconds']['total']:.3g} s"}),
                *made_by(one["about"]),
            ),
            opened=len(learners) <= 2,
        )
        for name, one in list(learners.items())[:MOST_LEARNERS]
    ]
    more = len(learners) - MOST_LEARNERS
    return (*blocks, _quiet(f"{counted(more, 'more learner')} left out here." if more > 0 else ""))


def candidates_table(summary: Mapping[str, Any]) -> Table:
    """A row a candidate, the best first, with a column for each of the first parameters."""
    rows = summary.get("candidates") or []
    params = list(dict.fromkeys(name for row in rows for name in row["params"]))
    shown, rest = params[:MOST_PARAMS], params[MOST_PARAMS:]
    families = len({row["family"] for row in rows}) > 1
    made: list[tuple[Cell, ...]] = [
        (
            place,
            row["family"] if families else "",
            *(_value(row["params"], name) for name in shown),
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
        *_short_names(shown),
        "other parameters",
        f"validation {summary['about']['chosen_by']}",
        "standard error",
        "chosen in folds",
        "note",
    )
    title, gone = "All candidates, the best first", summary["about"]["candidates"] - len(rows)
    return Table(
        title=title,
        head=head,
        rows=tuple(made),
        most=len(rows),
        room=_ROOM,
        left_out=max(gone, 0),
        key="candidates",
        titled=False,
    )


def _short_names(params: Collection[str]) -> list[str]:
    """The last part of each name, as in `step__param`, where that tells them apart."""
    short = [name.rpartition("__")[2] for name in params]
    return short if len(set(short)) == len(short) else list(params)


def _value(params: Mapping[str, Any], name: str) -> Cell:
    """A parameter's value; words for what a cell would take for nothing or for a number that it is not."""
    value = params.get(name, "")
    return value if isinstance(value, int | float) and not isinstance(value, bool) else _words(value)


def _words(value: Any) -> Text:
    return value if isinstance(value, str) else str(value)
