"""Turns the summary of a result into blocks: those displayed first, and those behind a click."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from heldout.base.words import choice_words, clipped, line, words_of_choice
from heldout.report.blocks import Block, Cell, Code, Details, Facts, Findings, Headline, Note, Number, Span, Table, Text
from heldout.report.first_screen import first_screen, other_findings
from heldout.report.model import model_blocks
from heldout.report.plan import plan_blocks
from heldout.report.words import DASH, between, counted, estimate_words, gravest_first, interval, level_words
from heldout.results.study_record import is_shown

OPTIMISTIC = Span("optimistic", "warning")
MOST_FOLDS = 12  # with more folds, a table counts the choices
MOST_CHOICES = 8
_OF_FOLDS = ("fold", "repeat", "train_rows", "held_rows")  # the columns of folds that are not losses
_VALIDATION = "validation_"  # columns of choices that hold the numbers that chose


def result_blocks(summary: Mapping[str, Any], *, at_length: bool = False) -> list[Block]:
    """Return the first screen of a result, and the rest behind clicks; text and terminal show it only `at_length`."""
    behind: dict[str, Callable[[], Sequence[Block]]] = {
        "What the interval promises": lambda: (Facts({**estimate_facts(summary["risk"]), **_promise(summary)}),),
        "Every estimate": lambda: (estimates_table(summary),),
        "The folds": lambda: (
            folds_table(summary),
            *((chosen_table(summary["choices"]),) if len(summary["folds"]) > MOST_FOLDS else ()),
        ),
        "Other findings": lambda: (findings_block(other_findings(summary["findings"])),),
        "What the numbers mean": lambda: (meanings(summary),),
        "What would make it more certain": lambda: (Note(items=tuple(summary["verdict"]["surer"])),),
        "How it was made": lambda: made_by(summary["about"]),
        "The plan": lambda: plan_blocks(summary["plan"], refusals=at_length),
        counted(len(summary["failures"]), "failed cell"): lambda: (failures_table(summary["failures"]),),
    }
    details = [Details(title, within, always=at_length) for title, within in behind.items()]
    asked = summary.get("subgroups") or summary.get("importance")
    return [*first_screen(summary, model_blocks(summary) if asked else ()), *details]


def _promise(summary: Mapping[str, Any]) -> dict[str, str | None]:
    """Return what the interval promises, and which number speaks of the final predictor."""
    return {"promise": summary["verdict"]["promise"], "predictor": summary["covers"]["sentence"]}


def headline(estimate: Mapping[str, Any]) -> Headline:
    """Return the headline of an estimate: its loss, its value and its interval."""
    sure, value = interval(estimate), Span(estimate_words(estimate), "strong")
    words = (Span(f"{estimate['loss']} ", "strong"), value, f"   {sure}" if sure else "")
    return Headline((*words, " ", OPTIMISTIC) if estimate["optimistic"] else words)


def estimate_blocks(estimate: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of a single estimate."""
    return [headline(estimate), Facts(estimate_facts(estimate))]


def estimate_facts(estimate: Mapping[str, Any]) -> dict[str, Text | None]:
    """Return what a number estimates, how its interval was computed, and from how many rows."""
    made = estimate["low"] is not None
    return {
        "estimates": estimate["estimand"],
        "interval": f"{estimate['method']}, {estimate['guarantee']}" if made else estimate["reason"] or "none",
        "but": estimate["reason"] if made else None,
        "from": f"{estimate['n']:,} held-out rows",
    }


def estimates_table(summary: Mapping[str, Any]) -> Table:
    """Return a table of the other estimates, each with its estimand, or the reason why it has no value."""
    labels = {name: estimate["label"] for name, estimate in summary["verdict"]["meanings"].items()}
    return beside_table(
        {name: estimate for name, estimate in summary["estimates"].items() if is_shown(name, estimate)}, labels
    )


def beside_table(estimates: Mapping[str, Any], labels: Mapping[str, str]) -> Table:
    """Return a table of estimates, in which the optimistic ones are marked."""
    rows = tuple(
        (
            (labels.get(name, name), " ", OPTIMISTIC) if estimate["optimistic"] else labels.get(name, name),
            value_cell(estimate),
            Number(estimate["low"], "none" if estimate["low"] is None else between(estimate)),
            Span(
                estimate["estimand"]
                if estimate["value"] is not None or estimate["answer"]
                else estimate["reason"] or ""
            ),
        )
        for name, estimate in estimates.items()
    )
    level = level_words(next(iter(estimates.values()))["level"]) if rows else ""
    return Table(
        title="Other estimates",
        head=("", "value", f"{level} interval", "estimates"),
        rows=rows,
        brief=50,
        sentences=True,
    )


def value_cell(estimate: Mapping[str, Any]) -> Cell:
    """Return the value of an estimate, or the answer that is displayed in its place."""
    value: float | str | None = estimate["value"]
    return value if estimate.get("answer") is None else Number(value, estimate_words(estimate))


def folds_table(summary: Mapping[str, Any]) -> Table:
    """Return a table with one row per fold and its chosen candidate; empty for leave-one-out."""
    folds, choices = summary["folds"], {choice["fold"]: choice for choice in summary["choices"]}
    words = {fold: words_of_choice(choice) for fold, choice in choices.items()}
    head: list[str] = []
    rows: list[tuple[Cell, ...]] = []
    if (len(folds) > 1 or choices) and not all(fold["held_rows"] == 1 for fold in folds):
        losses = [name for name in folds[0] if name not in _OF_FOLDS]
        repeat = ["repeat"] if any(fold["repeat"] for fold in folds) else []
        inside = validation_columns(summary["choices"])
        names = ["fold", *repeat, "train_rows", "held_rows", *losses]
        head = ["fold", *repeat, "trained on", "held out", *losses]
        head += [
            *("validation" if len(inside) == 1 else f"validation {loss}" for loss in inside.values()),
            "chosen",
        ] * bool(choices)
        for fold in folds:
            choice = choices.get(fold["fold"])
            numbers = [None if choice is None else choice[name] for name in inside]
            chosen = [*numbers, words.get(fold["fold"], DASH)] if choices else []
            rows.append((*(fold[name] for name in names), *chosen))
    return Table(title="Folds", head=tuple(head), rows=tuple(rows), brief=MOST_FOLDS, key="folds")


def validation_columns(choices: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the columns of `choices` that hold validation losses, each with the name of its loss."""
    names = [name for name in (choices[0] if choices else {}) if name.startswith(_VALIDATION)]
    return {name: name.removeprefix(_VALIDATION) for name in names}


def chosen_table(choices: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table that counts how many folds made each choice."""
    words = Counter(words_of_choice(choice) for choice in choices)
    rows = tuple((f"{count} of {len(choices)}", text) for text, count in words.most_common())
    return Table(title="Chosen", head=("folds", "chosen"), rows=rows, brief=MOST_CHOICES, key="chosen")


def findings_block(findings: Iterable[Mapping[str, Any]]) -> Findings:
    """Return the findings, the most severe first."""
    return Findings(
        tuple((finding["code"], finding["severity"], finding["message"], {}) for finding in gravest_first(findings))
    )


def explained(summary: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the estimates that a page lists and explains."""
    names = [name for name in summary["estimates"] if name in summary["verdict"]["meanings"]]
    estimates = {name: summary["estimates"][name] for name in names}
    beside = ("risk", "fold_predictors")
    return {name: value for name, value in estimates.items() if name in beside or is_shown(name, value)}


def meanings(summary: Mapping[str, Any]) -> Facts:
    """Return what each displayed number means, with its estimand and the method of its interval."""
    texts, facts = summary["verdict"]["meanings"], {}
    for name, estimate in explained(summary).items():
        how = (
            f" Interval: {estimate['method']}, {estimate['guarantee']}."
            if estimate["method"]
            else f" {estimate['reason'] or ''}"
        )
        facts[texts[name]["label"]] = f"{texts[name]['text']} It estimates: {estimate['estimand']}.{how}"
    return Facts(facts)


def made_by(about: Mapping[str, Any]) -> list[Block]:
    """Return the settings of a study, and the Python call and shell command that repeat it."""
    columns = f", {about['columns']:,} columns" if about.get("columns") is not None else ""
    source = f"{about['source']}: " if about.get("source") else ""
    facts = {
        "learner": " / ".join(map(str, about.get("estimators") or [about.get("learner") or ""])),
        "data": f"{source}{about['rows']:,} rows{columns}",
        "read as": about.get("read_as"),
        "classes": _classes(about.get("classes")),
        "data fingerprint": about["fingerprint"],
        "test": about["test"],
        "validation": about.get("validation"),
        "splits fingerprint": about.get("splits_fingerprint"),
        "losses": ", ".join(about.get("losses") or [about.get("loss") or ""]),
        "seed": str(about["seed"]),
        "level": level_words(about["level"]) if about.get("level") is not None else None,
        "with": ", ".join(f"{name} {version}" for name, version in about["environment"].items()),
    }
    return [Code(about.get("call"), "In Python"), Code(about.get("command"), "In a shell"), Facts(facts)]


def _classes(classes: Sequence[Any] | None, most: int = 20) -> str | None:
    if not classes:
        return None
    more = f", … {len(classes):,} in all" if len(classes) > most else ""
    return ", ".join(clipped(line(name), 40) for name in classes[:most]) + more


def failures_table(failures: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with one row per failed cell."""
    names = ("stage", "panel", "part", "candidate", "error")
    rows = tuple(
        (*(failure[name] for name in names), Span(clipped(line(failure["message"]), 300))) for failure in failures
    )
    head = ("stage", "where", "part", "candidate", "error", "message")
    return Table(title="Failed cells", head=head, rows=rows, most=100, key="failures", titled=False)


def tuned_blocks(tuned: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of a fitted Tuned: its choice, its validation number, and the estimates that correct it."""
    of = f", of {tuned['candidates']:,} candidates" if tuned["candidates"] > 1 else ", the only candidate"
    mean = f"mean of {tuned['parts']:,} parts" if tuned["parts"] > 1 else "one part"
    number = f"{tuned['loss']} {estimate_words({'value': tuned['value']})} in validation, {mean}"
    waits = "What corrects this number is in estimates_, made when asked for."
    return [
        Note(("Chosen: ", Span(choice_words(tuned["family"], tuned["params"]), "strong"), of)),
        Note((number, " ", OPTIMISTIC) if tuned["optimistic"] else number),
        beside_table(tuned["estimates"], tuned["labels"]),
        Note(Span(waits, "quiet") if tuned["optimistic"] and not tuned["estimates"] else ""),
        Facts(
            {
                "predictor": tuned["covers"],
                "failed": f"{tuned['failed']:,} cells: see failures_" if tuned["failed"] else None,
            }
        ),
    ]
