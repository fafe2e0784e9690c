"""The interval of Bayle et al. for the mean risk of the K fold predictors, from the losses of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import sqrt

import numpy as np

from heldout.risk.estimate import Interval
from heldout.risk.intervals.method import Method, root_mean_square, standard_deviation, symmetric, z_quantile
from heldout.risk.record import Floats, Record

FOLD_PREDICTORS, ESTIMAND = "fold_predictors", "the mean risk of the fold predictors"


def bayle(losses: Sequence[Floats], *, level: float, within: bool = False, centre: float | None = None) -> Interval:
    """Return the interval R̂ ± zσ̂/√n of the mean risk of the K fold predictors (Bayle et al. 2020).

    It is valid for large n if replacing one training row changes the losses by less than about 1/n. It is not an
    interval of the expected risk of the learner: other training rows add a variance that these losses do not show.

    `losses` has the row losses of each fold; each row is held out once. With `within`, σ̂² is the mean of the variances
    within folds; otherwise it is the variance over all rows ("all pairs"), which allows any number of folds. `centre`
    replaces the mean as the middle of the interval (None: the mean).

    >>> interval = bayle([np.array([0.0, 1.0]), np.array([1.0, 2.0])], level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.307, 1.693)
    """
    rows = np.concatenate(losses)
    n = len(rows)
    if within:
        sigma = root_mean_square(np.array([standard_deviation(fold) for fold in losses]))
    else:
        sigma = standard_deviation(rows) * sqrt((n - 1) / n)
    middle = float(np.mean(rows)) if centre is None else centre
    half = z_quantile(level) * sigma / sqrt(n)
    method = BAYLE_WITHIN.name if within else BAYLE.name
    return symmetric(middle, half, level=level, method=method, guarantee="asymptotic")


def _refusal(record: Record, *, within: bool = False) -> str | None:
    reasons = {
        "it speaks of the predictors of several folds, and there is one held-out part": record.parts < 2,
        "the parts follow each other in time, so their rows are not independent": record.timed,
        "this score belongs to whole sets, and the method needs the losses of single rows": record.row_losses is None,
        "it needs folds that hold out each row once, as KFold draws them": not record.partition,
        f"it speaks of one set of folds, and there are {record.repeats}, which share all rows": record.repeats > 1,
        "the rows come in groups, so they are not independent": record.grouped,
        "the rows have weights, and this method counts each row once": record.weights is not None,
        "nothing was trained, so there are no fold predictors": not np.sum(record.train_sizes),
        "a fold of one row has no variance inside": within and np.min(record.held_sizes) < 2,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _interval(record: Record, value: float, level: float, *, within: bool = False) -> Interval:
    assert record.row_losses is not None  # refused above
    plain = bayle(record.row_losses, level=level, within=within, centre=value)
    # Stratified folds depend on all rows, which the theorem does not allow.
    return replace(plain, guarantee="heuristic") if record.stratified else plain


BAYLE = Method(
    key="bayle",
    name="Bayle, all pairs",
    refusal=_refusal,
    interval=_interval,
    belongs_to=FOLD_PREDICTORS,
    estimand=ESTIMAND,
)
BAYLE_WITHIN = Method(
    key="bayle-within",
    name="Bayle, within folds",
    refusal=partial(_refusal, within=True),
    interval=partial(_interval, within=True),
    belongs_to=FOLD_PREDICTORS,
    estimand=ESTIMAND,
)
