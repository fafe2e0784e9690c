"""Values of every figure, made by hand as docs/summary.md describes them."""

from __future__ import annotations

import copy
import math
from typing import Any

NAUGHTY = "</script><img src=x onerror=alert(1)>[/red]$\\frac{$\u202e\x00\n" + "ü" * 10_000
SIDES = (("low", -0.05), ("high", 0.05))
LOSS = {"loss": "log_loss", "greater_is_better": False}


def _wave(place: int, size: float = 1.0) -> float:
    """A number between −size and size that looks like chance and is always the same."""
    return size * math.sin(12.9898 * place + 78.233 * place * place)


def splits(lanes: int = 5, stretches: int = 20, rows: int = 100) -> dict[str, Any]:
    """Contiguous folds, with a buffer of one row before each."""
    edges = [place * rows // stretches for place in range(stretches + 1)]
    held = [
        [_rows(edges, at, lane * rows // lanes, (lane + 1) * rows // lanes) for at in range(stretches)]
        for lane in range(lanes)
    ]
    unused = [
        [_rows(edges, at, lane * rows // lanes - 1, lane * rows // lanes) for at in range(stretches)]
        for lane in range(lanes)
    ]
    train = [
        [edges[at + 1] - edges[at] - held[lane][at] - unused[lane][at] for at in range(stretches)]
        for lane in range(lanes)
    ]
    marks = [[place, f"{place:,}"] for place in (0, rows // 4, rows // 2, 3 * rows // 4, rows - 1)]
    return {
        "words": f"{lanes} blocks of rows, buffer of 1",
        "parts": lanes,
        "lanes": list(range(lanes)),
        "in_time": False,
        "edges": edges,
        "marks": marks,
        "train": train,
        "held": held,
        "unused": unused,
    }


def _rows(edges: list[int], at: int, low: int, high: int) -> int:
    return max(0, min(edges[at + 1], high) - max(edges[at], low))


def folds(count: int = 10, repeats: int = 1) -> dict[str, Any]:
    points = [
        {
            "fold": place,
            "repeat": place // (count // repeats),
            "value": 0.3 + _wave(place, 0.08),
            "train_rows": 900,
            "held_rows": 100 + place,
        }
        for place in range(count)
    ]
    return {**LOSS, "points": points, "value": 0.31, "low": 0.27, "high": 0.36, "level": 0.95}


def estimates() -> dict[str, Any]:
    rows = [
        ("risk", "nested 10-fold cross-validation", 0.31, 0.27, 0.36, False),
        ("best_validation", "best validation mean", 0.275, None, None, True),
        ("best_validation_bbc", "the same, corrected for choosing by a bootstrap", 0.29, 0.24, "inf", False),
    ]
    names = ("name", "label", "value", "low", "high", "optimistic")
    return {**LOSS, "rows": [{**dict(zip(names, row, strict=True)), "level": 0.95} for row in rows]}


def parameters() -> dict[str, Any]:
    powers = [10.0**p for p in range(-6, 3)]
    alpha = [{"value": v, "mean": 0.3 + 0.02 * abs(p - 4), "se": 0.012, "candidates": 3} for p, v in enumerate(powers)]
    depth = [
        {"value": v, "mean": 0.42 - 0.03 * min(v, 6) + 0.02 * max(v - 6, 0), "se": 0.01, "candidates": 9}
        for v in range(1, 11)
    ]
    kinds = ["l1", "l2", "elasticnet"]
    penalty = [{"value": v, "mean": 0.3 + 0.02 * p, "se": None, "candidates": 9} for p, v in enumerate(kinds)]
    panels = [
        {
            "family": "ridge",
            "param": "ridge__alpha",
            "scale": "log",
            "points": alpha,
            "chosen": [[1e-3, 2], [1e-2, 8]],
            "simplest": 0.1,
        },
        {
            "family": "tree",
            "param": "max_depth",
            "scale": "linear",
            "points": depth,
            "chosen": [[6, 7], [7, 3]],
            "simplest": 5,
        },
        {
            "family": "logistic",
            "param": "penalty",
            "scale": "category",
            "points": penalty,
            "chosen": [["l1", 10]],
            "simplest": None,
        },
    ]
    return {**LOSS, "one_se": {"best": 0.295, "limit": 0.308}, "panels": panels}


def stability() -> dict[str, Any]:
    choices = [
        {
            "words": "ridge(alpha=0.01, fit_intercept=True)",
            "family": "ridge",
            "params": {"alpha": 0.01, "fit_intercept": True},
            "count": 7,
            "folds": [0, 1, 2, 3, 4, 5, 6],
        },
        {
            "words": "ridge(alpha=0.001, fit_intercept=True)",
            "family": "ridge",
            "params": {"alpha": 0.001, "fit_intercept": True},
            "count": 3,
            "folds": [7, 8, 9],
        },
    ]
    params = [
        {"family": "ridge", "param": "alpha", "values": [{"value": 0.01, "count": 7}, {"value": 0.001, "count": 3}]},
        {"family": "ridge", "param": "fit_intercept", "values": [{"value": True, "count": 10}]},
    ]
    return {"folds": 10, "choices": choices, "params": params}


def calibration(curves: int = 1) -> dict[str, Any]:
    def bins(shift: float) -> list[dict[str, Any]]:
        found = []
        for place in range(10):
            predicted = 0.05 + 0.1 * place
            observed = min(1.0, max(0.0, predicted + shift + _wave(place, 0.05)))
            sure = {"observed_low": max(0.0, observed - 0.09), "observed_high": min(1.0, observed + 0.09)}
            found.append(
                {
                    "low": 0.1 * place,
                    "high": 0.1 * place + 0.1,
                    "predicted": predicted,
                    "observed": observed,
                    **sure,
                    "rows": 40 + 12 * (place % 4),
                }
            )
        return found

    return {"curves": [{"label": f"class {place}", "bins": bins(0.05 * place)} for place in range(curves)], "rows": 576}


def confusion(classes: int = 3) -> dict[str, Any]:
    counts = [[40 + 5 * t if t == p else (3 * t + 2 * p) % 5 for p in range(classes)] for t in range(classes)]
    return {"labels": [f"class {t}" for t in range(classes)], "counts": counts, "rows": sum(map(sum, counts))}


def residuals(points: int = 400, outputs: int = 1) -> dict[str, Any]:
    def one(place: int) -> dict[str, Any]:
        dots = [
            {"predicted": 100 + 50 * _wave(i + 7 * place), "residual": 20 * _wave(3 * i + 1) * (1 + 0.3 * _wave(i))}
            for i in range(points)
        ]
        bands = [{"predicted": 50 + 11 * i, "low": -12 - i, "middle": 2.0 - 0.5 * i, "high": 12 + i} for i in range(10)]
        return {"label": f"y{place}" if outputs > 1 else "", "points": dots, "bands": bands, "rows": 3 * points}

    return {"outputs": [one(place) for place in range(outputs)], "rows": 3 * points, "sampled": True}


def learning_curve() -> dict[str, Any]:
    sizes = (50, 100, 200, 400, 800)
    points = [{"size": s, "value": 0.25 + 2 / s, "low": 0.25 + 1 / s, "high": 0.25 + 4 / s} for s in sizes]
    return {**LOSS, "points": points, "extrapolated": {"size": 2400, "value": 0.2508}}


def time() -> dict[str, Any]:
    bars = [
        {"level": "validation", "family": "forest", "fit": 12.5, "score": 1.25, "cells": 900},
        {"level": "validation", "family": "ridge", "fit": 0.75, "score": 0.5, "cells": 1700},
        {"level": "test", "family": "forest", "fit": 1.5, "score": 0.25, "cells": 10},
    ]
    passes = [{"name": "share_fits", "fits_before": 2610, "fits_after": 1305, "seconds": 0.01}]
    return {"total": 17.2, "bars": bars, "passes": passes, "each": {"fit": 0.15, "predict": 0.002}}


def _curves(names: tuple[str, str], curves: int, **of_each: Any) -> dict[str, Any]:
    """Curves of `names` (x, y), with a threshold and a band around y, that rise from the left to the right."""

    def points(place: int) -> list[dict[str, Any]]:
        found = []
        for step in range(21):
            x, y = step / 20, (step / 20) ** (0.3 + 0.1 * place)
            sure = {f"{names[1]}_low": max(0.0, y - 0.1), f"{names[1]}_high": min(1.0, y + 0.1)}
            found.append({"threshold": "inf" if step == 0 else 1 - x, names[0]: x, names[1]: y, "lift": None, **sure})
        return found

    each = [
        {"label": f"class {n}", "share": 0.4, "probability": True, **of_each, "points": points(n)}
        for n in range(curves)
    ]
    return {"level": 0.95, "curves": each, "rows": 576, "left_out": 0}


def roc(curves: int = 1) -> dict[str, Any]:
    return _curves(("fpr", "tpr"), curves, area=0.91, by_fold=True)


def pr(curves: int = 1) -> dict[str, Any]:
    return _curves(("recall", "precision"), curves, average_precision=0.87)


def gains(curves: int = 1) -> dict[str, Any]:
    return _curves(("share", "gain"), curves)


def thresholds() -> dict[str, Any]:
    points = [
        {"threshold": t / 20, "precision": 0.4 + t / 40, "recall": 1 - t / 25, "f1": 0.6 + _wave(t, 0.1), "share": 0.5}
        for t in range(1, 20)
    ]
    curve = {"label": "class 0", "share": 0.4, "probability": True, "points": points}
    return {"level": 0.95, "curves": [curve], "rows": 576, "left_out": 0}


def classes(count: int = 3) -> dict[str, Any]:
    def row(place: int) -> dict[str, Any]:
        shares = {"precision": 0.8 + 0.05 * place, "recall": 0.9 - 0.05 * place, "f1": 0.85}
        ends = {f"{name}_{end}": shares[name] + way for name in ("precision", "recall") for end, way in SIDES}
        return {"class": f"class {place}", "support": 40 + place, "predicted": 41 + place, **shares, **ends}

    return {"level": 0.95, "rows": [row(place) for place in range(count)], "left_out": 0}


def subgroups(count: int = 4) -> dict[str, Any]:
    def row(place: int) -> dict[str, Any]:
        few = place == count - 1
        risk = {"value": 0.3 + 0.02 * place, "low": None if few else 0.25, "high": None if few else 0.4}
        why = {"reason": "No interval: 8 rows are too few (10 at least)." if few else None}
        return {"slice": "region", "group": f"part {place}", "rows": 8 if few else 90, **risk, **why, "level": 0.99}

    rows = [row(place) for place in range(count)]
    return {**LOSS, "value": 0.31, "level": 0.95, "sentence": "The worst subgroup is region part 2.", "rows": rows}


def importance(count: int = 30) -> dict[str, Any]:
    rows = [
        {"feature": f"column {n}", "importance": 0.5 / (n + 1), "low": 0.4 / (n + 1), "high": 0.7 / (n + 1), "sd": 0.1}
        for n in range(count)
    ]
    return {"loss": "log_loss", "repeats": 5, "level": 0.95, "rows": rows, "left_out": 0}


def coefficients(count: int = 6) -> dict[str, Any]:
    rows = [
        {"feature": f"column {n}", "mean": _wave(n), "sd": 0.1, "low": _wave(n) - 0.2, "high": _wave(n) + 0.2}
        | {"selected": 5 - n % 2, "folds": 5}
        for n in range(count)
    ]
    return {"rows": rows, "left_out": 0}


def comparison(learners: int = 3, parts: int = 10) -> dict[str, Any]:
    names = ["forest", "ridge", "nearest neighbours", *(f"learner {place}" for place in range(3, learners))][:learners]
    values = [[0.2 + 0.03 * row + _wave(part + 3 * row, 0.03) for part in range(parts)] for row in range(learners)]
    ranking = [
        {"name": name, "value": 0.2 + 0.03 * row, "low": 0.17 + 0.03 * row, "high": 0.24 + 0.03 * row, "level": 0.95}
        for row, name in enumerate(names)
    ]
    pairs = [
        {
            "first": names[a],
            "second": names[b],
            "difference": 0.03 * (a - b),
            "low": 0.03 * (a - b) - 0.035,
            "high": 0.03 * (a - b) + 0.035,
            "verdict": "undecided",
        }
        for a in range(learners)
        for b in range(a + 1, learners)
    ]
    return {
        **LOSS,
        "rope": 0.01,
        "level": 0.95,
        "pairs": pairs,
        "ranking": ranking,
        "folds": {"names": names, "values": values},
    }


EXAMPLES = {
    "splits": splits,
    "folds": folds,
    "estimates": estimates,
    "parameters": parameters,
    "stability": stability,
    "calibration": calibration,
    "confusion": confusion,
    "residuals": residuals,
    "roc": roc,
    "pr": pr,
    "gains": gains,
    "thresholds": thresholds,
    "classes": classes,
    "subgroups": subgroups,
    "importance": importance,
    "coefficients": coefficients,
    "learning_curve": learning_curve,
    "time": time,
    "comparison": comparison,
}


def naughty(value: Any) -> Any:
    """The same values with hostile text in place of every text that comes from data."""
    if isinstance(value, dict):
        kept = ("scale", "none")
        return {key: one if key in kept else naughty(one) for key, one in value.items()}
    if isinstance(value, list):
        return [naughty(one) for one in value]
    return NAUGHTY if isinstance(value, str) and value not in ("inf", "-inf") else copy.deepcopy(value)
