"""Intervals of the area under the ROC curve: DeLong's on one test set, Hanley and McNeil's over folds."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from heldout.risk.intervals.method import Ends, logit_ends, z_quantile
from heldout.risk.record import Answers, Floats, Record
from heldout.risk.widening import PLAIN, end_to_end, least, mean_weights, sampling_of


def hanley_mcneil(area: float, positives: float, negatives: float) -> float:
    """Return the variance of an AUC with exponential scores, by Hanley and McNeil (1982).

    >>> round(hanley_mcneil(0.8, 50, 50) ** 0.5, 4)
    0.0445
    """
    first, second = area / (2 - area), 2 * area * area / (1 + area)
    spread = area * (1 - area) + (positives - 1) * (first - area**2) + (negatives - 1) * (second - area**2)
    return spread / (positives * negatives)


def placements(scores: Floats, positive: Floats, weights: Floats | None = None) -> Floats:
    """Return the influence of each row on the AUC (DeLong).

    It is the row's share of correctly ranked pairs minus the AUC, divided by the share of the row's class.
    """
    y, mass = positive.astype(bool), np.ones(len(scores)) if weights is None else weights
    area, right = _right_pairs(scores, y, mass)
    return np.asarray((right - area) * _per_class(y, mass), dtype=np.float64)


def area_influences(
    scores: Sequence[Floats], positive: Sequence[Floats], weights: Sequence[Floats] | None, *, grouped: bool
) -> tuple[float, tuple[Floats, ...]]:
    """Return the mean of the AUCs of parts, and the influence of each row on it.

    DeLong's placements are centred at the AUC of their own part. Few positives then vary too little, and a part that is
    a single group does not vary at all. So the part's AUC minus the mean AUC is added back: in full to each row, or
    with `grouped` in shares to the two classes, so that the sum over a group contains it once.
    """
    masses = [np.ones(len(values)) for values in scores] if weights is None else weights
    classes = [values.astype(bool) for values in positive]
    pairs = [_right_pairs(*part) for part in zip(scores, classes, masses, strict=True)]
    areas = [area for area, _ in pairs]
    mean = float(np.average(areas, weights=None if weights is None else [values.sum() for values in weights]))
    influences = []
    for (area, right), y, mass in zip(pairs, classes, masses, strict=True):
        per_class = _per_class(y, mass)
        again = (area - mean) * (1 - 1 / per_class if grouped else 1.0)
        influences.append(np.asarray((right - area + again) * per_class, dtype=np.float64))
    return mean, tuple(influences)


def _right_pairs(scores: Floats, y: NDArray[np.bool_], mass: Floats) -> tuple[float, Floats]:
    """Return the AUC, and for each row the share of the other class's weight that it is ranked correctly against.

    Ties count half. One sort serves both classes, because this is most of the work.
    """
    order = np.argsort(scores, kind="stable")
    ordered, positive = scores[order], y[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # the last row of each tied score
    tie = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))
    below = np.empty(len(scores))
    for of_class in (False, True):  # the weight of the other class below each row
        reached = np.append(0.0, np.cumsum(np.where(positive == of_class, 0.0, mass[order]))[ends])
        own = positive == of_class
        below[order[own]] = ((reached[:-1] + reached[1:]) / 2)[tie[own]]
    right = np.where(y, below / np.sum(mass[~y]), 1 - below / np.sum(mass[y]))
    return float(np.average(right[y], weights=mass[y])), right


def _per_class(y: NDArray[np.bool_], mass: Floats) -> Floats:
    """Return for each row 1 over the weighted share of its class."""
    return np.asarray(np.sum(mass) / np.where(y, np.sum(mass[y]), np.sum(mass[~y])), dtype=np.float64)


def auc_ends(record: Record, value: float, level: float) -> tuple[Ends, str]:
    """Return the interval of −AUC, computed on the logit scale, and its name; `value` is minus the AUC."""
    answers = record.answers
    assert answers is not None
    assert answers.scores is not None
    truth = end_to_end(answers.truth) == answers.positive
    rows = len(truth) if record.rows is None else len(np.unique(np.concatenate(record.rows)))
    positives = rows * float(np.mean(truth))
    negatives = rows - positives
    edge = 0.5 / (min(positives, negatives) + 1)  # the distance from 0 and 1 of half a row of the rarer class
    area = min(max(-value, edge), 1 - edge)
    influence, weights = _placements(record, answers, record.weights), mean_weights(record, pooled=False)
    sampling = sampling_of(record, influence, weights)
    quantile = z_quantile(level)
    if record.parts == 1:
        # A class of few rows varies too little in the sample, and not at all if all pairs are ranked correctly.
        error = max(sampling.error, sqrt(hanley_mcneil(area, positives, negatives)))
        name = "DeLong, logit scale"
    else:
        uneven = record.grouped or record.weights is not None
        independent = float(np.mean(_placements(record, answers, None) ** 2)) / rows
        design = max(1.0, sampling.error**2 / independent) if uneven and independent > 0 else 1.0
        error = least(record, PLAIN) * sqrt(design * hanley_mcneil(area, positives, negatives))
        name = "Hanley–McNeil, logit scale"
    low, high = logit_ends(area, error, quantile)
    return (-high, -low), name


def _placements(record: Record, answers: Answers, weights: Sequence[Floats] | None) -> Floats:
    assert answers.scores is not None
    parts = zip(answers.scores, answers.truth, weights or (None,) * record.parts, strict=True)
    influences = [
        placements(scores, (truth == answers.positive).astype(np.float64), mass) for scores, truth, mass in parts
    ]
    return np.concatenate(influences)
