"""Which interval a record gets, or why it gets none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.base.errors import OptionError, did_you_mean
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.method import Method, Refusal, count_draws
from heldout.risk.intervals.shapes import LEANING
from heldout.risk.record import Record
from heldout.risk.sampling import end_to_end, mean_weights, sampling_of

WITH_FITS = ("bht", "ratio")  # methods that need fits of their own, so that no record of losses suffices for them
MANY = 20_000  # draws from which resampling costs seconds and changes nothing

_ONE_TEST_SET = ("clopper-pearson", "betting", "bootstrap-t", "student", "rows")
_MANY_DRAWS = ("clopper-pearson", "betting", "student", "rows")
_LEANING = ("clopper-pearson", "betting", "rows")  # of losses whose mean is far from normal
_SEVERAL_PARTS = ("rows",)
_UNKNOWN_ROWS = ("rows", "cautious-t")  # where nothing took the spread out of the means of parts
_IN_TIME = ("batch-means",)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoInterval:
    """There is no interval, and this is why."""

    reason: str


def choose_method(record: Record, asked: str | None = None) -> Method | NoInterval:
    """The interval method for this record.

    Left to itself it takes the first that accepts the record. On one test set: Clopper–Pearson for right and wrong;
    betting for bounded losses; for others the bootstrap-t, or Student with fewer than 20 rows (or groups), more than
    20,000, or one value that is most common; the spread of rows where groups differ in size or rows have weights, where
    losses lean far, and for scores of whole sets. Over several parts: the
    spread of rows, widened, or of a sample of them where the others were not kept; where no rows are known the
    cautious t, but never over stratified parts, whose means have lost their spread. In time: five batch means.

    `asked` is the key of a method, such as "clopper-pearson". One that refuses the record is an error.
    """
    if asked is not None:
        return _as_asked(record, asked)
    reason = ""
    for key in _preferred(record):
        refusal = METHODS[key].refusal(record)
        if refusal is None:
            return METHODS[key]
        reason = refusal
    return NoInterval(reason=f"No interval: {reason}.")


def _preferred(record: Record) -> tuple[str, ...]:
    if record.timed:
        return _IN_TIME
    if record.parts == 1:
        if leans(record):
            return _LEANING
        return _MANY_DRAWS if count_draws(record) > MANY else _ONE_TEST_SET
    known = record.row_losses is not None or record.pooled is not None
    return _SEVERAL_PARTS if known or record.stratified else _UNKNOWN_ROWS


def leans(record: Record) -> bool:
    """Whether the losses are so skewed for their number that their mean is far from normal."""
    if record.row_losses is None or not np.isfinite(record.fold_losses).all():
        return False
    weights = mean_weights(record, pooled=False)
    return sampling_of(record, end_to_end(record.row_losses), weights).lean > LEANING


def choose_method_leniently(record: Record, asked: str) -> tuple[Method | NoInterval, str | None]:
    """The method that was asked for where it accepts the record, else the one that suits and a sentence on why."""
    refusal = _known(asked).refusal(record)
    if refusal is None:
        return METHODS[asked], None
    instead = choose_method(record)
    if isinstance(instead, NoInterval):
        return instead, None
    return instead, f"{METHODS[asked].name} was asked for, but {refusal}; so this is {instead.name}."


def check_asked(record: Record, asked: str) -> None:
    """Refuse a method that is unknown, or that this recipe and this kind of loss rule out whatever the losses.

    The record needs no losses yet: NaN stands for each.
    """
    method = _known(asked)
    refusal = method.early_refusal(record)
    if refusal is not None:
        raise _mismatch(record, method, refusal, [other.early_refusal for other in METHODS.values()])


def _as_asked(record: Record, asked: str) -> Method:
    method = _known(asked)
    refusal = method.refusal(record)
    if refusal is None:
        return method
    raise _mismatch(record, method, refusal, [other.refusal for other in METHODS.values()])


def _known(asked: str) -> Method:
    if asked not in METHODS:
        raise OptionError(f"There is no interval method {asked!r}. {did_you_mean(asked, [*METHODS, *WITH_FITS])}")
    return METHODS[asked]


def _mismatch(record: Record, method: Method, refusal: str, refusals: list[Refusal]) -> OptionError:
    others = [repr(key) for key, refuse in zip(METHODS, refusals, strict=True) if refuse(record) is None]
    way_out = f"Ask for {' or '.join(others)}." if others else "No other method takes it either; leave interval out."
    return OptionError(f"{method.name} cannot be had here: {refusal}. {way_out}")
