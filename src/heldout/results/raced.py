"""What a race did, told: how many cells were not run, and what may have been lost by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.base.findings import Finding
from heldout.engine.run import Outcome
from heldout.study.race import PAIRED

RACED, CALLED_OFF = "H208", "H209"


def race_facts(outcome: Outcome) -> dict[str, Any] | None:
    """The race of a study as plain values; None where none was run."""
    study = outcome.study
    if study.race is None or not study.races:
        return None
    tables = [outcome.tables.panels[key] for key in study.races if key in outcome.tables.panels]
    asked = sum(table.answered.size for table in tables)
    run = sum(int(np.count_nonzero(table.answered)) for table in tables)
    return {
        "kind": study.race.kind,
        "tier": "identical" if study.race.exact else "statistical",
        "level": None if study.race.exact else study.race.level,
        "cells": asked,
        "cells_run": run,
        "called_off": sum(race.called_off for race in study.races.values()),
    }


def race_findings(outcome: Outcome) -> list[Finding]:
    """That candidates were dropped, with the probability that the best was; and that a race was called off."""
    facts = race_facts(outcome)
    if facts is None:
        return []
    left = facts["cells"] - facts["cells_run"]
    text = f"The {facts['kind']} race did not run {left:,} of {facts['cells']:,} validation cells; "
    if facts["level"] is None:
        text += "the choices are those of the whole table."
    elif facts["kind"] == PAIRED:
        text += f"each choice lost its best candidate with a probability of about {facts['level']:g}, by a heuristic."
    else:
        text += f"each choice lost its best candidate with a probability of at most {facts['level']:g}."
    found = [Finding(code=RACED, severity="info", message=text)]
    if facts["called_off"]:
        words = (
            f"{facts['called_off']} races were called off and every cell run: a loss was outside the range that "
            f"{outcome.study.search.losses[0].name!r} declares."
        )
        found.append(Finding(code=CALLED_OFF, severity="warning", message=words))
    return found
