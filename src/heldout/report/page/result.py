"""What the page of a result shows, in the order of its sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heldout.base.words import line
from heldout.report.page.candidates import candidates_table
from heldout.report.page.plan import plan_view
from heldout.report.page.record import facts_of, failures_table, programs_of, tracebacks_of
from heldout.report.page.scale import scale_of
from heldout.report.page.sections import MOST_FINDINGS, counts_of, figures_of, graves_first, sections_of
from heldout.report.page.tables import ROOM, Shown, Table, make_table
from heldout.report.page.words import rows
from heldout.report.text import is_shown
from heldout.results.choices import words_of_choice

_TITLES = {
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
    "learning": ("Would more rows help?", "The risk at smaller training sizes, and where it seems to be going."),
    "time": ("Where the time went", "Seconds of fitting and scoring, summed over all workers."),
    "plan": ("The plan and what its rules saved", "What was done to get the same numbers with less work."),
    "findings": ("Findings", "What a reader should know before believing the number."),
    "failures": ("Failures", "A fit that failed is named, never averaged away."),
    "record": ("How to get it again", "The data, the splits, the versions and the call that this page rests on."),
}


def result_view(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the template `result.html.j2`."""
    figures = figures_of(_worth_drawing(summary["figures"]))
    missing = {name: data["none"] for name, data in summary["figures"].items() if "none" in data}
    present = set(_present(summary, figures, missing))
    findings = graves_first(summary["findings"])
    return {
        "about": summary["about"],
        "heading": _heading(summary["about"]),
        "verdict": summary["verdict"],
        "covers": summary["covers"],
        "risk": summary["risk"],
        "risk_facts": _risk_facts(summary["risk"]),
        "scale": scale_of(summary),
        "sections": sections_of(_titles(missing), present),
        "figures": figures,
        "missing": missing,
        "parameters_left_out": len(summary["figures"]["parameters"].get("left_out", ())),
        "estimates": list(_estimates(summary)),
        "several_losses": len({one["loss"] for one in summary["estimates"].values()}) > 1,
        "folds": _folds_table(summary),
        "choices": choices_table(summary["choices"]),
        "candidates": candidates_table(summary),
        **plan_view(summary["plan"]),
        "findings": findings[:MOST_FINDINGS],
        "findings_left_out": len(findings[MOST_FINDINGS:]),
        "counts": counts_of(findings),
        "failures": failures_table(summary["failures"]),
        "tracebacks": tracebacks_of(summary["failures"]),
        "facts": facts_of(summary["about"]),
        "programs": programs_of(summary["about"]),
    }


def _worth_drawing(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures without estimates that have nothing beside them: the scale at the top shows the one there is."""
    alone = len(figures["estimates"].get("rows", ())) < 2
    return {**figures, **({"estimates": {"none": "There is one estimate."}} if alone else {})}


def _heading(about: Mapping[str, Any]) -> str:
    """The learner's name; of several families theirs."""
    return " or ".join(map(line, about["families"])) if len(about["families"]) > 1 else line(about["learner"])


def _titles(missing: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Titles and how to read what is under them; the reason for a curve that is not there speaks for itself."""
    return _TITLES | ({"learning": (_TITLES["learning"][0], "")} if "learning_curve" in missing else {})


def _present(summary: Mapping[str, Any], figures: Mapping[str, Any], missing: Mapping[str, str]) -> Iterator[str]:
    """The sections that have something to show, or a reason for nothing that the reader would look for."""
    yield from ("estimates", "plan", "findings", "record")
    yield from (name for name in ("splits", "parameters", "time") if figures.get(name))
    if len(summary["folds"]) > 1:
        yield "folds"
    if summary["choices"]:
        yield "stability"
    if summary.get("candidates"):
        yield "candidates"
    if any(figures.get(name) for name in ("confusion", "calibration", "residuals")):
        yield "predictions"
    if figures.get("learning_curve") or "learning_curve" in missing:
        yield "learning"
    if summary["failures"]:
        yield "failures"


def _estimates(summary: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every estimate with what it means; a correction that could not be made is left out."""
    for name, estimate in summary["estimates"].items():
        if name in ("risk", "fold_predictors") or is_shown(name, estimate):
            yield {**estimate, "meaning": summary["verdict"]["meanings"][name]}


def _risk_facts(risk: Mapping[str, Any]) -> list[tuple[str, str]]:
    how = f"{risk['method']}, {risk['guarantee']}" if risk["method"] else risk["reason"] or "none"
    return [
        ("Estimates", risk["estimand"]),
        ("Training rows", rows(risk["train_size"])),
        ("Held-out rows", f"{risk['n']:,}"),
        ("Interval", how),
    ]


def _folds_table(summary: Mapping[str, Any]) -> Table:
    losses = summary["about"]["losses"]
    repeated = any(fold["repeat"] for fold in summary["folds"])
    head = ["Fold", *(["Repeat"] if repeated else []), "Training rows", "Held-out rows", *losses]
    made = (
        [
            fold["fold"],
            *([fold["repeat"]] if repeated else []),
            fold["train_rows"],
            fold["held_rows"],
            *(fold[loss] for loss in losses),
        ]
        for fold in summary["folds"]
    )
    return make_table("Every fold", head, made, numeric=head)


def choices_table(choices: Sequence[Mapping[str, Any]], *, room: int = ROOM) -> Table:
    """What each fold chose, by which number, and what stood in the way."""
    values = [name for name in (choices[0] if choices else {}) if name.startswith("validation_")]
    head = ["Fold", "Choice", *(f"Validation {name.removeprefix('validation_')}" for name in values)]
    head += ["Tied candidates", "Failed candidates"]
    made = (
        [
            choice["fold"],
            words_of_choice(choice),
            *(choice[name] for name in values),
            Shown(words=f"{choice['tied']:,}" if choice["tied"] > 1 else "–", by=choice["tied"]),
            choice["failed_candidates"],
        ]
        for choice in choices
    )
    return make_table("What each fold chose", head, made, numeric={*head} - {"Choice"}, room=room)
