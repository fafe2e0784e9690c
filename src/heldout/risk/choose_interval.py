"""Which interval a record gets, or why it gets none."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from heldout.base.errors import OptionError, did_you_mean
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.method import Method, count_draws
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


def choose_method(record: Record, asked: str | None = None) -> Method | str:
    """The interval method for this record, or why it has none.

    Left to itself it takes the first that accepts the record. On one test set: Clopper–Pearson for right and wrong;
    betting for bounded losses; for others the bootstrap-t, or Student with fewer than 20 rows (or groups), more than
    20,000, or one value that is most common; the spread of rows where groups differ in size or rows have weights, where
    losses lean far, and for scores of whole sets. Over several parts: the spread of rows, widened, or of a sample of
    them where the others were not kept; where no rows are known the cautious t, but never over stratified parts, whose
    means have lost their spread. In time: five batch means.

    `asked` is the key of a method, such as "clopper-pearson". One that refuses the record is an error.
    """
    return first_that_accepts(record, _preferred(record)) if asked is None else check_asked(record, asked)


def first_that_accepts(record: Record, methods: Iterable[Method | str]) -> Method | str:
    """The first of these methods that accepts the record, or why the last of them does not."""
    reason: str | None = ""
    for method in methods:
        method = METHODS[method] if isinstance(method, str) else method
        if (reason := method.refusal(record)) is None:
            return method
    return f"No interval: {reason}."


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


def choose_method_leniently(record: Record, asked: str) -> tuple[Method | str, str | None]:
    """The method that was asked for where it accepts the record, else the one that suits and a sentence on why."""
    method = _known(asked)
    if (refusal := method.refusal(record)) is None:
        return method, None
    instead = choose_method(record)
    if isinstance(instead, str):
        return instead, None
    return instead, f"{method.name} was asked for, but {refusal}; so this is {instead.name}."


def check_asked(record: Record, asked: str) -> Method:
    """The method of this key; an error where it is unknown or refuses the record, whose losses may be unknown yet."""
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
