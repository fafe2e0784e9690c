"""The learning curve of a study: the same learner on the same held-out rows, trained on fewer rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from heldout.base.errors import OptionError
from heldout.engine.run import Outcome
from heldout.results.estimates import size_at_all_rows
from heldout.results.test_losses import TestLosses, read_test_losses, shown_estimate
from heldout.risk.estimands import Estimand, Subject, learner_risk
from heldout.risk.estimate import Estimate, EstimateInfo
from heldout.risk.estimate_risk import estimate_risk, record_value
from heldout.risk.learning_curve import FEWEST_SIZES, fit_power_law
from heldout.risk.record import Record
from heldout.splits import Given, SharedBlocks
from heldout.splits.learning_curve import smaller_training_sets
from heldout.study.pose import OUTER, pose_evaluation
from heldout.study.study import Study
from heldout.task import Task

LEARNING_CURVE, EXTRAPOLATED = "learning_curve", "extrapolated"
SHARES = (0.2, 0.4, 0.6, 0.8)
MOST_NUMBERS = 1 << 27  # training rows named in all, a gigabyte: leave-one-out would name n² of them a size


def pose_curve(study: Study, task: Task, sizes: Any, *, seed: int) -> Study | None:
    """The study at smaller training sizes, or None where none was asked for; refused where it cannot be had."""
    if sizes is None or sizes is False:
        return None
    shares: Sequence[float] = SHARES if sizes is True else tuple(sorted(sizes))
    search = study.search
    if isinstance(search.families[0].estimator, FrozenEstimator):
        raise OptionError("A predictor that came fitted has no learning curve: nothing is trained.")
    if isinstance(search.validation, SharedBlocks | Given):
        raise OptionError(
            f"A learning curve draws validation rows inside smaller training sets, and {search.validation!r} cannot. "
            "Use validation=KFold(…) or Holdout(…)."
        )
    if int(study.splits[OUTER].train_sizes.sum()) * len(shares) > MOST_NUMBERS:
        raise OptionError(
            f"A learning curve over {len(study.splits[OUTER]):,} test parts would name too many training rows. "
            "Use test=KFold(…) with fewer parts."
        )
    outer = smaller_training_sets(task, study.splits[OUTER], shares, seed=seed)
    return pose_evaluation(search, task, outer, reported=study.reported[:1], race=study.race)


def curve_of(
    task: Task, study: Study, losses: TestLosses, curve: Outcome, *, level: float
) -> tuple[dict[str, Any], Estimate]:
    """The curve as a table, and the estimate at all rows that it extrapolates to.

    `losses` are those of the study itself: the last point of the curve, at no further fit. Each smaller size is a
    record as if it had been a study of its own.
    """
    whole = replace(losses.records[0], seed=0)
    every = read_test_losses(task, curve).records[0]
    records = [*(_cut(every, whole, start) for start in range(0, every.parts, whole.parts)), whole]
    points = [
        estimate_risk(record, name=LEARNING_CURVE, estimand=Estimand("", Subject.LEARNER), level=level)
        for record in records
    ]
    columns = {
        "size": np.array([point.train_size for point in points], dtype=np.float64),
        "estimate": _numbers(points, "value"),
        "low": _numbers(points, "low"),
        "high": _numbers(points, "high"),
    }
    return columns, _extrapolated(task, study, records, level)


def _cut(every: Record, whole: Record, start: int) -> Record:
    """The parts of one size: the held-out rows of the study itself, with losses and training sizes of their own."""
    own = slice(start, start + whole.parts)
    return replace(
        whole,
        fold_losses=every.fold_losses[own],
        row_losses=None if every.row_losses is None else every.row_losses[own],
        train_sizes=every.train_sizes[own],
    )


def _extrapolated(task: Task, study: Study, records: Sequence[Record], level: float) -> Estimate:
    """The risk at all rows, read off an inverse power law: marked so, and without an interval."""
    loss = study.reported[0]
    sizes = np.array([np.mean(record.train_sizes) for record in records])
    means = np.array([np.nan if (value := record_value(record)) is None else value for record in records])
    target = size_at_all_rows(task, study)
    about = EstimateInfo(
        name=EXTRAPOLATED,
        estimand=learner_risk(loss.name, train_size=target, tuned=study.search.tuned, sign=loss.sign)
        + ", extrapolated from smaller sizes",
        level=level,
        train_size=target,
        n=records[-1].predicted,
        reason="No interval: an inverse power law through the learning curve is a rule of thumb; it may bend.",
    )
    if len(np.unique(sizes)) < FEWEST_SIZES or not np.isfinite(means).all():
        reason = f"No value: a power law needs the losses at {FEWEST_SIZES} training sizes, and some are missing."
        return shown_estimate(loss, replace(about, reason=reason), None)
    law = fit_power_law(sizes, means, weights=_weights(records), low=loss.low)
    return shown_estimate(loss, about, law.at(target.mean))


def _weights(records: Sequence[Record]) -> Any:
    """One over the variance of each mean, as its folds tell it; none is taken for far surer than the others."""
    if records[0].parts < 2:
        return None
    variances = np.array([np.var(record.fold_losses, ddof=1) for record in records])
    floor = 0.1 * float(np.mean(variances))
    return None if floor == 0 else 1 / np.maximum(variances, floor)


def _numbers(points: Sequence[Estimate], name: str) -> Any:
    values = [getattr(point, name) for point in points]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
