"""The default interval over several held-out parts: the spread of rows (or groups), widened by a factor κ for training.

The variance is never computed from fold means: stratified folds have equal class shares, so their means vary too
little. The kind of loss decides the shape: Wilson's for zero-one losses, the log scale for squared and absolute errors,
Hall's transformation for bounded losses. `scores` has the shapes for scores of whole sets.
"""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from heldout.risk.estimate import Interval
from heldout.risk.intervals.binomial import clopper_pearson
from heldout.risk.intervals.method import (
    LEANING,
    Ends,
    Method,
    hall_ends,
    interval_around,
    refuse_few,
    wilson_ends,
    z_quantile,
)
from heldout.risk.intervals.scores import positive_ends, quantile_of, refuse_score, score_ends
from heldout.risk.record import Floats, Record, zero_one_errors
from heldout.risk.widening import (
    LEAST_ABSOLUTE,
    LEAST_SQUARES,
    adaptive,
    complexity,
    end_to_end,
    kernel_width,
    least,
    mean_weights,
    of_numbers,
    sampling_of,
    shift,
    shrunken_mean,
)


def row_ends(record: Record, value: float, level: float) -> tuple[Ends, str]:
    """Return the ends of the interval of a row loss, and the name of its shape."""
    weights = mean_weights(record, pooled=False)
    errors = zero_one_errors(record)
    if errors is not None:
        return _share_ends(record, errors, value, level, weights), "Wilson over rows"
    contributions, kappa = corrected_rows(record, value)
    sampling = sampling_of(record, contributions, weights)
    error, quantile = least(record, kappa) * sampling.error, quantile_of(sampling, level)
    bounded = isfinite(record.low) and isfinite(record.high)
    leans = sampling.lean > LEANING and record.family != "log"
    above = value - record.low
    if bounded or not isfinite(record.low) or above <= 0:
        ends = hall_ends(value, error, quantile, skew=sampling.skew, draws=sampling.units)
        return ends, "Hall's t over rows"
    squares = record.family == "squared" and record.parts > 1 and not record.grouped
    (low, high), name = positive_ends(above, error, quantile, sampling=sampling, leans=leans, squares=squares)
    return (record.low + low, record.low + high), name


def corrected_rows(record: Record, value: float) -> tuple[Floats, float]:
    """Return the contribution of each row, as a test row and as a training row, and the remaining factor κ."""
    assert record.row_losses is not None
    losses = end_to_end(record.row_losses)
    weights = mean_weights(record, pooled=False)
    if record.parts == 1:
        return losses, 1.0
    if record.family in ("squared", "absolute") and record.answers is not None:
        return _of_numbers(record, losses, weights)
    if record.answers is not None and not record.answers.classes:
        return losses, of_numbers(record)
    slopes = _slopes(record)
    factor = 1.0 if slopes is None else shift(record, losses, weights, slopes)
    return losses, adaptive(record, log=record.family == "log") * factor


def _of_numbers(record: Record, losses: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return contributions and κ of squared or absolute errors, corrected for the intercept and for fitted noise."""
    assert record.answers is not None
    errors = end_to_end(record.answers.truth) - end_to_end(record.answers.predicted)
    fitted = complexity(record)
    kappa = of_numbers(record) if fitted is None else LEAST_SQUARES if record.family == "squared" else LEAST_ABSOLUTE
    if record.family == "squared":
        return (losses if fitted is None else (1 + fitted) * losses), kappa
    signs, mean = shrunken_mean(record, np.sign(errors), weights), float(np.sum(weights * errors))
    corrected = losses - signs * (errors - mean)
    if fitted is not None:
        corrected = corrected + density_at_zero(errors) * fitted * errors**2
    return corrected, kappa


def density_at_zero(errors: Floats) -> float:
    """Return a kernel estimate of the density of errors at 0."""
    width = kernel_width(errors)
    if width <= 0:
        return 0.0
    return float(np.mean(np.exp(-0.5 * (errors / width) ** 2)) / (width * sqrt(2 * np.pi)))


def _slopes(record: Record) -> Floats | None:
    """Return the derivative of each row's log or Brier loss by a common shift of all logits; None for other losses."""
    answers = record.answers
    if answers is None or answers.classes != 2 or answers.probability is None:
        return None
    p = end_to_end(answers.probability)
    y = (end_to_end(answers.truth) == answers.positive).astype(np.float64)
    if record.family == "brier":
        return np.asarray(2 * (p - y) * p * (1 - p), dtype=np.float64)
    return np.asarray(p - y, dtype=np.float64) if record.family == "log" else None


def _share_ends(record: Record, errors: Floats, value: float, level: float, weights: Floats) -> Ends:
    """Return Wilson's interval with the effective number of rows that the variance implies."""
    share = min(max(value - record.low, 0.0), 1.0)
    sampling = sampling_of(record, errors, weights)
    plain = share * (1 - share)
    draws = float(sampling.units)
    if record.share < 1:  # the error rate of all rows is known, and gives a better variance than the sample
        draws = sampling.effective / record.share
    elif sampling.error > 0:
        draws = min(plain / sampling.error**2, 4 * draws)
    kappa = least(record, adaptive(record) * shift(record, errors, weights, None))
    quantile = quantile_of(sampling, level) if record.grouped else z_quantile(level)
    low, high = wilson_ends(share, draws / kappa**2, quantile)
    if not record.grouped and record.weights is None:  # never narrower than for one test set of the same rows
        rows = round(sampling.units / record.share)
        exact = clopper_pearson(round(share * rows), rows, level=level)
        low, high = min(low, exact.low), max(high, exact.high)
    return record.low + low, record.low + high


def recorded_rows(record: Record) -> Record:
    """Return the record itself, or its sample of rows if only that was kept and there are several parts.

    The sample is not used for one test set, whose intervals have guarantees that do not hold for a sample.
    """
    known = record.row_losses is not None or (record.pooled is not None and record.pooled.influence is not None)
    return record if known or record.sample is None or record.parts == 1 else record.sample


def _refusal(record: Record) -> str | None:
    record = recorded_rows(record)
    if record.timed:
        return "the held-out rows follow each other in time, so they are not independent"
    if record.row_losses is None:
        return refuse_score(record)
    if record.grouped and record.groups is None:
        return "the rows come in groups, and the record does not say which row belongs to which"
    if record.unknown:
        return None
    drawn = sampling_of(record, end_to_end(record.row_losses), mean_weights(record, pooled=False))
    return refuse_few(drawn.units, drawn.effective, record=record)


def _interval(record: Record, value: float, level: float) -> Interval:
    record = recorded_rows(record)
    if record.row_losses is None:
        (low, high), name = score_ends(record, value, level)
    else:
        (low, high), name = row_ends(record, value, level)
    if record.share < 1:
        name = name.replace("over rows", "over sampled rows")
    if record.grouped:
        name = name.replace("rows", "groups")
    guarantee = "asymptotic" if record.parts == 1 else "heuristic"
    return interval_around(value, low, high, level=level, method=name, guarantee=guarantee)


ROWS = Method(key="rows", name="spread of rows", refusal=_refusal, interval=_interval)
