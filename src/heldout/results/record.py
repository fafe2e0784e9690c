"""Facts: all that a result says, as plain values and columns, gathered once from an outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from heldout.base.environment import environment
from heldout.base.findings import Finding
from heldout.engine.run import Outcome
from heldout.journal import JournalUse
from heldout.planner.checked_cells import SpotCheck
from heldout.results.estimates import interval_findings, records_of, study_estimates
from heldout.results.no_model import against_no_model
from heldout.results.raced import race_facts, race_findings
from heldout.results.scope import covers_of
from heldout.results.tables import (
    candidate_columns,
    choice_columns,
    failure_columns,
    fold_columns,
    one_se_columns,
    prediction_columns,
    seconds_spent,
    warning_columns,
)
from heldout.risk.doubts import leaning_note
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import Reference
from heldout.splits.remarks import class_notes
from heldout.study.answers import PanelTable
from heldout.study.pose import OUTER
from heldout.study.study import TEST, VALIDATION
from heldout.task import Task

Columns = dict[str, Any]
VERSION = 2
MOST_WARNINGS = 20  # findings, each with its words; all of them are in `result.warnings`
MEMORY = ("MemoryError", "OutOfMemory", "FitMemory")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Facts:
    """What a result holds and saves. Tables are columns by name; everything else is plain."""

    estimates: Mapping[str, Estimate]
    tables: Mapping[str, Columns]
    findings: tuple[Finding, ...]
    covers: Mapping[str, Any]
    plan: Mapping[str, Any]
    about: Mapping[str, Any]  # learner, data, splits, seed, level, environment
    seconds: Mapping[str, Any]
    frame: str = "pandas"
    no_model: Reference | None = None  # the learner against a constant answer; None in files of older versions


def gather_facts(
    task: Task, outcome: Outcome, *, level: float, seed: int, pool: bool | None, interval: str | None = None
) -> Facts:
    """The facts of a study that ran."""
    study = outcome.study
    outer = study.splits[OUTER]
    failures = failure_columns(outcome)
    fits = {name: _total_seconds(outcome, name) for name in ("fit_seconds", "score_seconds")}
    records = records_of(task, outcome, seed=seed)
    estimates = study_estimates(task, outcome, records, level=level, pool=pool, interval=interval)
    if outcome.stopped is not None:
        why = f"Incomplete: {outcome.stopped[0].lower()}{outcome.stopped[1:]}."
        estimates = {name: replace(one, reason=why) if one.value is None else one for name, one in estimates.items()}
    return Facts(
        estimates=estimates,
        tables={
            "folds": fold_columns(outcome),
            "choices": choice_columns(outcome),
            "candidates": candidate_columns(outcome),
            "one_se": one_se_columns(outcome),
            "predictions": prediction_columns(task, outcome),
            "failures": failures,
            "warnings": warning_columns(outcome),
        },
        findings=(*_findings(task, outcome), *interval_findings(task, records)),
        covers=covers_of(study, task),
        plan=plan_facts(outcome),
        about={
            "learner": study.search.families[0].name if len(study.search.families) == 1 else "families",
            "families": [family.name for family in study.search.families],
            "estimators": [_oneline(family.estimator) for family in study.search.families],
            "parameters": {family.name: list(family.candidates.always) for family in study.search.families},
            "classification": bool(is_classifier(study.search.families[0].estimator)),
            "tuned": study.search.tuned,
            "candidates": len(study.search),
            "losses": [loss.name for loss in study.reported],
            **({} if (race := race_facts(outcome)) is None else {"race": race}),
            "chosen_by": study.search.losses[0].name if study.search.tuned else None,
            "test": outer.recipe.words,
            "validation": outcome.account.inner,
            "splits_fingerprint": outer.fingerprint,
            "rows": len(task),
            "columns": task.n_columns,
            "roles": [name for name, role in _roles(task).items() if role is not None],
            "classes": None if task.classes is None else [_plain(c) for c in task.classes],
            "fingerprint": task.fingerprint,
            "seed": seed,
            "level": level,
            "environment": environment(),
        },
        seconds={"total": outcome.seconds, **fits, "spent": seconds_spent(outcome)},
        frame=task.frame,
        no_model=against_no_model(task, outcome, records[0], level=level, pool=pool, interval=interval),
    )


def _total_seconds(outcome: Outcome, name: str) -> float:
    return float(sum(getattr(table, name).sum() for table in outcome.tables.panels.values()))


def plan_facts(outcome: Outcome) -> dict[str, Any]:
    """The account of a plan and its spot checks as plain values."""
    facts = asdict(outcome.account)
    facts["text"] = str(outcome.account)
    facts["checks"] = [asdict(check) for check in outcome.checks]
    return facts


def _findings(task: Task, outcome: Outcome) -> list[Finding]:
    study, found = outcome.study, list[Finding]()
    notes = class_notes(task, study.splits[OUTER], [study.splits[panel.splits] for panel in study.of_level(VALIDATION)])
    found += [Finding(code="H101", severity="warning", message=note) for note in notes]
    if leaning := _leaning_note(task, outcome):
        found.append(Finding(code="H104", severity="warning", message=leaning))
    found += fit_findings(outcome)
    chooses, reports = study.search.losses[0].name, study.reported[0].name
    if study.search.tuned and chooses != reports:
        text = f"Candidates are chosen by {chooses!r}, the learner's own loss; the risk reported is {reports!r}."
        found.append(Finding(code="H301", severity="info", message=text))
    return found + race_findings(outcome)


def _leaning_note(task: Task, outcome: Outcome) -> str | None:
    """What the predictions of a study that is stratified by two classes say of their leaning."""
    by_class = outcome.study.splits[OUTER].recipe.stratified and task.strata is None and len(task.y) == len(task)
    if not by_class or task.classes is None or len(task.classes) != 2:
        return None
    predicted = prediction_columns(task, outcome).get("predict")
    return None if predicted is None else leaning_note(task.y == task.classes[1], predicted == task.classes[1])


def fit_findings(outcome: Outcome) -> list[Finding]:
    """What fits warned of, where they failed, and kernels that did not repeat what brute force says."""
    study, found = outcome.study, []
    levels = {panel.key: panel.level for panel in study.panels}
    given = outcome.tables.warnings_in_order()
    for category, message, places in given[:MOST_WARNINGS]:
        panel, candidate, part = places[0]
        where = f"{study.search.brief(candidate)}, {levels[panel]} part {part}"
        text = f"{len(places)} cells gave {category}: {message} (first: {where})"
        found.append(Finding(code="H201", severity="info", message=text))
    if rest := given[MOST_WARNINGS:]:
        kinds = ", ".join(sorted({category for category, _, _ in rest}))
        cells = len({place for _, _, places in rest for place in places})
        text = f"{cells} cells gave {len(rest)} other warnings ({kinds}); see result.warnings"
        found.append(Finding(code="H201", severity="info", message=text))
    failures = outcome.tables.failures()
    if failures:
        panel, candidate, part, failure = failures[0]
        text = (
            f"{len(failures)} cells failed; the first: {study.search.brief(candidate)} on {panel}, part {part}, "
            f"in {failure.stage}: {failure.kind}: {failure.message.removesuffix('.')}. See result.failures."
        )
        if any(one.kind in MEMORY for *_, one in failures):
            text += " Memory was short: use fewer jobs."
        if any(levels[key] == TEST for key, *_ in failures):
            text += " The result is incomplete."
        found.append(Finding(code="H202", severity="error", message=text))
    barred = {c for key, c, _, _ in failures if levels[key] == VALIDATION}
    if barred:
        text = f"{len(barred)} candidates could not be chosen in a fold where a fit of theirs failed."
        found.append(Finding(code="H203", severity="warning", message=text))
    found += _check_findings(outcome.checks)
    return found + run_findings(outcome) + ([] if outcome.journal is None else _journal_findings(outcome.journal))


def _check_findings(checks: Sequence[SpotCheck]) -> list[Finding]:
    """What spot checks found, a finding a kernel."""
    found = []
    for kernel in dict.fromkeys(check.kernel for check in checks):
        own = [check for check in checks if check.kernel == kernel]
        worst = max(own, key=lambda check: (not check.passed, check.difference))
        if worst.tier == "approximate" and worst.passed:
            mean = sum(check.difference for check in own) / len(own)
            text = (
                f"Leave-one-out was approximated by the kernel {kernel!r}. On {len(own)} cells that were "
                f"fitted exactly the loss differs by {worst.difference:.2g} at most and by {mean:.2g} on average."
            )
            found.append(Finding(code="H210", severity="warning", message=text))
        if not worst.passed:
            wrong = _count(sum(not check.passed for check in own), own)
            text = (
                f"The kernel {kernel!r} differs from brute force by {worst.difference:.2g} on {worst.cell}, more "
                f"than its tier {worst.tier!r} allows ({wrong}); all its cells were answered by "
                "brute force. Please report it."
            )
            found.append(Finding(code="H205", severity="warning", message=text))
    return found


def _count(some: int, own: Sequence[SpotCheck]) -> str:
    return f"{some} of {len(own)} cells that were answered again"


def run_findings(outcome: Outcome) -> list[Finding]:
    """What happened to the run itself: workers that died, and time that was up."""
    found = []
    if outcome.stopped is not None:
        found.append(Finding(code="H207", severity="error", message=f"{outcome.stopped}. {_progress_words(outcome)}"))
    again = [event.cause for event in outcome.lost if event.again]
    if again:
        often = f"{len(again)} times" if len(again) > 1 else "once"
        text = f"A worker process died {often} ({again[0]}); the fit it was at was run again alone. "
        if any("SIGKILL" in cause for cause in again):
            text += "If memory was short, use fewer jobs."
        found.append(Finding(code="H206", severity="warning", message=text.strip()))
    return found


def _progress_words(outcome: Outcome) -> str:
    tables = outcome.tables.panels.values()
    answered, asked = (sum(int(part) for part in counts) for counts in zip(*map(_counts, tables), strict=True))
    return (
        f"{answered:,} of {asked:,} cells that were planned by then are answered; folds without a value were not "
        "reached. Give it more time, or a journal to go on from."
    )


def _counts(table: PanelTable) -> tuple[int, int]:
    return int(table.answered.sum()), int(table.answered.size)


def _journal_findings(use: JournalUse) -> list[Finding]:
    """What a journal met that is worth knowing. How much came from it is no finding: it changes no number."""
    found = []
    if use.repeats:
        text = (
            f"The journal has two answers that differ for {len(use.repeats)} candidates; the first: {use.repeats[0]}. "
            "The first answer of each was taken. The learner is not deterministic: set its random_state, or its "
            "thread count."
        )
        found.append(Finding(code="H501", severity="warning", message=text))
    found += [Finding(code="H502", severity="warning", message=note) for note in use.notes]
    if use.unkept:
        found.append(Finding(code="H503", severity="warning", message=use.unkept))
    return found


def _roles(task: Task) -> dict[str, Any]:
    return {"groups": task.groups, "time": task.time, "sample_weight": task.weight, "strata": task.strata}


def _oneline(estimator: Any) -> str:
    text = " ".join(repr(estimator).split())
    return text if len(text) <= 500 else text[:497] + "…"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
