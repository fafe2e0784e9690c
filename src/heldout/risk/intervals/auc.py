"""Intervals of the area under the ROC curve: DeLong's on one test set, Hanley and McNeil's over folds."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from heldout.risk.intervals.shapes import Ends, logit_ends
from heldout.risk.record import Answers, Floats, Record
from heldout.risk.sampling import end_to_end, mean_weights, sampling_of
from heldout.risk.widening import PLAIN, least


def hanley_mcneil(area: float, positives: float, negatives: float) -> float:
    """The variance of an area from as many rows, if scores were exponential (Hanley & McNeil 1982).

    >>> round(hanley_mcneil(0.8, 50, 50) ** 0.5, 4)
    0.0445
    """
    first, second = area / (2 - area), 2 * area * area / (1 + area)
    spread = area * (1 - area) + (positives - 1) * (first - area**2) + (negatives - 1) * (second - area**2)
    return spread / (positives * negatives)


def placements(scores: Floats, positive: Floats, weights: Floats | None = None) -> Floats:
    """The influence of each row on the area: its share of right pairs less the area, over its class's share of rows.

    With weights all of these are shares of weight.
    """
    y, mass = positive.astype(bool), np.ones(len(scores)) if weights is None else weights / np.max(weights)
    values, place = np.unique(scores, return_inverse=True)
    ones, zeros = (np.bincount(place, weights=mass * side, minlength=len(values)) for side in (y, ~y))
    beaten = np.where(y, _below(zeros)[place], 1 - _below(ones)[place])
    area = float(np.average(beaten[y], weights=mass[y]))
    share = float(ones.sum() / mass.sum())
    return np.asarray((beaten - area) / np.where(y, share, 1 - share), dtype=np.float64)


def _below(mass: NDArray[Any]) -> Floats:
    """Which share of a class is scored lower than each value, a tie by half."""
    return np.asarray((np.cumsum(mass) - mass / 2) / mass.sum(), dtype=np.float64)


def auc_ends(record: Record, value: float, level: float) -> tuple[Ends, str]:
    """The interval on the logit scale. Inside, the value is minus the area."""
    answers = record.answers
    assert answers is not None
    assert answers.scores is not None
    truth = end_to_end(answers.truth) == answers.positive
    rows = len(truth) if record.rows is None else len(np.unique(np.concatenate(record.rows)))
    positives = rows * float(np.mean(truth))
    negatives = rows - positives
    edge = 0.5 / (min(positives, negatives) + 1)  # as far from 0 and 1 as half a row of the rarer class
    area = min(max(-value, edge), 1 - edge)
    influence, weights = _influence(record, answers, record.weights), mean_weights(record, pooled=False)
    sampling = sampling_of(record, influence, weights)
    quantile = float(ndtri(0.5 + level / 2))
    if record.parts == 1:
        rough = hanley_mcneil(area, positives, negatives)
        error = sampling.error if area == -value and sampling.error > 0 else sqrt(rough)
        name = "DeLong, logit scale"
    else:
        uneven = record.grouped or record.weights is not None
        independent = float(np.mean(_influence(record, answers, None) ** 2)) / rows
        design = max(1.0, sampling.error**2 / independent) if uneven and independent > 0 else 1.0
        error = least(record, PLAIN) * sqrt(design * hanley_mcneil(area, positives, negatives))
        name = "Hanley–McNeil, logit scale"
    low, high = logit_ends(area, error, quantile)
    return (-high, -low), name


def _influence(record: Record, answers: Answers, weights: tuple[Floats, ...] | None) -> Floats:
    assert answers.scores is not None
    parts = zip(answers.scores, answers.truth, weights or (None,) * record.parts, strict=True)
    found = [placements(scores, (truth == answers.positive).astype(np.float64), mass) for scores, truth, mass in parts]
    return np.concatenate(found)
