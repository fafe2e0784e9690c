"""The plan as tables: the steps, what each rule saved, why others were not used, and what was checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.amounts import show_seconds
from heldout.base.words import fit_words
from heldout.report.page.tables import Shown, Table, make_table

MOST_REFUSALS = 50


def plan_view(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What the section of the plan shows."""
    return {
        "steps": _steps(plan["lines"]),
        "rules": _rules([one for one in plan["passes"] if one["used"]]),
        "refusals": _refusals(plan["passes"]),
        "plan_notes": plan["notes"],
        "checks": _checks(plan["checks"]) if plan["checks"] else None,
    }


def _steps(lines: list[Mapping[str, Any]]) -> Table:
    head = ("Stage", "Level", "Done by", "Tier", "Cells", "Fits", "When")
    rows = (
        [
            one["stage"],
            one["level"],
            one["rule"],
            one["tier"],
            one["cells"],
            one["fits"] or Shown(words=fit_words(0), by=0),
            "once the choices are made" if one["waits"] else "at once",
        ]
        for one in lines
    )
    return make_table("The steps", head, rows, numeric=("Stage", "Cells", "Fits"))


def _rules(used: list[Mapping[str, Any]]) -> Table | None:
    if not used:
        return None
    head = ("Rule", "Fits before", "Fits after", "Saved", "Time to plan")
    rows = ([one["name"], one["fits_before"], one["fits_after"], _saved(one), _planned(one["seconds"])] for one in used)
    return make_table("What each rule saved", head, rows, numeric=("Fits before", "Fits after", "Time to plan"))


def _saved(one: Mapping[str, Any]) -> str:
    """In the rule's own words where it has some, since not all that rules save are fits."""
    fewer = one["fits_before"] - one["fits_after"]
    return one["note"] or (f"{fewer:,} fits" if fewer else "no fits")


def _planned(seconds: float) -> Shown:
    return Shown(words=show_seconds(seconds), by=seconds)


def _refusals(passes: list[Mapping[str, Any]]) -> list[tuple[str, str]]:
    found = [(one["name"], "; ".join(one["refusals"])) for one in passes if not one["used"] and one["refusals"]]
    return found[:MOST_REFUSALS]


def _verdict(check: Mapping[str, Any]) -> str:
    if not check.get("conclusive", True):
        return "no verdict"
    return "yes" if check["passed"] else "no"


def _checks(checks: list[Mapping[str, Any]]) -> Table:
    head = ("Kernel", "Level", "Cell", "Tier", "Difference", "Passed")
    rows = (
        [one["kernel"], one.get("level", ""), one["cell"], one["tier"], one["difference"], _verdict(one)]
        for one in checks
    )
    return make_table("Cells answered again by brute force", head, rows, numeric=("Difference",))
