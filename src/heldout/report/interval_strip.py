"""The small scale under the key number: its interval, the folds and no model on one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np

from heldout.report.words import amount, baseline, ends_words, leading, shown

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
    no_model: float | None
    ticks: tuple[tuple[float, str], ...]
    words: str


def scale_of(summary: Mapping[str, Any]) -> Scale | None:
    """Return the scale of the metric that leads, or None if it has no value or all marks coincide."""
    metric = leading(summary)
    if metric is None:
        return None
    folds = _numbers(metric["folds"])
    folds = folds if len(folds) == len(metric["folds"]) <= MOST_FOLDS else []
    ends, plain = (metric["low"], metric["high"]), metric["no_model"]
    marks = _numbers([metric["value"], *ends, plain, *folds])
    if not _numbers([metric["value"]]) or not NEAREST < max(marks) - min(marks) < FARTHEST:
        return None
    ticks = _ticks(min(marks), max(marks))
    percents = metric["unit"] == "share"
    words = [f"{100 * tick:.4g} %" if percents else amount(tick) for tick in ticks]
    if len(set(words)) < len(words):  # nearly the same numbers: four digits do not tell them apart
        return None

    def place(value: Any) -> float:
        """Return the position of a value; infinite values lie at the end of the line."""
        return round(float(np.interp(float(value), (ticks[0], ticks[-1]), (MARGIN, WIDTH - MARGIN))), 1)

    low, high = (None if end is None else place(end) for end in ends)
    return Scale(
        value=place(metric["value"]),
        low=low,
        high=high,
        folds=tuple(place(fold) for fold in folds),
        no_model=place(plain) if _numbers([plain]) else None,
        ticks=tuple(zip(map(place, ticks), words, strict=True)),
        words=_words(metric, folds=len(folds)),
    )


def _words(metric: Mapping[str, Any], *, folds: int) -> str:
    parts = [f"{shown(metric['value'], metric)} on a scale"]
    parts += [f"with its interval from {ends_words(metric)}"] if metric["low"] is not None else []
    parts += [f"the values of {folds} folds"] if folds else []
    parts += [baseline(metric)] if metric["no_model"] is not None else []
    return ", ".join(parts)


def _numbers(values: Iterable[Any]) -> list[float]:
    """Return the values that are finite numbers; None and infinity, which is stored as text, are dropped."""
    return [value for value in values if isinstance(value, int | float)]


def _ticks(least: float, most: float) -> list[float]:
    """Return round numbers that enclose the marks."""
    step = (most - least) / 3
    size = 10.0 ** floor(log10(step))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= step * 0.999)
    first, last = floor(least / step + 1e-9), ceil(most / step - 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, max(last, first + 1) + 1)]
