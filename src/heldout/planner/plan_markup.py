"""A plan as a piece of a notebook: what is asked, the steps, and what each rule saved or why it did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.markup import SPACE, Html, details, element, facts, listed, table, titled, together
from heldout.base.words import fit_words

MOST_STEPS = 30
MOST_REASONS = 100


def plan_markup(plan: Mapping[str, Any]) -> Html:
    """The facts of a plan and its tables; `plan` has the fields of an account as plain values."""
    lines, passes = plan["lines"], plan["passes"]
    used = [one for one in passes if one["used"]]
    return together(
        facts(
            {
                "test": plan["outer"],
                "validation": plan["inner"],
                "candidates": f"{plan['candidates']:,}",
                "cells": f"{sum(line['cells'] for line in lines):,}",
                "fits": _fits(lines, passes),
            }
        ),
        titled("Steps", _steps(lines)),
        titled("Rules", _rules(used)),
        _refusals(passes),
        titled("Notes", listed(plan["notes"])),
    )


def _fits(lines: Sequence[Mapping[str, Any]], passes: Sequence[Mapping[str, Any]]) -> str:
    fits = sum(line["fits"] for line in lines)
    saved = sum(one["fits_before"] - one["fits_after"] for one in passes)
    return fit_words(fits, fits + saved).replace(" fits", "")


def _steps(lines: Sequence[Mapping[str, Any]]) -> Html:
    rows = [
        (
            place,
            line["level"],
            line["cells"],
            line["fits"] or fit_words(0),
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
    ]
    return table(("", "level", "cells", "fits", "rule", "tier", ""), rows, most=MOST_STEPS)


def _rules(used: Sequence[Mapping[str, Any]]) -> Html:
    rows = [
        (one["name"], one["fits_before"], one["fits_after"], one["fits_before"] - one["fits_after"], one["note"])
        for one in used
    ]
    return table(("rule", "fits before", "after", "saved", ""), rows, most=MOST_STEPS)


def _refusals(passes: Sequence[Mapping[str, Any]]) -> Html:
    """Rules that did nothing, and what the others left alone, each with its reason."""
    said = [one for one in passes if one["refusals"] or not one["used"]]
    items = [
        together(
            element("strong", one["name"]),
            "" if one["used"] else together(SPACE, "not used"),
            listed(one["refusals"][:MOST_REASONS]),
        )
        for one in said
    ]
    return details(f"What {len(said)} rule{'' if len(said) == 1 else 's'} left alone, and why", listed(items))
