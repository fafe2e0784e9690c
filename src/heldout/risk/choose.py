"""Which interval a record gets, or why it gets none."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.base.errors import OptionError, did_you_mean
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.method import Method
from heldout.risk.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class NoInterval:
    """There is no interval, and this is why."""

    reason: str


def choose_method(record: Record, asked: str | None = None) -> Method | NoInterval:
    """The interval method for this record.

    Left to itself it takes, of the methods that accept the record, the one with the strongest guarantee: on one
    test set Clopper–Pearson for right and wrong, Student for other losses; the corrected t over several parts.

    Parameters
    ----------
    record : Record
    asked : str, optional
        The key of a method ("clopper-pearson", "student", "corrected-t"). One that refuses the record is an error.
    """
    if asked is not None:
        return _as_asked(record, asked)
    preferred = ("clopper-pearson", "student") if record.parts == 1 else ("corrected-t",)
    reason = ""
    for key in preferred:
        refusal = METHODS[key].refusal(record)
        if refusal is None:
            return METHODS[key]
        reason = refusal
    return NoInterval(reason=f"No interval: {reason}.")


def _as_asked(record: Record, asked: str) -> Method:
    if asked not in METHODS:
        raise OptionError(f"There is no interval method {asked!r}. {did_you_mean(asked, METHODS)}")
    method = METHODS[asked]
    refusal = method.refusal(record)
    if refusal is None:
        return method
    others = [repr(key) for key, other in METHODS.items() if other.refusal(record) is None]
    way_out = f"Ask for {' or '.join(others)}." if others else "No other method takes it either; leave interval out."
    raise OptionError(f"{method.name} cannot be had here: {refusal}. {way_out}")
