"""Summaries made by hand, after docs/summary.md, and the same with a hostile text wherever data can put one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.results.study_record import VERSION

HOSTILE = (
    "</script></style></svg><img src=x onerror=window.__pwned=1>\"'`&amp;<b>[/red]$\\frac{$\u202e\x1b[2J\x00\n{{7*7}}"
)
OF_ONE_LEARNER = ("learner", "procedure", "chosen", "verdict")  # what the headline of a comparison does not have
OURS = {
    "kind",
    "severity",
    "scale",
    "guarantee",
    "tier",
    "none",
    "method",
    "verdict",
    "code",
    "unit",
    "mode",
    "metric",
}  # keys of our own words
NAMES = {"params", "environment", "learners"}  # keys of dicts whose keys come from data


def estimate(name: str, value: float | None, **changes: Any) -> dict[str, Any]:
    low, high = (None, None) if value is None else (value - 0.02, value + 0.03)
    return {
        "name": name,
        "loss": "log",
        "value": value,
        "low": low,
        "high": high,
        "level": 0.95,
        "method": "corrected t",
        "guarantee": "heuristic",
        "estimand": "expected log risk of the tuned learner trained on about 120 rows",
        "train_size": 120.4,
        "n": 150,
        "optimistic": False,
        "greater_is_better": False,
        "reason": None,
        "unclipped": None,
        "interval_seed": None,
        "answer": None,
    } | changes


def candidates(count: int, folds: int) -> list[dict[str, Any]]:
    return [
        {
            "candidate": count - place,
            "family": "forest" if place % 2 else "ridge",
            "params": {
                "model__alpha": 10.0**-place if place < 300 else float(place),
                "model__kind": f"kind {place % 7}",
            },
            "mean": 0.1 + place / 1000,
            "se": None if place == 3 else 0.01,
            "chosen": folds if place == 0 else 0,
            "failed": 2 if place == count - 1 else 0,
            "note": "2 fits failed" if place == count - 1 else None,
        }
        for place in range(count)
    ]


def result_summary(count: int = 12, folds: int = 5) -> dict[str, Any]:
    values = [0.1 + 0.01 * fold for fold in range(folds)]
    risk = estimate("risk", sum(values) / folds)
    best = estimate("best_validation", 0.1, low=None, high=None, method=None, guarantee=None, optimistic=True)
    best |= {"reason": "No interval: the same losses chose the candidate."}
    second = estimate("risk_zero_one", 0.04, loss="zero_one")
    rows = candidates(count, folds)
    return {
        "version": VERSION,
        "kind": "result",
        "headline": headline(),
        "metrics": metrics(values),
        "checks": checks(),
        "about": about("log", "zero_one") | {"candidates": count},
        "verdict": {
            "sentence": "On new rows the learner is expected to have a mean log loss of 0.12.",
            "promise": "The interval is a rule of thumb.",
            "no_model": None,
            "optimism": "The best validation number is 0.1.",
            "flattery": "the best validation score (0.1) is 0.02 too good",
            "surer": ["Four times as many rows would halve the interval.", "More repeats would not."],
            "meanings": {
                name: {"label": f"label of {name}", "text": f"meaning of {name}"}
                for name in ("risk", "best_validation", "risk_zero_one")
            },
        },
        "risk": risk,
        "estimates": {"risk": risk, "best_validation": best, "risk_zero_one": second},
        "folds": [
            {"fold": fold, "repeat": 0, "train_rows": 120, "held_rows": 30, "log": value, "zero_one": 0.04}
            for fold, value in enumerate(values)
        ],
        "choices": [
            {
                "fold": fold,
                "candidate": count,
                "family": "ridge",
                "param_model__alpha": 1.0,
                "param_model__kind": "kind 0",
                "params": {"model__alpha": 1.0, "model__kind": "kind 0"},
                "validation_log": 0.1,
                "tied": 1,
                "failed_candidates": 1,
            }
            for fold in range(folds)
        ],
        "candidates": rows,
        "failures": [
            {
                "panel": "validation/0",
                "part": 1,
                "candidate": "ridge(alpha=1)",
                "stage": "fit",
                "error": "ValueError",
                "message": "no such number",
                "traceback": "Traceback (most recent call last):\n  File x\nValueError: no such number",
            }
        ],
        "findings": [
            {"code": "H301", "severity": "info", "message": "another loss chose"},
            {"code": "H202", "severity": "error", "message": "1 cell failed"},
            {"code": "H302", "severity": "warning", "message": "heavy tails"},
        ],
        "covers": {"estimate": "risk", "exactly": False, "sentence": "The predictor is trained on all 150 rows."},
        "plan": plan(),
        "seconds": {"total": 1.5, "fit_seconds": 1.0, "score_seconds": 0.2},
        "figures": figures(values, rows),
    }


def headline() -> dict[str, Any]:
    return {
        "name": None,
        "target": "diagnosis",
        "source": "bc.csv",
        "rows": 150,
        "columns": 4,
        "classes": [{"label": "no", "share": 0.627}, {"label": "yes", "share": 0.373}],
        "median": None,
        "learner": "tuned ridge",
        "procedure": "nested 5-fold cross-validation",
        "chosen": None,
        "metric": "logloss",
        "verdict": "better",
    }


def metric(name: str, label: str, value: float | None, **changes: Any) -> dict[str, Any]:
    none = dict.fromkeys(("low", "high", "method", "guarantee", "no_model", "gain"))
    gain = {"value": 0.35, "low": 0.31, "high": 0.39, "level": 0.95, "p": 1e-9, "verdict": "better", "reason": None}
    made = {
        "name": name,
        "label": label,
        "unit": "share",
        "greater_is_better": True,
        "value": value,
        "low": None if value is None else value - 0.015,
        "high": None if value is None else value + 0.009,
        "level": 0.95,
        "method": "wilson",
        "guarantee": "heuristic",
        "reason": None,
        "estimand": f"expected {label} of the tuned learner trained on about 120 rows",
        "folds": [],
        "no_model": 0.627,
        "no_model_words": "always 'no'",
        "gain": gain,
        "decides": False,
        "asked": False,
    }
    return made | (none if value is None else {}) | changes


def metrics(folds: list[float] | None = None) -> list[dict[str, Any]]:
    lower = {"unit": "", "greater_is_better": False}
    lead = {"low": 0.1, "high": 0.15, "no_model": 0.66, "decides": True, "asked": True, "folds": folds or []}
    return [
        metric("logloss", "log loss", 0.12, **lead, **lower),
        metric("accuracy", "accuracy", 0.979),
        metric("balanced_accuracy", "balanced accuracy", 0.975, no_model=0.5),
        metric("auc", "AUC", 0.995, low=0.989, high=0.998, no_model=0.5, unit=""),
        metric("brier", "Brier score", None, reason="The learner gives no probabilities.", **lower),
    ]


def checks() -> dict[str, Any]:
    return {
        "ran": True,
        "mode": "quick",
        "looked": ["columns that give the target away", "the same row twice"],
        "not_looked": ["whether rows hang together"],
        "rows_looked_at": 150,
        "seconds": 0.01,
        "ignored": [],
        "found": {"error": 0, "warning": 0, "info": 0},
    }


def about(*losses: str) -> dict[str, Any]:
    return {
        "learner": "Pipeline",
        "families": ["ridge", "forest"],
        "estimators": ["Ridge()", "RandomForestRegressor()"],
        "tuned": True,
        "candidates": 12,
        "losses": list(losses),
        "chosen_by": losses[0],
        "test": "5-fold, shuffled",
        "validation": "3-fold, shuffled",
        "splits_fingerprint": "5" * 32,
        "rows": 150,
        "columns": 4,
        "classes": ["no", "yes"],
        "fingerprint": "f" * 32,
        "seed": 7,
        "level": 0.95,
        "environment": {"python": "3.11", "heldout": "0.1"},
        "call": "learner = Ridge()\nho.evaluate(learner, X, y, seed=7)",
        "command": "heldout evaluate data.csv --target y",
    }


def plan() -> dict[str, Any]:
    passes = [
        {
            "name": "ridge",
            "fits_before": 90,
            "fits_after": 15,
            "refusals": [],
            "used": True,
            "note": "",
            "seconds": 0.001,
        },
        {
            "name": "neighbours",
            "fits_before": 15,
            "fits_after": 15,
            "refusals": ["Ridge is no neighbour"],
            "used": False,
            "note": "",
            "seconds": 0.0,
        },
    ]
    line = {"stage": 1, "level": "test", "rule": "ridge", "tier": "rounding", "cells": 90, "fits": 15}
    check = {"kernel": "ridge", "tier": "rounding", "cell": "alpha=1, part 0", "difference": 1e-12, "passed": True}
    return {
        "learner": "Pipeline",
        "candidates": 12,
        "outer": "5-fold",
        "inner": "3-fold",
        "lines": [{**line, "operations": None, "waits": False}],
        "passes": passes,
        "notes": ["a note on the plan"],
        "checks": [check],
        "text": "Plan",
    }


def figures(values: list[float], rows: list[dict[str, Any]]) -> dict[str, Any]:
    loss = {"loss": "log", "greater_is_better": False}
    folds = len(values)
    mean = sum(values) / folds
    points = [
        {"fold": fold, "repeat": 0, "value": value, "train_rows": 120, "held_rows": 30}
        for fold, value in enumerate(values)
    ]
    panel = {
        "family": "ridge",
        "param": "model__kind",
        "scale": "category",
        "points": [{"value": f"kind {n}", "mean": 0.1 + n / 50, "se": 0.01, "candidates": 2} for n in range(7)],
        "chosen": [["kind 0", folds]],
        "simplest": "kind 1",
    }
    return {
        "splits": {
            "words": "5-fold, shuffled",
            "parts": 2,
            "lanes": [0, 1],
            "in_time": False,
            "edges": [0, 75, 150],
            "marks": [[0, "0"], [150, "150"]],
            "train": [[75, 0], [0, 75]],
            "held": [[0, 75], [75, 0]],
            "unused": [[0, 0], [0, 0]],
        },
        "folds": {**loss, "points": points, "value": mean, "low": mean - 0.02, "high": mean + 0.03, "level": 0.95},
        "estimates": {
            **loss,
            "rows": [
                {
                    "name": "risk",
                    "label": "risk",
                    "value": mean,
                    "low": 0.1,
                    "high": 0.2,
                    "level": 0.95,
                    "optimistic": False,
                },
                {
                    "name": "best",
                    "label": "best",
                    "value": 0.1,
                    "low": None,
                    "high": None,
                    "level": 0.95,
                    "optimistic": True,
                },
            ],
        },
        "parameters": {**loss, "one_se": {"best": 0.1, "limit": 0.11}, "panels": [panel]},
        "stability": {
            "folds": folds,
            "choices": [
                {
                    "words": "ridge alpha=1",
                    "family": "ridge",
                    "params": {"model__alpha": 1.0},
                    "count": folds,
                    "folds": [0],
                }
            ],
            "params": [{"family": "ridge", "param": "model__alpha", "values": [{"value": 1.0, "count": folds}]}],
        },
        "calibration": {"none": "no probability was asked for"},
        "confusion": {"labels": ["no", "yes"], "counts": [[70, 5], [3, 72]], "rows": 150},
        "residuals": {"none": "not a regression"},
        "learning_curve": {"none": "No learning curve was asked for."},
        "time": {
            "total": 1.5,
            "bars": [{"level": "validation", "family": "ridge", "fit": 1.0, "score": 0.2, "cells": 90}],
            "passes": [{"name": "ridge", "fits_before": 90, "fits_after": 15, "seconds": 0.001}],
        },
    }


def comparison_summary(names: tuple[str, ...] = ("ridge", "forest", "tree")) -> dict[str, Any]:
    ranking = [estimate("risk", 0.1 + place / 10) | {"name": name} for place, name in enumerate(names)]
    pairs = [
        {
            "first": first,
            "second": second,
            "difference": -0.1,
            "low": -0.2,
            "high": -0.01,
            "interval_level": 0.98,
            "method": "corrected t",
            "guarantee": "heuristic",
            "p": 0.01,
            "p_method": "corrected t",
            "p_holm": 0.03,
            "chance_first_better": 0.9,
            "chance_equal": 0.08,
            "chance_second_better": 0.02,
            "verdict": "first better",
            "sentence": f"{first} is better than {second}.",
            "reason": None,
            "estimand": "difference of expected log risks",
        }
        for place, first in enumerate(names)
        for second in names[place + 1 :]
    ]
    whole = about("log")
    return {
        "version": VERSION,
        "kind": "comparison",
        "headline": {name: value for name, value in headline().items() if name not in OF_ONE_LEARNER},
        "level": 0.95,
        "rope": 0.05,
        "about": {
            name: whole[name]
            for name in ("test", "rows", "fingerprint", "splits_fingerprint", "seed", "environment", "call", "command")
        }
        | {"loss": "log", "greater_is_better": False},
        "verdict": {
            "sentence": "ridge has the smallest risk.",
            "promise": "They hold together.",
            "surer": ["More rows."],
            "best": names[0],
            "ties": list(names[1:2]),
            "simplest": names[0],
        },
        "against_best": [
            {
                "name": name,
                "difference": 0.1 * place,
                "low": 0.01 if place > 1 else -0.02,
                "high": 0.2 * place,
                "level": 0.98,
                "p": 0.03,
                "verdict": "worse" if place > 1 else "not shown",
                "reason": None,
            }
            for place, name in enumerate(names)
            if place
        ],
        "ranking": ranking,
        "pairs": pairs,
        "learners": {
            name: {
                "about": whole,
                "choices": result_summary()["choices"],
                "seconds": {"total": 0.5},
                "headline": headline(),
                "metrics": [
                    {**one, **{end: one[end] + place / 10 for end in ("value", "low", "high")}}
                    if one["decides"]
                    else one
                    for one in metrics()
                ],
            }
            for place, name in enumerate(names)
        },
        "failures": {"broken": "FitFailed: no fit worked"},
        "findings": [{"code": "H302", "severity": "warning", "message": "heavy tails"}],
        "figures": {
            "comparison": {
                "loss": "log",
                "greater_is_better": False,
                "rope": 0.05,
                "level": 0.95,
                "pairs": [
                    {key: pair[key] for key in ("first", "second", "difference", "low", "high", "verdict")}
                    for pair in pairs
                ],
                "ranking": [{key: one[key] for key in ("name", "value", "low", "high", "level")} for one in ranking],
                "folds": {"names": list(names), "values": [[0.1, 0.2, 0.3] for _ in names]},
            }
        },
    }


def hostile(value: Any, text: str, key: str = "") -> Any:
    """The summary with a text before every word that data, learners or files can choose."""
    if isinstance(value, Mapping):
        return {_key(name, text, key): hostile(one, text, name) for name, one in value.items()}
    if isinstance(value, list):
        return [hostile(one, text, key) for one in value]
    return text + value if isinstance(value, str) and key not in OURS else value


def _key(name: str, text: str, inside: str) -> str:
    for prefix in ("param_", "validation_"):
        if name.startswith(prefix):
            return prefix + text + name.removeprefix(prefix)
    return text + name if inside in NAMES or name in ("log", "zero_one") else name
