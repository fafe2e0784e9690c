"""Computes the estimate of a risk from a record of losses, in the user's own sign."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from heldout.base.errors import Argument, OptionError, Sentence, did_you_mean
from heldout.base.words import listed
from heldout.risk.estimands import Estimand, Sizes
from heldout.risk.estimate import Estimate, EstimateInfo, Interval, LossRange, user_estimate
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.method import LEANING, NO_WIDTH, Method, count_draws, has_no_width
from heldout.risk.record import POOLED, Record
from heldout.risk.widening import end_to_end, mean_weights, sampling_of

WITH_FITS = ("bht", "ratio")  # methods that need fits of their own, so that no record of losses suffices for them
MANY = 20_000  # draws from which resampling costs seconds and changes nothing


def choose_method(record: Record, asked: str | None = None) -> Method | str:
    """Return the interval method for this record, or the reason why there is none.

    `asked` is the key of a method, such as "clopper-pearson"; a method that refuses the record is an error. With None,
    the first method that accepts the record is taken, in this order:

    - one test set: Clopper–Pearson for losses of 0 and 1; betting for bounded losses; for others the bootstrap-t, or
      Student's t with fewer than 20 rows (or groups), with more than 20,000, or if one value is too common; the spread
      of rows if groups differ in size, rows have weights or losses are very skewed, and for scores of whole sets;
    - several parts: the widened spread of rows, or of a sample of the rows if the others were not kept; the cautious t
      if no rows are known, but never over stratified parts, whose means vary too little;
    - rows in time: five batch means.
    """
    if asked is not None:
        return check_asked(record, asked)
    if record.timed:
        return first_that_accepts(record, ["batch-means"])
    if record.parts == 1:
        suited = ["clopper-pearson", "betting"]
        if not leans(record):
            suited += ["student"] if count_draws(record) > MANY else ["bootstrap-t", "student"]
        return first_that_accepts(record, [*suited, "rows"])
    known = record.row_losses is not None or record.pooled is not None
    # Nothing has taken the spread out of the means of parts where these are not stratified.
    return first_that_accepts(record, ["rows"] if known or record.stratified else ["rows", "cautious-t"])


def first_that_accepts(record: Record, methods: Iterable[Method | str]) -> Method | str:
    """Return the first of these methods that accepts the record, or the reason why the last one refuses it."""
    reason: str | None = ""
    for method in methods:
        method = METHODS[method] if isinstance(method, str) else method
        if (reason := method.refusal(record)) is None:
            return method
    return f"No interval: {reason}."


def leans(record: Record) -> bool:
    """Return whether the losses are so skewed, for their number, that their mean is far from normal."""
    if record.row_losses is None or not np.isfinite(record.fold_losses).all():
        return False
    weights = mean_weights(record, pooled=False)
    return sampling_of(record, end_to_end(record.row_losses), weights).lean > LEANING


def check_asked(record: Record, asked: str) -> Method:
    """Return the method of this key; raise an error if the key is unknown or the method refuses the record."""
    method = _known(asked)
    if (refusal := method.refusal(record)) is None:
        return method
    others = [repr(key) for key, other in METHODS.items() if other.refusal(record) is None]
    way_out = f"Ask for {' or '.join(others)}." if others else "No other method takes it either; leave interval out."
    raise OptionError(f"{method.name} cannot be had here: {refusal}. {way_out}")


def _known(asked: str) -> Method:
    if asked not in METHODS:
        raise OptionError(f"There is no interval method {asked!r}. {did_you_mean(asked, [*METHODS, *WITH_FITS])}")
    return METHODS[asked]


OPTIMISTIC = (
    "No interval: the same losses chose the candidate, so this number is too good by an amount they do not tell."
)


def estimate_risk(
    record: Record,
    *,
    name: str,
    estimand: Estimand,
    level: float = 0.95,
    interval: str | Method | None = None,
    strict: bool = True,
    pool: bool | None = None,
    reason: str | None = None,
) -> Estimate:
    """Estimate the risk from a record of losses, with its interval or the reason why it has none.

    `interval` is the interval method; None chooses it by recipe and loss. If the asked method refuses the record,
    `strict` raises an error; otherwise another method is taken and the estimate's `reason` says so. `pool` is that of
    :func:`record_value`. A `reason` given by the caller means that there is no interval, and why.

    >>> record = Record(
    ...     loss="accuracy", sign=-1, low=-1.0, high=0.0, fold_losses=np.array([-0.75]), kind="holdout",
    ...     row_losses=(np.array([-1.0, -1.0, 0.0, -1.0]),), train_sizes=np.array([16]), held_sizes=np.array([4]),
    ... )
    >>> from heldout.risk.estimands import predictor_risk
    >>> risk = estimate_risk(record, name="risk", estimand=predictor_risk("accuracy", train_size=16, sign=-1))
    >>> risk.value, round(risk.low, 3), round(risk.high, 3), risk.guarantee
    (0.75, 0.194, 0.994, 'exact')
    """
    if not 0 < level < 1:
        raise OptionError(f"level is the probability that the interval covers, between 0 and 1, but it is {level!r}.")
    value = record_value(record, pool=pool)
    made: Interval | None = None
    if value is None:
        reason = reason or failed_parts(record)
    elif reason is None:
        method, reason = _method(record, interval, strict=strict)
        if method is not None:
            made = method.interval(record, value, level)
            if has_no_width(made):
                made, reason = None, NO_WIDTH
            elif method.belongs_to not in (None, name):
                estimand += f"; the interval is that of {method.estimand}"
    about = EstimateInfo(
        name=name,
        estimand=estimand,
        level=level,
        train_size=Sizes.of(record.train_sizes),  # None: a predictor that came fitted was trained on none of these rows
        n=record.predicted,
        reason=reason,
    )
    return user_estimate(scale_of(record), about, value=value, interval=made, clip=False)


def scale_of(record: Record) -> LossRange:
    """Return the name, the sign and the range of the loss of a record."""
    return LossRange(loss=record.loss, sign=record.sign, low=record.low, high=record.high)


def _method(record: Record, asked: str | Method | None, *, strict: bool) -> tuple[Method | None, str | None]:
    """Return the method and a remark about it (or None); without a method, None and the reason."""
    if isinstance(asked, Method):
        return asked, None
    refusal = None if asked is None or strict else _known(asked).refusal(record)
    method = choose_method(record, asked if refusal is None else None)
    if isinstance(method, str):
        return None, method
    if asked is None or refusal is None:
        return method, None
    return method, f"{METHODS[asked].name} was asked for, but {refusal}; so this is {method.name}."


def record_value(record: Record, *, pool: bool | None = None) -> float | None:
    """Return the mean of the part means, or with `pool` the mean over rows; None if a part failed.

    A score that is a function of means is computed once on all rows unless `pool` is False. If rows have weights, each
    part weighs as much as its rows: with one row a part, as in leave-one-out, a plain mean would ignore the weights.
    For a row loss this equals the weighted mean over rows.

    A failed part is never left out: the mean over the others would favour a learner that fails on hard parts.
    """
    if pool is not False and record.family in POOLED:
        return None if record.pooled is None else record.pooled.value
    if np.isnan(record.fold_losses).any():  # before rows are asked for, which a study that failed in part has none of
        return None
    if pool and record.row_losses is None:
        raise OptionError(
            Sentence(
                "{} needs a loss of single rows, or a score that is a function of means over rows, but {!r} compares "
                "the rows of a set with each other.",
                Argument("pool", True),
                record.loss,
            ),
            Sentence("Leave {} out.", Argument("pool", True)),
        )
    if not pool or record.row_losses is None:
        masses = None if record.weights is None else [part.sum() for part in record.weights]
        return float(np.mean(record.fold_losses) if masses is None else np.average(record.fold_losses, weights=masses))
    weights = None if record.weights is None else np.concatenate(record.weights)
    return float(np.average(np.concatenate(record.row_losses), weights=weights))


def failed_parts(record: Record) -> str:
    """Return the sentence that says which parts have no loss, counted from 0."""
    failed = np.flatnonzero(np.isnan(record.fold_losses)).tolist()
    if record.answers is not None or record.pooled is not None:  # every predictor answered
        where = f"{len(failed)} of {record.parts} parts" if failed else "all held-out rows together"
        where = where if record.parts > 1 else "these test rows"
        return f"No value: {record.loss!r} is not defined on {where}. Hold out more rows, or take a loss of rows."
    if record.parts == 1:
        return "No value: the fit that it needs failed."
    which = f"{len(failed)} of {record.parts} parts failed (part {listed(failed, 5)})"
    return f"No value: {which}, and a mean over the others would mislead."
