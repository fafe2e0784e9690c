"""Turns a plan into blocks: its steps, what each rule saved, and why other rules were not used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout.base.words import fit_words, show_seconds
from heldout.report.blocks import Block, Details, Facts, Headline, Note, Number, Span, Table, Text
from heldout.report.words import counted

MOST_STEPS = 30
MOST_REASONS = 100
_CHECK = ("kernel", "level", "cell", "tier")  # what is displayed of an answer that was checked
SLOW = 0.1  # seconds: the planning time of a rule from which on it is displayed


def account_blocks(plan: Mapping[str, Any], *, refusals: bool = True) -> list[Block]:
    """Return the blocks of :func:`heldout.explain`: the learner, then its plan."""
    return [Headline(f"Plan for {plan['learner']}"), *plan_blocks(plan, refusals=refusals)]


def plan_blocks(plan: Mapping[str, Any], *, refusals: bool = True) -> list[Block]:
    """Return the facts of a plan, its steps, checks, rules and notes, with or without what its rules refused."""
    lines, passes = plan["lines"], plan["passes"]
    fits = sum(line["fits"] for line in lines)
    saved = sum(rule["fits_before"] - rule["fits_after"] for rule in passes)
    return [
        Facts(
            {
                "test": plan["outer"],
                "validation": plan["inner"],
                "candidates": f"{plan['candidates']:,}",
                "cells": f"{sum(line['cells'] for line in lines):,}",
                "fits": fit_words(fits, fits + saved).replace(" fits", ""),
            }
        ),
        _steps(lines),
        _checks(plan.get("checks", ())),
        Note(title="Checks", items=tuple(plan.get("checked", ()))),
        _rules([rule for rule in passes if rule["used"]]),
        _refusals([rule for rule in passes if refusals and (rule["refusals"] or not rule["used"])]),
        Note(title="Notes", items=tuple(plan["notes"])),
    ]


def short_plan_blocks(plan: Mapping[str, Any]) -> list[Block]:
    """Return the plan as one or two lines."""
    words = f"{counted(plan['candidates'], 'candidate')}, {plan['cells']:,} cells"
    facts = {"plan": f"{words}, {fit_words(plan['fits'], plan['fits_before'])}", "test": plan["outer"]}
    return [Facts({**facts, "validation": plan["inner"]})]


def _steps(lines: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (
            place,
            line["level"],
            line["cells"],
            line["fits"] or Number(0, fit_words(0)),
            line["rule"],
            line["tier"],
            ", ".join(
                words
                for words in (
                    f"about {line['operations']:.0e} operations" if line["operations"] else "",
                    "once the choices are made" if line["waits"] else "",
                )
                if words
            ),
        )
        for place, line in enumerate(lines, 1)
    )
    head = ("step", "level", "cells", "fits", "done by", "tier", "remarks")
    return Table(title="Steps", head=head, rows=rows, brief=MOST_STEPS, key="steps")


def _rules(passes: Iterable[Mapping[str, Any]]) -> Note:
    """Return what each rule saved: fits, and the rule's own note, since some rules save other work."""
    items: list[Text] = []
    for rule in passes:
        before, after = rule["fits_before"], rule["fits_after"]
        words = f"{before:,} fits → {fit_words(0)}" if before and not after else f"{before:,} → {after:,} fits"
        note = f", {rule['note']}" if rule["note"] else ""
        slow = f", planned in {show_seconds(rule['seconds'])}" if rule["seconds"] >= SLOW else ""
        items.append((Span(rule["name"], "strong"), f": {words}{note}{slow}"))
    return Note(title="Rules", items=tuple(items))


def _refusals(passes: Sequence[Mapping[str, Any]]) -> Details:
    """Return the reasons of rules that did nothing, and of steps that the other rules refused."""
    items: list[Text] = []
    for rule in passes:
        reasons = [] if rule["used"] else ["not used"]
        reasons += rule["refusals"][:MOST_REASONS]
        items.append((Span(rule["name"], "strong"), f": {'; '.join(reasons)}"))
    title = f"What {counted(len(passes), 'rule')} left alone, and why"
    return Details(title, (Note(items=tuple(items)),) if items else (), always=True)


def _checks(checks: Sequence[Mapping[str, Any]]) -> Details:
    rows = tuple(
        (*(check.get(name, "") for name in _CHECK), check["difference"], "yes" if check["passed"] else "no")
        for check in checks
    )
    head = (*_CHECK, "difference", "passed")
    table = Table(title="Cells answered again by brute force", head=head, rows=rows, key="checks", titled=False)
    return Details("Answers that were checked against brute force", (table,))
