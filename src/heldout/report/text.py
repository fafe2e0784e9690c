"""The summary of a result as text for a terminal: the risk first, what it means, then what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from heldout.base.words import clipped, fit_words, interval_words, line, number, safe, told
from heldout.results.choices import words_of_choice
from heldout.results.summary import is_shown

__all__ = [
    "MOST_OF_FINDING",
    "is_shown",
    "line",
    "no_model_words",
    "number",
    "optimism_of",
    "render_text",
    "safe",
    "told",
]

MOST_OF_FINDING = 500  # characters: the way out comes last, and the texts of fits can be long


def render_text(summary: Mapping[str, Any]) -> str:
    """The whole result as plain text, no wider than its own words."""
    blocks = [
        _risk(summary["risk"], no_model_words(summary)),
        _beside(summary),
        _folds(summary),
        _choices(summary["choices"]),
        _findings(summary["findings"]),
        _footer(summary),
    ]
    return "\n\n".join(block for block in blocks if block)


def _risk(risk: Mapping[str, Any], no_model: str | None) -> str:
    lines = [f"{line(risk['loss'])} {told(risk)}"]
    if risk["low"] is not None:
        lines[0] += f"   {interval_words(risk)}"
        lines.append(f"  interval    {risk['method']}, {risk['guarantee']}")
        if risk["reason"]:
            lines.append(f"  but         {line(risk['reason'])}")
    elif risk["reason"]:
        lines.append(f"  interval    {line(risk['reason'])}")
    lines.append(f"  estimates   {line(risk['estimand'])}")
    lines.append(f"  from        {risk['n']:,} held-out rows")
    if no_model:
        lines.append(f"  no model    {line(no_model)}")
    return "\n".join(lines)


def no_model_words(summary: Mapping[str, Any]) -> str | None:
    """Whether the learner is better than no model, or why the two were not compared."""
    verdict = summary["verdict"]
    reason = None if summary["risk"]["value"] is None else (verdict.get("no_model") or {}).get("reason")
    return verdict["against"] or (f"Not compared. {reason}" if reason else None)


def optimism_of(summary: Mapping[str, Any]) -> str | None:
    """By how much the best validation number is better than the risk, where there is one."""
    best = summary["estimates"].get("best_validation")
    told = summary.get("verdict", {}).get("optimism")
    return None if best is None or best["value"] is None or told is None else line(told)


def _beside(summary: Mapping[str, Any]) -> str:
    lines, estimates = [], summary["estimates"]
    for name, estimate in estimates.items():
        if not is_shown(name, estimate):
            continue
        between = "" if estimate["low"] is None else f" ({number(estimate['low'])} to {number(estimate['high'])})"
        made = estimate["value"] is not None
        words = estimate["estimand"] if made else estimate["reason"] or ""
        lines.append(f"  {line(name)}  {number(estimate['value'])}{between}   {line(words)}")
    if (optimism := optimism_of(summary)) is not None:
        lines.append(f"  {optimism}")
    return "\n".join(["Other estimates", *lines]) if lines else ""


def _folds(summary: Mapping[str, Any]) -> str:
    folds, loss = summary["folds"], summary["risk"]["loss"]
    if len(folds) < 2 or all(fold.get("held_rows") == 1 for fold in folds):  # single rows tell nothing one by one
        return ""
    values = [fold[loss] for fold in folds]
    shown = "  ".join(number(value) for value in values[:12])
    more = f"  … {len(values)} in all" if len(values) > 12 else ""
    return f"Folds\n  {shown}{more}"


def _choices(choices: list[Mapping[str, Any]]) -> str:
    if not choices:
        return ""
    words = Counter(words_of_choice(choice) for choice in choices)
    lines = [f"  {count} of {len(choices)}  {text}" for text, count in words.most_common(8)]
    more = [f"  … {len(words) - 8} more"] if len(words) > 8 else []
    return "\n".join(["Chosen", *lines, *more])


def _findings(findings: list[Mapping[str, Any]]) -> str:
    lines = [f"  {f['code']} {f['severity']}: {clipped(line(f['message']), MOST_OF_FINDING)}" for f in findings]
    return "\n".join(["Findings", *lines]) if lines else ""


def _footer(summary: Mapping[str, Any]) -> str:
    about, plan, seconds = summary["about"], summary["plan"], summary["seconds"]
    fits = sum(line["fits"] for line in plan["lines"])
    return "\n".join(
        [
            f"Predictor   {line(summary['covers']['sentence'])}",
            f"Test        {line(about['test'])}"
            + (f"; validation {line(about['validation'])}" if about["validation"] else ""),
            f"Work        {fit_words(fits)} in {seconds['total']:.3g} s; "
            f"seed {about['seed']}, data {about['fingerprint'][:12]}",
        ]
    )
