"""Comparing a study with a rule on and with it off, at the tier that the rule states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import heldout as ho
from heldout.base.errors import FitFailed
from heldout.base.responses import METHODS
from heldout.study.panels import TEST

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between a study with a rule on and with it off."""

    label: str
    used: bool  # the rule took part
    difference: float  # largest of the responses, relative to the largest response
    allowed: float
    same_choices: bool
    refusals: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.difference <= self.allowed and self.same_choices


def compare(label: str, build: Callable[[], Any], rule: str, tier: str, reference: Any = None) -> Comparison:
    """Run one study twice and compare every response of its test cells, every validation loss and every choice."""
    on, off = (_run(build, rule, switch) for switch in (True, False))
    if on is None or off is None:  # every fit fails: by brute force too, or it is a difference
        nothing = {"used": False, "allowed": 0.0, "refusals": ("every fit of the study fails, by brute force too",)}
        difference = 0.0 if on is off else np.inf
        return Comparison(label=label, difference=difference, same_choices=on is off, **nothing)
    record = next(p for p in on.plan.passes if p.name == rule)
    allowed = 0.0 if tier == "identical" else ROUNDING
    difference = max(response_difference(on, off), 0.0 if tier != "identical" else validation_difference(on, off))
    if difference > allowed and tier == "rounding" and reference is not None:
        allowed = max(allowed, reference(build))  # brute force's own error, where that is larger
    return Comparison(
        label=label,
        used=record.used,
        difference=difference,
        allowed=allowed,
        same_choices=same_choices(on, off),
        refusals=record.refusals,
    )


def _run(build: Callable[[], Any], rule: str, switch: bool) -> Any:
    """The result, or None where not one fit of the study works."""
    learner, X, y, more = build()
    try:
        return ho.evaluate(learner, X, y, jobs=1, progress=False, options=ho.Options(rules={rule: switch}), **more)
    except FitFailed:
        return None


def test_responses(result: Any) -> list[Any]:
    outcome = result._live.outcome
    found = []
    for panel in outcome.study.of_level(TEST):
        table = outcome.tables[panel.key]
        parts = panel.parts if len(table.candidates) else ()
        found += [table.responses(table.candidates[0], part) for part in parts]
    return found


def response_difference(on: Any, off: Any) -> float:
    """The largest relative difference of test responses; infinity where one side has an answer and the other none."""
    ours, theirs = test_responses(on), test_responses(off)
    if len(ours) != len(theirs):
        return np.inf
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        if (a is None) != (b is None):
            return np.inf
        for method in METHODS if a is not None else ():
            worst = max(worst, array_difference(getattr(a, method), getattr(b, method)))
    return worst


def validation_difference(on: Any, off: Any) -> float:
    """The largest difference of validation losses, which identical responses make zero."""
    a, b = on.facts.tables["candidates"], off.facts.tables["candidates"]
    worst = 0.0
    for name, values in a.items():
        if name.startswith("validation_") and not name.endswith("_sd"):
            worst = max(worst, array_difference(np.asarray(values), np.asarray(b[name])))
    return worst


def array_difference(a: Any, b: Any) -> float:
    if (a is None) != (b is None):
        return np.inf
    if a is None:
        return 0.0
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return np.inf
    if b.dtype.kind not in "fiu":
        return 0.0 if np.array_equal(a, b) else np.inf
    if not np.array_equal(np.isnan(a.astype(float)), np.isnan(b.astype(float))):
        return np.inf
    scale = float(np.nanmax(np.abs(b), initial=0.0)) or 1.0
    return float(np.nanmax(np.abs(a.astype(float) - b.astype(float)), initial=0.0)) / scale


def same_choices(on: Any, off: Any) -> bool:
    """The same candidate in each fold, unless the two candidates' validation losses tie within rounding."""
    a, b = on.facts.tables["choices"], off.facts.tables["choices"]
    if not a:
        return True
    name = next(n for n in a if n.startswith("validation_"))
    loss_a, loss_b = np.asarray(a[name], dtype=float), np.asarray(b[name], dtype=float)
    same = np.asarray(a["candidate"]) == np.asarray(b["candidate"])
    tied = np.isclose(loss_a, loss_b, rtol=1e-9, atol=0)
    return bool((same | tied).all())
