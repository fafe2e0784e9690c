"""What an answer without any model costs on the same test rows: the yardstick of a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.api.facts import Facts
from heldout.risk.verdict import Reference

Column = NDArray[Any]
FEWEST_ROWS = 10  # fewer rows would be answered well by any constant that is known from them


def reference_of(facts: Facts) -> Reference | None:
    """The best constant answer, known from the test rows themselves, so that it is hard to beat; None where none is.

    Its loss is the mean of the fold means, as the risk is.
    """
    risk, columns = facts.estimates["risk"], facts.tables["predictions"]
    make = _CONSTANTS.get(risk.loss)
    if make is None or len(columns.get("y", ())) < FEWEST_ROWS or "sample_weight" in facts.about.get("roles", ()):
        return None
    y = np.asarray(columns["y"])
    if (y.dtype.kind not in "iufb") and risk.loss in ("squared", "absolute"):
        return None
    losses, words = make(y)
    folds = np.asarray(columns["fold"])
    means = [losses[folds == fold].mean() for fold in np.unique(folds)]
    return Reference(value=float(np.mean(means)), words=words)


def _commonest(y: Column) -> tuple[Column, str]:
    labels, counts = np.unique(y, return_counts=True)
    best = labels[counts.argmax()]
    label = str(best)
    label = label if len(label) <= 40 else label[:39] + "…"
    return (y != best).astype(float), f"always answering {label!r}"


def _right(y: Column) -> tuple[Column, str]:
    wrong, words = _commonest(y)
    return 1.0 - wrong, words


def _mean(y: Column) -> tuple[Column, str]:
    return (y - y.mean()) ** 2, f"always answering the mean, {y.mean():.4g},"


def _median(y: Column) -> tuple[Column, str]:
    middle = float(np.median(y))
    return np.abs(y - middle), f"always answering the median, {middle:.4g},"


def _shares(y: Column) -> tuple[Column, str]:
    _, places, counts = np.unique(y, return_inverse=True, return_counts=True)
    return -np.log(counts / len(y))[places], "always giving each class its share"


_CONSTANTS: dict[str, Callable[[Column], tuple[Column, str]]] = {
    "zero_one": _commonest,
    "accuracy": _right,
    "squared": _mean,
    "absolute": _median,
    "log": _shares,
}
