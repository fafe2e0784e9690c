"""The small scale under the key number: its interval, the folds and the optimistic number on one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.report.words import between, of_loss

WIDTH, MARGIN = 320.0, 14.0  # of the drawing, and at each end of its line
NEAREST, FARTHEST = 1e-300, 1e300  # range of the marks, beyond which ticks would underflow or overflow
MOST_FOLDS = 60  # folds whose marks can still be distinguished


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Holds the positions of the marks on the line, in units of the drawing."""

    value: float
    low: float | None
    high: float | None
    folds: tuple[float, ...]
    optimistic: float | None
    ticks: tuple[tuple[float, str], ...]
    words: str


def scale_of(summary: Mapping[str, Any]) -> Scale | None:
    """Return the scale of a result's risk, or None if it has no value or all marks coincide."""
    risk = summary["risk"]
    folds = _numbers(fold[risk["loss"]] for fold in summary["folds"])
    folds = folds if len(folds) == len(summary["folds"]) and 1 < len(folds) <= MOST_FOLDS else []
    best = summary["estimates"].get("best_validation")
    optimistic = best["value"] if best is not None and best["loss"] == risk["loss"] else None
    ends = (risk["low"], risk["high"])
    marks = _numbers([risk["value"], *ends, optimistic, *folds])
    if not _numbers([risk["value"]]) or not NEAREST < max(marks) - min(marks) < FARTHEST:
        return None
    ticks = _ticks(min(marks), max(marks))
    words = [of_loss(tick, risk["loss"]).replace(".0%", "%") for tick in ticks]
    if len(set(words)) < len(words):  # nearly the same numbers: four digits do not tell them apart
        return None

    def place(value: Any) -> float:
        """Return the position of a value; infinite values lie at the end of the line."""
        return round(float(np.interp(float(value), (ticks[0], ticks[-1]), (MARGIN, WIDTH - MARGIN))), 1)

    low, high = (None if end is None else place(end) for end in ends)
    return Scale(
        value=place(risk["value"]),
        low=low,
        high=high,
        folds=tuple(place(fold) for fold in folds),
        optimistic=place(optimistic) if _numbers([optimistic]) else None,
        ticks=tuple(zip(map(place, ticks), words, strict=True)),
        words=_words(risk, folds=len(folds), optimistic=optimistic),
    )


def _words(risk: Mapping[str, Any], *, folds: int, optimistic: Any) -> str:
    value, best = of_loss(risk["value"], risk["loss"]), of_loss(optimistic, risk["loss"])
    parts = [f"{value} on a scale"]
    parts += [f"with its interval from {between(risk, loss=risk['loss'])}"] if risk["low"] is not None else []
    parts += [f"the values of {folds} folds"] if folds else []
    parts += [f"the best validation number {best}"] if optimistic is not None else []
    return ", ".join(parts)


def _numbers(values: Iterable[Any]) -> list[float]:
    """Return the values that are finite numbers; None and infinity, which is stored as text, are dropped."""
    return [value for value in values if isinstance(value, int | float)]


def _ticks(least: float, most: float) -> list[float]:
    """Return round numbers that enclose the marks."""
    from matplotlib.ticker import MaxNLocator

    return [float(tick) for tick in MaxNLocator(3, steps=[1, 2, 5, 10]).tick_values(least, most)]
