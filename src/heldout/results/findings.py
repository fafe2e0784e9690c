"""Collects the numbered findings of a study: on splits, fits, kernels, workers, races, the journal and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from heldout.base.findings import Finding
from heldout.base.words import fit_words
from heldout.engine.run import Outcome
from heldout.journal import JournalUse
from heldout.journal.study_journal import MOST_NAMED
from heldout.losses import label_and_unit
from heldout.planner.checked_cells import KernelCheck
from heldout.results.study_record import Question
from heldout.results.test_losses import TestLosses
from heldout.risk.doubts import interval_warnings, leaning_note
from heldout.splits.remarks import class_notes, mixed_time_note, near_validation_note
from heldout.study.answers import PanelTable
from heldout.study.race import PAIRED
from heldout.study.study import OUTER, TEST, VALIDATION, Study
from heldout.task import Task

MOST_WARNINGS = 20  # findings with their messages; `result.warnings` has all warnings
MEMORY = ("MemoryError", "OutOfMemory", "FitMemory")
STOPPED = "H207"  # the code of a study that was stopped before its end


def findings_of(question: Question, outcome: Outcome, losses: TestLosses) -> list[Finding]:
    """Return all findings of a finished study."""
    task, study = question.task, outcome.study
    return [
        *question.remarks,
        *_of_splits(task, question.study),
        *_of_classes(task, study, losses),
        *findings_of_fits(outcome),
        *_of_losses(study, question.learner),
        *_of_race(outcome),
        *_of_intervals(question, losses),
    ]


def _of_intervals(question: Question, losses: TestLosses) -> Iterator[Finding]:
    """Yield the doubts about each interval, in the words of the score that reports show for the loss."""
    shown = {} if question.asks_loss else {"squared": "RMSE", "zero_one": "accuracy"}
    for loss, record in zip(question.study.reported, losses.records, strict=True):
        called = shown.get(loss.name, label_and_unit(loss)[0])
        yield from interval_warnings(record, columns=question.task.n_columns, called=called)


def _of_splits(task: Task, study: Study) -> Iterator[Finding]:
    """Yield H102 if validation keeps less distance than the test, and H103 if training rows lie among test times."""
    outer = study.splits[OUTER]
    if task.time is None:
        return iter(())
    notes = {
        "H102": near_validation_note(outer.recipe, study.search.validation),
        "H103": mixed_time_note(task, outer),
    }
    return (Finding(code=code, severity="warning", message=note) for code, note in notes.items() if note)


def _of_classes(task: Task, study: Study, losses: TestLosses) -> Iterator[Finding]:
    """Yield H101 if a class is too rare to be in every part, and H104 if predictions favour the commoner class."""
    inner = [study.splits[panel.splits] for panel in study.of_level(VALIDATION)]
    if any(splits.recipe.stratified or splits.recipe.grouped for splits in (study.splits[OUTER], *inner)):
        for message in class_notes(task, study.splits[OUTER], inner):
            yield Finding(code="H101", severity="warning", message=message)
    by_class = study.splits[OUTER].recipe.stratified and task.strata is None and len(task.y) == task.size
    answered = [tested for tested in losses.parts if tested.responses is not None]
    if not by_class or task.classes is None or len(task.classes) != 2 or not answered or task.y.ndim > 1:
        return
    predicted = np.concatenate([tested.responses.predict for tested in answered if tested.responses is not None])
    if note := leaning_note(task.y == task.classes[1], predicted == task.classes[1]):
        yield Finding(code="H104", severity="warning", message=note)


def findings_of_fits(outcome: Outcome) -> list[Finding]:
    """Return the findings on warnings, failed fits, kernels that differ from brute force, the run and the journal."""
    found = _warnings(outcome)
    levels = {panel.key: panel.level for panel in outcome.study.panels}
    failures = outcome.tables.failures()
    if failures:
        panel, candidate, part, failure = failures[0]
        name = outcome.study.search.brief(candidate)
        text = (
            f"{fit_words(len(failures))} failed; the first: {name} on {panel}, part {part}, "
            f"in {failure.stage}: {failure.kind}: {failure.message.removesuffix('.')}. See result.failures."
        )
        if any(one.kind in MEMORY for *_, one in failures):
            text += " Memory was short: use fewer jobs."
        if any(levels[key] == TEST for key, *_ in failures):
            text += " The result is incomplete."
        found.append(Finding(code="H202", severity="error", message=text))
    barred = {candidate for key, candidate, _, _ in failures if levels[key] == VALIDATION}
    if barred:
        text = f"{len(barred)} candidates could not be chosen in a fold where a fit of theirs failed."
        found.append(Finding(code="H203", severity="warning", message=text))
    found += _of_checks(outcome.checks)
    found += _of_run(outcome)
    return found if outcome.journal is None else [*found, *_of_journal(outcome.journal)]


def _warnings(outcome: Outcome) -> list[Finding]:
    study, found = outcome.study, []
    levels = {panel.key: panel.level for panel in study.panels}
    warnings = outcome.tables.warnings_in_order()
    for category, message, places in warnings[:MOST_WARNINGS]:
        panel, candidate, part = places[0]
        where = f"{study.search.brief(candidate)}, {levels[panel]} part {part}"
        text = f"{fit_words(len(places))} gave {category}: {message} (first: {where})"
        found.append(Finding(code="H201", severity="info", message=text))
    if rest := warnings[MOST_WARNINGS:]:
        kinds = ", ".join(sorted({category for category, _, _ in rest}))
        cells = len({place for _, _, places in rest for place in places})
        text = f"{fit_words(cells)} gave {len(rest)} other warnings ({kinds}); see result.warnings"
        found.append(Finding(code="H201", severity="info", message=text))
    return found


def _of_losses(study: Study, learner: Any) -> Iterator[Finding]:
    """Yield H301 if a loss other than the reported one chooses, with the way to choose by that one."""
    chooses, reports = study.search.losses[0], study.reported[0]
    alike = chooses.name == reports.name or (chooses.counts_errors and reports.counts_errors)
    if not study.search.tuned or alike or (chooses.rows is not None and chooses.rows == reports.rows):
        return
    where = "scoring=" if hasattr(learner, "scoring") else f"Tuned(…, loss={reports.name!r})"
    text = (
        f"Candidates are chosen by {chooses.name!r}, the learner's own loss; the risk reported is {reports.name!r}. "
        f"To choose by it too, give it to the learner: {where}."
    )
    yield Finding(code="H301", severity="info", message=text)


def _of_checks(checks: Sequence[KernelCheck]) -> Iterator[Finding]:
    """Yield, for each kernel, H210 if it approximates, and H205 if it differs from brute force by too much."""
    for kernel in dict.fromkeys(check.kernel for check in checks):
        own = [check for check in checks if check.kernel == kernel]
        worst = max(own, key=lambda check: (not check.passed, check.difference))
        if worst.tier == "approximate" and worst.passed:
            mean = sum(check.difference for check in own) / len(own)
            text = (
                f"Leave-one-out was approximated by the kernel {kernel!r}. On {fit_words(len(own))} that were "
                f"made exactly the loss differs by {worst.difference:.2g} at most and by {mean:.2g} on average."
            )
            yield Finding(code="H210", severity="warning", message=text)
        if not worst.passed:
            wrong = f"{sum(not check.passed for check in own)} of {len(own)} answers that were checked"
            text = (
                f"The kernel {kernel!r} differs from brute force by {worst.difference:.2g} on {worst.cell}, more "
                f"than {worst.tier!r} allows ({wrong}); all it answered was fitted "
                "instead. Please report it."
            )
            yield Finding(code="H205", severity="warning", message=text)


def _of_run(outcome: Outcome) -> Iterator[Finding]:
    """Yield H207 if the study was stopped early, and H206 if worker processes died."""
    if outcome.stopped is not None:
        counts = map(_answered, outcome.tables.panels.values())
        answered, asked = (sum(each) for each in zip(*counts, strict=True))
        text = (
            f"{outcome.stopped}. {answered:,} of {asked:,} fits that were planned by then are done; folds without "
            "a value were not reached. Give it more time, or a journal to go on from."
        )
        yield Finding(code=STOPPED, severity="error", message=text)
    again = [event.cause for event in outcome.lost if event.again]
    if again:
        often = f"{len(again)} times" if len(again) > 1 else "once"
        text = f"A worker process died {often} ({again[0]}); the fit it was at was run again alone. "
        if any("SIGKILL" in cause for cause in again):
            text += "If memory was short, use fewer jobs."
        yield Finding(code="H206", severity="warning", message=text.strip())


def _answered(table: PanelTable) -> tuple[int, int]:
    return int(table.answered.sum()), int(table.answered.size)


def _of_journal(use: JournalUse) -> Iterator[Finding]:
    """Yield H501 for answers that differ, H502 for notes of the journal, and H503 for answers it could not keep."""
    if use.repeats:
        count = f"{MOST_NAMED} or more" if len(use.repeats) == MOST_NAMED else f"{len(use.repeats)}"
        text = (
            f"The journal has two answers that differ for {count} candidates; the first: {use.repeats[0]}. "
            "The first answer of each was taken. The learner is not deterministic: set its random_state, or its "
            "thread count."
        )
        yield Finding(code="H501", severity="warning", message=text)
    for note in use.notes:
        yield Finding(code="H502", severity="warning", message=note)
    if use.unkept:
        yield Finding(code="H503", severity="warning", message=use.unkept)


def race_values(outcome: Outcome) -> dict[str, Any] | None:
    """Describe the race of a study as plain values; return None if there was none."""
    study = outcome.study
    if study.race is None or not study.races:
        return None
    tables = [outcome.tables.panels[key] for key in study.races if key in outcome.tables.panels]
    run, asked = (sum(each) for each in zip(*map(_answered, tables), strict=True)) if tables else (0, 0)
    return {
        "kind": study.race.kind,
        "tier": "identical" if study.race.exact else "statistical",
        "level": None if study.race.exact else study.race.level,
        "cells": asked,
        "cells_run": run,
        "called_off": sum(race.called_off for race in study.races.values()),
    }


def _of_race(outcome: Outcome) -> Iterator[Finding]:
    """Yield H208 if a race dropped candidates, and H209 if a race was called off."""
    race = race_values(outcome)
    if race is None:
        return
    left = race["cells"] - race["cells_run"]
    text = f"The {race['kind']} race did not run {left:,} of {race['cells']:,} validation cells; "
    if race["level"] is None:
        text += "the choices are those of the whole table."
    elif race["kind"] == PAIRED:
        text += f"each choice lost its best candidate with a probability of about {race['level']:g}, by a heuristic."
    else:
        text += f"each choice lost its best candidate with a probability of at most {race['level']:g}."
    yield Finding(code="H208", severity="info", message=text)
    if race["called_off"]:
        text = (
            f"{race['called_off']} races were called off and every cell run: a loss was outside the range that "
            f"{outcome.study.search.losses[0].name!r} declares."
        )
        yield Finding(code="H209", severity="warning", message=text)
